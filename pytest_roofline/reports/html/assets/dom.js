// Elements without markup: every text is text, so that no name in a run can become part of the page.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const replace = (element, ...children) => element.replaceChildren(...children.flat(3).filter(Boolean));
const mono = (value) => h("span", { class: "mono" }, value);

// What the pointer is over, or the keyboard is on.
const tip = document.getElementById("tip");
function showTip(lines, x, y) {
  replace(
    tip,
    lines.map((line, i) => h(i ? "div" : "strong", null, line)),
  );
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth ? x - 14 - box.width : x + 14;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, Math.min(y + 14, innerHeight - box.height - 4)) + "px";
}
const hideTip = () => {
  tip.hidden = true;
};

function tipped(element, lines) {
  const at = (event) => showTip(lines(), event.clientX, event.clientY);
  element.addEventListener("pointerenter", at);
  element.addEventListener("pointermove", at);
  element.addEventListener("pointerleave", hideTip);
  element.addEventListener("focus", () => {
    const box = element.getBoundingClientRect();
    showTip(lines(), box.right, box.top);
  });
  element.addEventListener("blur", hideTip);
  return element;
}

// One tab stop for a group of marks; the arrow keys go from one to the next.
function roving(group, marks) {
  marks.forEach((mark, i) => mark.setAttribute("tabindex", i ? "-1" : "0"));
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const here = marks.indexOf(document.activeElement);
    if (!step || here < 0) return;
    event.preventDefault();
    const next = marks[(here + step + marks.length) % marks.length];
    marks[here].setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}

function choice(label, values, value, onchange) {
  const select = h(
    "select",
    { onchange: () => onchange(select.value) },
    values.map(([key, name]) => h("option", { value: key, selected: key === value }, name)),
  );
  return h("label", { class: "field" }, h("span", null, label), select);
}

function toggle(label, checked, onchange) {
  const box = h("input", { type: "checkbox", checked, onchange: () => onchange(box.checked) });
  return h("label", { class: "toggle" }, box, label);
}

function segmented(label, values, value, onchange) {
  const buttons = values.map(([key, name]) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": String(key === value),
        onclick: () => {
          buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(values[i][0] === key)));
          onchange(key);
        },
      },
      name,
    ),
  );
  return h("div", { class: "segmented", role: "group", "aria-label": label }, buttons);
}

const card = (title, ...children) => h("section", { class: "card" }, title ? h("h2", null, title) : null, children);
const pairs = (list) =>
  h(
    "dl",
    { class: "pairs" },
    list
      .filter(Boolean)
      .map(([name, value, note]) =>
        h("div", null, h("dt", null, name), h("dd", null, value, note ? h("small", null, note) : null)),
      ),
  );
