"""NBTree in plain Python: slow, recursive, to be read beside rule 13; the splits are J48's."""

import math

import numpy as np

from tests.reference.c45 import Node, Reference, S

FOLDS = 5


class NBTreeReference(Reference):
    """Rows must come in the order in which they are dealt to folds."""

    def grow(self, rows):
        node = Node(self.class_counts(rows), rows)
        node.model = Bayes(self, rows)
        node.empty = node.counts.sum() < S
        node.split = self.choose(rows, node.counts)
        if node.split is not None:
            node.children = [self.grow(part) for part in self.divide(node.split, rows)]
        return node

    def choose(self, rows, counts):
        pure = counts.sum() - counts.max() < S
        if len(rows[0]) < FOLDS or counts.sum() < 30 - S or pure:
            return None
        own = Bayes(self, rows).errors()
        if own < S:
            return None
        best, fewest = None, math.inf
        for j in range(self.X.shape[1]):
            split = self.best_split(j, rows, counts.sum())
            if split is None:
                continue
            parts = self.divide(split, rows)
            if sum(len(ids) >= FOLDS for ids, _ in parts) < 2:
                continue
            errors = sum(
                Bayes(self, part).errors() if len(part[0]) >= FOLDS else part[1].sum()
                for part in parts
            )
            if errors < fewest - S:
                best, fewest = split, errors
        return best if (own - fewest) / own >= 0.05 else None

    def fit(self, X, y, weight=None):
        self.X, self.y = np.asarray(X, dtype=float), np.asarray(y)
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
        self.root = self.grow((np.arange(len(y)), weight))
        return self

    def answer(self, node, x, laplace=False):
        if node.is_leaf:
            return node.model.answer(x)
        b = node.split.branch(x[node.split.feature])
        if b >= 0:
            child = node.children[b]
            return node.model.answer(x) if child.empty else self.answer(child, x)
        pairs = zip(self.grown_shares(node), node.children, strict=True)
        return sum(share * self.answer(c, x) for share, c in pairs if not c.empty)


class Bayes:
    """Naive Bayes of the rows of a node."""

    def __init__(self, tree, rows):
        self.tree, (self.ids, self.weight) = tree, rows
        self.label = tree.y[self.ids]
        self.cuts = [
            None if k else mdl_cuts(tree.X[self.ids, j], self.label, self.weight, tree.n_classes)
            for j, k in enumerate(tree.n_categories)
        ]
        self.bins = [self.bins_of(tree.X[i]) for i in self.ids]
        self.n_bins = [
            k or len(cuts) + 1 for k, cuts in zip(tree.n_categories, self.cuts, strict=True)
        ]

    def bins_of(self, x):
        return [
            None if math.isnan(v) else int(v) if cuts is None else sum(v > cut for cut in cuts)
            for v, cuts in zip(x, self.cuts, strict=True)
        ]

    def answer(self, x, without=()):
        """Probabilities of a row; the entries ``without`` are not counted."""
        return self.answer_bins(self.bins_of(x), without)

    def answer_bins(self, bins, without=()):
        kept = [e for e in range(len(self.ids)) if e not in without]
        logs = np.zeros(self.tree.n_classes)
        for c in range(self.tree.n_classes):
            of_class = [e for e in kept if self.label[e] == c]
            logs[c] = math.log(1 + sum(self.weight[e] for e in of_class))
            for j, b in enumerate(bins):
                if b is None:
                    continue
                known = [e for e in of_class if self.bins[e][j] is not None]
                inside = sum(self.weight[e] for e in known if self.bins[e][j] == b)
                every = sum(self.weight[e] for e in known)
                logs[c] += math.log((inside + 1) / (every + self.n_bins[j]))
        p = np.exp(logs - logs.max())
        return p / p.sum()

    def errors(self):
        dealt = np.argsort(self.label, kind="stable")
        errors = 0.0
        for k in range(FOLDS):
            fold = set(dealt[k::FOLDS].tolist())
            for e in fold:
                p = self.answer_bins(self.bins[e], fold)
                errors += self.weight[e] * (p.argmax() != self.label[e])
        return errors


def entropy(counts):
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())


def mdl_cuts(x, y, weight, n_classes):
    """Fayyad and Irani's cuts, ascending."""
    known = np.flatnonzero(~np.isnan(x))
    order = known[np.argsort(x[known], kind="stable")]
    x, y, weight = x[order], y[order], weight[order]
    return _cut_range(x, y, weight, n_classes)


def _cut_range(x, y, weight, n_classes):
    best, at = math.inf, None
    whole = np.bincount(y, weight, minlength=n_classes)
    for i in range(1, len(x)):
        if x[i - 1] < x[i]:
            sides = [np.bincount(y[p], weight[p], minlength=n_classes) for p in _parts(i)]
            after = sum(side.sum() * entropy(side) for side in sides) / whole.sum()
            if after < best - 1e-9:
                best, at, kept = after, i, sides
    if at is None:
        return []
    gain = entropy(whole) - best
    k, k1, k2 = (np.count_nonzero(counts) for counts in (whole, *kept))
    delta = math.log2(3**k - 2)
    delta -= k * entropy(whole) - k1 * entropy(kept[0]) - k2 * entropy(kept[1])
    if gain <= 1e-9 or not gain > (math.log2(len(x) - 1) + delta) / whole.sum():
        return []
    below, above = (_cut_range(x[p], y[p], weight[p], n_classes) for p in _parts(at))
    return [*below, x[at - 1] / 2 + x[at] / 2, *above]


def _parts(i):
    return slice(None, i), slice(i, None)
