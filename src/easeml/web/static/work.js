// Work of people with the keyboard: a digit or letter presses the button that shows it.
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=hidden]), select, textarea");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const wanted = event.key.toLowerCase();
  const found = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === wanted);
  if (!found) return;
  event.preventDefault();
  if (found.matches("button")) found.click();
  else found.focus();
});

// An answer is sent until the service has it, which may be starting anew; the next question takes its place.
async function answer(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  for (const button of form.querySelectorAll("button")) button.disabled = true;
  const banner = document.getElementById("connection");
  for (;;) {
    try {
      const answered = await fetch(form.getAttribute("action"), { method: "POST", body });
      banner.hidden = true;
      return show(await answered.text());
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      banner.hidden = false;
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

function show(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const next = fresh.getElementById("main");
  if (!next || !fresh.getElementById("work-form")) return location.reload(); // it waits for events otherwise
  document.getElementById("main").replaceWith(document.adoptNode(next));
  next.querySelector("[autofocus]")?.focus();
  document.dispatchEvent(new Event("swapped"));
}

document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.submitter?.dataset.ask) return;
  if (!event.target.closest("#work")) return;
  event.preventDefault();
  answer(event.target, event.submitter);
});
