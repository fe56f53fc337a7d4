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
