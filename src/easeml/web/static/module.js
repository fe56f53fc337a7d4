// The tar file of an image goes to the service in pieces, since it may be larger than a request may be. The other files of
// its folder follow with the form, and the id of what was sent.

const PIECE = 4 * 2 ** 20;
const form = document.getElementById("module");
const folder = document.getElementById("folder");
const progress = document.getElementById("progress");
const problem = document.getElementById("upload-problem");

async function ask(method, address, headers = {}, body = null) {
  const all = { "x-csrf": form.elements.csrf.value, "tus-resumable": "1.0.0", ...headers };
  const answer = await fetch(address, { method, headers: all, body });
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Error([told.detail ?? `The image was not taken (${answer.status}).`, told.remedy].filter(Boolean).join(" "));
}

// Returns the id of the upload.
async function send(file) {
  const made = await ask("POST", "/uploads", { "upload-length": file.size });
  const { id } = await made.json();
  for (let at = 0; at < file.size; at += PIECE) {
    progress.textContent = `${file.name}: ${Math.floor((100 * at) / file.size)} % sent`;
    const headers = { "upload-offset": at, "content-type": "application/offset+octet-stream" };
    await ask("PATCH", `/uploads/${id}`, headers, file.slice(at, at + PIECE));
  }
  return id;
}

function keepOthers(image) {
  const others = new DataTransfer();
  for (const file of folder.files) if (file !== image) others.items.add(file);
  folder.files = others.files;
}

form.addEventListener("submit", async (event) => {
  const image = [...folder.files].find((file) => file.name.endsWith(".tar"));
  if (!image) return;
  event.preventDefault();
  problem.hidden = true;
  try {
    form.elements.image.value = await send(image);
  } catch (error) {
    progress.textContent = "";
    problem.hidden = false;
    problem.textContent = error.message;
    return;
  }
  keepOthers(image);
  form.submit();
});
