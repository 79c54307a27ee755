"""Normal scores of a column: a scale that monotone transformations do not change.

A tree uses only the order of a column's values. The normal score of a value is the quantile of the
normal distribution at the share of the sample below it. Between two values of the sample, scores
are interpolated.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

_LEAST_SHARE = 1e-9  # shares are clipped at this distance from 0 and 1, so that scores stay finite
# Half width, in scores, of the range around a threshold in which the local spread is measured.
_HALF_WINDOW = 0.75
# Smallest and largest local spread, in standard deviations of the column.
_SMALLEST, _LARGEST = 1 / 20, 5.0


class NormalScores(NamedTuple):
    """Sorted distinct values of a column and their scores."""

    value: np.ndarray
    score: np.ndarray

    def of(self, values):
        """Return the scores of values; outside the sample, that of its nearest value."""
        return np.interp(values, self.value, self.score)

    def local_spread(self, thresholds, deviation):
        """Return how many units of the column correspond to one score at each threshold.

        For a normally distributed column, this is the standard deviation.
        """
        if len(self.value) < 2:
            return np.full(len(thresholds), deviation)
        score = self.of(thresholds)
        low = np.maximum(score - _HALF_WINDOW, self.score[0])
        high = np.minimum(score + _HALF_WINDOW, self.score[-1])
        with np.errstate(over="ignore", invalid="ignore"):
            ends = (np.interp(end, self.score, self.value) for end in (high, low))
            spread = np.subtract(*ends) / np.maximum(high - low, 1e-12)
        spread = np.where(np.isfinite(spread) & (spread > 0), spread, deviation)
        return np.clip(spread, _SMALLEST * deviation, _LARGEST * deviation)


def normal_scores(sample, feature):
    """Return the normal scores of a numeric column; equal values share one score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> from keeptree.data.sample import Sample
    >>> X, y = load_iris(return_X_y=True)
    >>> scores = normal_scores(Sample(kt.C45Classifier().fit(X, y).tree_, X), 0)
    >>> scores.of([4.3, 5.8, 7.9]).round(1)
    array([-2.7,  0. ,  2.7])
    """
    known = (sample.weight > 0) & ~np.isnan(sample.X[:, feature])
    value, place = np.unique(sample.X[known, feature], return_inverse=True)
    weight = np.bincount(place, sample.weight[known], minlength=len(value))
    below = np.cumsum(weight) - weight / 2
    share = np.clip(below / max(weight.sum(), 1e-300), _LEAST_SHARE, 1 - _LEAST_SHARE)
    return NormalScores(value, ndtri(share))
