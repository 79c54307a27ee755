"""J48 in plain Python: slow and recursive, with one function per rule of J48_RULES.

``X`` holds floats (nominal columns: category codes), NaN where missing; ``n_categories[j]`` is 0
for a numeric column. Rows at a node are pairs of arrays (row numbers, weights).
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri

S = 1e-6


@dataclass
class Options:
    """Options of Weka's J48."""

    min_leaf: float = 2
    binary: bool = False
    pruning: str = "error-based"
    confidence: float = 0.25
    raising: bool = True
    collapse: bool = True
    n_folds: int = 3
    mdl: bool = True
    snap: str = "exact"  # "exact", "tolerant" (as Weka 3.6) or "none"


@dataclass
class Split:
    """A test: ``codes[k]`` is the branch of category k; a numeric test has a ``threshold``."""

    feature: int
    gain: float
    ratio: float
    n_branches: int
    threshold: float = math.nan
    codes: list | None = None
    tolerance: float = 0.0  # Weka 3.6 sends values up to 1e-6 above the threshold to the left

    def branch(self, value):
        if math.isnan(value):
            return -1
        if self.codes is not None:
            return self.codes[int(value)]
        below = value <= self.threshold or value - self.threshold < self.tolerance
        return 0 if below else 1


@dataclass
class Node:
    counts: np.ndarray
    rows: tuple
    split: Split | None = None
    children: list = field(default_factory=list)
    empty: bool = False

    @property
    def is_leaf(self):
        return self.split is None

    def become_leaf(self):
        self.split, self.children = None, []


def xlogx(v):
    return v * math.log2(v) if v >= S else 0.0


def first_largest(values):
    """Return the index of the largest value; a later value must be larger by more than 1e-6."""
    best, index = 0.0, 0
    for i, value in enumerate(values):
        if value - best > S:
            best, index = value, i
    return index


def errors_of(counts):
    return counts.sum() - counts[first_largest(counts)]


