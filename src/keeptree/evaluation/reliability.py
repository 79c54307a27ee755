"""Reliability: observed frequencies against predicted probabilities, bin by bin."""

import numpy as np

from keeptree.evaluation.indicators import indicators
from keeptree.evaluation.significance import accuracy_interval


def reliability_bins(y_true, probability, labels=None, *, n_bins=10):
    """Return the bins of a reliability diagram, which can be summed over test sets.

    Parameters
    ----------
    y_true, probability, labels
        Classes, probabilities of shape (n, n_classes), and the order of the columns.
    n_bins : int
        Bins of equal width between 0 and 1.

    Returns
    -------
    bins : ndarray of shape (n_bins, 3)
        Number of cases, sum of their probabilities, number of events. With two classes the event
        is the positive class; with more, that the most probable class is the true one.

    Examples
    --------
    >>> reliability_bins([0, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]], n_bins=2)
    array([[1. , 0.1, 0. ],
           [2. , 1.3, 2. ]])
    """
    truth, probability = indicators(y_true, probability, labels)
    column = np.full(len(truth), 1) if truth.shape[1] == 2 else probability.argmax(axis=1)
    rows = np.arange(len(truth))
    p, event = probability[rows, column], truth[rows, column]
    place = np.clip((p * n_bins).astype(int), 0, n_bins - 1)
    return _sum_bins(place, n_bins, p, event)


def calibration_gap(bins):
    """Return the mean gap between probability and frequency in the bins of a diagram."""
    return float(np.abs(bins[:, 1] - bins[:, 2]).sum() / bins[:, 0].sum())


def expected_calibration_error(y_true, probability, labels=None, *, n_bins=10):
    """Return the ECE: the :func:`calibration_gap` of :func:`reliability_bins`.

    Examples
    --------
    >>> expected_calibration_error([0, 1], [[0.75, 0.25], [0.25, 0.75]])
    0.25
    """
    return calibration_gap(reliability_bins(y_true, probability, labels, n_bins=n_bins))


def quantile_bins(score, happened, n_bins=10):
    """Return bins of about equally many cases, with Wilson intervals.

    Equal scores stay in one bin, so leaf probabilities give few bins.

    Parameters
    ----------
    score : ndarray of shape (n,)
        Probability or other score.
    happened : ndarray of bool of shape (n,)
        Whether the event happened.
    n_bins : int
        Maximum number of bins.

    Returns
    -------
    bins : list of dict
        ``from`` and ``to``: lowest and highest score; ``scored``: mean score; ``cases``;
        ``happened``: number of events; ``observed``: their frequency; ``low`` and ``high``: its
        interval.

    Examples
    --------
    >>> import numpy as np
    >>> score, happened = np.array([0.1, 0.1, 0.8, 0.8]), np.array([False, False, True, False])
    >>> [(b["cases"], b["happened"], b["observed"]) for b in quantile_bins(score, happened)]
    [(2, 0, 0.0), (2, 1, 0.5)]
    """
    edges = np.quantile(score, np.arange(1, n_bins) / n_bins, method="inverted_cdf")
    place = np.searchsorted(np.unique(edges), score, side="left")
    bins = []
    for b, (cases, total, events) in enumerate(_sum_bins(place, n_bins, score, happened)):
        if not cases:
            continue
        inside = score[place == b]
        low, high = accuracy_interval(events / cases, cases)
        bins.append(
            {
                "from": float(inside.min()),
                "to": float(inside.max()),
                "scored": float(total / cases),
                "cases": int(cases),
                "happened": int(events),
                "observed": float(events / cases),
                "low": low,
                "high": high,
            }
        )
    return bins


def _sum_bins(place, n_bins, score, event):
    """Return the cases, the sum of scores and the events of each bin, as columns."""
    weights = np.ones(len(score)), score, event
    return np.column_stack([np.bincount(place, weights=w, minlength=n_bins) for w in weights])
