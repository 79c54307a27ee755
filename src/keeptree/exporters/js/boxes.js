// The boxes of the tree's regions, and the distances to them in float64.

import { single } from "./probability.js";

/** Round a number to float32 without overflow. */
export const inSingle = (value) => single(Math.max(-3.4028234663852886e38, Math.min(3.4028234663852886e38, value)));

/** Return whether any number is not a multiple of its column's step. */
export function isBesideGrid(grid, x) {
  return grid.attribute.some((at, k) => {
    const [value, inverse] = [x[at], grid.inverse[k]];
    if (value === null) return false;
    const nearest = Math.round(inverse ? value * inverse : value / grid.step[k]);
    return (inverse ? nearest / inverse : nearest * grid.step[k]) !== value;
  });
}

/** Distances to the regions of each class, box by box. */
export function boxDistances(tree, { sides, boxes, label }, classes, x) {
  const squares = sides.map((side) => sideSquare(tree, side, x[side.attribute]));
  const best = new Array(classes).fill(Infinity);
  boxes.forEach((box, b) => {
    best[label[b]] = Math.min(best[label[b]], box.reduce((sum, side) => sum + squares[side], 0));
  });
  return best.map(Math.sqrt);
}

/** Return the squared cost of moving a value inside a side of a box. */
function sideSquare(tree, side, value) {
  if (side.cost !== null) return side.cost[value === null ? side.cost.length - 1 : value] ** 2;
  if (value === null) return 0;
  const [lower, upper, risesTo, fallsTo, factor] = side.bounds;
  const here = tree.float32 ? inSingle(value) : value;
  const from = side.rounded ? inSingle(value) : value;
  if (here > lower && here <= upper) return 0;
  return Math.min((here > upper ? from - fallsTo : risesTo - from) * factor, 1e150) ** 2;
}
