// Elements: text from the data, class markers, and small bars as in keeptree.reporting.bars.

const SPACE = "http://www.w3.org/2000/svg";

export const get = (id) => document.getElementById(id);
export const all = (selector, root = document) => [...root.querySelectorAll(selector)];

export function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

export function shape(name, attributes, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Text from the data, isolated so that it does not reorder its surroundings. */
export function nameOf(text, longest = 80) {
  const short = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  const made = element("bdi", "", short);
  if (short !== text) made.title = text.slice(0, 300);
  return made;
}

/** The marker of a class with its name; markers are copied from the page. */
export function className(item) {
  const marker = document.querySelector(`.markers svg[data-slot="${item.slot}"]`);
  return element("span", "class-name", marker.cloneNode(true), " ", nameOf(item.label));
}

/** The true class of a case, and whether the tree was right. */
export function truthOf(data, { truth, decision }) {
  const right = truth === decision;
  const mark = element("span", `mark ${right ? "right" : "wrong"}`, right ? "✓" : "✗");
  return element("span", "truth", "actual: ", className(data.classes[truth]), "\u00a0", mark);
}

const STRETCHED = { preserveAspectRatio: "none", "aria-hidden": "true" };

/** A bar from 0 to 1. */
export function meter(share) {
  const parts = [shape("rect", { width: 100, height: 6, class: "track" }), shape("rect", { width: 100 * share, height: 6, class: "fill" })];
  return shape("svg", { viewBox: "0 0 100 6", class: "meter", ...STRETCHED }, ...parts);
}

/** A bar to the left or right of a line in the middle. */
export function pushBar(value, most, slot) {
  const width = (98 * Math.abs(value)) / most;
  const bar = shape("rect", { x: value > 0 ? 100 : 100 - width, y: 1, width, height: 8, class: `c${slot}` });
  return shape("svg", { viewBox: "0 0 200 10", class: "push", ...STRETCHED }, shape("path", { d: "M100 0V10", class: "zero" }), bar);
}
