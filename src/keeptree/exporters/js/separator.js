// The distance kernel by separators: the test that lies between a case and the nearest region of another class.

import { inSingle, isBesideGrid } from "./boxes.js";
import { curveShares } from "./distance.js";
import { KINDS } from "./probability.js";
import { compared, decide } from "./tree.js";

KINDS.separator = (tree, model, x) => {
  const node = nearestSeparator(tree, model, x);
  return curveShares(tree, model, x, model.curve[node < 0 ? model.curve.length - 1 : node]);
};

/** The test between a case and the nearest region of another class; -1 if none. */
function nearestSeparator(tree, model, x) {
  const own = decide(tree, x);
  const isBeside = model.grid !== null && isBesideGrid(model.grid, x);
  const found = isBeside ? model.separator.off_grid : model.separator;
  const region = isBeside ? cheapestBox(tree, found, own, x) : nearestRegion(found, own, x);
  return region < 0 ? -1 : crossedTest(found.boxes[region], x);
}

/** The nearest region of a class other than `own`; -1 if none. */
function nearestRegion(found, own, x) {
  let best = Infinity;
  let region = -1;
  regionDistances(found.program, found.label.length, x).forEach((exact, r) => {
    const squared = withoutBits(exact, found.bits);
    if (found.label[r] !== own && squared < best) [best, region] = [squared, r];
  });
  return region;
}

const words = new DataView(new ArrayBuffer(8));

/** Set the lowest bits of the mantissa of a number to zero. */
function withoutBits(value, bits) {
  words.setFloat64(0, value);
  words.setUint32(4, words.getUint32(4) & -(2 ** bits));
  return words.getFloat64(0);
}

/** Squared distances to all regions, computed step by step in float64. */
function regionDistances(program, n, x) {
  const here = program.attribute.map((at, k) => limitedValue(program, k, x[at]));
  const slots = new Array(program.slots).fill(0);
  const found = new Array(n + 1).fill(Infinity);
  program.step.forEach(([code, k, source, left, right, leftRegion, rightRegion, start], e) => {
    const [threshold, falls, rises, scale] = program.bound[e];
    let above = slots[source];
    if (code & 8) {
      above += program.growth[start + here[k]];
    } else {
      const gap = here[k] - threshold;
      const below = slots[source] + growthBeyond(-gap, -rises, scale);
      above += growthBeyond(gap, falls, scale);
      if (code & 4) found[rightRegion] = below;
      else slots[right] = below;
    }
    if (code & 2) found[leftRegion] = above;
    else slots[left] = above;
  });
  return found.slice(1);
}

/** Limit a number to the range of the program; keep the code of a category. */
function limitedValue(program, k, value) {
  if (value === null) return program.codes[k] || NaN;
  const known = program.rounded[k] ? inSingle(value) : value;
  return Math.max(-program.reach[k], Math.min(program.reach[k], known));
}

/** What a bound that moved inward by a width adds to a squared distance. */
function growthBeyond(gap, width, scale) {
  if (!(gap > 0)) return 0;
  const scaled = gap * scale;
  const moved = Math.min(scaled, width);
  return moved * (2 * scaled - moved);
}

/** The test of the side of a box that the case violates most. */
function crossedTest(sides, x) {
  let largest = -1;
  let crossed = -1;
  for (const side of sides) {
    const [size, test] = outsideSide(side, x[side.attribute]);
    if (size > largest) [largest, crossed] = [size, test];
  }
  return crossed;
}

/** How far a value lies outside a side (-1: inside), and the test that it fails. */
function outsideSide(side, value) {
  if (side.cost !== null) {
    const code = value === null ? side.cost.length - 1 : value;
    return [side.cost[code], side.test[code]];
  }
  const [below, above, missing] = side.test;
  if (value === null) return [0, missing];
  const [lower, upper, factor] = side.bounds;
  const known = side.rounded ? inSingle(value) : value;
  if (known > upper) return [Math.min((known - upper) * factor, 1e150), above];
  return known > lower ? [-1, -1] : [Math.min((lower - known) * factor, 1e150), below];
}

/** The cheapest box of another class; of equal ones, the one with the fewest changes. */
function cheapestBox(tree, found, own, x) {
  let [best, fewest, region] = [Infinity, 0, -1];
  found.boxes.forEach((sides, r) => {
    if (found.label[r] === own) return;
    const [price, changes] = boxPrice(tree, sides, x);
    const isTied = price === best && price < Infinity;
    if (price < best || (isTied && changes < fewest)) [best, fewest, region] = [price, changes, r];
  });
  return region;
}

/** The squared cost of entering a box and the number of changes; missing values stay. */
function boxPrice(tree, sides, x) {
  let total = 0;
  let changes = 0;
  for (const side of sides) {
    const value = x[side.attribute];
    const size = value === null ? -1 : movePrice(tree, side, value);
    if (size === Infinity) return [Infinity, 0];
    if (size >= 0) {
      total += Math.min(size, 1e150) ** 2;
      changes += 1;
    }
  }
  return [total, changes];
}

/** What it costs to move a value into a side; -1 if it may stay, infinite if it cannot. */
function movePrice(tree, side, value) {
  if (side.cost !== null) return side.cost[value];
  const [low, high] = side.inside;
  const at = compared(value, tree);
  if (low <= at && at <= high) return -1;
  const target = side.moves[at < low ? 0 : 1];
  return target === null ? Infinity : Math.abs(target - value) * side.bounds[2];
}
