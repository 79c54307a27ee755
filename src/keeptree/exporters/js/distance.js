// The distance kernel: distances to the decision boundary, and the curves of the classes on them.

import { boxDistances, inSingle, isBesideGrid } from "./boxes.js";
import { KINDS, single, unpack } from "./probability.js";
import { mainLeaf } from "./tree.js";

KINDS.distance = (tree, model, x) => {
  return curveShares(tree, model, x, model.curve === null ? 0 : model.curve[mainLeaf(tree, x)]);
};

/** The share of each class at its distance, normalised. */
export function curveShares(tree, model, x, curve) {
  const h = algebraicDistances(tree, model, x);
  if (model.prior.length === 2) {
    const first = curveShare(model, curve, h[0]);
    return [first, 1 - first];
  }
  const curves = model.axis.length / model.estimated.length;
  const p = [...model.prior];
  model.estimated.forEach((c, j) => {
    p[c] = curveShare(model, curve + j * curves, h[c]) + 1e-9 * model.prior[c];
  });
  const total = p.reduce((a, b) => a + b, 0);
  return p.map((value) => value / total);
}

/** Distances to the boundary of each class in float32, negative inside it. */
function algebraicDistances(tree, model, x) {
  const isBeside = model.grid !== null && isBesideGrid(model.grid, x);
  const best = isBeside
    ? boxDistances(tree, model.grid, model.prior.length, x)
    : stepDistances(model, x).map((squared) => single(Math.sqrt(squared)));
  if (best.length === 2) return [single(best[0] - best[1])];
  const second = best.length > 1 ? [...best].sort((a, b) => a - b)[1] : Infinity;
  return best.map((d) => single(d > 0 ? d : -second));
}

/** Squared distances to the regions of each class, computed step by step in float32. */
function stepDistances(model, x) {
  const program = model.steps;
  const here = program.attribute.map((at, k) => scaledValue(program, k, x[at]));
  const slots = new Array(program.slots).fill(0);
  const best = new Array(model.prior.length + 1).fill(Infinity);
  const keep = (isRegion, at, squared) => {
    if (isRegion) best[at] = Math.min(best[at], squared);
    else slots[at] = squared;
  };
  program.step.forEach(([code, k, source, left, right, start], e) => {
    if (code & 8) {
      keep(code & 2, left, single(slots[source] + program.growth[start + here[k]]));
      return;
    }
    const [threshold, falls, rises] = program.bound[e];
    const gap = single(here[k] - threshold);
    const above = single(slots[source] + beyond(gap, falls));
    const below = single(slots[source] + beyond(-gap, -rises));
    keep(code & 2, left, above);
    keep(code & 4, right, below);
  });
  return best.slice(0, -1);
}

/** Centre and scale a number; keep the code of a category. */
function scaledValue(program, k, value) {
  if (value === null) return program.codes[k] || NaN;
  const known = program.rounded[k] ? inSingle(value) : value;
  const scaled = single(single(known - program.center[k]) * program.factor[k]);
  return Math.max(-program.reach[k], Math.min(program.reach[k], scaled));
}

/** What a bound that moved inward by a width adds to a squared distance. */
function beyond(gap, width) {
  if (!(gap > 0)) return 0;
  const moved = Math.min(gap, width);
  return single(moved * single(2 * gap - moved));
}

/** The first piece of the cell, or of the cells, at a distance, and the place after its start in pieces. */
function findPiece(model, curve, h) {
  const [origin, scale, left, middle, last, reach, even, start] = model.axis[curve];
  let place = (h - origin) * scale;
  if (place >= 0 && place < reach) return [start, place * even]; // cells with equally many pieces
  if (place < 0) place = -Math.log1p(-place);
  else if (place > middle) place = middle + Math.log1p(place - middle);
  place = Math.max(0, Math.min(last, place + left));
  const cell = model.cell[curve] + Math.floor(place);
  const first = model.piece[cell];
  return [first, (place - Math.floor(place)) * (model.piece[cell + 1] - first)];
}

/** The share of a class at a distance: a cubic piece of a curve. */
function curveShare(model, curve, h) {
  if (typeof model.coefficient === "string") model.coefficient = unpack(model.coefficient);
  const [first, y] = findPiece(model, curve, h);
  const j = 4 * (first + Math.floor(y));
  const u = y - Math.floor(y);
  const [c0, c1, c2, c3] = model.coefficient.subarray(j, j + 4);
  return Math.max(0, Math.min(1, c0 + u * (c1 + u * (c2 + u * c3))));
}
