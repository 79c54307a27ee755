"""Copies: rows that say the same of the same case, and must not judge each other."""

import numpy as np

_MOST_DISTINCT = 0.75  # share of a class's rows; one drawn with replacement has 0.63
_MOST_CLASHES = 0.05  # share of cases with the values of another but not its class
_MOST_CHANCE = 0.05  # other cases of its class that equal a case by chance


def find_copies(X, y):
    """Number of the case that each row is of; copies are of one case.

    A sample that was drawn with replacement, or whose rare class was repeated, has copies: where
    one of them is held out and another is not, memorisation is rewarded. Rows with
    the same values and class are copies if they are many, and if two different cases of the class
    would hardly ever be equal by chance. Some equal rows are what new cases will be like, too; and
    cases of a few categories are often equal, as is seen by rows with the same values and another
    class, or expected from how often the single columns agree within the class.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Encoded rows.
    y : ndarray of shape (n,)
        Class codes.

    Returns
    -------
    case : ndarray of shape (n,)

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
    row = first[case]  # that stands for the case
    for c in np.unique(y):
        own, cases = np.flatnonzero(y == c), first[y[first] == c]
        chance = np.prod([_agreement(column) for column in X[cases].T])
        if len(cases) > _MOST_DISTINCT * len(own) or len(cases) * chance > _MOST_CHANCE:
            row[own] = own
    return np.unique(row, return_inverse=True)[1]


def equal_rows(table):
    """Number of the group of equal rows that each row is in; a missing value equals a missing one.

    Examples
    --------
    >>> equal_rows(np.array([[1.0, np.nan], [0.0, 2.0], [1.0, np.nan]])).tolist()
    [0, 1, 0]
    """
    if table.shape[1] == 0:
        return np.zeros(len(table), dtype=np.int64)
    rows = np.ascontiguousarray(table + 0.0)  # -0.0 becomes 0.0
    rows[np.isnan(rows)] = np.nan  # of many bit patterns one
    _, first, group = np.unique(rows.view(f"V{8 * rows.shape[1]}"), True, True)
    return np.argsort(np.argsort(first))[group.ravel()]


def _agreement(column):
    """Probability that two cases have the same value in a column."""
    _, count = np.unique(column, return_counts=True)
    return (count * (count - 1)).sum() / max(len(column) * (len(column) - 1), 1)
