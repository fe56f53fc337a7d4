// Reads figures: exact values on hover and by arrow keys, and a part enlarged by dragging or by + and -.
//
// What it shows (the tip, the ring, the frame of a drag) lies above the page and not in it, so a page that swaps a figure
// for a newer one finds it as it was made. Only an enlarged part changes the figure itself, and is set again after a swap.

(() => {
  if (window.easemlFigures) return;
  window.easemlFigures = true;

  const NEAR = 40; // pixels from the pointer to a point that is told
  const LEAST_DRAG = 12; // pixels
  const STEP = 1.6; // of + and -
  const WHOLE = { left: 0, top: 0, right: 1, bottom: 1 };
  const parts = new Map(); // id of a plot -> the enlarged part, in shares of the whole
  const data = new WeakMap();

  const made = (css) => {
    const element = document.createElement("div");
    element.className = css;
    element.hidden = true;
    return element;
  };
  const tip = made("fig-tip");
  const ring = made("fig-ring");
  const chosen = made("fig-chosen");
  tip.setAttribute("role", "status");

  let at = null; // { plot, series, place } of the point that is told
  let left = null; // the point that was told when the focus went
  let drag = null;

  function read(plot) {
    if (!data.has(plot)) {
      const found = JSON.parse(plot.dataset.figure);
      const box = plot.querySelector(".fig-marks").viewBox.baseVal;
      data.set(plot, { ...found, width: box.width, height: box.height });
    }
    return data.get(plot);
  }

  const partOf = (plot) => parts.get(plot.id || plot) ?? WHOLE;

  // The plot without its labels, which hang over.
  const areaOf = (plot) => {
    const { left, top } = plot.getBoundingClientRect();
    return { left, top, width: plot.clientWidth, height: plot.clientHeight };
  };

  function placeOf(plot, point) {
    const { width, height } = read(plot);
    const part = partOf(plot);
    const area = areaOf(plot);
    const x = (point[0] / width - part.left) / (part.right - part.left);
    const y = (point[1] / height - part.top) / (part.bottom - part.top);
    return { x: area.left + x * area.width, y: area.top + y * area.height, seen: x >= 0 && x <= 1 && y >= 0 && y <= 1 };
  }

  function line(text, bold = false) {
    const element = document.createElement(bold ? "b" : "span");
    element.textContent = text;
    return element;
  }

  function told(axis, value, interval = "") {
    const unit = axis.unit ? ` ${axis.unit}` : "";
    return line(`${axis.title}: ${value}${unit}${interval && ` (${interval})`}`);
  }

  function tell(plot, series, place) {
    const found = read(plot);
    const point = found.series[series].points[place];
    const spot = placeOf(plot, point);
    const [, , x, y, interval = "", note = "", link = ""] = point;
    const sideways = Boolean(found.y.names);
    const lines = [told(found.x, x, sideways ? interval : ""), told(found.y, y, sideways ? "" : interval)];
    const name = [found.series[series].name, note].filter(Boolean).join(": ");
    if (name) lines.unshift(line(name, true));
    if (link) lines.push(line("Enter or click opens it"));
    at = { plot, series, place };
    (plot.closest(".fig-page") ?? document.body).append(ring, tip);
    tip.replaceChildren(...lines);
    tip.hidden = ring.hidden = false;
    plot.style.cursor = link ? "pointer" : "";
    ring.style.left = `${spot.x}px`;
    ring.style.top = `${spot.y}px`;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(spot.x + 14, room))}px`;
    const above = spot.y - tip.offsetHeight - 12;
    tip.style.top = `${above > 8 ? above : spot.y + 16}px`;
  }

  function hush() {
    if (at) at.plot.style.cursor = "";
    at = null;
    tip.hidden = ring.hidden = true;
  }

  // A page in step with the service draws its charts anew: whoever reads one stays at the point where they were. Its
  // removal took the focus from it, which the page gives to the new one.
  function goOn() {
    const before = at ?? left;
    left = null;
    if (!before || before.plot.isConnected) return;
    const plot = before.plot.id && document.getElementById(before.plot.id);
    if (!plot || (!at && document.activeElement !== plot)) return hush();
    const wanted = JSON.stringify(read(before.plot).series[before.series].points[before.place].slice(2));
    for (const [series, one] of read(plot).series.entries()) {
      const place = one.points.findIndex((point) => JSON.stringify(point.slice(2)) === wanted);
      if (place >= 0) return tell(plot, series, place);
    }
    hush();
  }

  function nearest(plot, x, y, { within = Infinity, series = null, flat = false } = {}) {
    let best = null;
    let least = within;
    read(plot).series.forEach((one, number) => {
      if (series !== null && number !== series) return;
      one.points.forEach((point, place) => {
        const spot = placeOf(plot, point);
        if (!spot.seen) return;
        const distance = Math.hypot(spot.x - x, flat ? 0 : spot.y - y);
        if (distance < least) [best, least] = [{ series: number, place }, distance];
      });
    });
    return best;
  }

  function open(event) {
    const link = at && read(at.plot).series[at.series].points[at.place][6];
    if (!link) return;
    if (event.ctrlKey || event.metaKey) window.open(link, "_blank", "noopener");
    else location.assign(link);
  }

  // Along a series in the order of places from the left (or the top, beside categories); up and down to another series.
  function walk(plot, key) {
    const { series, y } = read(plot);
    const along = y.names ? 1 : 0;
    if (!at || at.plot !== plot) {
      const number = series.findIndex((one) => one.points.length);
      if (number >= 0) tell(plot, number, ordered(series[number], along)[0]);
      return;
    }
    const order = ordered(series[at.series], along);
    const now = order.indexOf(at.place);
    if (key === "Home") return tell(plot, at.series, order[0]);
    if (key === "End") return tell(plot, at.series, order.at(-1));
    const [back, on] = along ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
    if (key === back || key === on) {
      const next = Math.min(Math.max(now + (key === on ? 1 : -1), 0), order.length - 1);
      return tell(plot, at.series, order[next]);
    }
    const step = key === "ArrowUp" || key === "ArrowLeft" ? -1 : 1;
    for (let other = at.series + step; series[other]; other += step) {
      const spot = placeOf(plot, series[at.series].points[at.place]);
      const found = nearest(plot, spot.x, spot.y, { series: other, flat: !along });
      if (found) return tell(plot, found.series, found.place);
    }
  }

  function ordered(one, along) {
    const places = one.points.map((_, place) => place);
    return places.sort((a, b) => one.points[a][along] - one.points[b][along] || a - b);
  }

  function enlarge(plot, part) {
    const whole = part.right - part.left >= 1 && part.bottom - part.top >= 1;
    if (whole) parts.delete(plot.id || plot);
    else parts.set(plot.id || plot, part);
    show(plot);
    hush();
  }

  function scaled(plot, factor) {
    const part = partOf(plot);
    const { width, height, series } = read(plot);
    const point = at ? series[at.series].points[at.place] : null;
    const x = point ? point[0] / width : (part.left + part.right) / 2;
    const y = point ? point[1] / height : (part.top + part.bottom) / 2;
    const [left, right] = between(x - (x - part.left) * factor, x + (part.right - x) * factor);
    const [top, bottom] = between(y - (y - part.top) * factor, y + (part.bottom - y) * factor);
    return { left, right, top, bottom };
  }

  const between = (low, high) => [Math.max(0, low), Math.min(1, high)];

  function show(plot) {
    const part = partOf(plot);
    const { width, height, x, y } = read(plot);
    const marks = plot.querySelector(".fig-marks");
    const size = [(part.right - part.left) * width, (part.bottom - part.top) * height];
    marks.setAttribute("viewBox", `${part.left * width} ${part.top * height} ${size.join(" ")}`);
    marks.style.overflow = part === WHOLE ? "" : "hidden";
    const ticks = plot.querySelector(".fig-ticks");
    if (!plot.wholeTicks) plot.wholeTicks = ticks.innerHTML;
    if (part === WHOLE) ticks.innerHTML = plot.wholeTicks;
    else {
      const down = y.names ? [part.top, part.bottom] : [1 - part.bottom, 1 - part.top];
      ticks.replaceChildren(
        ...labels(y, ...down).flatMap(([share, text]) => rung(y.names ? share : 1 - share, text)),
        ...labels(x, part.left, part.right).map(([share, text]) => label(text, { x: share, y: 1, dy: 20, anchor: "middle" })),
      );
    }
    reset(plot, part !== WHOLE);
  }

  function reset(plot, needed) {
    const figure = plot.closest(".fig");
    const button = figure.querySelector(".fig-reset");
    if (!needed) return button?.remove();
    if (button) return;
    const fresh = document.createElement("button");
    fresh.type = "button";
    fresh.className = "fig-reset button button-small";
    fresh.textContent = "Show all";
    fresh.addEventListener("click", () => {
      enlarge(plot, WHOLE);
      plot.focus();
    });
    figure.append(fresh);
  }

  // [share of the part, text] of an axis between two shares of its whole.
  function labels(axis, from, to) {
    if (axis.names) {
      const count = axis.names.length;
      const spots = axis.names.map((name, place) => [((place + 0.5) / count - from) / (to - from), name]);
      return spots.filter(([share]) => share >= 0 && share <= 1);
    }
    const value = (share) => (axis.log ? axis.low * (axis.high / axis.low) ** share : axis.low + share * (axis.high - axis.low));
    const [low, high] = [value(from), value(to)];
    const share = (one) => (axis.log ? Math.log(one / low) / Math.log(high / low) : (one - low) / (high - low));
    const found = axis.log && high / low > 100 ? powers(low, high) : round(low, high);
    return found.map((one) => [share(one), one.toLocaleString("en", { maximumSignificantDigits: 7, useGrouping: !axis.data })]);
  }

  function powers(low, high) {
    const found = [];
    for (let power = Math.ceil(Math.log10(low)); 10 ** power <= high; power += 1) found.push(10 ** power);
    return found;
  }

  function round(low, high) {
    const rough = (high - low) / 6;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
    const found = [];
    for (let count = Math.ceil(low / step); count * step <= high; count += 1) found.push(count * step);
    return found;
  }

  function drawn(name, attributes, text = "") {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  }

  const label = (text, { x, y, dx = 0, dy, anchor }) =>
    drawn("text", { x: `${100 * x}%`, y: `${100 * y}%`, dx, dy, "text-anchor": anchor }, text);

  function rung(share, text) {
    const y = `${100 * share}%`;
    const grid = drawn("line", { class: "fig-grid", x1: 0, x2: "100%", y1: y, y2: y });
    return [grid, label(text, { x: 0, y: share, dx: -10, dy: 4, anchor: "end" })];
  }

  const plotOf = (event) => event.target.closest?.(".fig-plot[data-figure]");

  document.addEventListener("pointermove", (event) => {
    if (drag) return stretch(event);
    const plot = plotOf(event);
    const found = plot && nearest(plot, event.clientX, event.clientY, { within: NEAR });
    if (found) tell(plot, found.series, found.place);
    else if (at && document.activeElement !== at.plot) hush();
  });

  document.addEventListener("pointerdown", (event) => {
    const plot = plotOf(event);
    if (plot && event.button === 0 && event.pointerType !== "touch") drag = { plot, x: event.clientX, y: event.clientY };
  });

  function stretch(event) {
    const [width, height] = [Math.abs(event.clientX - drag.x), Math.abs(event.clientY - drag.y)];
    drag.wide = width > LEAST_DRAG;
    if (!drag.wide) return;
    const area = areaOf(drag.plot);
    const flat = height <= LEAST_DRAG;
    Object.assign(chosen.style, {
      left: `${Math.min(event.clientX, drag.x)}px`,
      top: `${flat ? area.top : Math.min(event.clientY, drag.y)}px`,
      width: `${width}px`,
      height: `${flat ? area.height : height}px`,
    });
    hush();
    (drag.plot.closest(".fig-page") ?? document.body).append(chosen);
    chosen.hidden = false;
  }

  document.addEventListener("pointerup", (event) => {
    const ended = drag;
    drag = null;
    if (!ended) return;
    if (!ended.wide) return void (plotOf(event) === ended.plot && open(event));
    const area = areaOf(ended.plot);
    const box = chosen.getBoundingClientRect();
    chosen.hidden = true;
    const part = partOf(ended.plot);
    const share = (value, start, length, low, high) => low + Math.min(1, Math.max(0, (value - start) / length)) * (high - low);
    const [left, right] = [box.left, box.right].map((one) => share(one, area.left, area.width, part.left, part.right));
    const [top, bottom] = [box.top, box.bottom].map((one) => share(one, area.top, area.height, part.top, part.bottom));
    if (right > left && bottom > top) enlarge(ended.plot, { left, top, right, bottom });
  });

  const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];

  // Heard before the page hears it: there arrow keys may mean something else.
  document.addEventListener(
    "keydown",
    (event) => {
      const plot = plotOf(event);
      if (!plot || event.altKey || event.ctrlKey || event.metaKey) return;
      if (KEYS.includes(event.key)) walk(plot, event.key);
      else if (event.key === "Enter") open(event);
      else if (event.key === "Escape") hush();
      else if (event.key === "+") enlarge(plot, scaled(plot, 1 / STEP));
      else if (event.key === "-") enlarge(plot, scaled(plot, STEP));
      else if (event.key === "0") enlarge(plot, WHOLE);
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    true,
  );
  document.addEventListener("focusout", (event) => {
    if (!plotOf(event)) return;
    left = at;
    hush();
  });
  document.addEventListener("scroll", hush, true);
  document.addEventListener("swapped", () => {
    for (const plot of document.querySelectorAll(".fig-plot[id]")) if (parts.has(plot.id)) show(plot);
    goOn();
  });
})();
