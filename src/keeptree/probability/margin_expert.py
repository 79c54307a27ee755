"""The margin expert: a ridge-logistic model of how clearly a case passes each test."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keeptree._compiled.soft import add_margins, logits_to_shares
from keeptree.data.sample import stratified_part
from keeptree.probability.further_tests import grow_rules, split_quantiles
from keeptree.probability.leaf_splits import LeafSplits
from keeptree.probability.margin_tests import PARTS, MarginTests
from keeptree.probability.soft_tests import SCALES, SoftTests, check_tests
from keeptree.savable import expect, expect_array, expect_number, saved_part
from keeptree.tree import LEAF, NUMERIC

_MOST_NUMBERS = 30_000_000  # size limit of the feature matrix; more rows are reduced to a part
FURTHER = {None: lambda sample: None, "quantiles": split_quantiles, "rules": grow_rules}


class MarginSettings(NamedTuple):
    """Settings of the margin expert that are chosen out of fold.

    They are the inverse strength of the penalty, the scale of
    :func:`~keeptree.probability.soft_tests.soft_tests`, and the further tests: "rules", "quantiles"
    or None.
    """

    C: float = 0.03
    scale: str = SCALES[0]
    further: str | None = None


@saved_part
@dataclass(frozen=True, eq=False)
class MarginExpert:
    """Scores of the nodes of ``tests``; the logit of a row is their sum weighted by its shares.

    ``side`` is weighted by the share that each test alone gives the node, at two slopes; ``reach``
    by the share that reaches the node; ``path`` holds the sums of ``reach`` down to each node.
    ``centre`` is the mean over the training sample of what each test adds. The last axis has one
    logit for two classes, otherwise one per class. ``splits`` are further tests, stored as splits
    of leaves, or None. Contributions count them with the tree's test of the same column
    whose threshold is nearest, or by column if the tree does not test it.
    """

    tests: SoftTests
    C: float
    side: np.ndarray
    reach: np.ndarray
    path: np.ndarray
    centre: np.ndarray
    intercept: np.ndarray
    splits: LeafSplits | None = None  # older files have none

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        if self.splits is not None:
            expect(isinstance(self.splits, LeafSplits), "its splits are damaged")
            self.splits.check(tree)
        check_tests(self.tests, tree if self.splits is None else self.splits.divide(tree))
        expect_number(self.C, "C")
        n_classes, n = len(tree.classes), len(self.tests.node)
        width = 1 if n_classes == 2 else n_classes
        expect_array(self.intercept, "intercept", np.float64, (width,))
        expect_array(self.side, "side", np.float64, (len(PARTS) - 1, n, width))
        for name in ("reach", "path", "centre"):
            expect_array(getattr(self, name), name, np.float64, (n, width))

    def logit(self, X, out=None):
        """Logits of encoded rows: shape (n, 1) for two classes, else (n, n_classes)."""
        out = np.empty((len(X), len(self.intercept))) if out is None else out
        out[:] = self.intercept
        steep = self.tests.steep(PARTS[1][0])
        add_margins(X, self.tests.arrays, steep, self.side, self.path, out)
        return out

    def probability(self, X, out):
        """Fill ``out`` with the probabilities of encoded rows."""
        logits_to_shares(self.logit(X), out)

    def asked(self, tree):
        """Return what contributions are counted by: the tree's tests, then columns it has none for.

        Returns
        -------
        asked : Asked
        """
        at = np.flatnonzero(self.tests.kind != LEAF)
        node = self.tests.node[at].copy()
        if self.splits is not None and self.splits.beside:
            node[node == tree.n_nodes] = 0  # the root
        column = self.tests.columns[self.tests.column[at]]
        own = np.isin(node, np.flatnonzero(tree.kind != LEAF))
        for k in np.flatnonzero(~own):
            same = np.flatnonzero((tree.kind == NUMERIC) & (tree.feature == column[k]))
            gap = np.abs(tree.threshold[same] - self.tests.threshold[at[k]])
            node[k] = same[np.argmin(gap)] if len(same) else tree.n_nodes + column[k]
        node, first, place = np.unique(node, return_index=True, return_inverse=True)
        return Asked(np.where(node < tree.n_nodes, node, -1), column[first], place)

    def contributions(self, X, tree):
        """Return what each ``asked`` part adds relative to ``centre``: (n, n_tests, n_logits)."""
        tests = self.tests
        added = np.zeros((len(tests.kind), len(X), len(self.intercept)))
        for part, scores in zip(PARTS, (*self.side, self.reach), strict=True):
            np.add.at(added, tests.parent, tests.shares(X, *part)[:, :, None] * scores[:, None])
        added -= self.centre[:, None]
        asked = self.asked(tree)
        total = np.zeros((len(asked.node), *added.shape[1:]))
        np.add.at(total, asked.place, added[tests.kind != LEAF])
        return total.transpose(1, 0, 2)


class Asked(NamedTuple):
    """What the contributions of a margin expert are counted by.

    ``node`` holds the sorted numbers of the tree's tests, and then -1 for each column that the tree
    does not test. ``column`` holds the column of each. ``place`` is the position in ``node`` that
    each soft test belongs to.
    """

    node: np.ndarray
    column: np.ndarray
    place: np.ndarray


def fit_margin(sample, settings, tolerance=1e-6, precision=np.float64):
    """Fit the logistic model on the tests of a sample's tree.

    ``settings`` are MarginSettings; ``tolerance`` and ``precision`` are those of ``RidgeLogistic``.

    Returns
    -------
    expert : MarginExpert
    """
    asked = MarginTests(sample, FURTHER[settings.further](sample), settings.scale)
    width = sum(len(node) for node in asked.nodes)
    rows = stratified_part(sample.y, _MOST_NUMBERS // (width + 1))
    problem = asked.logistic(sample.take(rows), settings.C, precision)
    return make_expert(asked, settings.C, problem.fit(settings.C, tolerance), problem.mean)


def make_expert(asked, C, linear, mean):
    """Return the expert with the coefficients of a fitted model.

    Parameters
    ----------
    asked : MarginTests
        The tests.
    C : float
        Inverse strength of the penalty.
    linear : Linear
        The fitted model.
    mean : ndarray of shape (p,)
        Means of its features in the training sample.

    Returns
    -------
    expert : MarginExpert
    """
    tests = asked.tests
    ends = np.cumsum([len(node) for node in asked.nodes])[:-1]
    scores = np.zeros((len(PARTS), len(tests.kind), len(linear.intercept)))
    centre = np.zeros_like(scores[0])
    parts = np.split(linear.coef, ends), np.split(mean, ends)
    for part, (node, coef, middle) in enumerate(zip(asked.nodes, *parts, strict=True)):
        scores[part, node] = coef
        np.add.at(centre, tests.parent[node], middle[:, None] * coef)
    path = scores[-1].copy()
    for i in range(len(path) - 2, -1, -1):
        path[i] += path[tests.parent[i]]
    side, reach = scores[:-1], scores[-1]
    return MarginExpert(tests, float(C), side, reach, path, centre, linear.intercept, asked.splits)
