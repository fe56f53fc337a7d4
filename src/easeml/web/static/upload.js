// A file that is dropped or chosen goes to the service as it is, with progress, and can be called off. The area says
// where to (data-to) and what page follows (data-then, in which {id} is the id of what was made); a field of its own
// (#role) goes along.

const drop = document.getElementById("drop");
const input = document.getElementById("file");
const progress = document.getElementById("progress");
const text = document.getElementById("progress-text");
const bar = document.getElementById("progress-bar");
const problem = document.getElementById("upload-problem");
const role = document.getElementById("role");
let request = null;

function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function say(message) {
  progress.hidden = true;
  problem.hidden = !message;
  problem.textContent = message;
}

function upload(file) {
  request?.abort();
  say("");
  progress.hidden = false;
  text.textContent = `${file.name}, ${size(file.size)}`;
  request = new XMLHttpRequest();
  const query = new URLSearchParams({ filename: file.name });
  if (role?.value) query.set("role", role.value);
  request.open("POST", `${drop.dataset.to}?${query}`);
  request.setRequestHeader("x-csrf", drop.dataset.csrf);
  request.setRequestHeader("content-type", "application/octet-stream");
  request.upload.onprogress = (event) => {
    bar.value = (100 * event.loaded) / (event.total || 1);
    text.textContent = `${file.name}: ${size(event.loaded)} of ${size(event.total)}`;
  };
  request.onload = () => finish(request);
  request.onerror = () => say("The connection broke. Choose the file again.");
  request.onabort = () => say("");
  request.send(file);
}

function finish(answered) {
  let answer = {};
  try {
    answer = JSON.parse(answered.responseText);
  } catch {
    // no answer of easeml's; told below
  }
  if (answered.status === 201) location.assign(drop.dataset.then.replace("{id}", answer.id));
  else say([answer.detail ?? `The upload failed (${answered.status}).`, answer.remedy].filter(Boolean).join(" "));
}

input.addEventListener("change", () => input.files[0] && upload(input.files[0]));
document.getElementById("cancel").addEventListener("click", () => request?.abort());
for (const kind of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files[0]) upload(event.dataTransfer.files[0]);
  });
}
