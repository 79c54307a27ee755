"""How likely chance alone explains more missing values, or more values outside the range."""

import numpy as np
from scipy import stats


def chance_of_missing(before, n_before, missing, n):
    """Return the p-value of the hypothesis that values are missing no more often than before.

    This is Fisher's exact test of two samples, so it allows for the error of both shares.

    Parameters
    ----------
    before, n_before : int
        Number of missing values and of rows in the training sample.
    missing, n : int
        Number of missing values and of rows now.

    Examples
    --------
    >>> round(chance_of_missing(50, 1000, 1200, 20_000), 3)
    0.106
    >>> round(chance_of_missing(50, 1000, 100, 1000), 6)
    1.4e-05
    """
    table = [[missing, n - missing], [before, n_before - before]]
    return float(stats.fisher_exact(table, alternative="greater").pvalue)


def chance_of_outside(n_before, outside, n):
    """Return the probability that so many new values fall outside the range of a sample.

    If nothing has changed, all orders of the old and the new values are equally likely. The number
    of new values below the smallest and above the largest old value then has the same distribution
    as the number above the second largest old value. This number is at least ``outside`` if at most
    one of the ``outside + 1`` largest values is old. Its mean is ``2 * n / (n_before + 1)``. Ties
    make values outside the range less likely.

    Parameters
    ----------
    n_before, n : int
        Number of old and of new values.
    outside : int
        Number of new values below the smallest old value or above the largest.

    Examples
    --------
    >>> round(chance_of_outside(9, 1, 1), 3)  # 2 / (9 + 1)
    0.2
    >>> chance_of_outside(1000, 2, 1000) > 0.4, chance_of_outside(1000, 20, 1000) < 0.001
    (True, True)
    """
    if outside == 0 or n_before < 2:
        return 1.0
    odds = stats.hypergeom(n_before + n, n_before, outside + 1)
    return float(min(np.sum(odds.pmf([0, 1])), 1.0))
