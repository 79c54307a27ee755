// The page: one state and one render function; everything else only changes the state.

import { decide, route } from "../../exporters/js/tree.js";
import { distance, inside, nearest, obstacles } from "./nearest.js";
import { probability } from "../../exporters/js/probability.js";
import { interval } from "./interval.js";
import { fromHash, isMoved, redo, remember, selectCase, startFrom, startState, toHash, typicalOf, undo, withLock, withValue } from "./state.js";
import { compareWithPython, estimateOf, judge, tellCase } from "./judge.js";
import { tellView } from "./view.js";
import { decodeText, readTable, writeTable } from "./csv.js";
import { answersOf, readRows, scoreRows, withRisk } from "./score.js";
import { withLabels } from "./words.js";
import { all, element, get, nameOf } from "./dom.js";
import { grouped } from "./numbers.js";
import { drawOutline } from "./outline.js";
import { lightDrawing } from "./drawing.js";
import { FEW, chooseCases, drawCases, markCase } from "./cases.js";
import { drawTitle, drawVerdicts, drawWhy, tellWay } from "./answer.js";
import { findControls, listen, renderControl } from "./controls.js";
import { saveText, standalone } from "./save.js";

const data = JSON.parse(get("data").textContent);
data.cases = data.cases.map(withRisk);
const { metric, model } = data.whatif;
const tree = { ...data.whatif.tree, order: data.attributes.map((attribute) => attribute.column) };
const book = { data, tree, metric, model };
data.byId = new Map(data.nodes.map((node) => [node.id, node]));
data.below = new Map();
for (const node of data.nodes) data.below.set(node.parent, [...(data.below.get(node.parent) ?? []), node]);

const FIRST_CONTROLS = 30; // with many attributes, the others are created on demand
const controls = findControls();
let state = startState(data);
let gesture = false; // whether a gesture is in progress, which is one step for undo
let scored = null; // the scored file: its name, its cases and the selected row
const view = { open: new Set(data.open), found: new Set(), leaf: null, timer: 0, frame: 0 };
// Display settings: kept for a reload, but not part of a link.
let look = { show: "check", sort: "risk", rows: FEW, tab: "why", sheet: false, theme: null, outline: false, zoom: false, curves: {}, folds: [], every: false };

// ---- render

function render() {
  view.frame = 0;
  const seen = judge(book, state);
  const first = !view.seen;
  view.seen = seen;
  view.said = tellView(shownBook(), state.x, seen, first && !seen.change ? blockers() : undefined);
  drawTitle(data, state, seen);
  drawVerdicts(data, seen);
  drawWhy(data, seen, view.said);
  renderTree(seen);
  all(".here").forEach((ring) => renderRing(ring, seen));
  for (const control of controls) if (control.root.isConnected) renderControl(book, control, state);
  get("undo").disabled = !state.past.length;
  get("redo").disabled = !state.future.length;
  get("apply").disabled = !seen.change;
  get("reset").disabled = !seen.moved;
  markCase(scored ? scored.at : state.case);
  clearTimeout(view.timer);
  view.timer = setTimeout(announce, 400);
}

/** The book with the labels of the case that the tree has not seen. */
function shownBook() {
  return { ...book, data: { ...data, attributes: withLabels(data.attributes, state.labels) } };
}

function schedule() {
  if (!view.frame) view.frame = requestAnimationFrame(render);
}

function update(next) {
  state = next;
  schedule();
}

function renderTree(seen) {
  const { steps } = view.said;
  const key = [...seen.shares, ...steps.map((step) => step.short)].join();
  if (view.leaf === key) return;
  view.leaf = key;
  if (data.open === null) {
    lightDrawing(data, seen.shares, steps);
    return;
  }
  const open = new Set([...view.open, ...seen.shares.keys()]);
  drawOutline(document.querySelector(".outline"), data, open, seen.shares, view.found, steps);
}

/** Move the marker of the selected case on the chart of probability against distance. */
function renderRing(ring, { p, label }) {
  const { class: shown, low, high, zero, unit, foot, rise } = Object.fromEntries(Object.entries(ring.dataset).map(([key, text]) => [key, Number(text)]));
  ring.classList.toggle("off", p === null);
  if (p === null) return;
  const across = Math.min(Math.max(inside(tree, metric, state.x, shown, label), low), high);
  ring.style.transform = `translate(${zero + unit * across}px, ${foot + rise * p[shown]}px)`;
}

