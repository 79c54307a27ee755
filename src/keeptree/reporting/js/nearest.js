// The nearest change: the leaves of the tree as boxes, and the cheapest point with another class.

import { atMost, nextAbove } from "./numbers.js";
import { ERROR, SHARE, compared, decide, firstLargest, isNominal } from "../../exporters/js/tree.js";

const MOST_BOXES = 20000; // shared missing values multiply them
const EVERYWHERE = { has: () => true }; // attributes that may leave the observed range: all
const known = new Map(); // boxes by missing attributes

/** Boxes of the leaves that a case without the `missing` attributes can reach, in preorder. */
export function findBoxes(tree, missing = []) {
  const key = missing.join();
  if (!known.has(key)) known.set(key, [...walk(tree, new Set(missing))]);
  return known.get(key);
}

function* walk(tree, missing) {
  const stack = [{ todo: [[0, 1]], sides: new Map(), reached: [], mixed: false }];
  let count = 0;
  while (stack.length && count < MOST_BOXES) {
    const { todo, sides, reached, mixed } = stack.pop();
    if (todo.length === 0) {
      count += 1;
      yield { ...decided(tree, reached, mixed), sides: [...sides.entries()].sort((a, b) => tree.order[a[0]] - tree.order[b[0]]) };
      continue;
    }
    const [[node, share], ...rest] = todo;
    if (tree.children[node].length === 0) {
      stack.push({ todo: rest, sides, reached: [...reached, [node, share]], mixed });
      continue;
    }
    const shared = mixed || (tree.missing[node] === SHARE && missing.has(tree.attribute[node]));
    for (const [following, narrowed] of steps(tree, node, share, sides, missing).reverse()) {
      stack.push({ todo: [...following, ...rest], sides: narrowed, reached, mixed: shared });
    }
  }
}

/** [nodes with shares, box] of each continuation after a test. */
function steps(tree, node, share, sides, missing) {
  const attribute = tree.attribute[node];
  const children = tree.children[node];
  if (missing.has(attribute)) {
    const rule = tree.missing[node];
    if (rule === ERROR) return [];
    if (rule !== SHARE) return [[[[rule, share]], sides]];
    return [[children.filter((child) => tree.share[child] > 0).map((child) => [child, share * tree.share[child]]), sides]];
  }
  const old = sides.get(attribute);
  const narrowed = (side) => new Map(sides).set(attribute, side);
  if (isNominal(tree, node)) {
    return children.flatMap((child) => {
      const allowed = tree.table[node].map((goes, code) => goes === child && (!old || old.allowed[code]));
      return allowed.includes(true) ? [[[[child, share]], narrowed({ allowed })]] : [];
    });
  }
  const { low, high, lower, upper } = old ?? { low: -Infinity, high: Infinity, lower: -Infinity, upper: Infinity };
  const t = tree.threshold[node];
  return [
    [children[0], { low, high: Math.min(high, atMost(t, tree.float32)), lower, upper: Math.min(upper, t) }],
    [children[1], { low: Math.max(low, nextAbove(t, tree.float32)), high, lower: Math.max(lower, t), upper }],
  ]
    .filter(([, side]) => side.low <= side.high && side.low < Infinity && side.high > -Infinity)
    .map(([child, side]) => [[[child, share]], narrowed(side)]);
}

function decided(tree, reached, mixed) {
  const [leaf] = reached.reduce((best, entry) => (entry[1] > best[1] ? entry : best));
  if (!mixed) return { leaf, label: tree.label[leaf] };
  const sum = tree.proportions[leaf].map((_, c) => reached.reduce((total, [node, share]) => total + share * tree.proportions[node][c], 0));
  const total = sum.reduce((a, b) => a + b, 0);
  return { leaf, label: firstLargest(tree, sum.map((value) => value / total)) };
}

/** Distance to the boundary, that is, to the nearest point with another decision. */
export function distance(tree, metric, x, label = decide(tree, x)) {
  return distanceTo(tree, metric, x, (other) => other !== label);
}

/** Distance to the boundary of a class, negative where the tree assigns another class. */
export function inside(tree, metric, x, shown, label = decide(tree, x)) {
  return label === shown ? distance(tree, metric, x, label) : -distanceTo(tree, metric, x, (other) => other === shown);
}

/** Distance to the nearest possible case of the requested classes; a missing value costs nothing. */
function distanceTo(tree, metric, x, asked) {
  let nearest = Infinity;
  for (const box of findBoxes(tree)) {
    if (!asked(box.label)) continue;
    let total = 0;
    for (const [at, side] of box.sides) {
      if (x[at] === null) continue;
      let cost = 0;
      if (side.allowed) {
        cost = side.allowed[x[at]] ? 0 : Math.min(...metric.costs[at][x[at]].filter((_, code) => side.allowed[code]));
      } else if (metric.step[at]) {
        const value = number(tree, metric, at, x[at], side, EVERYWHERE);
        cost = value === null ? Infinity : Math.abs(value - x[at]) * metric.factor[at];
      } else {
        const value = compared(x[at], tree);
        cost = Math.max(side.lower - value, value - side.upper, 0) * metric.factor[at];
      }
      total += cost * cost;
      if (total >= nearest) break;
    }
    nearest = Math.min(nearest, total);
  }
  return Math.sqrt(nearest);
}

