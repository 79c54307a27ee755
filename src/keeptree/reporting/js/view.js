// Texts about a case, the same as in keeptree.reporting.view, without touching the document.

import { countText, plainNumber, tellNumber, trainingCases } from "./numbers.js";
import { isNominal } from "../../exporters/js/tree.js";
import { costAcross } from "./nearest.js";
import { probability } from "../../exporters/js/probability.js";
import { pushes } from "./contributions.js";
import { changeSentence } from "./judge.js";
import { classText, isUnseen, join, ofClass, shownClass, tellEstimate, tellLocked, tellNeighbours, valueText } from "./words.js";

const NEAR = 0.2; // in the metric, as in keeptree.explain
const MOST_NAMED = 4;

/** Steps, contributions and sentences for a judged case; `blocked` is why there is no change. */
export function tellView(book, x, seen, blocked) {
  const { data, tree, model } = book;
  const leaves = [...seen.shares].filter(([node]) => tree.children[node].length === 0).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const towards = seen.p && shownClass(seen.p, data.positive);
  const after = seen.change && probability(tree, model, seen.change.point);
  const named = seen.change && data.classes[seen.change.label].label;
  return {
    steps: tellSteps(book, x, leaves[0][0], seen),
    pushes: seen.p && pushes(book, x, towards, seen.p),
    leaf: tellLeaf(data, leaves),
    change: changeSentence(book, seen, blocked),
    after: after ? tellEstimate(named, seen.change.label, after) : "",
    locked: tellLocked(data.attributes, seen.locked),
    such: seen.p ? tellNeighbours(seen.p[towards], classText(data.classes[towards].label), data.bins[towards]) : "",
  };
}

/** The tests on the path to a leaf; the nearest one states the other decision. */
export function tellSteps(book, x, leaf, seen) {
  const { data, tree } = book;
  const path = [];
  for (let node = data.byId.get(leaf); node.parent !== null; node = data.byId.get(node.parent)) path.unshift(node);
  const steps = path.map((node) => readStep(book, x, node));
  const known = steps.map((step) => step.distance).filter((value) => value !== null);
  const nearest = steps.find((step) => step.distance === Math.min(...known));
  return steps.map((step) => ({
    node: step.child,
    short: tellShort(data, tree, step),
    name: step.attribute.name,
    value: valueText(step.attribute, step.value),
    test: step.value === null ? tellUnknown(data, tree, step) : tellTest(data, tree, step),
    note: tellMargin(data, step, step === nearest, seen),
    near: step === nearest,
  }));
}

/** A test that leads to a child: its attribute, the value of the case, and how far the other side is. */
function readStep({ data, tree, metric }, x, { id: child, parent: node, relation }) {
  const at = tree.attribute[node];
  const value = x[at];
  const step = { child, node, at, attribute: data.attributes[at], value, relation, distance: null, margin: null, nominal: isNominal(tree, node) };
  if (value === null) return { ...step, share: tree.missing[node] === -1 ? tree.share[child] : 1 };
  if (!step.nominal) {
    const margin = value - tree.threshold[node];
    return { ...step, margin, distance: costAcross(tree, metric, at, value, tree.threshold[node], tree.children[node][0] === child) };
  }
  const others = metric.costs[at][value].filter((_, code) => tree.table[node][code] !== child);
  return { ...step, distance: others.length ? Math.min(...others) : null };
}

function labelsOf(tree, { node, child, attribute }) {
  return attribute.categories.filter((_, code) => tree.table[node][code] === child);
}

/** `above 16.8`, `up to 25.67`, `among red and blue`. */
function tellTest(data, tree, step) {
  if (!step.nominal) return `${tree.children[step.node][0] === step.child ? "up to" : "above"} ${tellNumber(tree.threshold[step.node])}`;
  const labels = labelsOf(tree, step);
  if (labels.length === 1) return isUnseen(step.attribute, step.value) ? labels[0] : "";
  if (labels.length <= MOST_NAMED) return `among ${join(labels)}`;
  return `among ${labels.slice(0, MOST_NAMED).join(", ")} and ${labels.length - MOST_NAMED} others`;
}

function tellUnknown(data, tree, step) {
  const test = tellTest(data, tree, step) || `is ${labelsOf(tree, step)[0]}`;
  return step.share < 1 ? `${Math.round(100 * step.share)}% of the case goes on: ${test}` : `the tree goes on as if ${test}`;
}

/** `711.4 ≤ 718.65`, as shown on the drawing. */
function tellShort(data, tree, step) {
  if (step.value === null) return `not known: ${step.relation}`;
  return step.nominal ? `= ${valueText(step.attribute, step.value)}` : `${tellNumber(step.value)} ${step.relation}`;
}

/** `by 7.25`; the nearest test adds how close it is and the decision on its other side. */
function tellMargin(data, step, first, { change, moves }) {
  if (step.margin === null) return first && step.value !== null ? "closest" : "";
  const margin = plainNumber(Number(Math.abs(step.margin).toPrecision(3)), 3);
  if (!first) return `by ${margin}`;
  const told = `${step.distance <= NEAR ? "very close" : "closest"}: ${margin} from the threshold`;
  if (moves.length !== 1 || moves[0].attribute !== step.at) return told;
  return `${told}; at ${tellNumber(moves[0].rounded)} the tree decides ${classText(data.classes[change.label].label)}`;
}

/** What the leaf of a case contains. */
function tellLeaf(data, leaves) {
  const [leaf, share] = leaves[0];
  const { cases, counts } = data.byId.get(leaf);
  const order = counts.map((_, c) => c).sort((a, b) => counts[b] - counts[a] || a - b);
  const named = order.filter((c) => counts[c] > 0).map((c) => `${countText(counts[c])} ${ofClass(data.classes[c].label)}`);
  const most = Math.max(...counts);
  const tied = counts.filter((count) => count === most).length;
  let held = trainingCases(cases);
  if (named.length === 1) held += cases === 1 ? `, of ${classText(data.classes[order[0]].label)}` : `, all ${ofClass(data.classes[order[0]].label)}`;
  else if (named.length === 2 && tied === 2) held += `, ${countText(most)} of each class`;
  else if (named.length) {
    const rest = named.length - MOST_NAMED;
    held += `: ${rest > 0 ? `${named.slice(0, MOST_NAMED).join(", ")} and ${rest} other ${rest === 1 ? "class" : "classes"}` : join(named)}`;
  }
  const guess = tied > 1 && named.length ? ": the tree was guessing" : "";
  if (leaves.length === 1) return `Its leaf contains ${held}${guess}.`;
  return `A value is not known, so the case is shared among ${leaves.length} leaves; the one with the largest share (${Math.round(100 * share)}%) contains ${held}${guess}.`;
}