/** What prevents a change: slow in large trees, so only when the page opens and after a gesture. */
function blockers() {
  return obstacles(tree, metric, state.x, state.locked);
}

/** Texts updated at the end of a gesture: for screen readers, and why there is no change. */
function announce() {
  const { seen } = view;
  const estimate = estimateOf(data, seen.p);
  get("status").textContent = `${data.classes[seen.label].label}${estimate ? `, ${estimate.text}` : ""}`;
  if (seen.change) return;
  view.said = tellView(shownBook(), state.x, seen, blockers());
  drawWhy(data, seen, view.said);
}

// ---- kept for a reload: the case in the address, the rest in the browser history

function remind() {
  const stack = (entries) => entries.map(({ x, locked }) => ({ x, locked: [...locked] }));
  try {
    history.replaceState({ look, past: stack(state.past), future: stack(state.future) }, "", controls.length ? toHash(data, state) : location.hash);
  } catch {
    // A sandboxed frame has no history; the page works without it.
  }
}

function recall() {
  const kept = history.state;
  if (!kept?.look) return;
  look = { ...look, ...kept.look };
  const stack = (entries) => entries.map(({ x, locked }) => ({ x, locked: new Set(locked) }));
  state = { ...state, past: stack(kept.past), future: stack(kept.future) };
}

function change(part) {
  look = { ...look, ...part };
  showLook();
  remind();
}

/** Apply the display settings to the page. */
function showLook() {
  const { theme, tab, sheet } = look;
  if (theme) document.documentElement.dataset.theme = theme;
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  get("theme").setAttribute("aria-pressed", String(dark));
  if (get("as-outline")) get(look.outline ? "as-outline" : "as-drawing").checked = true;
  if (get("zoom")) get("zoom").checked = look.zoom;
  for (const fold of all("details[id]")) fold.open = look.folds.includes(fold.id);
  if (!controls.length) return;
  for (const name of ["why", "whatif"]) {
    get(name).hidden = name !== tab;
    get(`tab-${name}`).setAttribute("aria-selected", String(name === tab));
    get(`tab-${name}`).tabIndex = name === tab ? 0 : -1;
  }
  get("answer").classList.toggle("open", sheet);
  get("sheet").setAttribute("aria-expanded", String(sheet));
  get("sheet").setAttribute("aria-label", sheet ? "Hide why" : "Show why");
  get("sheet").textContent = sheet ? "▾" : "▴";
}

// ---- controls

/** Change a value; undo returns to the state before the first change of a gesture. */
function move(at, value) {
  if (value === undefined || value === state.x[at]) return;
  if (!gesture) state = remember(state);
  gesture = true;
  update(withValue(state, at, value));
}

function release() {
  gesture = false;
  remind();
}

function moveOnce(at, value) {
  gesture = false;
  move(at, value);
  release();
}

function toggleLock(at) {
  update(withLock(remember(state), at, !state.locked.has(at)));
  release();
}

const hand = { move, release, moveOnce, lock: toggleLock, value: (at) => state.x[at], known: (at) => state.base[at] ?? data.attributes[at].typical };
for (const control of controls) listen(book, control, hand);

/** Controls in order of use: on the path, in the nearest change, the rest. */
function orderControls() {
  const { shares, moves } = judge(book, { ...state, x: state.base }); // the order stays as values move
  const path = [...shares.keys()].map((node) => tree.attribute[node]).filter((at) => at !== null);
  const order = [...new Set([...path, ...moves.map((item) => item.attribute), ...controls.keys()])];
  const shown = look.every ? order : order.slice(0, FIRST_CONTROLS);
  document.querySelector(".controls").replaceChildren(...shown.map((at) => controls[at].root));
  if (get("all-controls")) get("all-controls").hidden = look.every;
}

get("all-controls")?.addEventListener("click", () => {
  change({ every: true });
  orderControls();
  schedule();
});

// ---- cases

const cases = () => (scored ? scored.cases : data.cases);

function drawList() {
  if (!get("case-list")) return;
  view.chosen = chooseCases(data, cases(), look);
  drawCases(data, cases(), view.chosen, look.rows, scored ? scored.at : state.case);
  get("show").value = look.show;
  get("sort").value = look.sort;
}

