"""Range, mean and spread of the training columns, and the categories that occur."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from keeptree.blocks import ROWS
from keeptree.savable import expect, expect_array, saved_part
from keeptree.tree import NOMINAL

_FINE = 0.01  # steps below this share of the standard deviation hardly change a distance
_FIRST_ROWS = 256
_LARGEST = 2.0**40  # far beyond this number every float is whole


@saved_part
@dataclass(frozen=True)
class Observed:
    """Statistics of the training columns, stored with a model.

    Parameters
    ----------
    low, high, mean, deviation : ndarray of shape (n_features,)
        Statistics of the known values, ignoring rows with zero weight; 0 for empty columns.
    seen : tuple
        For each nominal attribute that the tree tests, a mask of the categories that occur; None
        for other columns.
    whole : ndarray of shape (n_features,)
        Whether the tree tests the column as a number and all known values are integers, such as
        counts or years.
    missing : ndarray of shape (n_features,) or None
        Share of missing values, ignoring rows with zero weight; None in models saved by older
        versions.
    step : ndarray of shape (n_features,)
        Step of which all known values of a numeric column are multiples: 1 for integers, 0.1 for
        one decimal, and so on; 0 if the values are too fine for a step to matter. Models saved
        by older versions have 1 for integer columns.
    """

    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    seen: tuple
    whole: np.ndarray
    missing: np.ndarray | None = None
    step: np.ndarray | None = None

    def __post_init__(self):
        if self.step is None:
            object.__setattr__(self, "step", np.asarray(self.whole, dtype=np.float64))

    @property
    def columns(self):
        """Minimum, maximum, mean and standard deviation of the columns."""
        return self.low, self.high, self.mean, self.deviation

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        for name in ("low", "high", "mean", "deviation"):
            expect_array(getattr(self, name), name, np.float64, (tree.n_features,))
        expect_array(self.whole, "whole", np.bool_, (tree.n_features,))
        expect_array(self.step, "step", np.float64, (tree.n_features,))
        expect((self.step >= 0).all(), "a column has a negative step")
        expect(isinstance(self.seen, tuple) and len(self.seen) == tree.n_features, "seen is short")
        for mask, labels in zip(self.seen, tree.categories, strict=True):
            if mask is not None:
                expect_array(mask, "seen", np.bool_, (len(labels or ()),))
        if self.missing is not None:
            expect_array(self.missing, "missing", np.float64, (tree.n_features,))
            shares = ((self.missing >= 0) & (self.missing <= 1)).all()
            expect(shares, "missing must be shares between 0 and 1")


def observe(X, tree, sample_weight=None, columns=None):
    """Return the statistics of a matrix; ``columns`` is the result of ``column_spread``."""
    seen = [None] * tree.n_features
    for f in np.unique(tree.feature[tree.kind == NOMINAL]).tolist():
        known = ~np.isnan(X[:, f])
        if sample_weight is not None:
            known &= np.asarray(sample_weight) > 0
        seen[f] = np.bincount(X[known, f].astype(np.int64), minlength=len(tree.categories[f])) > 0
    columns = column_spread(X, sample_weight) if columns is None else columns
    step = np.zeros(tree.n_features)
    for f in tree.tested.tolist():
        if tree.categories[f] is None:
            step[f] = _find_step(X[:, f], columns[3][f])
    return Observed(*columns, tuple(seen), step == 1, _missing_shares(X, sample_weight), step)


def _missing_shares(X, sample_weight):
    """Return the share of missing values in each column, among rows with positive weight."""
    missing, rows = np.zeros(X.shape[1], dtype=np.int64), 0
    for start in range(0, len(X), ROWS):
        block = X[start : start + ROWS]
        if sample_weight is not None:
            block = block[np.asarray(sample_weight[start : start + ROWS]) > 0]
        missing += np.isnan(block).sum(axis=0)
        rows += len(block)
    return missing / max(rows, 1)


def _find_step(values, deviation):
    """Return the largest of 1, 0.1, 0.01, ... that divides all known values; 0 if none does.

    Steps below 1 that are small compared with the standard deviation are ignored: they hardly
    matter, and numbers can then be shown with fewer digits.
    """
    decimals, last = 0, _most_decimals(deviation)
    # Most columns are ruled out by the first rows.
    for start, stop in pairwise([0, *range(_FIRST_ROWS, len(values), ROWS), len(values)]):
        part = values[start:stop]
        part = part[~np.isnan(part)]
        if not (abs(part) < _LARGEST).all():
            return 0.0
        while not np.array_equal(np.rint(part * 10.0**decimals) / 10.0**decimals, part):
            decimals += 1
            if decimals > last:
                return 0.0
    return 1 / 10.0**decimals


def _most_decimals(deviation):
    """Return the number of decimals of the smallest step that matters."""
    if not deviation > 0:
        return 0
    return int(np.clip(np.floor(-np.log10(_FINE * deviation)), 0, 15))


def column_spread(X, sample_weight=None):
    """Return the minimum, maximum, mean and standard deviation of each column, 0 if it is empty."""
    from keeptree._compiled.columns import add_range, add_squares, add_sum

    weight = np.ones(len(X)) if sample_weight is None else sample_weight
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    low, high = np.full((2, X.shape[1]), [[np.inf], [-np.inf]])
    known, mean, squares = np.zeros((3, X.shape[1]))

    def add(function, *columns):
        for start in range(0, len(X), ROWS):
            rows = slice(start, start + ROWS)
            function(np.ascontiguousarray(X[rows]), weight[rows], *columns)

    add(add_range, known, low, high)
    unknown = known == 0
    low[unknown] = high[unknown] = 0.0
    known[unknown] = 1.0
    # Scaling by a power of two does not round, and keeps squares from overflowing.
    exponent = np.clip(np.frexp(np.maximum(abs(low), abs(high)))[1], -1000, 1000)
    factor = np.ldexp(1.0, -exponent)
    add(add_sum, factor, mean)
    mean /= known
    add(add_squares, factor, mean, squares)
    deviation = np.ldexp(np.sqrt(squares / known), exponent)
    return low, high, np.ldexp(mean, exponent), deviation
