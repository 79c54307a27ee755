// The page: one state, one render; everything else only asks for another state.

import { atMost, countText, nextAbove, plainNumber } from "./numbers.js";
import { compared, decide, route } from "./tree.js";
import { distance, inside, nearest, obstacles } from "./nearest.js";
import { probability } from "./probability.js";
import { distanceText, roundOutwards, valueText } from "./words.js";
import { fromHash, isMoved, readValue, redo, remember, selectCase, startState, toHash, undo, withLock, withValue } from "./state.js";
import { changeSentence, compareWithPython, estimateOf, judge, tellCase } from "./judge.js";
import { className, drawOutline, element } from "./outline.js";
import { drawCases } from "./cases.js";
import { drawResult } from "./result.js";
import { saveText, standalone } from "./save.js";

const data = JSON.parse(document.getElementById("data").textContent);
const { metric, model } = data.whatif;
const tree = { ...data.whatif.tree, float32: data.whatif.float32, order: data.attributes.map((attribute) => attribute.column) };
const book = { data, tree, metric, model };
data.below = Map.groupBy ? Map.groupBy(data.nodes, (node) => node.parent) : groupByParent(data.nodes);
const byId = new Map(data.nodes.map((node) => [node.id, node]));
const get = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

let state = startState(data);
let gesture = false; // whether a drag or typing has begun that undo takes back as one
let table = { show: "first", sort: "distance", descending: false, rows: 25 };
const view = { open: new Set(data.open), found: new Set(), leaf: null, timer: 0, frame: 0 };
const markers = Object.fromEntries(all(".markers svg").map((svg) => [svg.dataset.slot, svg]));

// ---- render

function render() {
  view.frame = 0;
  const seen = judge(book, state);
  view.seen = seen;
  renderBar(seen);
  renderTree(seen);
  renderResult(seen);
  all(".here").forEach((ring) => renderRing(ring, seen));
  state.x.forEach((value, at) => controls[at].root.isConnected && renderControl(at, value));
  get("undo").disabled = !state.past.length;
  get("redo").disabled = !state.future.length;
  get("apply").disabled = !seen.change;
  if (get("reset")) get("reset").disabled = !seen.moved;
  all(".cases tbody tr").forEach((row) => row.setAttribute("aria-selected", String(Number(row.dataset.case) === state.case)));
  clearTimeout(view.timer);
  view.timer = setTimeout(announce, 400);
}

function schedule() {
  if (!view.frame) view.frame = requestAnimationFrame(render);
}

function update(next) {
  state = next;
  schedule();
}

function renderBar(seen) {
  const shown = get("shown");
  const decided = element("span", "decided", "tree: ");
  decided.append(className(data.classes[seen.label], markers));
  const parts = [decided];
  if (state.case !== null) parts.unshift(element("span", "only-print", `Case ${data.cases[state.case].id.slice(0, 60)}`));
  const estimate = estimateOf(data, seen.p);
  if (estimate) parts.push(element("span", "estimate", estimate.text));
  if (Number.isFinite(seen.distance)) parts.push(element("span", "far", `${seen.least ? "≥ " : ""}${distanceText(seen.distance)} SD`));
  if (seen.moved) parts.push(element("span", "moved", "moved"));
  else if (state.case === null) parts.push(element("span", "moved", "typical values"));
  shown.replaceChildren(...parts);
  if (get("case") && state.case !== null) get("case").value = String(state.case);
}

function renderTree(seen) {
  const key = [...seen.shares].join();
  if (view.leaf === key) return;
  view.leaf = key;
  if (data.open === null) {
    for (const part of all("#tree [data-node]")) {
      const share = seen.shares.get(Number(part.dataset.node));
      part.classList.toggle("on", share !== undefined);
      part.style.setProperty("--share", share ?? 1);
    }
    return;
  }
  const open = new Set([...view.open, ...seen.shares.keys()]);
  drawOutline(document.querySelector(".outline"), data, markers, countText, open, seen.shares, view.found);
}

function renderResult(seen) {
  view.sentence = changeSentence(book, seen);
  get("result").replaceChildren(...drawResult(data, seen, view.sentence, markers));
}

