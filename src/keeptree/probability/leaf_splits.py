"""Further tests stored as splits of the leaves of a tree.

The kept tree does not change: only the experts ask the tests of the divided tree.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from keeptree.data.sample import Sample
from keeptree.probability.soft_tests import hard_tests
from keeptree.savable import expect, expect_array, expect_number, saved_part
from keeptree.tree import LEAF, NUMERIC

EVENLY = -1  # a missing value goes to both sides; marks the tests that divide all rows evenly
_EVEN_SPREAD = -1.0  # a negative slope treats every value as missing


@saved_part
@dataclass(frozen=True, eq=False)
class LeafSplits:
    """Numeric tests that divide the leaves of a tree, in order.

    Split k divides ``node[k]``, a leaf of the tree or of an earlier split, into the nodes n + 2 k
    (``x <= threshold``) and n + 2 k + 1, where n is the tree's number of nodes. A missing value
    goes to child ``missing[k]``, 0 or 1. If ``beside``, the tree first gets a leaf beside its root,
    as in :func:`with_leaf_beside`; a split whose missing values go to -1 then divides all rows
    evenly, so that several small trees stand side by side. ``weight`` is the weight of all these
    trees together, relative to the tree.
    """

    node: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing: np.ndarray
    beside: bool = False  # older files have no such splits
    weight: float = 1.0  # older files have none

    def check(self, tree):
        """Raise a ValueError if splits read from a file do not fit the tree."""
        n = len(self.node)
        expect(isinstance(self.beside, bool), "beside is not true or false")
        expect(not self.beside or len(split_features(tree)) > 0, "a split uses another column")
        expect_number(self.weight, "weight")
        expect(self.weight > 0, "the weight of the trees beside the tree is not positive")
        tree = self._with_leaf(tree)
        for name in ("node", "feature", "missing"):
            expect_array(getattr(self, name), name, np.int32, (n,))
        expect_array(self.threshold, "threshold", np.float64, (n,))
        end = tree.n_nodes + 2 * np.arange(n)
        expect(((self.node >= 0) & (self.node < end)).all(), "a split does not divide a leaf")
        own = self.node[self.node < tree.n_nodes]
        leaves = (tree.kind[own] == LEAF).all() and len(np.unique(self.node)) == n
        expect(leaves, "a split does not divide a leaf")
        numeric = [f for f, labels in enumerate(tree.categories) if labels is None]
        expect(np.isin(self.feature, numeric).all(), "a split uses another column")
        goes = (0, 1, EVENLY) if self.beside else (0, 1)
        expect(np.isin(self.missing, goes).all(), "a split has no branch for missing values")

    def divide(self, tree):
        """Return the tree with its leaves divided; its own nodes keep their numbers.

        If ``beside``, its root has the number that :func:`with_leaf_beside` gives it.
        """
        tree = self._with_leaf(tree)
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
        evenly = self.missing == EVENLY
        for node, child, is_even in zip(self.node, first, evenly, strict=True):
            children[node] = np.array([child, child + 1], dtype=np.int32)
            label[child : child + 2] = label[node]
            counts[child] = counts[node] / (2 if is_even else 1)  # they must add up
            counts[child + 1] = counts[node] - counts[child]
        values = {field.name: getattr(tree, field.name) for field in fields(tree)}
        values |= {
            "kind": longer(tree.kind, LEAF, NUMERIC),
            "feature": longer(tree.feature, -1, self.feature),
            "threshold": longer(tree.threshold, np.nan, self.threshold),
            "child_start": np.append(0, np.cumsum(width)),
            "child": np.concatenate(children),
            "category_start": longer(tree.category_start, tree.category_start[-1]),
            "missing": longer(tree.missing, -1, np.where(evenly, -1, first + self.missing)),
            "counts": counts,
            "label": label,
            "term_start": None,
            "term_feature": None,
            "term_weight": None,
            "signatures": (),
        }
        return type(tree)(**values)

    def _with_leaf(self, tree):
        return with_leaf_beside(tree, self.weight) if self.beside else tree


def with_leaf_beside(tree, weight=1.0):
    """Return the tree with a new root that divides all rows between it and a leaf.

    The leaf gets ``weight`` times the share of the tree. With n nodes in the tree, its root becomes
    node n and the leaf is node n + 1. The other nodes keep their numbers.
    """
    n = tree.n_nodes
    first = np.array([0, *range(1, n), 0, 0])  # the node that each new node copies
    width = np.diff(tree.child_start)[first]
    width[[0, n + 1]] = 2, 0
    children = [np.array([n, n + 1]), *map(tree.children, range(1, n)), tree.children(0)]
    kind, feature = tree.kind[first], tree.feature[first]
    threshold, missing = tree.threshold[first], tree.missing[first]
    kind[[0, n + 1]], feature[[0, n + 1]] = (NUMERIC, LEAF), (split_features(tree)[0], -1)
    threshold[[0, n + 1]], missing[[0, n + 1]] = (0.0, np.nan), -1
    counts = tree.counts[first]
    counts[n + 1] *= weight
    counts[0] = counts[n] + counts[n + 1]  # they must add up
    values = {field.name: getattr(tree, field.name) for field in fields(tree)}
    values |= {
        "kind": kind,
        "feature": feature,
        "threshold": threshold,
        "missing": missing,
        "counts": counts,
        "child_start": np.append(0, np.cumsum(width)),
        "child": np.concatenate(children).astype(np.int32),
        "label": tree.label[first],
        "signatures": (),
        **_moved_categories(tree),
    }
    return type(tree)(**values)


def with_splits(sample, splits):
    """Return the sample with the tree whose leaves are divided."""
    columns = sample.observed.columns  # already measured
    return Sample(splits.divide(sample.tree), sample.X, sample.y, sample.weight, columns)


def divide_evenly(tests, splits, n):
    """Return soft tests in which the even splits of a tree of n nodes divide all rows evenly."""
    even = np.zeros(n + 2 + 2 * len(splits.node), dtype=bool)
    even[0] = True
    even[splits.node[splits.missing == EVENLY]] = True
    even = even[tests.node] & (tests.kind != LEAF)
    threshold = np.where(even, 0.0, tests.threshold)
    return replace(tests, threshold=threshold, spread=np.where(even, _EVEN_SPREAD, tests.spread))


def with_hard_tests(tests, splits, tree):
    """Return the soft tests of a tree, joined by those of the trees beside it, which stay hard."""
    joined = hard_tests(splits.divide(tree))
    place = np.argsort(joined.node)  # of each node, because all nodes are reached
    own = place[np.where(tests.node == 0, tree.n_nodes, tests.node)]
    threshold, spread = joined.threshold.copy(), joined.spread.copy()
    threshold[own], spread[own] = tests.threshold, tests.spread
    return divide_evenly(replace(joined, threshold=threshold, spread=spread), splits, tree.n_nodes)


def leaf_splits(splits, beside=False, weight=1.0):
    """Return rows (node, feature, threshold, missing) as LeafSplits; None if there are none."""
    if not splits:
        return None
    node, feature, threshold, missing = zip(*splits, strict=True)
    whole = (np.array(values, dtype=np.int32) for values in (node, feature, missing))
    node, feature, missing = whole
    return LeafSplits(node, feature, np.array(threshold), missing, beside, float(weight))


def _moved_categories(tree):
    """Return the tables of nominal tests for :func:`with_leaf_beside`, which moves the root."""
    width = np.diff(tree.category_start)
    moved = np.array([0, *width[1:], width[0], 0])
    child = np.split(tree.category_child, tree.category_start[1:-1])
    return {
        "category_start": np.append(0, np.cumsum(moved)),
        "category_child": np.concatenate([*child[1:], child[0]]),
        "term_start": None,
        "term_feature": None,
        "term_weight": None,
    }


def split_features(tree):
    """Return the columns that a tree compares with a threshold."""
    return np.unique(tree.feature[tree.kind == NUMERIC])
