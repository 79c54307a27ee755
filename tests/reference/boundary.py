"""Naive distances, nearest leaves and separators, by a loop over all leaves of a tree.

It is slow and simple on purpose: nothing is merged or incremental.
"""

from itertools import pairwise

import numpy as np


class Leaf:
    """A leaf with its path of (node, child) steps and the box that they define."""

    def __init__(self, tree, node):
        self.node, self.label = node, int(tree.label[node])
        path = tree.path(node)
        self.steps = list(pairwise(path))
        self.lower, self.upper, self.allowed = {}, {}, {}
        for test, child in self.steps:
            f = int(tree.feature[test])
            if tree.kind[test] == 2:
                here = {k for k in range(len(tree.categories[f])) if goes(tree, test, k) == child}
                self.allowed[f] = self.allowed.get(f, here) & here
            elif child == tree.children(test)[0]:
                self.upper[f] = min(self.upper.get(f, np.inf), tree.threshold[test])
            else:
                self.lower[f] = max(self.lower.get(f, -np.inf), tree.threshold[test])

    def is_reachable(self, tree):
        if not all(self.allowed.values()):
            return False
        return all(holds_a_number(tree, *self.bounds(f)) for f in {*self.lower, *self.upper})

    def bounds(self, f):
        return self.lower.get(f, -np.inf), self.upper.get(f, np.inf)


def goes(tree, node, code):
    return int(tree.category_child[tree.category_start[node] + code])


def holds_a_number(tree, low, high):
    """Return whether a number of the compared type lies in (low, high]."""
    dtype = np.dtype(tree.compare_dtype).type
    largest = np.finfo(dtype).max
    if low >= largest or high < -largest:
        return False
    value = dtype(max(low, -largest))
    while not float(value) > low:
        value = np.nextafter(value, dtype(np.inf))
    while np.isfinite(low) and float(np.nextafter(value, dtype(-np.inf))) > low:
        value = np.nextafter(value, dtype(-np.inf))
    return float(value) <= high


def reachable_leaves(tree):
    leaves = [Leaf(tree, int(node)) for node in tree.preorder if tree.kind[node] == 0]
    return [leaf for leaf in leaves if leaf.is_reachable(tree)]


def compared(tree, X):
    """Return the values as the model compares them."""
    X = np.array(X, dtype=np.float64)
    if tree.compare_dtype == "float32":
        largest = np.finfo(np.float32).max
        numeric = [f for f, labels in enumerate(tree.categories) if labels is None]
        clipped = np.clip(X[:, numeric], -largest, largest)
        X[:, numeric] = clipped.astype(np.float32).astype(np.float64)
    return X


def move(leaf, metric, f, value):
    """Return the cost of moving one coordinate into the leaf."""
    if np.isnan(value):
        return 0.0
    if f in leaf.allowed:
        return min(metric.category_costs_[f][int(value), k] for k in leaf.allowed[f])
    low, high = leaf.bounds(f)
    return max(value - high, low - value, 0.0) * metric.factor_[f]


def leaf_distance(leaf, metric, x):
    moves = [move(leaf, metric, f, x[f]) for f in {*leaf.lower, *leaf.upper, *leaf.allowed}]
    return float(np.sqrt(np.sum(np.square(moves))))


def distances(tree, metric, X, leaves=None):
    """Return the distance from each row to each reachable leaf."""
    leaves = reachable_leaves(tree) if leaves is None else leaves
    X = compared(tree, X)
    return np.array([[leaf_distance(leaf, metric, x) for leaf in leaves] for x in X])


def signed_distance(tree, metric, X):
    """Return class-algebraic distances by definition 2 of Alvarez 2007; 0 on the boundary."""
    leaves = reachable_leaves(tree)
    to_leaf, label = distances(tree, metric, X, leaves), np.array([leaf.label for leaf in leaves])
    to_class = np.full((len(to_leaf), len(tree.classes)), np.inf)
    for c in range(len(tree.classes)):
        if (label == c).any():
            to_class[:, c] = to_leaf[:, label == c].min(axis=1)
    h = to_class.copy()
    for c in range(len(tree.classes)):
        inside = to_class[:, c] == 0
        others = np.delete(to_class, c, axis=1)
        nearest = others.min(axis=1) if others.shape[1] else np.full(len(h), np.inf)
        h[inside, c] = 0.0 - nearest[inside]
    return h


def nearest_leaf(tree, metric, X, own):
    """Return the nearest leaf of a class other than ``own``, and its distance.

    Ties go to the first leaf in preorder.
    """
    leaves = reachable_leaves(tree)
    to_leaf = distances(tree, metric, X, leaves)
    chosen, least = [], []
    for row, mine in zip(to_leaf, own, strict=True):
        d = np.where([leaf.label != mine for leaf in leaves], row, np.inf)
        nearest = np.flatnonzero(d**2 <= d.min() ** 2 * (1 + 2**-40))
        chosen.append(leaves[nearest[0]] if np.isfinite(d.min()) else None)
        least.append(d.min())
    return chosen, np.array(least)


def cutting_steps(tree, leaf, leaves):
    """Return the steps to a leaf that separate classes.

    Both sides of such a test can be reached, and the leaves below it have different classes.
    """
    steps = []
    for test, child in leaf.steps:
        below = [other for other in leaves if any(test == step[0] for step in other.steps)]
        if len({other.label for other in below}) == 1:
            break
        if any((test, child) not in other.steps for other in below):
            steps.append((test, child))
    return steps


def separator(tree, metric, x, leaf, leaves):
    """Return the test that a case crosses in the coordinate that moves most."""
    x = compared(tree, [x])[0]
    binding = {}
    for test, child in cutting_steps(tree, leaf, leaves):
        f = int(tree.feature[test])
        if tree.kind[test] == 2:
            violated, bound = goes(tree, test, int(x[f])) != child, 0.0
        elif child == tree.children(test)[0]:
            violated, bound = x[f] > tree.threshold[test], -tree.threshold[test]
        else:
            violated, bound = x[f] <= tree.threshold[test], tree.threshold[test]
        if violated and (f not in binding or bound >= binding[f][0]):
            binding[f] = (bound, test)
    moves = {f: move(leaf, metric, f, x[f]) for f in sorted(binding)}
    return binding[max(moves, key=moves.get)][1]