/** Show a case of the list. */
function choose(at) {
  if (scored) {
    scored.at = at;
    const { values, unseen } = scored.cases[at];
    update(startFrom(values, `Row ${at + 1} of ${scored.name}`, state.locked, unseen));
  } else update(selectCase(data, at, state.locked));
  gesture = false;
  orderControls();
  change({ sheet: true });
}

function step(by) {
  const chosen = view.chosen.length ? view.chosen : [...cases().keys()];
  const here = chosen.indexOf(scored ? scored.at : state.case);
  choose(chosen[(here + by + chosen.length) % chosen.length]);
}

get("case-list")?.addEventListener("click", (event) => {
  const row = event.target.closest(".case");
  if (row && (scored || data.rows)) choose(Number(row.dataset.case));
});
for (const name of ["show", "sort"]) {
  get(name)?.addEventListener("change", () => {
    change({ [name]: get(name).value, rows: FEW });
    drawList();
  });
}
get("more")?.addEventListener("click", () => {
  change({ rows: look.rows + 50 });
  drawList();
});
get("previous")?.addEventListener("click", () => step(-1));
get("next")?.addEventListener("click", () => step(1));
get("new")?.addEventListener("click", () => {
  if (scored) scored.at = null;
  update(startFrom(typicalOf(data), null, state.locked));
  gesture = false;
  look = { ...look, every: true };
  orderControls();
  change({ tab: "whatif", sheet: true });
});

// ---- a file, read and scored in the page

get("score")?.addEventListener("click", () => get("file").click());
get("file")?.addEventListener("change", async () => {
  const [file] = get("file").files;
  if (file) await scoreFile(file);
  get("file").value = ""; // the same file may be chosen again
});

async function scoreFile(file) {
  tellScored(element("p", "", "Reading ", nameOf(file.name), " …"));
  try {
    if (model === null) throw new Error(`this page cannot score it. ${data.no_model} Use keeptree predict.`);
    const rows = readRows(book, readTable(decodeText(new Uint8Array(await file.arrayBuffer()))));
    const found = await scoreRows(book, rows, (done) => tellScored(element("p", "", `Scored ${grouped(done)} of ${grouped(rows.length)} rows …`)));
    scored = { name: file.name, cases: found, at: null };
  } catch (error) {
    tellScored(element("p", "", nameOf(file.name), `: ${error.message}`)).classList.add("failed");
    return;
  }
  const [first] = chooseCases(data, scored.cases, { show: "all", sort: "risk" });
  look = { ...look, show: "check", sort: "risk", rows: FEW };
  tellFile();
  choose(first);
  drawList();
}

/** The result of scoring a file: number of rows, cases to check, and the results to save. */
function tellFile() {
  const count = (flag) => scored.cases.filter((item) => item[flag]).length;
  const download = element("button", "", "Save the results");
  download.addEventListener("click", () => saveText(writeTable(...answersOf(book, scored.cases)), "scored.csv", "text/csv"));
  const close = element("button", "", "Close the file");
  close.addEventListener("click", closeFile);
  const told = `: ${grouped(scored.cases.length)} rows scored; our estimate disagrees with the tree on ${grouped(count("disagrees"))}. The file has not left this computer.`;
  tellScored(element("p", "", nameOf(scored.name), told), element("div", "tools", download, close));
  const options = { check: `to check: ${grouped(count("check"))}`, disagrees: `estimate disagrees: ${grouped(count("disagrees"))}`, all: `all rows: ${grouped(scored.cases.length)}` };
  if (get("show")) for (const option of get("show").options) option.textContent = options[option.value];
}

function tellScored(...parts) {
  const place = get("scored");
  place.hidden = false;
  place.classList.remove("failed");
  place.replaceChildren(...parts);
  return place;
}

function closeFile() {
  scored = null;
  get("scored").hidden = true;
  if (get("show")) [...get("show").options].forEach((option, at) => (option.textContent = view.options[at]));
  update(startState(data));
  drawList();
  remind();
}

// ---- buttons

function applyChange() {
  const { change: found, moves } = judge(book, state);
  if (!found) return;
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
    field.type = "text";
    field.value = text;
    field.setAttribute("aria-label", "Text to copy");
    note.replaceChildren("Copy it from here: ", field);
    field.select();
  }
}

function takeBack(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const key = event.key.toLowerCase();
  const back = key === "y" || (key === "z" && event.shiftKey) ? redo : key === "z" ? undo : null;
  if (!back) return;
  event.preventDefault();
  update(back(state));
  release();
}

