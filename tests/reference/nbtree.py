"""NBTree in plain Python: slow and recursive, by rule 13 of J48_RULES, with the splits of J48."""

import math

import numpy as np

from tests.reference.c45 import Node, Reference, S

FOLDS = 5


class JavaRandom:
    """``java.util.Random``, as its documentation defines it."""

    def __init__(self, seed):
        self.state = (seed ^ 0x5DEECE66D) % 2**48

    def next_int(self, bound):
        while True:
            self.state = (self.state * 0x5DEECE66D + 0xB) % 2**48
            bits = self.state >> 17
            if bound & (bound - 1) == 0:
                return bound * bits >> 31
            if bits - bits % bound + bound - 1 < 2**31:
                return bits % bound


def weka_sort(values):
    """Return the order of the values after Weka's quicksort; missing values are the largest."""
    values = [math.inf if math.isnan(v) else v for v in values]
    index = list(range(len(values)))

    def swap(i, j):
        index[i], index[j] = index[j], index[i]

    def put_in_order(i, j):
        if values[index[i]] > values[index[j]]:
            swap(i, j)

    def sort(left, right):
        middle = (left + right) // 2
        if right - left < 1:
            return
        if right - left == 1:
            put_in_order(left, right)
            return
        for pair in ((left, middle), (left, right), (middle, right)):
            put_in_order(*pair)
        if right - left == 2:
            return
        swap(middle, right - 1)
        pivot = values[index[right - 1]]
        i, j = left, right - 1
        while True:
            i = next(k for k in range(i + 1, right) if not values[index[k]] < pivot)
            j = next(k for k in range(j - 1, left - 1, -1) if not values[index[k]] > pivot)
            if i >= j:
                break
            swap(i, j)
        swap(i, right - 1)
        sort(left, i - 1)
        sort(i + 1, right)

    sort(0, len(values) - 1)
    return index


def deal_shuffled(label, random):
    """Return the fold of each row: shuffled, grouped by class with Weka's swaps, dealt in turn."""
    order = list(range(len(label)))
    for j in range(len(order) - 1, 0, -1):
        k = random.next_int(j + 1)
        order[j], order[k] = order[k], order[j]
    i = 1
    while i < len(order):
        wanted = label[order[i - 1]]
        for j in range(i, len(order)):
            if label[order[j]] == wanted:
                order[i], order[j] = order[j], order[i]
                i += 1
        i += 1
    return [[order[p] for p in range(k, len(order), FOLDS)] for k in range(FOLDS)]


class NBTreeReference(Reference):
    """An NBTree; rows start in file order, and every search sorts them by the numeric columns."""

    def grow(self, rows):
        node = Node(self.class_counts(rows), rows)
        node.model = Bayes(self, rows)
        node.empty = node.counts.sum() < S
        node.split, rows = self.choose(rows, node.counts)
        if node.split is not None:
            node.children = [self.grow(part) for part in self.divide(node.split, rows)]
        return node

    def choose(self, rows, counts):
        pure = counts.sum() - counts.max() < S
        if len(rows[0]) < FOLDS or counts.sum() < 30 - S or pure:
            return None, rows
        own = Bayes(self, rows).errors(np.array_split(np.arange(len(rows[0])), FOLDS))
        if own < S:
            return None, rows
        best, fewest = None, own
        for j, n_categories in enumerate(self.n_categories):
            for _ in range(0 if n_categories else 2):
                order = weka_sort(self.X[rows[0], j])
                rows = rows[0][order], rows[1][order]
            split = self.best_split(j, rows, counts.sum())
            if split is None:
                continue
            errors, n_large = self.split_errors(
                self.divide(split, rows), FOLDS + (n_categories == 0)
            )
            if n_large >= 2 and errors < fewest - S:
                best, fewest = split, errors
        return (best if (own - fewest) / own >= 0.05 else None), rows

    def split_errors(self, parts, least):
        """Return the errors, and the number of branches that have at least ``least`` rows."""
        random, errors = JavaRandom(self.seed), 0.0
        for part in parts:
            if len(part[0]) >= least:
                model = Bayes(self, part)
                errors += model.errors(deal_shuffled(model.label, random))
            else:
                errors += part[1].sum()
        return errors, sum(len(ids) >= least for ids, _ in parts)

    def fit(self, X, y, weight=None, seed=1):
        self.seed = seed
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
    """Naive Bayes on the rows of a node."""

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
        """Return the probabilities of a row; the entries ``without`` are not counted."""
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

    def errors(self, folds):
        errors = 0.0
        for fold in map(set, folds):
            for e in fold:
                p = self.answer_bins(self.bins[e], fold)
                errors += self.weight[e] * (p.argmax() != self.label[e])
        return errors


def entropy(counts):
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())


def mdl_cuts(x, y, weight, n_classes):
    """Return the cut points of Fayyad and Irani in ascending order."""
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
