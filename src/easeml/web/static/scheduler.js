// The timeline moves between events, and arrow keys walk through decisions.

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

if (!matchMedia("(prefers-reduced-motion: reduce)").matches) setInterval(move, MOVE_EVERY);
