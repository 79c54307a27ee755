// The state of the page: a case, its values and locks, with undo, redo and a link that restores it.

import { labelText } from "./words.js";

/** The state before any change. */
export function startState(data) {
  return selectCase(data, data.selected, new Set(data.locked));
}

/** A case as it is; null for the typical one. */
export function selectCase(data, index, locked = new Set()) {
  const given = index === null || !data.cases[index].values ? null : data.cases[index];
  return { ...startFrom(given?.values ?? typicalOf(data), null, locked, given?.unseen), case: given ? index : null };
}

/**
 * Values that are not one of the page's cases, with a name: a new case, or a row of a file.
 * `labels` are those that the tree has not seen: position -> label.
 */
export function startFrom(values, name, locked, labels = {}) {
  return { case: null, name, labels, base: values, x: [...values], locked: new Set(locked), past: [], future: [] };
}

export function typicalOf(data) {
  return data.attributes.map((attribute) => attribute.typical);
}

export function isMoved(state) {
  return state.x.some((value, at) => value !== state.base[at]);
}

/** Record the current state for undo. */
export function remember(state) {
  return { ...state, past: [...state.past, snapshot(state)].slice(-200), future: [] };
}

export function withValue(state, at, value) {
  const x = [...state.x];
  x[at] = value;
  return { ...state, x };
}

export function withLock(state, at, on) {
  const locked = new Set(state.locked);
  if (on) locked.add(at);
  else locked.delete(at);
  return { ...state, locked };
}

export function undo(state) {
  if (!state.past.length) return state;
  return { ...state, ...state.past.at(-1), past: state.past.slice(0, -1), future: [snapshot(state), ...state.future] };
}

export function redo(state) {
  if (!state.future.length) return state;
  return { ...state, ...state.future[0], past: [...state.past, snapshot(state)], future: state.future.slice(1) };
}

function snapshot({ x, locked }) {
  return { x, locked };
}

// ---- links: #case=73&x.texture=26.1&lock=age; links are not trusted

const LONGEST_NAME = 60;
const LONGEST_LINK = 20000;
const MOST = { true: 3.4e38, false: 1e300 };

/** Short names of attributes and cases in a link: their own name if it is short and unique. */
function keysOf(names) {
  return names.map((name, at) => (name.length <= LONGEST_NAME && names.indexOf(name) === names.lastIndexOf(name) ? name : `@${at}`));
}

export function toHash(data, state) {
  const link = new URLSearchParams();
  const keys = keysOf(data.attributes.map((attribute) => attribute.name));
  if (state.case !== null) link.set("case", keysOf(data.cases.map((item) => item.id))[state.case]);
  else link.set("new", state.name ?? "");
  if (state.case === null) {
    writeValues(link, "b.", data, keys, state.base, typicalOf(data));
    for (const [at, label] of Object.entries(state.labels)) link.set(`l.${keys[at]}`, label);
  }
  writeValues(link, "x.", data, keys, state.x, state.base);
  keys.forEach((key, at) => {
    const [locked, preset] = [state.locked.has(at), data.locked.includes(at)];
    if (locked !== preset) link.append(locked ? "lock" : "unlock", key);
  });
  return `#${link}`;
}

function writeValues(link, prefix, data, keys, values, base) {
  values.forEach((value, at) => {
    if (value === base[at]) return;
    const text = value === null ? "?" : data.attributes[at].kind === "nominal" ? `=${value}` : String(value);
    link.set(prefix + keys[at], text);
  });
}

/** The state of a link, or null if it is not a link of this page; invalid parts are ignored. */
export function fromHash(data, hash) {
  if (hash.length > LONGEST_LINK) return null;
  const link = new URLSearchParams(hash.slice(1));
  const keys = keysOf(data.attributes.map((attribute) => attribute.name));
  const index = keysOf(data.cases.map((item) => item.id)).indexOf(link.get("case"));
  const asked = [...link.keys()].some((key) => /^([bx]\.|(un)?lock$)/.test(key));
  if (index < 0 && !link.has("new") && !asked) return null;
  const read = (prefix, values) => {
    const found = [...values];
    for (const [key, text] of link) {
      const at = key.startsWith(prefix) ? keys.indexOf(key.slice(2)) : -1;
      const value = at < 0 ? undefined : readValue(data.attributes[at], text, data.whatif.tree.float32);
      if (value !== undefined) found[at] = value;
    }
    return found;
  };
  const locked = new Set(data.locked);
  for (const key of link.getAll("lock")) if (keys.includes(key)) locked.add(keys.indexOf(key));
  for (const key of link.getAll("unlock")) locked.delete(keys.indexOf(key));
  const name = link.get("new")?.slice(0, LONGEST_NAME) || null;
  const start = link.has("new") ? startFrom(read("b.", typicalOf(data)), name, locked, readLabels(data, link, keys)) : selectCase(data, index < 0 ? data.selected : index, locked);
  return { ...start, x: read("x.", start.base) };
}

/** The labels of a link that the tree has not seen. */
function readLabels(data, link, keys) {
  const labels = {};
  data.attributes.forEach((attribute, at) => {
    const label = link.get(`l.${keys[at]}`);
    if (label !== null && attribute.unknown >= 0) labels[at] = labelText(label);
  });
  return labels;
}

/** A value parsed from text; undefined if it is not valid for this attribute. */
export function readValue(attribute, text, float32) {
  if (text === "?") return attribute.may_be_missing ? null : undefined;
  if (attribute.kind === "nominal") {
    const code = /^=?\d{1,6}$/.test(text) ? Number(text.replace("=", "")) : -1;
    return code >= 0 && code < attribute.categories.length ? code : undefined;
  }
  const value = text.trim() === "" ? NaN : Number(text);
  return Math.abs(value) <= MOST[float32] ? value : undefined;
}
