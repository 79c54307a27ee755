// The what-if controls: one per attribute, changed by slider, field, chip or key.

import { atMost, nextAbove, plainNumber } from "./numbers.js";
import { compared } from "../../exporters/js/tree.js";
import { roundOutwards, valueText } from "./words.js";
import { readValue } from "./state.js";
import { all } from "./dom.js";

const STEPS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };

/** The controls of the page by attribute, including those that are not shown yet. */
export function findControls() {
  const roots = [...all(".controls > .control"), ...all(".controls > .later").map((later) => later.content.firstElementChild)];
  return roots.map((root) => ({
    root,
    at: Number(root.dataset.attribute),
    lock: root.querySelector(".lock"),
    number: root.querySelector(".number"),
    range: root.querySelector(".range"),
    choice: root.querySelector(".choice"),
    radios: all(".chip input", root),
    unknown: root.querySelector(".unknown input"),
    thresholds: all(".threshold", root),
    beyond: root.querySelector(".beyond"),
  }));
}

/** Show a value, its lock and the thresholds that it passes. */
export function renderControl({ data, tree }, control, state) {
  const { at, root } = control;
  const attribute = data.attributes[at];
  const value = state.x[at];
  root.classList.toggle("changed", value !== state.base[at]);
  control.lock.setAttribute("aria-pressed", String(state.locked.has(at)));
  if (control.unknown) control.unknown.checked = value === null;
  if (attribute.kind === "nominal") {
    if (control.choice) control.choice.value = value === null ? "" : String(value);
    for (const radio of control.radios) radio.checked = value !== null && Number(radio.value) === value;
    return;
  }
  const typing = document.activeElement === control.number;
  const typed = readValue(attribute, control.number.value, tree.float32);
  if (!typing || (typed !== value && typed !== undefined)) control.number.value = value === null ? "" : String(value);
  if (value !== null) control.range.value = String(value);
  control.range.setAttribute("aria-valuetext", valueText(attribute, value));
  for (const mark of control.thresholds) mark.classList.toggle("passed", value !== null && compared(value, tree) > Number(mark.dataset.at));
  const outside = value !== null && attribute.least !== null && (value < attribute.least || value > attribute.most);
  control.beyond.textContent = outside ? `beyond the data (${plainNumber(attribute.least)} to ${plainNumber(attribute.most)})` : "";
}

/** A number rounded to the decimals of the attribute. */
function onGrid(attribute, value) {
  return Number(value.toFixed(attribute.decimals));
}

/** The value just across the next threshold. */
function acrossThreshold({ data, tree }, at, current, up) {
  const attribute = data.attributes[at];
  const value = current ?? attribute.typical;
  const here = compared(value, tree);
  const thresholds = attribute.thresholds;
  const next = up ? thresholds.findIndex((t) => here <= t) : thresholds.findLastIndex((t) => here > t);
  if (next < 0) return undefined;
  const after = up ? nextAbove(thresholds[next], tree.float32) : atMost(thresholds[next], tree.float32);
  const inside = up ? (v) => v >= after && v <= (thresholds[next + 1] ?? Infinity) : (v) => v <= after && v > (thresholds[next - 1] ?? -Infinity);
  return roundOutwards(value, after, inside);
}

/**
 * Listen to a control. `hand` holds the callbacks: `move` during a gesture, `release` at its end,
 * `moveOnce` for a single step, `lock`, and `value` for the current value.
 */
export function listen(book, control, hand) {
  const { at, root, number, range, choice, radios, unknown } = control;
  const attribute = book.data.attributes[at];
  const { float32 } = book.tree;
  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const numeric = attribute.kind === "numeric" && !event.target.matches("select, .lock");
    const sideways = event.target === number && /Left|Right/.test(event.key);
    if (event.key.toLowerCase() === "l") hand.lock(at);
    else if (numeric && (event.key === "[" || event.key === "]")) hand.moveOnce(at, acrossThreshold(book, at, hand.value(at), event.key === "]"));
    else if (numeric && event.key in STEPS && !sideways) hand.move(at, onGrid(attribute, (hand.value(at) ?? attribute.typical) + STEPS[event.key] * attribute.step));
    else return;
    event.preventDefault();
  };
  const leave = () => {
    // An emptied field means "not known" if the tree has a rule for missing values; otherwise it is ignored.
    if (number.value.trim() === "" && !number.validity.badInput) hand.moveOnce(at, readValue(attribute, "?", float32));
    hand.release();
    number.value = hand.value(at) === null ? "" : String(hand.value(at));
  };
  control.lock.addEventListener("click", () => hand.lock(at));
  root.addEventListener("keydown", onKey);
  root.addEventListener("keyup", (event) => event.key in STEPS && hand.release());
  range?.addEventListener("input", () => hand.move(at, onGrid(attribute, Number(range.value))));
  range?.addEventListener("change", hand.release);
  number?.addEventListener("input", () => hand.move(at, readValue(attribute, number.value, float32)));
  number?.addEventListener("change", leave);
  number?.addEventListener("blur", leave);
  choice?.addEventListener("change", () => hand.moveOnce(at, readValue(attribute, choice.value || "?", float32)));
  for (const radio of radios) radio.addEventListener("change", () => hand.moveOnce(at, Number(radio.value)));
  unknown?.addEventListener("change", () => hand.moveOnce(at, unknown.checked ? null : hand.known(at)));
}
