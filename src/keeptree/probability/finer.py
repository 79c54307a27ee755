"""Further splits of a kept tree's leaves: more tests for the margin expert of a large sample.

A readable tree has few tests, and a large sample supports more. The splits divide the leaves for
the margin expert only, on attributes that the tree tests. The kept tree does not change.
"""

from dataclasses import dataclass, fields

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from keeptree.data.sample import Sample
from keeptree.savable import expect, expect_array, saved_part
from keeptree.tree import LEAF, NUMERIC

_FEWEST_ROWS = 2000  # smaller samples gained nothing
_ROWS_PER_LEAF = 50
_MOST_LEAVES = 100
_FEWEST_CASES = 10  # smallest new leaf
_LARGEST = float(np.finfo(np.float32).max)  # scikit-learn's trees read float32


@saved_part
@dataclass(frozen=True, eq=False)
class LeafSplits:
    """Numeric tests that divide the leaves of a tree, in order.

    Split k divides ``node[k]``, a leaf of the tree or of an earlier split, into the nodes n + 2 k
    (``x <= threshold``) and n + 2 k + 1, where n is the tree's number of nodes. A missing value
    goes to child ``missing[k]``, 0 or 1.
    """

    node: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing: np.ndarray

    def check(self, tree):
        """Raise a ValueError if splits read from a file do not fit the tree."""
        n = len(self.node)
        for name in ("node", "feature", "missing"):
            expect_array(getattr(self, name), name, np.int32, (n,))
        expect_array(self.threshold, "threshold", np.float64, (n,))
        end = tree.n_nodes + 2 * np.arange(n)
        expect(((self.node >= 0) & (self.node < end)).all(), "a split is not of a leaf")
        own = self.node[self.node < tree.n_nodes]
        leaves = (tree.kind[own] == LEAF).all() and len(np.unique(self.node)) == n
        expect(leaves, "a split is not of a leaf")
        expect(np.isin(self.feature, _split_features(tree)).all(), "a split is of another column")
        expect(np.isin(self.missing, (0, 1)).all(), "a split has no side for missing values")

    def divide(self, tree):
        """Return the tree with its leaves divided; its own nodes keep their numbers."""
        n, new = tree.n_nodes, 2 * len(self.node)
        first = n + 2 * np.arange(len(self.node), dtype=np.int32)

        def longer(values, filler, own=None):
            values = np.concatenate([values, np.full((new, *values.shape[1:]), filler)])
            if own is not None:
                values[self.node] = own
            return values

        label, counts = longer(tree.label, 0), longer(tree.counts, 0.0)
        width = longer(np.diff(tree.child_start), 0, 2)
        children = [tree.children(i) for i in range(n)] + [np.empty(0, np.int32)] * new
        for node, child in zip(self.node, first, strict=True):
            children[node] = np.array([child, child + 1], dtype=np.int32)
            label[child : child + 2] = label[node]
            counts[child] = counts[node]  # not used, but they must add up
        values = {field.name: getattr(tree, field.name) for field in fields(tree)}
        values |= {
            "kind": longer(tree.kind, LEAF, NUMERIC),
            "feature": longer(tree.feature, -1, self.feature),
            "threshold": longer(tree.threshold, np.nan, self.threshold),
            "child_start": np.append(0, np.cumsum(width)),
            "child": np.concatenate(children),
            "category_start": longer(tree.category_start, tree.category_start[-1]),
            "missing": longer(tree.missing, -1, first + self.missing),
            "counts": counts,
            "label": label,
            "term_start": None,
            "term_feature": None,
            "term_weight": None,
            "signatures": (),
        }
        return type(tree)(**values)


def split_leaves(sample):
    """Return splits of the leaves of a sample's tree, or None if the sample is too small.

    scikit-learn grows a tree in each leaf; impure leaves with many cases are divided most. Only
    columns that the tree compares with a threshold are used.
    """
    tree = sample.tree
    leaves = min(len(sample) // _ROWS_PER_LEAF, _MOST_LEAVES) - tree.n_leaves
    columns = _split_features(tree)
    ends = np.abs([sample.observed.low[columns], sample.observed.high[columns]])
    columns = columns[(ends < _LARGEST).all(axis=0)]
    if len(sample) < _FEWEST_ROWS or leaves <= 0 or len(columns) == 0:
        return None
    reached = tree.route(sample.X)
    order = np.argsort(reached, kind="stable")
    leaf, start = np.unique(reached[order], return_index=True)
    parts = np.split(order, start[1:])
    mixed = np.array([_impurity(sample.y[rows], sample.weight[rows]) for rows in parts])
    more = np.floor(leaves * mixed / max(mixed.sum(), 1e-300)).astype(int)
    splits, n = [], tree.n_nodes
    for node, rows, number in zip(leaf.tolist(), parts, more.tolist(), strict=True):
        if number > 0:
            grown = _grow(sample, rows, columns, number + 1)
            splits += _splits_of(grown, node, n + 2 * len(splits), columns)
    if not splits:
        return None
    node, feature, threshold, missing = zip(*splits, strict=True)
    whole = (np.array(values, dtype=np.int32) for values in (node, feature, missing))
    node, feature, missing = whole
    return LeafSplits(node, feature, np.array(threshold), missing)


def with_finer_leaves(sample, splits):
    """Return the same sample for the tree with its leaves divided."""
    return Sample(splits.divide(sample.tree), sample.X, sample.y, sample.weight)


def _split_features(tree):
    return np.unique(tree.feature[tree.kind == NUMERIC])


def _impurity(y, weight):
    """Return the weight of the cases times their Gini impurity."""
    counts = np.bincount(y, weight)
    return counts.sum() - (counts**2).sum() / max(counts.sum(), 1e-300)


def _grow(sample, rows, columns, leaves):
    grown = DecisionTreeClassifier(
        max_leaf_nodes=leaves, min_samples_leaf=_FEWEST_CASES, random_state=0
    )
    return grown.fit(sample.X[np.ix_(rows, columns)], sample.y[rows], sample.weight[rows]).tree_


def _splits_of(grown, node, place, columns):
    """Splits of a grown tree whose root is ``node``; new nodes are numbered from ``place``."""
    splits, todo = [], [(0, node)]
    while todo:
        at, node = todo.pop(0)
        if grown.children_left[at] < 0:
            continue
        missing = 0 if grown.missing_go_to_left[at] else 1
        splits.append((node, columns[grown.feature[at]], grown.threshold[at], missing))
        todo += [(grown.children_left[at], place), (grown.children_right[at], place + 1)]
        place += 2
    return splits
