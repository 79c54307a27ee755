// Probabilities of a case, by the same formulas as in Python: for the page and for exported code.

import { compared, decide, leafAverage, route } from "./tree.js";

/** Probabilities in the tree's order of classes; null where this file cannot compute them. */
export function probability(tree, model, x) {
  return model === null ? null : KINDS[model.kind](tree, model, x);
}

/** The formula of each kind of model; confdtree.js and distance.js add theirs. */
export const KINDS = {
  leaves: (tree, model, x) => leafAverage(tree, route(tree, x), model.values),
  soft: (tree, model, x) => soft(tree, model, x),
  margin: (tree, model, x) => margin(tree, model, x),
  kernel: (tree, model, x) => kernel(model, x),
  pool: (tree, model, x) => pool(tree, model, x),
};

/** Numbers from a base64 string of little-endian float32. */
export function unpack(text) {
  return new Float32Array(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)).buffer);
}

function logistic(z) {
  return 1 / (1 + Math.exp(-Math.max(-40, Math.min(40, z))));
}

/** Shares that a test gives its children. */
export function childShares(tree, tests, node, steep, x) {
  const value = x[tests.attribute[node]];
  if (tests.table[node]) {
    const table = tests.table[node];
    return table[value === null ? table.length - 1 : value];
  }
  if (value === null || steep[node] < 0) return [tests.missing[node], 1 - tests.missing[node]];
  const here = compared(value, tree);
  const slope = steep[node];
  const first = slope === 0 ? Number(here <= tests.threshold[node]) : logistic((tests.threshold[node] - here) * slope);
  return [first, 1 - first];
}

/** Average of the leaves' values by the soft share of the case in each; nodes after children. */
function softAverage(tree, tests, steep, values, x) {
  const result = new Array(tests.children.length);
  tests.children.forEach((children, node) => {
    if (children.length === 0) {
      result[node] = values[node];
      return;
    }
    const shares = childShares(tree, tests, node, steep, x);
    const sum = new Array(values[node].length).fill(0);
    children.forEach((child, b) => {
      for (let j = 0; j < sum.length; j += 1) sum[j] += shares[b] * result[child][j];
    });
    result[node] = sum;
  });
  return result[result.length - 1];
}

function soft(tree, model, x) {
  return softAverage(tree, model.tests, model.steep, model.values, x);
}

function margin(tree, model, x) {
  const { tests } = model;
  const total = [...model.intercept];
  model.reach.forEach(({ steep, values }) => {
    softAverage(tree, tests, steep, values, x).forEach((value, j) => (total[j] += value));
  });
  for (const { steep, scores } of model.sides) {
    tests.children.forEach((children, node) => {
      if (children.length === 0) return;
      const shares = childShares(tree, tests, node, steep, x);
      children.forEach((child, b) => scores[child].forEach((score, j) => (total[j] += shares[b] * score)));
    });
  }
  if (total.length > 1) return softmax(total);
  const second = 1 / (1 + Math.exp(-total[0]));
  return [1 - second, second];
}

function softmax(logits) {
  const most = Math.max(...logits);
  const terms = logits.map((logit) => Math.exp(logit - most));
  const total = terms.reduce((a, b) => a + b, 0);
  return terms.map((term) => term / total);
}

// The kernel counts in float32, every product and every sum rounded: the same bits as in Python.
export const single = Math.fround;

/** (1 - s d)^64, 0 where that is less than 2^-64. */
function bell(sharpness, distance) {
  let value = single(1 - single(sharpness * distance));
  if (value <= 0.5) return 0;
  for (let k = 0; k < 6; k += 1) value = single(value * value);
  return value;
}

const bounded = (value) => Math.min(Math.max(value, -1e18), 1e18);

/** A value as a coordinate: a line, and a bend at each threshold of the tree. */
function coordinate(model, k, value) {
  if (value === null) return NaN;
  if (model.table[k]) return model.table[k][value];
  let place = bounded((value - model.center[k]) * model.factor[k]);
  for (const [at, size] of model.bends[k]) {
    const u = bounded((value - at) * model.slope[k]);
    place += size * (u / Math.sqrt(1 + u * u));
  }
  return place;
}

/** Weight of the training cases of each class near a case; `sharper` divides the widths of the bells. */
export function kernelSums(model, x, sharper = 1) {
  const width = model.attribute.length;
  const here = model.attribute.map((at, k) => single(coordinate(model, k, x[at])));
  for (const name of ["landmarks", "sharpness", "mass"]) {
    if (typeof model[name] === "string") model[name] = unpack(model[name]);
  }
  return model.prior.map((_, c) => {
    let total = 0;
    for (let e = model.start[c]; e < model.start[c + 1]; e += 1) {
      let distance = 0;
      for (let k = 0; k < width; k += 1) {
        const u = single(here[k] - model.landmarks[e * width + k]);
        if (u === u) distance = single(distance + (model.laplace ? Math.abs(u) : single(u * u)));
      }
      total = single(total + single(model.mass[e] * bell(sharper * model.sharpness[e], distance)));
    }
    return total;
  });
}

function kernel(model, x) {
  const sums = kernelSums(model, x).map((total, c) => total + model.pseudo * model.prior[c]);
  const all = sums.reduce((a, b) => a + b, 0);
  return sums.map((sum) => sum / all);
}

/** The class with the lowest expected cost, the first of ties; costs are by true class, then by decided class. */
export function cheapest(p, costs) {
  const expected = p.map((_, decided) => p.reduce((sum, share, c) => sum + share * costs[c][decided], 0));
  return expected.indexOf(Math.min(...expected));
}

/** The weighted logarithm of each expert's probabilities, which a pool adds up. */
export function logOpinions(tree, model, x) {
  return model.experts.map((expert, k) => {
    const p = KINDS[expert.kind](tree, expert, x);
    return p.map((value, c) => model.weights[k] * Math.log((1 - model.share) * value + model.share * model.prior[c]));
  });
}

function pool(tree, model, x) {
  const logits = model.prior.map(() => 0);
  for (const opinion of logOpinions(tree, model, x)) opinion.forEach((value, c) => (logits[c] += value));
  const p = softmax(logits);
  return model.softness === null ? p : coherent(p, decide(tree, x), model.softness);
}

/** Change probabilities as little as necessary to make the tree's class the most probable. */
function coherent(p, label, softness) {
  const other = Math.max(0, ...p.filter((_, c) => c !== label));
  if (other === 0) return p;
  const m = Math.log(p[label] / other);
  const root = Math.sqrt(m * m + softness * softness);
  const moved = m > 0 ? (m + root) / 2 : (softness * softness) / (2 * (root + Math.abs(m)));
  const lifted = p.map((value, c) => (c === label ? other * Math.max(Math.exp(moved), 1 + 2 ** -40) : value));
  const total = lifted.reduce((a, b) => a + b, 0);
  return lifted.map((value) => value / total);
}