const clicks = {
  apply: applyChange,
  undo: () => (update(undo(state)), release()),
  redo: () => (update(redo(state)), release()),
  reset: resetValues,
  copy: () => copy(location.href.split("#")[0] + toHash(data, state), "Link copied. It contains the values of this case."),
  "copy-text": () => copy(tellWay(view.said), "Sentence copied."),
  sheet: () => change({ sheet: !look.sheet }),
  "tab-why": () => change({ tab: "why" }),
  "tab-whatif": () => change({ tab: "whatif" }),
  print: () => window.print(),
  "print-case": () => {
    document.documentElement.classList.add("one-case");
    addEventListener("afterprint", () => document.documentElement.classList.remove("one-case"), { once: true });
    window.print();
  },
  theme: () => change({ theme: get("theme").getAttribute("aria-pressed") === "true" ? "light" : "dark" }),
};
for (const [id, act] of Object.entries(clicks)) get(id)?.addEventListener("click", act);
get("whatif")?.addEventListener("keydown", takeBack);
document.querySelector(".tabs")?.addEventListener("keydown", (event) => {
  if (!/^Arrow(Left|Right)$/.test(event.key)) return;
  change({ tab: look.tab === "why" ? "whatif" : "why" });
  get(`tab-${look.tab}`).focus();
});
for (const id of ["as-drawing", "as-outline"]) get(id)?.addEventListener("change", () => change({ outline: get("as-outline").checked }));
get("zoom")?.addEventListener("change", () => change({ zoom: get("zoom").checked }));
for (const fold of all("details[id]")) {
  fold.addEventListener("toggle", () => {
    const folds = all("details[id]").filter((item) => item.open).map((item) => item.id);
    if (folds.join() === look.folds.join()) return;
    look = { ...look, folds };
    remind();
  });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  if (link) {
    // A link to a section must not replace the case in the address.
    event.preventDefault();
    const target = get(link.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
    target?.scrollIntoView();
    target?.setAttribute("tabindex", "-1");
    target?.focus({ preventScroll: true });
    return;
  }
  const button = event.target.closest?.("button[data-save]");
  if (!button) return;
  const chart = all(".chart", button.closest("figure, section")).find((svg) => svg.getClientRects().length);
  if (chart) saveText(standalone(chart), `${button.dataset.save}.svg`, "image/svg+xml");
});

function showCurves(picker) {
  const shown = picker.dataset.curves;
  const template = all(`template[data-for=${shown}]`)[Number(picker.value)];
  get(shown).replaceChildren(template.content.cloneNode(true));
}

for (const picker of all("select[data-curves]")) {
  picker.addEventListener("change", () => {
    showCurves(picker);
    if (controls.length) schedule();
    change({ curves: { ...look.curves, [picker.id]: picker.value } });
  });
}

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
  for (const hit of shown) for (let node = hit; node; node = data.byId.get(node.parent)) view.open.add(node.id);
  view.found = new Set(shown.map((node) => node.id));
  view.leaf = null;
  get("matches").textContent = text ? `${hits.length} tests${hits.length > 20 ? ", the first 20 shown" : ""}` : "";
  schedule();
});

// ---- start

function start() {
  document.documentElement.classList.add("js");
  state = (controls.length && fromHash(data, location.hash)) || state;
  recall();
  showLook();
  for (const picker of all("select[data-curves]")) {
    if (!(picker.id in look.curves)) continue;
    picker.value = look.curves[picker.id];
    showCurves(picker);
  }
  if (!controls.length) return;
  view.options = [...(get("show")?.options ?? [])].map((option) => option.textContent);
  drawList();
  orderControls();
  render();
  get("agreement").textContent = compareWithPython(book);
  addEventListener("hashchange", () => {
    const asked = fromHash(data, location.hash);
    if (asked) update(asked);
    else remind();
  });
}

start();

// For tests and debugging.
globalThis.keeptree = {
  data,
  tree,
  metric,
  model,
  decide,
  route,
  probability,
  interval: (seen, c) => interval(book, seen, c),
  distance,
  inside,
  nearest,
  render,
  judge: (asked) => judge(book, asked),
  tell: (x, locked) => tellCase(book, x, locked),
  state: () => state,
  look: () => look,
};
