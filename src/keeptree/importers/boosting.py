"""Recover the class counts of a boosted tree from its leaf values."""

import numpy as np

_SLACK = 1e-3  # tolerance in cases, for the rounding of float32 gradient sums


def binary_counts(cases, value, prior, rate, penalty):
    """Return the class counts of a leaf from the first round of binary boosting.

    With the logistic loss, the value of a leaf is ``rate * G / (H + penalty)``, where G is the sum
    of ``y - prior`` over its cases and H that of ``prior (1 - prior)``. Solving for G gives the
    number of positive cases.

    Parameters
    ----------
    cases : float
        Number of cases in the leaf.
    value : float
        Leaf value without the log-odds of the prior.
    prior : float
        Probability of the second class before the first round.
    rate, penalty : float
        Learning rate and L2 penalty.

    Returns
    -------
    counts : ndarray of shape (2,) or None
        Class counts; None if they are not integers, because of weights or settings that the formula
        does not cover.

    Examples
    --------
    >>> binary_counts(10, 0.3 * (7 - 10 * 0.5) / (10 * 0.25 + 1), 0.5, 0.3, 1.0)
    array([3., 7.])
    """
    hessian = cases * prior * (1 - prior)
    positive = cases * prior + value / rate * (hessian + penalty)
    whole = np.rint([cases - positive, positive])
    near = np.abs(whole - [cases - positive, positive]).max() <= _SLACK * max(1.0, cases / 100)
    return whole if near and whole.min() >= 0 and abs(cases - round(cases)) <= _SLACK else None


def set_counts(sketch, leaves):
    """Set the counts of all leaves, ``{node: counts or None}``, if all are known."""
    if leaves and all(counts is not None for counts in leaves.values()):
        for node, counts in leaves.items():
            sketch.counts[node] = counts
        sketch.source["counts"] = "the leaf values of the first round, by formula"


def describe(number, n_trees, library):
    """Return the origin of a boosted tree in words."""
    which = f"tree {number} of {n_trees} of " if n_trees > 1 else ""
    return {"model": f"{which}{library}", "library": library}
