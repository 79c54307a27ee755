// The controls of the what-if: one attribute each, moved by slider, field, chip or key.

import { atMost, nextAbove, plainNumber } from "./numbers.js";
import { compared } from "../../exporters/js/tree.js";
import { roundOutwards, valueText } from "./words.js";
import { readValue } from "./state.js";
import { all } from "./dom.js";

const STEPS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };

/** The controls of the page by attribute, those of many attributes that are not shown yet included. */
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

/** Show a value, its lock, and the thresholds it has passed. */
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

/** A number on the grid of the attribute's own decimals. */
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
 * Listen to a control. `hand` says what it does: `move` while a gesture lasts, `release` at its end,
 * `moveOnce` for a single step, `lock`, and `value` for the present one.
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
    // A field that was emptied means "not known" where the tree has a rule for it, else nothing.
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