/** The case shown glides over the chart of probability against distance. */
function renderRing(ring, { p, label }) {
  const { class: shown, low, high, zero, unit, foot, rise } = Object.fromEntries(Object.entries(ring.dataset).map(([key, text]) => [key, Number(text)]));
  ring.classList.toggle("off", p === null);
  if (p === null) return;
  const across = Math.min(Math.max(inside(tree, metric, state.x, shown, label), low), high);
  ring.style.transform = `translate(${zero + unit * across}px, ${foot + rise * p[shown]}px)`;
}

function renderControl(at, value) {
  const attribute = data.attributes[at];
  const control = controls[at];
  control.root.classList.toggle("changed", value !== state.base[at]);
  control.lock.setAttribute("aria-pressed", String(state.locked.has(at)));
  control.root.classList.toggle("locked", state.locked.has(at));
  if (control.unknown) control.unknown.checked = value === null;
  if (attribute.kind === "nominal") {
    if (control.choice) control.choice.value = value === null ? "" : String(value);
    for (const radio of control.radios) radio.checked = value !== null && Number(radio.value) === value;
    return;
  }
  if (document.activeElement !== control.number || readValue(attribute, control.number.value, tree.float32) !== value) {
    control.number.value = value === null ? "" : String(value);
  }
  if (value !== null) control.range.value = String(value);
  control.range.setAttribute("aria-valuetext", valueText(attribute, value));
  control.root.classList.toggle("missing", value === null);
  for (const mark of control.thresholds) mark.classList.toggle("passed", value !== null && compared(value, tree) > Number(mark.dataset.at));
  const outside = value !== null && attribute.least !== null && (value < attribute.least || value > attribute.most);
  control.beyond.textContent = outside ? `beyond the data (${plainNumber(attribute.least)} to ${plainNumber(attribute.most)})` : "";
}

/** What is said once the hand rests: for screen readers, the link, and why nothing changes. */
function announce() {
  const { seen } = view;
  const estimate = estimateOf(data, seen.p);
  get("status").textContent = `${data.classes[seen.label].label}${estimate ? `, ${estimate.text}` : ""}`;
  if (!seen.change) {
    view.sentence = changeSentence(book, seen, obstacles(tree, metric, state.x, state.locked));
    const change = document.querySelector("#result .change");
    change.firstChild.textContent = view.sentence;
  }
}

function saveLink() {
  try {
    history.replaceState(null, "", toHash(data, state));
  } catch {
    // A sandboxed frame has no history of its own; the page works without.
  }
}

// ---- controls

