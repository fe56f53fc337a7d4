// A file that is dropped or chosen goes to the service in pieces, with progress, and can be called off. A lost connection
// is waited for; chosen again after a reload, the file goes on where it was. The area says what becomes of it (data-to)
// and what page follows (data-then, in which {id} is the id of what was made); a field of its own (#role) goes along.

const PIECE = 4 * 2 ** 20;
const MOST_STUCK = 5;
const LONGEST_WAIT = 5000; // milliseconds between two looks whether the service is back
const drop = document.getElementById("drop");
const uploads = drop?.dataset.uploads ?? "/uploads"; // what is for an application is sent below it
const input = document.getElementById("file");
const progress = document.getElementById("progress");
const text = document.getElementById("progress-text");
const bar = document.getElementById("progress-bar");
const problem = document.getElementById("upload-problem");
const role = document.getElementById("role");
const header = document.getElementById("header");
const table = document.getElementById("table"); // which one of a document
const into = document.getElementById("into"); // where the visitor chooses what becomes of it
let current = null; // the upload under way: {file, id, request, over}

function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function say(message) {
  progress.hidden = true;
  problem.hidden = !message;
  problem.textContent = message;
}

function show(file, sent) {
  bar.value = file.size ? (100 * sent) / file.size : 0;
  text.textContent = `${file.name}: ${size(sent)} of ${size(file.size)}`;
}

// Resolves with the answer; rejects where there is none.
function ask(upload, method, address, headers = {}, body = null) {
  return new Promise((resolve, reject) => {
    const request = (upload.request = new XMLHttpRequest());
    request.open(method, address);
    const all = { "x-csrf": drop.dataset.csrf, "tus-resumable": "1.0.0", ...headers };
    for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value);
    if (body) request.upload.onprogress = (event) => show(upload.file, Number(headers["upload-offset"]) + event.loaded);
    request.onload = () => resolve(request);
    request.onerror = request.onabort = () => reject(new Error("no answer"));
    request.send(body);
  });
}

function wait(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

// Like ask, but waits for a service that is away; gives null where the upload was called off.
async function insist(upload, ...question) {
  for (let pause = 250; !upload.over; pause = Math.min(2 * pause, LONGEST_WAIT)) {
    try {
      const answer = await ask(upload, ...question);
      if (![502, 503, 504].includes(answer.status)) return answer;
    } catch {
      // told below, and tried again
    }
    if (upload.over) return null;
    text.textContent = `${upload.file.name}: the connection is lost; the upload goes on when it is back.`;
    await wait(pause);
  }
  return null;
}

function fail(upload, answered) {
  let answer = {};
  try {
    answer = JSON.parse(answered.responseText);
  } catch {
    // no answer of easeml's; told below
  }
  upload.over = true;
  say([answer.detail ?? `The upload failed (${answered.status}).`, answer.remedy].filter(Boolean).join(" "));
}

// How a file is known again after a reload of the page.
function mark(file) {
  return `upload ${file.name} ${file.size} ${file.lastModified}`;
}

// Returns where the upload goes on, null where it does not.
async function place(upload) {
  const known = sessionStorage.getItem(mark(upload.file));
  upload.id ??= known;
  if (upload.id) {
    const answer = await insist(upload, "HEAD", `${uploads}/${upload.id}`);
    if (!answer) return null;
    if (answer.status === 200) return Number(answer.getResponseHeader("upload-offset"));
  }
  const answer = await insist(upload, "POST", uploads, { "upload-length": upload.file.size });
  if (!answer) return null;
  if (answer.status !== 201) return fail(upload, answer), null;
  upload.id = JSON.parse(answer.responseText).id;
  sessionStorage.setItem(mark(upload.file), upload.id);
  return 0;
}

async function send(upload) {
  const { file } = upload;
  let at = await place(upload);
  let stuck = 0; // times that a piece failed though the service answers: a file that was changed cannot be read
  while (at !== null && at < file.size) {
    show(file, at);
    const headers = { "upload-offset": at, "content-type": "application/offset+octet-stream" };
    const answer = await ask(upload, "PATCH", `${uploads}/${upload.id}`, headers, file.slice(at, at + PIECE)).catch(() => null);
    if (upload.over) return;
    if (answer && ![204, 404, 409, 502, 503, 504].includes(answer.status)) return fail(upload, answer);
    const before = at;
    at = answer?.status === 204 ? Number(answer.getResponseHeader("upload-offset")) : await place(upload);
    stuck = at === before ? stuck + 1 : 0;
    if (stuck === MOST_STUCK) return cancel("The file cannot be sent. Was it changed? Choose it again.");
    if (stuck) await wait(250 * 2 ** stuck);
  }
  if (at !== null) await finish(upload);
}

async function finish(upload) {
  const query = new URLSearchParams({ filename: upload.file.name, upload: upload.id });
  const to = into?.value ?? drop.dataset.to;
  if (role?.value && to === drop.dataset.to) query.set("role", role.value);
  // The tick comes with the refusal of rows that look broken, on a page that is open.
  if (document.getElementById("anyway")?.checked && to === drop.dataset.to) query.set("anyway", "true");
  if (header?.value) query.set("header", header.value);
  if (table?.value) query.set("table", table.value);
  const answer = await insist(upload, "POST", `${to}?${query}`, { "idempotency-key": upload.id });
  if (!answer) return;
  sessionStorage.removeItem(mark(upload.file));
  if (answer.status !== 201) return fail(upload, answer);
  location.assign(drop.dataset.then.replace("{id}", JSON.parse(answer.responseText).id));
}

function cancel(why = "") {
  if (!current) return;
  current.over = true;
  current.request?.abort();
  sessionStorage.removeItem(mark(current.file));
  if (current.id) ask(current, "DELETE", `${uploads}/${current.id}`).catch(() => null);
  current = null;
  say(why);
}

function start(file) {
  cancel();
  say("");
  progress.hidden = false;
  current = { file, id: null, request: null, over: false };
  show(file, 0);
  send(current);
}

input.addEventListener("change", () => input.files[0] && start(input.files[0]));
document.getElementById("cancel").addEventListener("click", () => cancel());
for (const kind of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files[0]) start(event.dataTransfer.files[0]);
  });
}
