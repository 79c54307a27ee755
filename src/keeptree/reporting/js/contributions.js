// Contributions to an estimate in log-odds: the tests of the margin expert by attribute, compared with the mean
// training case, and the other experts, compared with the class shares of the training sample.

import { childShares, logOpinions } from "../../exporters/js/probability.js";

const EXPERTS = {
  soft: "how clearly it passes the tests",
  similar: "how this tree and similar trees judge it",
  kernel: "training cases like this one",
  coherent: "kept in line with the tree",
};
const LEAST = 0.005; // smaller values are shown as 0.00
const MOST = 6;

/** The class and the largest contributions to its estimate, or null if the model has none. */
export function pushes({ data, tree, model }, x, towards, p) {
  const sums = new Map();
  const add = (name, value) => sums.set(name, (sums.get(name) ?? 0) + value);
  if (model?.kind === "margin") addTests(data, tree, model, x, 1, towards, add);
  else if (model?.kind === "pool") addExperts(data, tree, model, x, towards, p, add);
  else return null;
  const rows = [...sums].map(([name, value]) => ({ name, value })).filter(({ value }) => Math.abs(value) >= LEAST);
  rows.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  return rows.length ? { class: towards, rows: rows.slice(0, MOST) } : null;
}

/** Log-odds of a class: against the other of two classes, or relative to the mean of several. */
function oddsOf(logits, towards) {
  if (logits.length === 1) return towards === 1 ? logits[0] : -logits[0];
  if (logits.length === 2) return logits[towards] - logits[1 - towards];
  return logits[towards] - logits.reduce((a, b) => a + b, 0) / logits.length;
}

function addExperts(data, tree, model, x, towards, p, add) {
  const opinions = logOpinions(tree, model, x);
  const rest = p.map((value) => Math.log(value));
  const prior = model.prior.map((value) => Math.log(value));
  model.names.forEach((name, k) => {
    opinions[k].forEach((value, c) => (rest[c] -= value));
    const told = EXPERTS[name === "soft" && averagesTrees(model.experts[k]) ? "similar" : name];
    const added = opinions[k].map((value, c) => value - model.weights[k] * prior[c]);
    if (told) add(told, oddsOf(added, towards));
    if (model.experts[k].kind === "margin") addTests(data, tree, model.experts[k], x, model.weights[k], towards, add);
  });
  if (model.softness !== null) add(EXPERTS.coherent, oddsOf(rest, towards));
}

/** Whether a soft expert averages the tree with similar trees: then its root divides every case. */
function averagesTrees(expert) {
  return expert.steep.some((slope) => slope < 0);
}

/** What each test adds relative to the mean training case, by the name of its attribute. */
function addTests(data, tree, expert, x, weight, towards, add) {
  const { tests } = expert;
  const added = expert.centre.map((centre) => centre.map((value) => -value));
  for (const { steep, scores } of expert.sides) {
    tests.children.forEach((children, node) => {
      if (children.length) addShares(added[node], childShares(tree, tests, node, steep, x), children, scores);
    });
  }
  for (const { steep, values } of expert.reach) {
    const reached = new Array(tests.children.length).fill(0);
    reached[reached.length - 1] = 1; // children come before their parents: the root is the last
    for (let node = reached.length - 1; node >= 0; node -= 1) {
      const children = tests.children[node];
      if (!children.length) continue;
      const shares = childShares(tree, tests, node, steep, x).map((share) => share * reached[node]);
      children.forEach((child, b) => (reached[child] = shares[b]));
      const own = Object.fromEntries(children.map((child) => [child, values[child].map((value, j) => value - values[node][j])]));
      addShares(added[node], shares, children, own); // values are sums along the path, so a step adds their difference
    }
  }
  tests.attribute.forEach((at, node) => {
    if (at !== null) add(data.attributes[at].name, weight * oddsOf(added[node], towards));
  });
}

function addShares(total, shares, children, scores) {
  children.forEach((child, b) => scores[child].forEach((score, j) => (total[j] += shares[b] * score)));
}
