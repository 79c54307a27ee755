"""Detect duplicated cases, which must stay in the same fold of a cross-validation."""

import numpy as np

# Maximum share of distinct rows in a class with copies; a bootstrap sample has 0.63.
_MOST_DISTINCT = 0.75
_MOST_CLASHES = 0.05  # maximum share of cases that equal a case of another class
_MOST_CHANCE = 0.05  # maximum number of equal cases expected by chance in a class


def find_copies(X, y):
    """Return the case of each row; copies of a row belong to the same case.

    A bootstrap sample, or a sample whose rare class was oversampled, contains copies. If one copy
    is held out and another is used for training, memorisation is rewarded. Rows with the same
    values and class count as copies if there are many of them, and if different cases would rarely
    be equal by chance. Cases described by a few categories, on the other hand, are often equal by
    chance. This shows in equal rows of different classes, or in how often single columns agree
    within a class.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Encoded rows.
    y : ndarray of shape (n,)
        Class codes.

    Returns
    -------
    case : ndarray of shape (n,)
        Number of the case that each row belongs to.

    Examples
    --------
    >>> X, y = np.array([[0.1], [0.2], [0.3], [0.1]]), np.array([0, 1, 1, 0])
    >>> find_copies(X, y).tolist()
    [0, 1, 2, 0]
    """
    case = equal_rows(np.column_stack([X, y]))
    _, first = np.unique(case, return_index=True)
    if len(first) == len(y):
        return case
    if len(first) - (equal_rows(X[first]).max() + 1) > _MOST_CLASHES * len(first):
        return np.arange(len(y))
    row = first[case]  # the first row of each row's case
    for c in np.unique(y):
        own, cases = np.flatnonzero(y == c), first[y[first] == c]
        chance = np.prod([_agreement(column) for column in X[cases].T])
        if len(cases) > _MOST_DISTINCT * len(own) or len(cases) * chance > _MOST_CHANCE:
            row[own] = own
    return np.unique(row, return_inverse=True)[1]


def equal_rows(table):
    """Return the group of each row; equal rows share a group, and missing values are equal.

    Examples
    --------
    >>> equal_rows(np.array([[1.0, np.nan], [0.0, 2.0], [1.0, np.nan]])).tolist()
    [0, 1, 0]
    """
    if table.shape[1] == 0:
        return np.zeros(len(table), dtype=np.int64)
    rows = np.ascontiguousarray(table + 0.0)  # -0.0 becomes 0.0
    rows[np.isnan(rows)] = np.nan  # one bit pattern for NaN
    _, first, group = np.unique(rows.view(f"V{8 * rows.shape[1]}"), True, True)
    return np.argsort(np.argsort(first))[group.ravel()]


def _agreement(column):
    """Return the probability that two cases have the same value in a column."""
    _, count = np.unique(column, return_counts=True)
    return (count * (count - 1)).sum() / max(len(column) * (len(column) - 1), 1)