class Reference:
    """A J48 tree; :meth:`fit` sets ``root``."""

    def __init__(self, n_categories, n_classes, options=None):
        self.n_categories, self.n_classes = n_categories, n_classes
        self.options = options or Options()

    def fit(self, X, y, weight=None):
        self.X, self.y = np.asarray(X, dtype=float), np.asarray(y)
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
        rows = np.arange(len(y))
        if self.options.pruning == "reduced-error":
            grow, prune = weka_folds(self.y, self.options.n_folds)
            self.root = self.grow((grow, weight[grow]))
            self.reduced_error(self.root, (prune, weight[prune]))
            return self
        self.root = self.grow((rows, weight))
        if self.options.collapse:
            self.collapse(self.root)
        if self.options.pruning == "error-based":
            self.prune(self.root)
        return self

    # Rules 1, 7 and 8
    def grow(self, rows):
        counts = self.class_counts(rows)
        node = Node(counts, rows)
        total = counts.sum()
        pure = abs(total - counts[first_largest(counts)]) < S
        if not (2 * self.options.min_leaf - total > S or pure):
            node.split = self.choose(rows, counts)
        if node.split is None:
            node.empty = abs(total) < S
            return node
        node.children = [self.grow(part) for part in self.divide(node.split, rows)]
        return node

    def class_counts(self, rows):
        return np.bincount(self.y[rows[0]], rows[1], minlength=self.n_classes)

    def divide(self, split, rows, shares=None):
        """Return the rows of each branch; missing values get weight x share (rule 7)."""
        ids, weight = rows
        branch = np.array([split.branch(v) for v in self.X[ids, split.feature]], dtype=int)
        if shares is None:
            shares = self.shares(split, branch, weight)
        parts = []
        for b in range(split.n_branches):
            take = (branch == b) | ((branch < 0) & (shares[b] > S))
            parts.append((ids[take], np.where(branch < 0, weight * shares[b], weight)[take]))
        return parts

    def shares(self, split, branch, weight):
        known = np.array([weight[branch == b].sum() for b in range(split.n_branches)])
        if abs(known.sum()) < S:
            return np.full(split.n_branches, 1 / split.n_branches)
        return known / known.sum()

    # Rule 4
    def choose(self, rows, counts):
        n_all = len(self.y)
        large = [k > 0 and not 0.3 * n_all - k > S for k in self.n_categories]
        splits = [self.best_split(j, rows, counts.sum()) for j in range(self.X.shape[1])]
        gains = [
            s.gain
            for s, is_large in zip(splits, large, strict=True)
            if s is not None and (not is_large or all(large))
        ]
        if not gains:
            return None
        average = sum(gains) / len(gains)
        best, ratio = None, 0.0
        for s in splits:
            if s is not None and s.gain >= average - 0.001 and s.ratio - ratio > S:
                best, ratio = s, s.ratio
        if best is not None and best.codes is None:
            self.snap(best)
        return best

    def best_split(self, j, rows, total):
        known = ~np.isnan(self.X[rows[0], j])
        rows = (rows[0][known], rows[1][known])
        if self.n_categories[j] == 0:
            return self.numeric_split(j, rows, total)
        if self.options.binary:
            return self.one_against_rest(j, rows, total)
        return self.multiway_split(j, rows, total)

    def table(self, j, rows):
        table = np.zeros((self.n_categories[j], self.n_classes))
        np.add.at(table, (self.X[rows[0], j].astype(int), self.y[rows[0]]), rows[1])
        return table

    # Rule 2
    def multiway_split(self, j, rows, total):
        table = self.table(j, rows)
        if np.sum(self.options.min_leaf - table.sum(axis=1) < S) < 2:
            return None
        gain = gain_of(table, total)
        codes = list(range(len(table)))
        return Split(j, gain, ratio_of(gain, table, total), len(table), codes=codes)

    # Rule 5
    def one_against_rest(self, j, rows, total):
        table, least = self.table(j, rows), self.options.min_leaf
        best = None
        for k in range(len(table)):
            two = np.array([table[k], table.sum(axis=0) - table[k]])
            if not (least - two.sum(axis=1) < S).all():
                continue
            gain = gain_of(two, total)
            ratio = ratio_of(gain, two, total)
            codes = [int(i != k) for i in range(len(table))]
            if best is None:
                best = Split(j, 0.0, 0.0, 2, codes=codes)
            if k == 0 or ratio - best.ratio > S:
                best = Split(j, gain, ratio, 2, codes=codes)
        return best

    # Rule 3
    def numeric_split(self, j, rows, total):
        ids, weight = rows
        order = np.argsort(self.X[ids, j], kind="stable")
        ids, weight = ids[order], weight[order]
        value, label = self.X[ids, j], self.y[ids]
        least = self.options.min_leaf
        side = 0.1 * weight.sum() / self.n_classes
        if side - least < S:
            side = least
        elif side - 25 > S:
            side = 25
        if 2 * side - len(ids) > S:
            return None
        two = np.zeros((2, self.n_classes))
        np.add.at(two[1], label, weight)
        best, cut, candidates = 0.0, None, 0
        for i in range(1, len(ids)):
            two[0, label[i - 1]] += weight[i - 1]
            two[1, label[i - 1]] -= weight[i - 1]
            if value[i - 1] + 1e-5 < value[i] and (side - two.sum(axis=1) < S).all():
                candidates += 1
                gain = gain_of(two, total)
                if gain - best > S:
                    best, cut, kept = gain, i, two.copy()
        if candidates and self.options.mdl:
            best -= math.log2(candidates) / total
        if cut is None or best < S:
            return None
        threshold = (value[cut - 1] + value[cut]) / 2
        if threshold == value[cut]:
            threshold = value[cut - 1]
        return Split(j, best, ratio_of(best, kept, total), 2, threshold)

    # Rule 6
    def snap(self, split):
        values = self.X[:, split.feature]
        values = values[~np.isnan(values)]
        if self.options.snap == "exact":
            split.threshold = values[values <= split.threshold].max()
        elif self.options.snap == "tolerant":
            current = -math.inf
            for v in values:
                below = v <= split.threshold or v - split.threshold < S
                if v - current > S and below:
                    current = v
            split.threshold, split.tolerance = current, S

    # Rule 9
    def collapse(self, node):
        if node.is_leaf:
            return
        if sum(errors_of(leaf.counts) for leaf in leaves(node)) >= errors_of(node.counts) - 0.001:
            node.become_leaf()
            return
        for child in node.children:
            self.collapse(child)

    # Rule 10
    def prune(self, node):
        if node.is_leaf:
            return
        for child in node.children:
            self.prune(child)
        largest, most = 0, 0.0
        for i, part in enumerate(self.divide(node.split, node.rows)):
            if most - part[1].sum() < S:
                largest, most = i, part[1].sum()
        branch = node.children[largest]
        e_branch = self.branch_estimate(branch, node.rows) if self.options.raising else math.inf
        e_leaf = self.estimate(node.counts)
        e_tree = sum(self.estimate(leaf.counts) for leaf in leaves(node))
        if e_leaf - e_tree - 0.1 < S and e_leaf - e_branch - 0.1 < S:
            node.become_leaf()
        elif e_branch - e_tree - 0.1 < S:
            node.split, node.children = branch.split, branch.children
            self.recount(node, node.rows)
            self.prune(node)

    def branch_estimate(self, node, rows):
        if node.is_leaf:
            return self.estimate(self.class_counts(rows))
        parts = self.divide(node.split, rows)
        return sum(
            self.branch_estimate(c, part) for c, part in zip(node.children, parts, strict=True)
        )

    def recount(self, node, rows):
        node.counts, node.rows = self.class_counts(rows), rows
        if node.is_leaf:
            node.empty = node.empty and abs(node.counts.sum()) < S
            return
        for child, part in zip(node.children, self.divide(node.split, rows), strict=True):
            self.recount(child, part)

    def estimate(self, counts):
        total, errors = counts.sum(), errors_of(counts)
        return 0.0 if abs(total) < S else errors + added(total, errors, self.options.confidence)

    # Rule 11
    def reduced_error(self, node, rows):
        """Prune below ``node`` and return the errors of the pruning rows ``rows``."""
        counts = self.class_counts(rows)
        as_leaf = counts.sum() - counts[first_largest(node.counts)]
        if node.is_leaf:
            return as_leaf
        parts = self.divide(node.split, rows, self.grown_shares(node))
        below = 0.0
        for child, part in zip(node.children, parts, strict=True):
            errors = self.reduced_error(child, part)
            if child.counts.sum() < S:
                counts = self.class_counts(part)
                errors = counts.sum() - counts[first_largest(node.counts)]
            below += errors
        if as_leaf - below < S:
            node.become_leaf()
            return as_leaf
        return below

    def grown_shares(self, node):
        weights = np.array([child.counts.sum() for child in node.children])
        return weights / weights.sum()

    # Rule 12
    def predict_proba(self, X, laplace=False):
        return np.array([self.answer(self.root, x, laplace) for x in X])

    def answer(self, node, x, laplace):
        if node.is_leaf:
            return proportions(node.counts, laplace)
        b = node.split.branch(x[node.split.feature])
        if b >= 0:
            child = node.children[b]
            return (
                proportions(node.counts, laplace) if child.empty else self.answer(child, x, laplace)
            )
        pairs = zip(self.grown_shares(node), node.children, strict=True)
        return sum(share * self.answer(c, x, laplace) for share, c in pairs if not c.empty)