const FIRST_CONTROLS = 30; // of many attributes the others are made when they are needed
const roots = [...all(".controls > .control"), ...all(".controls > .later").map((later) => later.content.firstElementChild)];
const controls = roots.map((root) => ({
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

/** Move a value; the first move of a gesture is what undo goes back to. */
function move(at, value) {
  if (value === undefined || value === state.x[at]) return;
  if (!gesture) state = remember(state);
  gesture = true;
  update(withValue(state, at, value));
}

function release() {
  gesture = false;
  saveLink();
}

function moveOnce(at, value) {
  gesture = false;
  move(at, value);
  release();
}

/** A number on the grid of the attribute's own decimals. */
function onGrid(attribute, value) {
  return Number(value.toFixed(attribute.decimals));
}

/** The value just across the next threshold. */
function acrossThreshold(at, up) {
  const attribute = data.attributes[at];
  const value = state.x[at] ?? attribute.typical;
  const here = tree.float32 ? Math.fround(value) : value;
  const next = up ? attribute.thresholds.find((t) => here <= t) : attribute.thresholds.findLast((t) => here > t);
  if (next === undefined) return undefined;
  const after = up ? nextAbove(next, tree.float32) : atMost(next, tree.float32);
  const others = attribute.thresholds;
  const at2 = others.indexOf(next);
  const inside = up ? (v) => v >= after && v <= (others[at2 + 1] ?? Infinity) : (v) => v <= after && v > (others[at2 - 1] ?? -Infinity);
  return roundOutwards(value, after, inside);
}

const STEPS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };

function onKey(event, at) {
  const attribute = data.attributes[at];
  const typing = event.target.matches("select, .lock");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "l" || event.key === "L") {
    toggleLock(at);
  } else if (attribute.kind === "numeric" && !typing && (event.key === "[" || event.key === "]")) {
    moveOnce(at, acrossThreshold(at, event.key === "]"));
  } else if (attribute.kind === "numeric" && event.key in STEPS && !typing && !(event.target === controls[at].number && event.key.match(/Left|Right/))) {
    move(at, onGrid(attribute, (state.x[at] ?? attribute.typical) + STEPS[event.key] * attribute.step));
  } else {
    return;
  }
  event.preventDefault();
}

function toggleLock(at) {
  update(withLock(remember(state), at, !state.locked.has(at)));
  release();
}

for (const control of controls) {
  const { at } = control;
  const attribute = data.attributes[at];
  control.lock.addEventListener("click", () => toggleLock(at));
  control.root.addEventListener("keydown", (event) => onKey(event, at));
  control.root.addEventListener("keyup", (event) => event.key in STEPS && release());
  control.range?.addEventListener("input", () => move(at, onGrid(attribute, Number(control.range.value))));
  control.range?.addEventListener("change", release);
  control.number?.addEventListener("input", () => move(at, readValue(attribute, control.number.value, tree.float32)));
  control.number?.addEventListener("change", release);
  control.choice?.addEventListener("change", () => moveOnce(at, readValue(attribute, control.choice.value || "?", tree.float32)));
  for (const radio of control.radios) radio.addEventListener("change", () => moveOnce(at, Number(radio.value)));
  control.unknown?.addEventListener("change", () => moveOnce(at, control.unknown.checked ? null : (state.base[at] ?? attribute.typical)));
}

/** Controls in the order one needs them: on the way, in the nearest change, the rest. */
function orderControls() {
  const { shares, moves } = judge(book, state);
  const way = [...shares.keys()].map((node) => tree.attribute[node]).filter((at) => at !== null);
  const order = [...new Set([...way, ...moves.map((item) => item.attribute), ...controls.keys()])];
  const shown = get("all-controls") ? order.slice(0, FIRST_CONTROLS) : order;
  document.querySelector(".controls").replaceChildren(...shown.map((at) => controls[at].root));
}

get("all-controls")?.addEventListener("click", () => {
  get("all-controls").remove();
  orderControls();
  schedule();
});

// ---- cases

function choose(index) {
  update(selectCase(data, index, state.locked));
  gesture = false;
  orderControls();
  saveLink();
}

function step(by) {
  const count = data.cases.length;
  choose(((state.case ?? 0) + by + count) % count);
}

function redrawCases() {
  drawCases(data, markers, table, state.case);
}

document.querySelector(".cases")?.addEventListener("click", (event) => {
  const sort = event.target.closest(".sort");
  const row = event.target.closest("tbody tr");
  if (sort) {
    const key = sort.dataset.sort;
    table = { ...table, sort: key, descending: table.sort === key ? !table.descending : false };
    redrawCases();
  } else if (row?.dataset.case && data.rows) {
    choose(Number(row.dataset.case));
  }
});
all(".filters button").forEach((button) =>
  button.addEventListener("click", () => {
    table = { ...table, show: button.dataset.show, rows: 25 };
    all(".filters button").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
    redrawCases();
  }),
);
get("more")?.addEventListener("click", () => {
  table = { ...table, rows: table.rows + 25 };
  redrawCases();
});
get("case")?.addEventListener("change", () => choose(Number(get("case").value)));
get("previous")?.addEventListener("click", () => step(-1));
get("next")?.addEventListener("click", () => step(1));

// ---- buttons

function applyChange() {
  const { change, moves } = judge(book, state);
  if (!change) return;
  let next = remember(state);
  for (const { attribute, rounded: value } of moves) next = withValue(next, attribute, value);
  update(next);
  release();
}

function resetValues() {
  if (isMoved(state)) update({ ...remember(state), x: [...state.base] });
  release();
}

async function copy(text, done) {
  const note = get("copied");
  note.hidden = false;
  try {
    await navigator.clipboard.writeText(text);
    note.textContent = done;
  } catch {
    const field = element("input");
    field.value = text;
    field.setAttribute("aria-label", "To copy");
    note.replaceChildren("Copy it from here: ", field);
    field.select();
  }
}

function takeBack(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const key = event.key.toLowerCase();
  const change = key === "y" || (key === "z" && event.shiftKey) ? redo : key === "z" ? undo : null;
  if (!change) return;
  event.preventDefault();
  update(change(state));
  release();
}

get("apply")?.addEventListener("click", applyChange);
get("undo")?.addEventListener("click", () => (update(undo(state)), release()));
get("redo")?.addEventListener("click", () => (update(redo(state)), release()));
get("reset")?.addEventListener("click", resetValues);
get("copy")?.addEventListener("click", () => {
  const link = location.href.split("#")[0] + toHash(data, state);
  copy(link, "Link copied. It holds the values of this case.");
});
get("copy-text")?.addEventListener("click", () => copy(view.sentence, "Sentence copied."));
get("whatif")?.addEventListener("keydown", takeBack);
get("print").addEventListener("click", () => window.print());
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-save]");
  if (!button) return;
  const chart = all(".chart", button.closest("figure, section")).find((svg) => svg.getClientRects().length);
  if (chart) saveText(standalone(chart), `${button.dataset.save}.svg`, "image/svg+xml");
});
get("print-case")?.addEventListener("click", () => {
  document.documentElement.classList.add("one-case");
  addEventListener("afterprint", () => document.documentElement.classList.remove("one-case"), { once: true });
  window.print();
});
get("theme").addEventListener("click", () => setTheme(get("theme").getAttribute("aria-pressed") !== "true"));

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  get("theme").setAttribute("aria-pressed", String(dark));
}

