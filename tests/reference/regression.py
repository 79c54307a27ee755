"""A regression tree in plain Python that tries every threshold and every pair of category sets.

With ``ordered``, it sorts the categories by their means and tries only cuts of that order. Both
agree unless ``min_leaf`` rules out a cut; then the best allowed sets may break the order.
"""

import math
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

S = 1e-6


@dataclass
class Node:
    weight: float
    mean: float
    feature: int = -1
    threshold: float = math.nan
    left: frozenset = frozenset()
    share: float = math.nan
    children: list = field(default_factory=list)


def squares(y, w):
    return float((w * (y - np.average(y, weights=w)) ** 2).sum()) if len(y) else 0.0


class RegressionReference:
    """A regression tree; rows at a node are (row numbers, weights)."""

    def __init__(
        self, n_categories, ordered, min_leaf=5, min_split=10, epsilon=0.0, max_depth=math.inf
    ):
        self.n_categories, self.ordered = n_categories, ordered
        self.min_leaf, self.min_split = min_leaf, min_split
        self.epsilon, self.max_depth = epsilon, max_depth

    def fit(self, X, y, weight=None):
        self.X, self.y = X, y
        weight = np.ones(len(y)) if weight is None else weight
        self.root = self.grow(np.arange(len(y)), weight, 0)
        return self

    def grow(self, ids, w, depth):
        y = self.y[ids]
        node = Node(w.sum(), np.average(y, weights=w))
        small = w.sum() < max(self.min_split, 2 * self.min_leaf) - S
        if small or depth >= self.max_depth or squares(y, w) / w.sum() <= self.epsilon:
            return node
        best = -1.0
        for j, k in enumerate(self.n_categories):
            for reduction, threshold, left in self.tests(j, k, ids, w):
                if reduction > best * (1 + 1e-10):
                    best, node.feature = reduction, j
                    node.threshold, node.left = threshold, left
        if node.feature < 0 or np.ptp(y) == 0:
            node.feature = -1
            return node
        goes_left = self.goes_left(node, self.X[ids, node.feature])
        known = ~np.isnan(goes_left)
        node.share = w[goes_left == 1].sum() / w[known].sum()
        for side, share in ((1, node.share), (0, 1 - node.share)):
            take = ~known | (goes_left == side)
            node.children.append(
                self.grow(ids[take], np.where(known, w, w * share)[take], depth + 1)
            )
        return node

    def goes_left(self, node, x):
        if self.n_categories[node.feature]:
            left = np.array([v in node.left for v in x], dtype=float)
        else:
            left = (x <= node.threshold).astype(float)
        left[np.isnan(x)] = np.nan
        return left

    def tests(self, j, n_categories, ids, w):
        """Yield every test of a column as (reduction, threshold, categories on the left)."""
        known = ~np.isnan(self.X[ids, j])
        x, y, w = self.X[ids, j][known], self.y[ids][known], w[known]
        values = np.unique(x)
        if n_categories:
            weight_of = {v: w[x == v].sum() for v in values}
            mean_of = {v: np.average(y[x == v], weights=w[x == v]) for v in values}
            ranked = sorted(values, key=lambda v: (mean_of[v], v))
            subsets = [
                frozenset(part)
                for size in range(1, len(values))
                for part in ([ranked[:size]] if self.ordered else combinations(values, size))
            ]
            candidates = [(math.nan, part, np.isin(x, list(part))) for part in subsets]
            absent = frozenset(set(range(n_categories)) - set(values))
        else:
            middles = values[:-1] / 2 + values[1:] / 2
            candidates = [(t, None, x <= t) for t in middles]
        for threshold, part, left in candidates:
            sides = w[left].sum(), w[~left].sum()
            if min(sides) < self.min_leaf - S:
                continue
            saved = squares(y, w) - squares(y[left], w[left]) - squares(y[~left], w[~left])
            if part is not None and 2 * sum(weight_of[v] for v in part) >= w.sum():
                part = part | absent
            yield saved, threshold, part

    def predict(self, X):
        return np.array([self.answer(self.root, x) for x in X])

    def answer(self, node, x):
        if not node.children:
            return node.mean
        left = self.goes_left(node, x[[node.feature]])[0]
        if math.isnan(left):
            first, second = (self.answer(child, x) for child in node.children)
            return node.share * first + (1 - node.share) * second
        return self.answer(node.children[0 if left else 1], x)


def count_leaves(node):
    return sum(map(count_leaves, node.children)) if node.children else 1
