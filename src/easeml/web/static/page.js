// What every page does besides being live: relative times, the theme, forms that need no reload, copying.

import { swap } from "./live.js";

const UNITS = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });

function tellTimes() {
  for (const element of document.querySelectorAll("time[datetime]")) {
    const moment = new Date(element.dateTime);
    const passed = (Date.now() - moment) / 1000;
    const [unit, length] = UNITS.find(([, seconds]) => Math.abs(passed) >= seconds) ?? [null, 1];
    const now = passed < 0 ? "in less than a minute" : "just now";
    const text = unit ? relative.format(-Math.trunc(passed / length), unit) : now;
    if (element.textContent !== text) element.textContent = text;
    element.title = moment.toLocaleString();
  }
}

function changeTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
}

// form.action would be a button of that name, where there is one.
async function send(form, submitter) {
  const buttons = form.querySelectorAll("button");
  const body = new FormData(form, submitter);
  for (const button of buttons) button.disabled = true;
  submitter?.setAttribute("aria-busy", "true");
  try {
    const multipart = form.enctype.startsWith("multipart/");
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body: multipart ? body : new URLSearchParams(body) });
    swap(await answer.text(), { regions: "[data-live], [data-answer]", sent: form });
    // Of a table with many columns the answer stands above, or below where the window is narrow.
    document.querySelector("[data-answer] > :nth-child(2)")?.scrollIntoView({ block: "nearest" });
  } finally {
    for (const button of buttons) button.disabled = false;
    submitter?.removeAttribute("aria-busy");
  }
}

// A picture that was chosen is shown before it is sent.
function preview(input) {
  const shown = document.getElementById(input.dataset.preview);
  const [file] = input.files;
  if (!shown || !file) return;
  const reader = new FileReader();
  reader.addEventListener("load", () => {
    shown.src = reader.result;
    shown.hidden = false;
  });
  reader.readAsDataURL(file);
}

// Where the menu or the tabs are wider than the window, the current one is in sight.
function showCurrent() {
  for (const link of document.querySelectorAll(".menu [aria-current], .tabs [aria-current]")) {
    const bar = link.parentElement;
    bar.scrollLeft = link.offsetLeft - bar.offsetLeft - (bar.clientWidth - link.offsetWidth) / 2;
  }
}

// A folded part of the page that the address names is opened.
function openNamed() {
  const named = document.getElementById(location.hash.slice(1));
  const fold = named?.querySelector(":scope > details.fold") ?? named?.closest("details.fold");
  if (!fold || fold.open) return;
  fold.open = true;
  named.scrollIntoView();
}

let asked = null;

// Another state of the same page: its address changes, the page is not left. What is asked last is what counts.
async function visit(address) {
  asked?.abort();
  asked = new AbortController();
  const mine = asked;
  try {
    const answer = await fetch(address, { signal: mine.signal });
    const html = await answer.text();
    history.pushState(null, "", answer.url);
    swap(html, { all: true });
  } catch (error) {
    if (!mine.signal.aborted) throw error;
  }
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  await navigator.clipboard.writeText(source.textContent);
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = label), 1500);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.id === "theme") changeTheme();
  else if (button?.dataset.copy) copy(button);
  else if (button?.hasAttribute("data-print")) print();
  const link = event.target.closest("a[data-ask]");
  if (link && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    visit(link.href);
  }
});

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.ask;
  if (question && !confirm(question)) event.preventDefault();
  else if (event.target.matches("[data-auto]")) {
    event.preventDefault();
    visit(`${event.target.getAttribute("action")}?${new URLSearchParams(new FormData(event.target))}`);
  } else if (event.target.matches("[data-quiet]") && !event.submitter?.hasAttribute("data-plain")) {
    event.preventDefault();
    send(event.target, event.submitter);
  }
});

// A form that asks (GET) is sent when one of its fields changes; a chosen picture is shown.
document.addEventListener("change", (event) => {
  if (event.target.dataset.preview) preview(event.target);
  const form = event.target.form;
  if (form?.matches("[data-auto]")) visit(`${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`);
});
addEventListener("popstate", () => location.reload());
addEventListener("hashchange", openNamed);
document.addEventListener("swapped", tellTimes);
setInterval(tellTimes, 10000);
tellTimes();
showCurrent();
openNamed();
