// The timeline moves between events; arrow keys walk through decisions, and they are played one after the other.

const LEAST_WIDTH = 0.15; // percent
const MOVE_EVERY = 250; // ms
const seen = new WeakMap(); // lane -> when this page got it

function move() {
  for (const lane of document.querySelectorAll(".lane")) {
    if (!seen.has(lane)) seen.set(lane, performance.now());
    const now = Number(lane.dataset.now) + (performance.now() - seen.get(lane)) / 1000;
    const span = Number(lane.dataset.span);
    for (const run of lane.querySelectorAll(".run")) {
      const end = run.dataset.end ? Number(run.dataset.end) : now;
      const start = Math.max(Number(run.dataset.start), now - span);
      const width = Math.max((100 * (end - start)) / span, end > now - span ? LEAST_WIDTH : 0);
      run.setAttribute("x", `${100 - (100 * (now - start)) / span}%`);
      run.setAttribute("width", `${width}%`);
    }
  }
}

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowLeft") document.getElementById("previous")?.click();
  if (event.key === "ArrowRight") document.getElementById("following")?.click();
});

let playing = null; // the timer
let speed = "1000"; // ms for each decision; the field is made anew with each of them

function pause() {
  clearInterval(playing);
  playing = null;
  showPlaying();
}

function advance() {
  const next = document.getElementById("following");
  if (!next || next.ariaDisabled === "true") pause();
  else next.click();
}

function play() {
  advance();
  clearInterval(playing);
  playing = setInterval(advance, Number(speed));
  showPlaying();
}

function showPlaying() {
  const button = document.getElementById("play");
  if (!button) return;
  button.textContent = playing ? "Pause" : "Play";
  button.ariaPressed = String(playing !== null);
  document.getElementById("speed").value = speed;
}

document.addEventListener("click", (event) => {
  if (event.target.id !== "play") return;
  if (playing) pause();
  else play();
});
document.addEventListener("change", (event) => {
  if (event.target.id === "speed") {
    speed = event.target.value;
    if (playing) play();
  }
  if (event.target.id === "scrub") pause();
});
document.addEventListener("swapped", showPlaying);

if (!matchMedia("(prefers-reduced-motion: reduce)").matches) setInterval(move, MOVE_EVERY);
