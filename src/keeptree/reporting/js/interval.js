// The interval of a probability, computed as in predict_interval.

import { kernelSums } from "../../exporters/js/probability.js";

/** Lower and upper ends of the interval of the probability p of class c; null for a model without intervals. */
export function interval({ data, tree, model }, { p, shares, x }, c) {
  const how = data.whatif.interval;
  if (how === null || p === null) return null;
  return KINDS[how.kind](how, model, { p: p[c], leaf: leafOf(tree, shares), x }, c);
}

/** The leaf of a case; a shared case follows the child with the most training cases. */
function leafOf(tree, shares) {
  let node = 0;
  while (tree.children[node].length) {
    const taken = tree.children[node].filter((child) => shares.has(child));
    node = taken.length === 1 ? taken[0] : tree.following[node];
  }
  return node;
}

const KINDS = { case: ofCase, calibration: ofLevel };

/** The squared errors of refits and of similar cases, added in log-odds; case_spread.py explains it. */
function ofCase({ z, refits, neighbours, few, evidence, kernel }, model, { p, leaf, x }, c) {
  const n = Math.max(similarCases(model.experts[kernel], x), 1e-9);
  const around = 2 * n * p + z * z;
  const root = z * Math.sqrt(z * z + 4 * n * p * (1 - p));
  const spread = refits[leaf][c];
  const share = (few + neighbours * n) / (few + n);
  const middle = logOdds(p);
  const outer = middle * Math.sqrt(1 + (Math.PI / 8) * (spread + share / (n * p * (1 - p) + evidence)));
  const reach = (end) => Math.sqrt(z * z * spread + share * (logOdds(end / (2 * (n + z * z))) - middle) ** 2);
  const low = logistic(Math.min(middle, outer) - reach(around - root));
  const high = logistic(Math.max(middle, outer) + reach(around + root));
  return [Math.min(low, p), Math.max(high, p)];
}

function logOdds(p) {
  const inside = Math.min(Math.max(p, 1e-12), 1 - 1e-12);
  return Math.log(inside / (1 - inside));
}

function logistic(value) {
  return 1 / (1 + Math.exp(-value));
}

/** Effective number of training cases that a case is compared with. */
function similarCases(expert, x) {
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const total = sum(kernelSums(expert, x));
  const square = sum(kernelSums(expert, x, 2));
  return square > 0 ? ((total / (total + expert.pseudo)) * total * total) / square : 0;
}

/** The interval of calibration cases with a similar probability, widened to contain the probability. */
function ofLevel({ edges, low, high }, model, { p }, c) {
  const found = edges[c].findIndex((edge) => p <= edge);
  const level = found < 0 ? edges[c].length : found;
  return [Math.min(low[c][level], p), Math.max(high[c][level], p)];
}
