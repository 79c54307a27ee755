// The tree: the leaves a case falls in, by share where a value is missing, and its decision.

export const SHARE = -1; // of tree.missing: the case is shared among the children
export const ERROR = -2; // the tree has no rule

/** A value as the model compares it. */
export function compared(value, tree) {
  return tree.float32 ? Math.fround(value) : value;
}

/** Whether a test is one of categories. */
export function isNominal(tree, node) {
  return node in tree.table;
}

/** The child a known value leads to. */
export function follow(tree, node, value) {
  if (isNominal(tree, node)) return tree.table[node][value];
  const [first, second] = tree.children[node];
  return compared(value, tree) <= tree.threshold[node] ? first : second;
}

/** The leaf of a case; a shared missing value follows the heaviest child. */
export function mainLeaf(tree, x) {
  let node = 0;
  while (tree.children[node].length > 0) {
    const value = x[tree.attribute[node]];
    node = value === null ? tree.following[node] : follow(tree, node, value);
  }
  return node;
}

/** Share of a case in every node it passes: a Map from node to share, the root first. */
export function route(tree, x) {
  const shares = new Map();
  const open = [[0, 1]];
  while (open.length) {
    const [node, share] = open.pop();
    shares.set(node, share);
    if (tree.children[node].length === 0) continue;
    const value = x[tree.attribute[node]];
    if (value !== null) {
      open.push([follow(tree, node, value), share]);
    } else if (tree.missing[node] === SHARE) {
      for (const child of [...tree.children[node]].reverse()) {
        if (tree.share[child] > 0) open.push([child, share * tree.share[child]]);
      }
    } else if (tree.missing[node] !== ERROR) {
      open.push([tree.missing[node], share]);
    }
  }
  return shares;
}

/** Whether the tree decides by a mixture of leaves: the case meets a test that shares its missing value. */
export function isMixed(tree, x) {
  let node = 0;
  while (tree.children[node].length > 0) {
    const value = x[tree.attribute[node]];
    if (value === null && tree.missing[node] < 0) return tree.missing[node] === SHARE;
    node = value === null ? tree.missing[node] : follow(tree, node, value);
  }
  return false;
}

/** Class of the largest share, of ties the first declared; a later one must be 1e-6 larger, as in J48. */
export function firstLargest(tree, shares) {
  let best = 0;
  let [chosen] = tree.declared;
  for (const c of tree.declared) {
    if (shares[c] - best > 1e-6) [best, chosen] = [shares[c], c];
  }
  return chosen;
}

/** Average of the leaves' values by the share of the case in each. */
export function leafAverage(tree, shares, values) {
  const reached = [...shares].filter(([node]) => tree.children[node].length === 0);
  if (reached.length === 1) return values[reached[0][0]];
  const mixed = new Array(values[reached[0][0]].length).fill(0);
  for (const [node, share] of reached) values[node].forEach((value, c) => (mixed[c] += share * value));
  const total = mixed.reduce((sum, value) => sum + value, 0);
  return mixed.map((value) => value / total);
}

/** The tree's decision. */
export function decide(tree, x, shares = route(tree, x)) {
  if (isMixed(tree, x)) return firstLargest(tree, leafAverage(tree, shares, tree.proportions));
  const leaf = [...shares.keys()].find((node) => tree.children[node].length === 0);
  return tree.label[leaf];
}
