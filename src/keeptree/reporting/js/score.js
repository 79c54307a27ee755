// Score a table in the page, with the same results as keeptree predict.

import { decide } from "../../exporters/js/tree.js";
import { cheapest, probability } from "../../exporters/js/probability.js";
import { labelText } from "./words.js";

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const DECIMAL_COMMA = /^[+-]?\d*,\d+$/;
const TRUTH = new Map(Object.entries({ True: 1, true: 1, False: 0, false: 0 }));
const LARGEST = 3.4e38; // largest 32-bit number
const SLICE = 40; // milliseconds of work before the page may respond
const REFUSED = -2; // rule for unknown labels, as in keeptree.data.columns
const [SHARE, MOST] = [0.1, 50]; // share and maximum number of rows to check, as in keeptree.reporting.held_out

/** The rows of a table as values of the tested attributes, and their unseen labels; an error is one sentence. */
export function readRows({ data }, { names, rows, mark }) {
  const places = data.attributes.map((attribute) => findColumn(data, attribute, names));
  const readers = data.attributes.map((attribute) => (attribute.kind === "nominal" ? readLabel(attribute) : readNumber(attribute, mark, data.whatif.tree.float32)));
  return rows.map((row, at) => {
    const unseen = {};
    const values = places.map((place, k) => readers[k](row[place], at + 1, (label) => (unseen[k] = label)));
    return { values, unseen };
  });
}

function findColumn({ columns }, attribute, names) {
  if (!columns.named) {
    if (names.length === columns.count) return attribute.column;
    throw new Error(`it has ${names.length} columns, but the model was fitted to ${columns.count} columns without names; give exactly these, in the same order.`);
  }
  const place = names.indexOf(attribute.key.trim());
  if (place >= 0) return place;
  throw new Error(`it lacks the column "${attribute.name}", which the tree tests; it has ${names.slice(0, 10).map((name) => `"${name}"`).join(", ")}.`);
}

function checkKnown(attribute, row) {
  if (attribute.may_be_missing) return null;
  throw new Error(`row ${row} has no value for "${attribute.name}", and the tree has no rule for missing values; fill it in.`);
}

function readNumber(attribute, mark, float32) {
  return (cell, row) => {
    if (cell === null) return checkKnown(attribute, row);
    if (TRUTH.has(cell)) return TRUTH.get(cell);
    const text = mark !== "," && DECIMAL_COMMA.test(cell) ? cell.replace(",", ".") : cell;
    const value = NUMBER.test(text) ? Number(text) : NaN;
    if (Number.isFinite(value) && (!float32 || Math.abs(value) <= LARGEST)) return value;
    throw new Error(`the column "${attribute.name}" holds "${cell.slice(0, 50)}" in row ${row}, where the model expects a number; correct it or leave the cell empty.`);
  };
}

/** The code of a label: by its text, or by its number if the labels are numbers or booleans. */
function readLabel(attribute) {
  const look = (label) => (TRUTH.has(String(label)) ? TRUTH.get(String(label)) : NUMBER.test(String(label)) ? Number(label) : String(label));
  const known = attribute.written.filter((_, code) => code !== attribute.unknown);
  const values = new Set(known.map((label) => TRUTH.get(String(label))));
  const boolean = !values.has(undefined) && values.size === known.length;
  const textual = !boolean && attribute.written.every((label) => typeof label === "string");
  const codes = new Map(attribute.written.map((label, code) => [textual ? label : look(label), code]));
  return (cell, row, keep) => {
    if (cell === null) return checkKnown(attribute, row);
    return codes.get(textual ? cell : look(cell)) ?? readUnseen(attribute, cell, row, keep);
  };
}

/** A label that the model does not know: the category for all others, an error, or a missing value. */
function readUnseen(attribute, cell, row, keep) {
  if (attribute.unknown >= 0) {
    keep(labelText(cell));
    return attribute.unknown;
  }
  if (attribute.unknown !== REFUSED && attribute.may_be_missing) return null;
  const known = attribute.categories.slice(0, 10).map((label) => `"${label}"`).join(", ");
  throw new Error(`the column "${attribute.name}" holds "${cell.slice(0, 50)}" in row ${row}, which is unknown to the model; it accepts only ${known}.`);
}

/** A case with the probability that the tree is wrong about it, and whether our estimate disagrees. */
export function withRisk(item) {
  const own = item.p[item.decision];
  return { ...item, risk: 1 - own, disagrees: item.p.some((value) => value > own) };
}

/** Cases in the format of the page, processed in slices so that progress can be shown. */
export async function scoreRows({ data, tree, model }, rows, progress) {
  const cases = [];
  let pause = performance.now() + SLICE;
  for (const { values, unseen } of rows) {
    const p = probability(tree, model, values);
    const decision = decide(tree, values);
    cases.push(withRisk({ id: String(cases.length + 1), values, unseen, p, decision, truth: null, distance: null }));
    if (performance.now() < pause) continue;
    progress(cases.length);
    await new Promise((done) => setTimeout(done));
    pause = performance.now() + SLICE;
  }
  const wanted = Math.max(Math.ceil(SHARE * cases.length), cases.filter((item) => item.disagrees).length);
  const first = [...cases].sort((a, b) => b.risk - a.risk).slice(0, Math.min(wanted, MOST));
  for (const item of cases) item.check = false;
  for (const item of first) item.check = true;
  return cases;
}

/** Names and rows of the results, as keeptree predict writes them. */
export function answersOf({ data }, cases) {
  const { classes, decides, costs } = data;
  const names = ["prediction", ...classes.map((item) => `probability_${pythonText(item.written)}`), "second_opinion"];
  const rows = cases.map(({ p, decision, disagrees }) => {
    const predicted = decides === "tree" ? decision : decides === "cost" ? cheapest(p, costs) : p.indexOf(Math.max(...p));
    return [classes[predicted].written, ...p, disagrees];
  });
  return [names, rows];
}

function pythonText(label) {
  return typeof label === "boolean" ? (label ? "True" : "False") : String(label);
}
