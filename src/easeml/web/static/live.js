// Keeps an open page in step with the service.
//
// Every event of the visitor's tenant makes the page fetch itself again; the elements marked data-live (each with an
// id) whose HTML changed are swapped, unless something typed in them would be lost, and new ones appear; a form's answer swaps those marked
// data-answer, too. A lost connection is said, tried again, and followed by the same fetch, so that nothing is missed.
// A page in a hidden tab holds no connection.

const PAUSE = 300; // ms: events that come together cause one fetch
const LONGEST_RETRY = 5000;

const banner = document.getElementById("connection");
let stream = null;
let retry = 500;
let scheduled = null;
let busy = false;
let again = false;
let latest = ""; // number of the newest event; none is known of a stream that has just begun
let etag = "";
let asks = 0; // how often the visitor got something that he asked for
let refused = false; // the notice says why a form was refused: it stays till the visitor asks again

// Swaps what the visitor did not ask for himself only where it takes nothing from him; `all` swaps the rest, too, and
// `sent` what holds the form that was sent.
export function swap(html, { regions = "[data-live]", all = false, sent = null } = {}) {
  etag = "";
  asks += 1;
  show(html, regions, (region) => all || region.contains(sent) || !isBeingEdited(region));
  refused = Boolean(sent && document.querySelector("#notice .notice-bad"));
}

function show(html, regions, mayReplace) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const ids = new Set([...regionsOf(fresh, regions), ...regionsOf(document, regions)]);
  for (const id of ids) {
    const next = fresh.getElementById(id);
    const old = document.getElementById(id);
    if (!next) continue;
    if (!old) insert(next);
    else if (old.outerHTML !== next.outerHTML && mayReplace(old)) replace(old, next);
  }
  document.dispatchEvent(new Event("swapped"));
}

// What waits, such as for a question, is live; what comes in its place may not be, and has to come all the same.
function regionsOf(page, regions) {
  return [...page.querySelectorAll(regions)].map((region) => region.id);
}

// Puts a region that the page did not have yet beside what stands next to it.
function insert(next) {
  const before = neighbour(next, "previousElementSibling");
  const after = neighbour(next, "nextElementSibling");
  if (before) before.after(document.adoptNode(next));
  else if (after) after.before(document.adoptNode(next));
}

function neighbour(region, way) {
  for (let near = region[way]; near; near = near[way]) {
    const here = near.id && document.getElementById(near.id);
    if (here) return here;
  }
  return null;
}

function isBeingEdited(region) {
  const active = document.activeElement;
  if (region.contains(active) && active.matches("input, select, textarea")) return true;
  return [...region.querySelectorAll("input, textarea")].some(
    (field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked,
  );
}

function replace(old, next) {
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  for (const open of old.querySelectorAll("details[open][id]")) {
    const same = next.querySelector(`#${CSS.escape(open.id)}`);
    if (same) same.open = true;
  }
  old.replaceWith(document.adoptNode(next));
  if (focused) document.getElementById(focused)?.focus();
}

export async function refresh() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  const before = asks;
  try {
    const headers = { "x-live": latest, ...(etag && { "if-none-match": etag }) };
    const answer = await fetch(location.href, { headers });
    if (answer.redirected && new URL(answer.url).pathname !== location.pathname) location.assign(answer.url);
    else if (answer.status !== 304) {
      const html = await answer.text();
      if (asks !== before) again = true; // the page shows something else by now
      else {
        show(html, "[data-live]", (region) => !isBeingEdited(region) && !(refused && region.id === "notice"));
        etag = answer.headers.get("etag") ?? "";
      }
    }
  } catch {
    // the stream notices, too, and refreshes when it is back
  }
  busy = false;
  if (again) {
    again = false;
    schedule();
  }
}

function schedule() {
  if (scheduled) return;
  scheduled = setTimeout(() => {
    scheduled = null;
    refresh();
  }, PAUSE);
}

function connect() {
  stream = new EventSource(document.body.dataset.stream);
  stream.onopen = () => {
    latest = "";
    banner.hidden = true;
    retry = 500;
    document.documentElement.dataset.connected = "true";
    refresh();
  };
  stream.onerror = () => {
    disconnect();
    banner.hidden = false;
    setTimeout(() => document.hidden || stream || connect(), retry);
    retry = Math.min(retry * 1.6, LONGEST_RETRY);
  };
  for (const kind of document.body.dataset.events.split(" ")) stream.addEventListener(kind, hear);
}

function hear(event) {
  latest = event.lastEventId;
  schedule();
}

// What an attempt prints is no event: while there is such a thing on the page, it asks by itself.
setInterval(() => {
  if (stream && document.querySelector("[data-every]")) {
    latest = "";
    schedule();
  }
}, 1000);

function disconnect() {
  stream?.close();
  stream = null;
  delete document.documentElement.dataset.connected;
}

function followVisibility() {
  if (document.hidden) disconnect();
  else if (!stream) connect();
}

if (document.querySelector("[data-live]") && document.body.dataset.events) {
  document.addEventListener("visibilitychange", followVisibility);
  addEventListener("pagehide", disconnect);
  followVisibility();
}
