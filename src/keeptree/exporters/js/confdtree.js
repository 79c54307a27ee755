// ConfDTree: the probabilities of the leaf, corrected on the way to the root.

import { compared, follow } from "./tree.js";
import { KINDS } from "./probability.js";

KINDS.confdtree = (tree, model, x) => {
  const p = walkUp(tree, model, 0, x, true);
  const total = p.reduce((a, b) => a + b, 0);
  return p.map((value) => value / total);
};

/** Probabilities below a node; `checks` is whether its tests are checked. */
function walkUp(tree, model, node, x, checks) {
  const children = tree.children[node];
  if (children.length === 0) return model.values[node];
  const value = x[tree.attribute[node]];
  if (value === null && tree.missing[node] >= 0) return walkUp(tree, model, tree.missing[node], x, false);
  if (value === null) {
    const shared = children.filter((child) => tree.share[child] > 0);
    return blend(shared.map((child) => [tree.share[child], walkUp(tree, model, child, x, false)]));
  }
  const taken = follow(tree, node, value);
  const p = walkUp(tree, model, taken, x, checks);
  const rule = checks ? model.checks[node] : undefined;
  if (rule === undefined) return p;
  const routes = (child) => walkUp(tree, model, child, x, true);
  return correct(tree, model, rule, children, taken, compared(value, tree), p, routes);
}

/** The average of probabilities by weight. */
function blend(parts) {
  const total = parts.reduce((sum, [weight]) => sum + weight, 0);
  return parts[0][1].map((_, c) => parts.reduce((sum, [weight, p]) => sum + weight * p[c], 0) / total);
}

/** Probabilities after a check: as they were, of alternative routes, or after a fine. */
function correct(tree, model, rule, children, taken, value, p, below) {
  const most = Math.max(...p);
  const leader = tree.declared.find((c) => p[c] >= most - 1e-12);
  if (rule.interval[leader] === null || isUsual(rule, "interval", value, leader)) return p;
  const others = p.map((_, c) => c).filter((c) => c !== leader && isUsual(rule, "other", value, c));
  if (others.length === 0) return imposeFine(model, rule, leader, p);
  const weights = rule.weight.map((weight) => others.reduce((sum, c) => sum + weight[c], 0));
  const routes = children.map((child, b) => [weights[b], child]).filter(([w, child]) => child !== taken && w > 0);
  if (routes.length === 0) return p;
  const own = weights[children.indexOf(taken)];
  return blend([[own, p], ...routes.map(([weight, child]) => [weight, below(child)])]);
}

/** Return whether a value lies in an interval of a class, or a category is typical of it. */
function isUsual(rule, name, value, c) {
  if (rule.usual !== null) return (rule.usual[value][c] & (name === "interval" ? 1 : 2)) > 0;
  const bounds = rule[name][c];
  return bounds !== null && bounds[0] <= value && value <= bounds[1];
}

/** Move part of the largest probability to the other classes of the node. */
function imposeFine(model, rule, leader, p) {
  const receives = rule.receives.map((share, c) => (model.to_all || c !== leader ? share : 0));
  const total = receives.reduce((a, b) => a + b, 0);
  const amount = model.fine[leader] * p[leader];
  if (total === 0 || amount === 0) return p;
  return p.map((value, c) => (c === leader ? value - amount : value) + (amount * receives[c]) / total);
}
