"""Indicator matrix of the true classes."""

import numpy as np


def indicators(y_true, values, labels=None, what="probabilities"):
    """Return the true classes as an indicator matrix, and the values in the same shape.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes.
    values : array-like of shape (n, n_classes)
        Scores or probabilities of each class.
    labels : array-like, optional
        Classes in the order of the columns; by default the sorted classes of ``y_true``.
    what : str
        Name of the values in the error message.

    Returns
    -------
    truth : ndarray of bool of shape (n, n_classes)
        Whether each case belongs to each class.
    values : ndarray of float of shape (n, n_classes)
        The given values as an array.
    """
    y_true, values = np.asarray(y_true), np.asarray(values, dtype=float)
    labels = np.unique(y_true) if labels is None else np.asarray(labels)
    if values.shape != (len(y_true), len(labels)):
        raise ValueError(
            f"The {what} have shape {values.shape}; give one row for each of {len(y_true)} cases "
            f"and one column for each of {len(labels)} classes."
        )
    return y_true[:, None] == labels, values
