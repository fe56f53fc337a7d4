// A relation with buttons: shows what Python says, and tells which button was pressed.

function button(model, { name, label, detail }) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.title = detail;
  made.addEventListener("click", () => model.send({ press: name }));
  return made;
}

function group(model, { title, buttons }) {
  const made = document.createElement("div");
  made.className = "easeml-group";
  made.setAttribute("role", "group");
  if (title) {
    made.setAttribute("aria-label", title);
    const heading = document.createElement("strong");
    heading.textContent = title;
    made.append(heading);
  }
  for (const each of buttons) {
    const line = document.createElement(title === "Next step" ? "p" : "span");
    line.append(button(model, each));
    if (title === "Next step") line.append(` ${each.detail}`);
    made.append(line);
  }
  return made;
}

// A script that comes by innerHTML does not run; one that is made does.
function runScripts(element) {
  for (const script of element.querySelectorAll("script")) {
    const made = document.createElement("script");
    made.textContent = script.textContent;
    script.replaceWith(made);
  }
}

// What was shown for pages without a kernel gives way to what is alive.
function hideStatic(model) {
  for (const element of document.getElementsByClassName(model.get("place"))) element.hidden = true;
}

function render({ model, el }) {
  hideStatic(model);
  el.classList.add("easeml-live");
  const shown = document.createElement("div");
  const bar = document.createElement("progress");
  const said = document.createElement("p");
  said.setAttribute("aria-live", "polite");
  const stop = button(model, { name: "stop", label: "Stop", detail: "Stop after the step that runs" });
  const actions = document.createElement("div");
  el.append(shown, bar, stop, said, actions);

  const showHtml = () => {
    shown.innerHTML = model.get("html"); // made by easeml, which escapes all that comes from data
    runScripts(shown);
  };
  const showGroups = () => actions.replaceChildren(...model.get("groups").map((one) => group(model, one)));
  const showWork = () => {
    const busy = model.get("busy");
    bar.value = model.get("share");
    bar.hidden = stop.hidden = !busy;
    said.textContent = model.get("said");
    actions.inert = busy;
  };
  showHtml();
  showGroups();
  showWork();
  model.on("change:html", showHtml);
  model.on("change:groups", showGroups);
  for (const name of ["busy", "share", "said"]) model.on(`change:${name}`, showWork);
}

export default { render };