def proportions(counts, laplace):
    return (counts + laplace) / (counts.sum() + laplace * len(counts))


def gain_of(table, total):
    """Return the gain of a branches x classes table (rule 2); ``total`` includes missing rows."""
    known, classes = table.sum(), table.sum(axis=0)
    before = xlogx(known) - sum(map(xlogx, classes))
    after = sum(map(xlogx, table.sum(axis=1))) - sum(map(xlogx, table.ravel()))
    product = known / total * (before - after)
    return 0.0 if abs(product) < S else product / known


def ratio_of(gain, table, total):
    branches = table.sum(axis=1)
    info = xlogx(total) - sum(map(xlogx, branches)) - xlogx(total - branches.sum())
    return 0.0 if abs(info) < S else gain / (info / total)


def added(n, e, confidence):
    """Return the upper limit of the errors minus the errors (rule 10); CF in single precision."""
    cf = np.float32(confidence)
    if cf > 0.5:
        return 0.0
    if e < 1:
        base = n * (1 - float(cf) ** (1 / n))
        return base if e == 0 else base + e * (added(n, 1.0, confidence) - base)
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    z, f = ndtri(float(np.float32(1) - cf)), (e + 0.5) / n
    r = f + z * z / (2 * n) + z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return r / (1 + z * z / n) * n - e


def leaves(node):
    return [node] if node.is_leaf else [leaf for child in node.children for leaf in leaves(child)]


def weka_folds(y, n_folds):
    """Return the growing rows and the pruning rows (rule 11)."""
    order, y = list(range(len(y))), list(y)
    i = 1
    while i < len(y):
        for j in range(i, len(y)):
            if y[order[j]] == y[order[i - 1]]:
                order[i], order[j] = order[j], order[i]
                i += 1
        i += 1
    order = [row for first in range(n_folds) for row in order[first::n_folds]]
    size = len(y) // n_folds  # the first folds take the remainder, so the last one never does
    return np.array(order[: len(y) - size], dtype=int), np.array(order[len(y) - size :], dtype=int)
