"""Ranking quality: full and partial area under the ROC curve."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.metrics import roc_curve

from keeptree.annotations import Floats
from keeptree.evaluation.indicators import indicators

GRID = np.linspace(0, 1, 101)  # the step of Alvarez and Bernard (2005)


def auc(
    y_true: ArrayLike,
    scores: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    average: Literal["macro", "weighted"] = "macro",
    ties: float = 0.5,
) -> float:
    """Return the area under the ROC curve, the share of correctly ranked pairs.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes.
    scores : array-like of shape (n,) or (n, n_classes)
        Scores; a single column is for the last of two classes.
    labels : array-like, optional
        Classes in the order of the columns; by default the sorted classes of ``y_true``.
    average : {"macro", "weighted"}
        With three or more classes, the one-versus-rest areas are averaged, optionally weighted by
        class frequency.
    ties : float
        Weight of a pair with equal scores. One half is the usual convention. With 0, as Katz et al.
        (2012) seem to count, breaking ties improves the result even if it is done at random.

    Returns
    -------
    auc : float
        Classes with no cases, or with all cases, are left out of the mean; NaN if no class
        qualifies.

    Examples
    --------
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8], ties=0)
    0.75
    """
    truth, scores = _one_versus_rest(y_true, scores, labels)
    once = np.ones((1, len(truth)))
    columns = zip(truth.T, scores.T, strict=True)
    areas = np.array([weighted_area(*column, ties)(once)[0] for column in columns])
    weight = truth.sum(axis=0) if average == "weighted" and truth.shape[1] > 1 else 1
    weight = np.where(np.isnan(areas), 0, weight)
    if not weight.any():
        return float("nan")
    return float(np.average(np.nan_to_num(areas), weights=weight))


def weighted_area(truth, score, ties=0.5):
    """Return a function that computes the area under the ROC curve for weights of the cases.

    The scores are sorted only once for any number of weights, such as those of bootstrap resamples.

    Parameters
    ----------
    truth : ndarray of bool of shape (n,)
        Whether each case is positive.
    score : ndarray of shape (n,)
        Score of each case, larger for positive cases.
    ties : float
        Weight of a pair with equal scores.

    Returns
    -------
    area : callable
        Maps weights of shape (b, n) to areas of shape (b,), NaN where one side has no weight.

    Examples
    --------
    >>> area = weighted_area(np.array([False, True, False]), np.array([0.2, 0.4, 0.4]))
    >>> area(np.array([[1.0, 1.0, 1.0], [3.0, 1.0, 1.0]]))
    array([0.75 , 0.875])
    """
    order = np.argsort(score, kind="stable")
    ordered = score[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    is_positive = truth[order].astype(float)

    def area(weights):
        here = weights[:, order]
        up = np.add.reduceat(here * is_positive, starts, axis=1)
        down = np.add.reduceat(here, starts, axis=1) - up
        below = np.cumsum(down, axis=1) - down
        with np.errstate(invalid="ignore"):
            pairs = up.sum(axis=1) * down.sum(axis=1)
            return (up * (below + ties * down)).sum(axis=1) / np.where(pairs > 0, pairs, np.nan)

    return area


def mean_roc(
    y_true: ArrayLike, scores: ArrayLike, labels: ArrayLike | None = None, x: ArrayLike = GRID
) -> Floats:
    """Return the ROC curve at given shares of the negative cases; the mean over several classes.

    Parameters
    ----------
    y_true, scores, labels
        As for :func:`auc`.
    x : array-like
        Shares of the negative cases; by default 0, 0.01, ..., 1.

    Returns
    -------
    y : ndarray
        Share of the positive cases that are found at each x; where the curve is vertical, its upper
        end.

    Examples
    --------
    >>> mean_roc([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8], x=[0, 0.5, 1])
    array([0.5, 1. , 1. ])
    """
    return _average_curve(_roc_at, y_true, scores, labels, x)


def partial_auc(
    y_true: ArrayLike, scores: ArrayLike, labels: ArrayLike | None = None, x: ArrayLike = GRID
) -> Floats:
    """Return AUC(x), the area under the ROC curve from 0 to x (Alvarez and Bernard 2005).

    Parameters
    ----------
    y_true, scores, labels
        As for :func:`auc`.
    x : array-like
        Shares of the negative cases; by default 0, 0.01, ..., 1.

    Returns
    -------
    area : ndarray
        One area for each x; at x = 1 it equals :func:`auc`.

    Examples
    --------
    >>> partial_auc([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8], x=[0, 0.5, 1])
    array([0.  , 0.25, 0.75])
    """
    return _average_curve(_area_up_to, y_true, scores, labels, x)


def stays_ahead(
    ours: ArrayLike, theirs: ArrayLike, x: ArrayLike = GRID, confidence: float = 0.95
) -> float:
    """Return the abscissa up to which one ranking stays ahead of another (Alvarez 2005).

    Parameters
    ----------
    ours, theirs : array-like of shape (n_samples, n_points)
        Partial areas (:func:`partial_auc`) of the two rankings on the same samples.
    x : array-like of shape (n_points,)
        Shares of the negative cases at which the areas were computed; by default 0, 0.01, ..., 1.
    confidence : float
        One-sided confidence level, under the normal assumption.

    Returns
    -------
    x : float
        The largest x such that for every y up to x, the mean difference of ours(y) and theirs(y) is
        at least z standard errors; 0 if this fails at the first point.

    Examples
    --------
    >>> stays_ahead([[0, 2, 3, 4], [0, 3, 4, 4]], [[0, 1, 2, 5], [0, 2, 3, 5]], [0, 0.2, 0.4, 1])
    0.4
    """
    difference = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    if difference.ndim != 2 or len(difference) < 2 or difference.shape[1] != len(x):
        raise ValueError(
            f"The differences have shape {difference.shape}; give two or more samples with one "
            f"value for each of the {len(x)} abscissas."
        )
    error = difference.std(axis=0, ddof=1) / np.sqrt(len(difference))
    ahead = difference.mean(axis=0) >= norm.ppf(confidence) * error
    first_failure = len(x) if ahead.all() else int(np.argmin(ahead))
    return float(x[first_failure - 1]) if first_failure else 0.0


def _one_versus_rest(y_true, scores, labels):
    """Return truth and scores as one-versus-rest columns; two classes need only one column."""
    y_true, scores = np.asarray(y_true), np.asarray(scores, dtype=float)
    labels = np.unique(y_true) if labels is None else np.asarray(labels)
    if scores.ndim == 1 or scores.shape[1] == 2:
        scores, labels = scores.reshape(len(y_true), -1)[:, -1:], labels[-1:]
    return indicators(y_true, scores, labels, "scores")


def _average_curve(curve, y_true, scores, labels, x):
    truth, scores = _one_versus_rest(y_true, scores, labels)
    defined = truth.any(axis=0) & ~truth.all(axis=0)
    if not defined.any():
        return np.full(len(x), np.nan)
    columns = zip(truth.T[defined], scores.T[defined], strict=True)
    return np.mean([curve(*column, np.asarray(x, dtype=float)) for column in columns], axis=0)


def _corners(truth, score):
    """Return the corners of the ROC curve: abscissa, lower and upper end."""
    fpr, tpr, _ = roc_curve(truth, score, drop_intermediate=False)
    x, first = np.unique(fpr, return_index=True)
    last = np.append(first[1:], len(fpr)) - 1
    return x, tpr[first], tpr[last]


def _roc_at(truth, score, x):
    corner, low, high = _corners(truth, score)
    piece = np.clip(np.searchsorted(corner, x, side="right") - 1, 0, len(corner) - 2)
    slope = (low[1:] - high[:-1]) / np.diff(corner)
    return np.where(x >= 1, 1.0, high[piece] + slope[piece] * (x - corner[piece]))


def _area_up_to(truth, score, x):
    """Return the exact area under the ROC curve up to x, by trapezoids."""
    corner, low, high = _corners(truth, score)
    width = np.diff(corner)
    before = np.concatenate([[0], np.cumsum(width * (high[:-1] + low[1:]) / 2)])
    piece = np.clip(np.searchsorted(corner, x, side="right") - 1, 0, len(corner) - 2)
    step = x - corner[piece]
    rise = (low[1:] - high[:-1]) / width
    return before[piece] + step * (high[piece] + rise[piece] * step / 2)