all("select[data-curves]").forEach((picker) =>
  picker.addEventListener("change", () => {
    const shown = picker.dataset.curves;
    const template = all(`template[data-for=${shown}]`)[Number(picker.value)];
    get(shown).replaceChildren(template.content.cloneNode(true));
    schedule();
  }),
);

// ---- the outline of a large tree

document.querySelector(".outline").addEventListener("click", (event) => {
  const pill = event.target.closest("[data-open]");
  if (!pill || data.open === null) return;
  view.open.add(Number(pill.dataset.open));
  view.leaf = null;
  schedule();
});
get("fold")?.addEventListener("click", () => {
  Object.assign(view, { open: new Set(data.open), found: new Set(), leaf: null });
  get("search").value = "";
  get("matches").textContent = "";
  schedule();
});
get("search")?.addEventListener("input", () => {
  const text = get("search").value.trim().toLowerCase();
  const hits = text ? data.nodes.filter((node) => node.name?.toLowerCase().includes(text)) : [];
  const shown = hits.slice(0, 20);
  view.open = new Set(data.open);
  for (const hit of shown) for (let node = hit; node; node = byId.get(node.parent)) view.open.add(node.id);
  view.found = new Set(shown.map((node) => node.id));
  view.leaf = null;
  get("matches").textContent = text ? `${hits.length} tests${hits.length > 20 ? ", the first 20 shown" : ""}` : "";
  schedule();
});

function groupByParent(nodes) {
  const groups = new Map();
  for (const node of nodes) groups.set(node.parent, [...(groups.get(node.parent) ?? []), node]);
  return groups;
}

// ---- start

function start() {
  document.documentElement.classList.add("js");
  setTheme.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  get("theme").setAttribute("aria-pressed", String(setTheme.dark));
  if (get("more")) redrawCases();
  if (!controls.length) return;
  state = fromHash(data, location.hash) ?? state;
  orderControls();
  render();
  get("agreement").textContent = compareWithPython(book);
  addEventListener("hashchange", () => {
    const asked = fromHash(data, location.hash);
    if (asked) update(asked);
  });
}

start();

// For tests and the curious.
globalThis.keeptree = {
  data,
  tree,
  metric,
  model,
  decide,
  route,
  probability,
  distance,
  inside,
  nearest,
  render,
  judge: (asked) => judge(book, asked),
  tell: (x, locked) => tellCase(book, x, locked),
  state: () => state,
};
