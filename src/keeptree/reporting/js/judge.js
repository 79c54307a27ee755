// Everything that the page shows about a case, computed without touching the document.

import { decide, route } from "../../exporters/js/tree.js";
import { distance, lacking, limits, nearest, obstacles } from "./nearest.js";
import { probability } from "../../exporters/js/probability.js";
import { classText, inHundred, roundOutwards, shownClass, tellLacking, tellNearest } from "./words.js";
import { interval } from "./interval.js";
import { isMoved } from "./state.js";

/** Path, decision, probabilities with an interval, distance and nearest change of a state. */
export function judge(book, { x, locked, case: index, base }) {
  const { data, tree, metric, model } = book;
  const shares = route(tree, x);
  const label = decide(tree, x, shares);
  const moved = isMoved({ x, base });
  const given = index !== null && !moved ? data.cases[index] : null;
  const p = given?.p ?? probability(tree, model, x);
  const told = p && (p[label] < Math.max(...p) ? p.indexOf(Math.max(...p)) : label);
  const change = nearest(tree, metric, x, locked);
  return {
    shares,
    label,
    moved,
    p,
    told, // the class whose probability is shown
    between: given ? given.between : interval(book, { p, shares, x }, told),
    change,
    locked,
    moves: change ? change.moves.map((move) => ({ ...move, rounded: rounded(metric, move) })) : [],
    distance: distance(tree, metric, x, label),
    lacking: change ? [] : lacking(tree, x, label),
    least: x.includes(null), // a missing value counts as the one nearest to another decision
  };
}

/** The new value with as few digits as possible that still changes the decision. */
function rounded(metric, { attribute, before, after, side }) {
  if (side.allowed || metric.step[attribute]) return after;
  const [least, most] = limits(metric, attribute);
  return roundOutwards(before, after, (value) => side.low <= value && value <= side.high && least <= value && value <= most);
}

/** The class whose probability is shown, and `malignant 58 in 100`. */
export function estimateOf(data, p) {
  if (p === null) return null;
  const shown = shownClass(p, data.positive);
  return { shown, text: `${classText(data.classes[shown].label)} ${inHundred(p[shown])}` };
}

/** The sentence on the nearest change; without `blocked` it does not say why there is none. */
export function changeSentence({ data, tree }, seen, blocked) {
  const tell = (reason) => tellNearest(seen.change, seen.moves, data.attributes, data.classes, seen.label, reason);
  if (seen.change) return tell([]);
  const alone = tree.label.every((label, node) => tree.children[node].length || label === seen.label);
  if (alone) return tell(null);
  if (seen.lacking.length) return tellLacking(data.attributes, data.classes, seen.label, seen.lacking);
  return blocked ? tell(blocked) : "No allowed change alters the decision.";
}

/** The nearest change of a case under locks, and the whole sentence. */
export function tellCase(book, x, locked) {
  const seen = judge(book, { x, locked, case: null, base: x });
  const blocked = seen.change ? [] : obstacles(book.tree, book.metric, x, locked);
  return { sentence: changeSentence(book, seen, blocked), cost: seen.change?.cost ?? null, leaf: seen.change?.leaf ?? null };
}

// Python rounds in the same way on every processor; exponentials and logarithms here depend on the browser.
const SAME = 1e-12;

/** The number of cases in the file for which the page agrees with Python. */
export function compareWithPython({ data, tree, model }) {
  const cases = data.cases.filter((item) => item.values).slice(0, 64);
  const agree = cases.filter((item) => {
    const p = probability(tree, model, item.values);
    const same = p === null || p.every((value, c) => Math.abs(value - item.p[c]) <= SAME);
    return same && decide(tree, item.values) === item.decision;
  });
  return cases.length ? `Checked when the page opened: ${agree.length} of ${cases.length} ${cases.length === 1 ? "case agrees" : "cases agree"} with Python${model ? "" : " (decisions)"}.` : "";
}
