"""What a training sample held: the range, mean and spread of each column, the categories seen."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from keeptree.blocks import ROWS
from keeptree.savable import expect, expect_array, saved_part
from keeptree.tree import NOMINAL, NUMERIC

_FINE = 0.01  # of the standard deviation: a smaller step hardly changes a distance
_FIRST_ROWS = 256
_LARGEST = 2.0**40  # beyond that every number is whole, and one more makes no difference


@saved_part
@dataclass(frozen=True)
class Observed:
    """What a model remembers of the columns of its training sample.

    Parameters
    ----------
    low, high, mean, deviation : ndarray of shape (n_features,)
        Of the known values of each column, rows of weight 0 apart; zeros where nothing is known.
    seen : tuple
        For each nominal attribute the tree tests whether each of its categories occurs, None for
        the others.
    whole : ndarray of shape (n_features,)
        Whether the tree tests the column as a number and all its known values are whole: counts,
        years, yes and no.
    missing : ndarray of shape (n_features,) or None
        Share of the rows without a value in each column, rows of weight 0 apart; None in a model
        that an older version saved.
    step : ndarray of shape (n_features,)
        Of a column that the tree tests as a number the step whose multiples all known values are:
        1 for whole numbers, 0.1 for one decimal, and so on; 0 if the values are too fine for a step
        to matter. Default, for a model that an older version saved: 1 where it is whole.
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
        """Least, largest, mean and standard deviation of the columns."""
        return self.low, self.high, self.mean, self.deviation

    def check(self, tree):
        """Raise if it was read from a file and does not fit the tree."""
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
    """Observed columns of an encoded matrix; ``columns`` is what ``column_spread`` would return."""
    seen = [None] * tree.n_features
    for f in np.unique(tree.feature[tree.kind == NOMINAL]).tolist():
        known = ~np.isnan(X[:, f])
        if sample_weight is not None:
            known &= np.asarray(sample_weight) > 0
        seen[f] = np.bincount(X[known, f].astype(np.int64), minlength=len(tree.categories[f])) > 0
    columns = column_spread(X, sample_weight) if columns is None else columns
    step = np.zeros(tree.n_features)
    for f in np.unique(tree.feature[tree.kind == NUMERIC]).tolist():
        step[f] = _find_step(X[:, f], columns[3][f])
    return Observed(*columns, tuple(seen), step == 1, _missing_shares(X, sample_weight), step)


def _missing_shares(X, sample_weight):
    """Share of the rows of positive weight that have no value, of each column."""
    missing, rows = np.zeros(X.shape[1], dtype=np.int64), 0
    for start in range(0, len(X), ROWS):
        block = X[start : start + ROWS]
        if sample_weight is not None:
            block = block[np.asarray(sample_weight[start : start + ROWS]) > 0]
        missing += np.isnan(block).sum(axis=0)
        rows += len(block)
    return missing / max(rows, 1)


def _find_step(values, deviation):
    """The largest of 1, 0.1, 0.01, ... whose multiples all known values are; 0 if there is none.

    Below 1, a step that is small beside the standard deviation counts as none: as good as any
    number, and numbers can then be told in fewer digits.
    """
    decimals, last = 0, _most_decimals(deviation)
    # Most columns are out after the first rows.
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
    """Decimals of the smallest step that matters."""
    if not deviation > 0:
        return 0
    return int(np.clip(np.floor(-np.log10(_FINE * deviation)), 0, 15))


def column_spread(X, sample_weight=None):
    """Least, largest, mean and standard deviation of each column; zeros where nothing is known."""
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
    # Squares must not overflow. A power of two, so that nothing is rounded; kept within what has a
    # reciprocal.
    exponent = np.clip(np.frexp(np.maximum(abs(low), abs(high)))[1], -1000, 1000)
    factor = np.ldexp(1.0, -exponent)
    add(add_sum, factor, mean)
    mean /= known
    add(add_squares, factor, mean, squares)
    deviation = np.ldexp(np.sqrt(squares / known), exponent)
    return low, high, np.ldexp(mean, exponent), deviation
