"""Coordinates in which the kernel expert compares cases: attributes stretched at thresholds."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from keeptree._compiled.landmarks import Space
from keeptree.geometry.metric import Metric
from keeptree.probability.more_columns import more_columns
from keeptree.probability.normal_scores import normal_scores
from keeptree.savable import expect, expect_array, expect_codes, expect_starts, saved_part
from keeptree.tree import LEAF

_CATEGORY_CASES = 5.0  # pseudo-cases at the prior, added to the class shares of a category
_LEAST_IMPORTANCE = 1e-4
_UNTESTED = 0.3  # importance of a column that the tree does not test, relative to the mean
_FAR = 1e18  # as in keeptree._compiled.landmarks
_MOST_BENDS = 64  # of an axis; if there are more, nearly equal bends are merged
_NARROW = 1 / 16  # bends closer than this many widths are merged
_BLOCK = 1 << 18  # numbers held in memory at once
_MOST_KNOTS = 12  # bends of a normal-score axis
_MOST_PLACES = 256  # points at which its curve is approximated
_STIFFNESS = 1e-4  # ridge of the least squares fit of their sizes


@saved_part
@dataclass(frozen=True, eq=False)
class KernelSpace:
    """How columns become coordinates.

    For a numeric column ``feature[k]``, coordinate k is the difference from ``center`` times
    ``factor``, plus a bend at each threshold ``bends[0]`` of the tree (from ``bend_start[k]`` on):
    ``bends[1]`` x u / sqrt(1 + u²), where u is the difference from the threshold times ``slope``.
    For a nominal column it is an entry of ``table`` (from ``table_start[k]`` on). Normal scores
    consist of bends only, between the values of the sample.
    """

    feature: np.ndarray
    center: np.ndarray
    factor: np.ndarray
    slope: np.ndarray
    bend_start: np.ndarray
    bends: np.ndarray
    table_start: np.ndarray
    table: np.ndarray

    @property
    def scale(self):
        """Whether numeric columns are measured by "deviation" or by "score"."""
        numeric = np.diff(self.table_start) == 0
        return "score" if numeric.any() and not self.factor[numeric].all() else "deviation"

    @cached_property
    def arrays(self):
        """What the compiled function reads."""
        frame = np.vstack([self.center, self.factor, self.slope])
        rest = (self.bend_start, self.bends, self.table_start, self.table)
        return Space(self.feature, frame, *rest)

    def coordinates(self, X):
        """Coordinates of encoded rows; NaN where missing."""
        points = np.zeros((len(X), len(self.feature)))
        for k, f in enumerate(self.feature):
            table = self.table[self.table_start[k] : self.table_start[k + 1]]
            if len(table):
                codes = np.where(np.isnan(X[:, f]), len(table), X[:, f]).astype(np.int64)
                points[:, k] = np.append(table, np.nan)[codes]
            else:
                points[:, k] = np.clip((X[:, f] - self.center[k]) * self.factor[k], -_FAR, _FAR)
                for at, size in self.bends[:, self.bend_start[k] : self.bend_start[k + 1]].T:
                    points[:, k] += size * bend((X[:, f] - at) * self.slope[k])
        return points

    def scaled(self, sizes):
        """The same space with each coordinate multiplied by its size."""
        bend_sizes = np.repeat(sizes, np.diff(self.bend_start))
        return replace(
            self,
            factor=self.factor * sizes,
            bends=np.stack([self.bends[0], self.bends[1] * bend_sizes]),
            table=self.table * np.repeat(sizes, np.diff(self.table_start)),
        )

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        n = len(self.feature)
        expect_codes(self.feature, "feature", (n,), tree.n_features)
        for name in ("center", "factor", "slope"):
            expect_array(getattr(self, name), name, np.float64, (n,))
        expect_array(self.bends, "bends", np.float64, (2, None))
        expect_array(self.table, "table", np.float64, (None,))
        for name, end in (("bend_start", self.bends.shape[1]), ("table_start", len(self.table))):
            expect_array(getattr(self, name), name, np.int64, (n + 1,))
            expect_starts(getattr(self, name), name, end)
        for k, f in enumerate(self.feature):
            labels = tree.categories[f]
            size = 0 if labels is None else len(labels)
            have = self.table_start[k + 1] - self.table_start[k]
            expect(have == size, f"the table of coordinate {k} must have {size} entries")


def bend(u):
    """A step from -1 to 1, steep where u is small."""
    u = np.clip(u, -_FAR, _FAR)
    return u / np.sqrt(1.0 + u * u)


def embed(sample, columns, scale="deviation"):
    """Return coordinates of spread 1 for the columns of a sample that may be read.

    A nominal attribute becomes the class shares of its categories (the value difference of
    Stanfill and Waltz 1986). A numeric one is measured in standard deviations, or with
    ``scale="score"`` in normal scores.

    Returns
    -------
    space : KernelSpace
    importance : ndarray
        Importance of the attribute of each coordinate.
    prior : ndarray
        Class shares of the sample.
    """
    tree, X = sample.tree, sample.X
    prior = sample.class_share
    metric = Metric().fit_spread(columns, tree)
    importance, decrease = importances(tree), _decreases(tree)
    tested = importance[importance > 0]
    importance[more_columns(sample)] = _UNTESTED * (tested.mean() if len(tested) else 1.0)
    axes = []
    for f in np.flatnonzero(importance > 0):
        if tree.categories[f] is not None:
            shares = _category_shares(X[:, f], sample, prior, len(tree.categories[f]))
            axes += [_Axis(f, 0.0, 1.0, 0.0, _NO_BENDS, column) for column in shares.T]
        else:
            bends = _bends(tree, np.flatnonzero(tree.feature == f), decrease, metric.factor_[f])
            axis = _numeric_axis if scale == "deviation" else _score_axis
            axes.append(axis(f, sample, metric, bends))
    space = KernelSpace(
        feature=np.array([axis.feature for axis in axes], dtype=np.int64),
        center=np.array([axis.center for axis in axes], dtype=np.float64),
        factor=np.array([axis.factor for axis in axes], dtype=np.float64),
        slope=np.array([axis.slope for axis in axes], dtype=np.float64),
        bend_start=np.cumsum([0, *(axis.bends.shape[1] for axis in axes)]),
        bends=np.concatenate([_NO_BENDS, *(axis.bends for axis in axes)], axis=1),
        table_start=np.cumsum([0, *(len(axis.table) for axis in axes)]),
        table=np.concatenate([np.empty(0), *(axis.table for axis in axes)]),
    )
    return space, importance[space.feature], prior


class _Axis(NamedTuple):
    """One coordinate of a space."""

    feature: int
    center: float
    factor: float
    slope: float
    bends: np.ndarray
    table: np.ndarray


_NO_BENDS = np.empty((2, 0))


def _bends(tree, tests, decrease, factor):
    """Thresholds of an attribute's tests and their sizes; nearby thresholds are merged.

    Thresholds in the same narrow cell become one at their mean, with the sum of their sizes.
    """
    threshold = tree.threshold[tests]
    size = np.sqrt(np.maximum(decrease[tests], 1e-12 * tree.weight[0] + 1e-300))
    if len(tests) > _MOST_BENDS:
        cell = np.floor(np.clip(threshold * (factor / _NARROW), -_FAR, _FAR))
        cell = np.unique(cell, return_inverse=True)[1]
        first = np.unique(cell, return_index=True)[1]
        total = np.bincount(cell, size)
        # Relative to the first threshold of the cell: a sum of large ones could overflow.
        threshold = (
            threshold[first]
            + np.bincount(cell, size * (threshold - threshold[first][cell])) / total
        )
        size = total
    return np.stack([threshold, size / size.sum()])


def _numeric_axis(f, sample, metric, bends):
    """Axis of a column: half a straight line, half bends at the thresholds of the tree.

    The axis is stretched around thresholds, where a difference matters most.
    """
    values, center, factor = sample.X[:, f], metric.center_[f], metric.factor_[f]
    bent = np.empty(len(values))
    for rows in gen_batches(len(values), max(_BLOCK // max(bends.shape[1], 1), 1)):
        bent[rows] = (bends[1] * bend((values[rows, None] - bends[0]) * factor)).sum(axis=1)
    line = np.clip((values - center) * factor, -_FAR, _FAR)
    known = ~np.isnan(values)
    part = 1.0 / _spread(bent[known], sample.weight[known])
    unit = 1.0 / _spread((line + part * bent)[known], sample.weight[known])
    bends = bends * [[1.0], [part * unit]]
    return _Axis(f, center, factor * unit, factor, bends, np.empty(0))


def _score_axis(f, sample, metric, bends):
    """Axis in the normal scores of a column, approximated by bends between its values."""
    scores = normal_scores(sample, f)
    knots, slope = _knots(scores)
    if not 0 < slope < _FAR:
        return _numeric_axis(f, sample, metric, bends)
    score = np.linspace(scores.score[0], scores.score[-1], _MOST_PLACES)
    score = scores.score if len(scores.score) <= _MOST_PLACES else score
    place = np.interp(score, scores.score, scores.value)
    known = ~np.isnan(sample.X[:, f])
    values, weight = sample.X[known, f], sample.weight[known]

    def spread(curve):
        return _spread(np.interp(values, place, curve), weight)

    bent = (bends[1] * bend(score[:, None] - scores.of(bends[0]))).sum(axis=1)
    curve = score / spread(score) + bent / spread(bent)
    terms = np.column_stack([np.ones(len(place)), bend((place[:, None] - knots) * slope)])
    square = terms.T @ terms
    square[np.diag_indices_from(square)] += _STIFFNESS * len(place)
    size = np.linalg.solve(square, terms.T @ curve)[1:]
    size /= spread(terms[:, 1:] @ size)
    return _Axis(f, 0.0, 0.0, slope, np.stack([knots, size]), np.empty(0))


def _knots(scores):
    """Positions between the values of a column, evenly spaced in score, and the slope of the bends.

    The slope is 0 if the column is constant.
    """
    value = scores.value
    if len(value) - 1 <= _MOST_KNOTS:
        knots = value[:-1] / 2 + value[1:] / 2
        gaps = np.diff(value)
    else:
        evenly = np.linspace(scores.score[0], scores.score[-1], _MOST_KNOTS + 2)[1:-1]
        knots = np.unique(np.interp(evenly, scores.score, value))
        gaps = np.diff(knots)
    gap = np.quantile(gaps, 0.25) if len(gaps) else np.inf
    return knots, 1 / gap if gap > 0 else 0.0


def _spread(values, weight):
    """Standard deviation, or 1 if it is zero."""
    if len(values) == 0:
        return 1.0
    mean = np.average(values, weights=weight)
    spread = np.sqrt(np.average((values - mean) ** 2, weights=weight))
    return float(spread) if spread > 1e-12 else 1.0


def _decreases(tree):
    """Decrease of the Gini impurity by the test of each node, in cases; 0 for a leaf."""
    # Only ratios matter: weights of 1e250 must not overflow when squared.
    counts = tree.counts / tree.weight[0] if tree.weight[0] > 1e100 else tree.counts
    total = np.maximum(counts.sum(axis=1), 1e-300)
    impurity = total - (counts**2).sum(axis=1) / total
    decrease = np.where(tree.kind != LEAF, impurity, 0.0)
    np.subtract.at(decrease, tree.parent[1:], impurity[1:])
    return decrease


def importances(tree):
    """Decrease of the Gini impurity by the tests on each column, the largest being 1.

    A column that is tested without any decrease keeps a small importance, because the tree uses it.
    """
    inner = np.flatnonzero(tree.kind != LEAF)
    decrease = np.bincount(tree.feature[inner], _decreases(tree)[inner], tree.n_features)
    tested = np.isin(np.arange(tree.n_features), tree.feature[inner])
    largest = decrease.max(initial=0.0)
    relative = decrease / largest if largest > 0 else tested.astype(float)
    return np.where(tested, np.maximum(relative, _LEAST_IMPORTANCE), 0.0)


def _category_shares(codes, sample, prior, n_categories):
    """Class shares of each category after adding pseudo-cases at the prior, scaled to spread 1.

    With two classes, the share of the second is enough.
    """
    known = ~np.isnan(codes)
    codes = codes[known].astype(np.int64)
    counts = np.zeros((n_categories, len(prior)))
    np.add.at(counts, (codes, sample.y[known]), sample.weight[known])
    size = counts.sum(axis=1, keepdims=True)
    shares = (counts + _CATEGORY_CASES * prior) / (size + _CATEGORY_CASES)
    shares = shares[:, 1:] if len(prior) == 2 else shares
    share_of = size / max(size.sum(), 1e-300)
    mean = (share_of * shares).sum(axis=0)
    spread = np.sqrt((share_of * (shares - mean) ** 2).sum())
    return (shares - mean) / (spread if spread > 1e-12 else 1.0)
