"""Cuts of a numeric column by the description length of Fayyad and Irani."""

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, column_or_1d

from keeptree.data.target import read_target
from keeptree.learners.grow_options import table_of_terms


def mdl_cuts(x, y, sample_weight=None):
    """Return the ascending cuts that divide a column into bins; none if nothing is worth a cut.

    A range is cut where the classes' entropy in the two parts is lowest, if the gain exceeds the
    length of the cut's description; so on in both parts. A value equal to a cut belongs to the
    lower bin.

    Parameters
    ----------
    x : array-like of shape (n,)
        Numbers; NaN is skipped.
    y : array-like of shape (n,)
        Classes.
    sample_weight : array-like of shape (n,), optional
        Weights, not negative; rows of weight zero count as absent.

    Returns
    -------
    cuts : array of shape (n_bins - 1,)

    References
    ----------
    Fayyad and Irani, Multi-interval discretization of continuous-valued attributes for
    classification learning, IJCAI 1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> [mdl_cuts(column, y).round(2).tolist() for column in X.T]
    [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]
    """
    from keeptree._compiled.naive_bayes import find_column_cuts

    x = np.ascontiguousarray(column_or_1d(x), dtype=np.float64)
    classes, label = read_target(y)
    check_consistent_length(x, label)
    weight = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
    present = ~np.isnan(x) & (weight > 0)
    x, label, weight = x[present], label[present], weight[present]
    order = np.argsort(x, kind="stable")
    return find_column_cuts(x, label, weight, order, len(classes), table_of_terms(len(x)))