/**
 * The cheapest change that alters the tree's decision, or null.
 *
 * `locked` attributes keep their value; the others stay inside the observed range, except
 * those in `beyond`. Ties go to fewer changes, then to the first leaf.
 */
export function nearest(tree, metric, x, locked = new Set(), beyond = new Set()) {
  const own = decide(tree, x);
  const missing = x.flatMap((value, at) => (value === null ? [at] : []));
  const found = [];
  let best = Infinity;
  findBoxes(tree, missing).forEach((box, index) => {
    if (box.label === own) return;
    const moved = enter(tree, metric, x, box, locked, beyond, missing.length ? Infinity : best);
    if (moved === null) return;
    best = Math.min(best, moved.total);
    found.push({ ...moved, index, box });
  });
  found.sort((a, b) => a.total - b.total || a.moves.length - b.moves.length || a.index - b.index);
  for (const { total, moves, box } of found) {
    const point = [...x];
    for (const move of moves) point[move.attribute] = move.after;
    // Shares of a missing value may tie up to rounding, so the tree itself decides.
    if (missing.length && decide(tree, point) !== box.label) continue;
    return { label: box.label, leaf: box.leaf, cost: Math.sqrt(total), moves, point };
  }
  return null;
}

/** Missing attributes of a case, if no other change alters the decision; otherwise none. */
export function lacking(tree, x, label) {
  const missing = x.flatMap((value, at) => (value === null ? [at] : []));
  return findBoxes(tree, missing).some((box) => box.label !== label) ? [] : missing.sort((a, b) => tree.order[a] - tree.order[b]);
}

/** Changes that move a case into a box, and their squared cost; null if they are not allowed. */
function enter(tree, metric, x, box, locked, beyond, limit) {
  const moves = [];
  let total = 0;
  for (const [at, side] of box.sides) {
    const value = x[at];
    const after = side.allowed ? category(metric, at, value, side, beyond) : number(tree, metric, at, value, side, beyond);
    if (after === value) continue;
    if (after === null || locked.has(at)) return null;
    const cost = side.allowed ? metric.costs[at][value][after] : Math.abs(after - value) * metric.factor[at];
    total += cost * cost;
    if (total > limit) return null;
    moves.push({ attribute: at, before: value, after, side, cost });
  }
  return { total, moves };
}

function category(metric, at, value, side, beyond) {
  if (side.allowed[value]) return value;
  let best = null;
  side.allowed.forEach((inside, code) => {
    if (!inside || !(beyond.has(at) || metric.seen[at][code])) return;
    if (best === null || metric.costs[at][value][code] < metric.costs[at][value][best]) best = code;
  });
  return best;
}

function number(tree, metric, at, value, side, beyond) {
  const here = compared(value, tree);
  if (side.low <= here && here <= side.high) return value;
  const [least, most] = limits(metric, at, beyond);
  const rising = here < side.low;
  const edge = rising ? Math.max(side.low, least) : Math.min(side.high, most);
  if (metric.step[at]) return multiple(tree, metric.step[at], edge, rising, side, least, most);
  const chosen = rising ? Math.min(edge, most) : Math.max(edge, least);
  const there = compared(chosen, tree);
  return least <= chosen && chosen <= most && side.low <= there && there <= side.high ? chosen : null;
}

/** The multiple of a step nearest to an edge that the model places inside, or null. */
function multiple(tree, step, edge, rising, side, least, most) {
  const inverse = step <= 1 ? Math.round(1 / step) : 0;
  const sign = rising ? 1 : -1;
  // Dividing may be off by one, and rounding to float32 may reach beyond the edge.
  const first = Math.floor(edge / step) - 2 * sign;
  for (let k = first; Math.abs(k - first) < 6; k += sign) {
    const value = (Math.abs(step * inverse - 1) < 1e-9 ? k / inverse : k * step) + 0; // no -0
    const there = compared(value, tree);
    if (side.low <= there && there <= side.high && least <= value && value <= most) return value;
  }
  return null;
}

/** Cost of crossing a threshold to the nearest possible value on the other side. */
export function costAcross(tree, metric, at, value, threshold, up) {
  if (!metric.step[at]) return Math.abs(compared(value, tree) - threshold) * metric.factor[at];
  const side = up ? { low: nextAbove(threshold, tree.float32), high: Infinity } : { low: -Infinity, high: atMost(threshold, tree.float32) };
  return Math.abs(value - number(tree, metric, at, value, side, EVERYWHERE)) * metric.factor[at];
}

/** Smallest and largest value that an attribute may take. */
export function limits(metric, at, beyond = new Set()) {
  if (beyond.has(at)) return [-Infinity, Infinity];
  return [metric.low[at], metric.high[at]];
}

/** Locks and data limits whose removal alone would allow a change, cheapest first. */
export function obstacles(tree, metric, x, locked) {
  const found = [];
  const by = (a, b) => tree.order[a] - tree.order[b];
  const tested = x.flatMap((value, at) => (value === null ? [] : [at])).sort(by);
  for (const at of [...locked].sort(by)) {
    if (!tested.includes(at)) continue;
    const without = nearest(tree, metric, x, new Set([...locked].filter((other) => other !== at)));
    if (without) found.push({ kind: "lock", attribute: at, cost: without.cost });
  }
  for (const at of tested) {
    const without = nearest(tree, metric, x, locked, new Set([at]));
    if (without) found.push({ kind: "range", attribute: at, cost: without.cost });
  }
  return found.sort((a, b) => a.cost - b.cost);
}
