"""The statistical tests of an audit: each compares the training sample with the new cases."""

import numpy as np
from scipy import stats
from scipy.special import kolmogorov

_LEAST_EXPECTED = 5  # cases per cell of the chi-square test; rarer categories are merged
_LEAST_VARIANCE = 5.0  # of a sum of events that is compared by a normal approximation
_PARTS = 10  # of the population stability index


def compare_shares(cases_1, n_1, cases_2, n_2, alternative="two-sided"):
    """Return the p-value of Fisher's exact test that two shares are the same.

    With ``alternative="greater"``, the alternative is that the first share is larger.

    Examples
    --------
    >>> round(compare_shares(0, 100, 5, 100), 3), compare_shares(10, 100, 10, 100)
    (0.059, 1.0)
    """
    table = [[cases_1, n_1 - cases_1], [cases_2, n_2 - cases_2]]
    counts = np.rint(table).astype(np.int64)
    return float(stats.fisher_exact(counts, alternative=alternative).pvalue)


def compare_with_expected(events, expected, variance, n, n_before):
    """Return the p-value of the hypothesis that events occur as often as their probabilities say.

    Parameters
    ----------
    events : int
        Number of events among the new cases.
    expected, variance : float
        Mean and variance of that number: the sums of p and of p (1 - p).
    n, n_before : int
        Number of new cases, and of the cases that the probabilities were checked on: the fewer
        they are, the less exact the probabilities can be.

    Examples
    --------
    >>> round(compare_with_expected(60, 50.0, 25.0, 100, 100), 3)
    0.157
    >>> round(compare_with_expected(60, 50.0, 25.0, 100, 10_000), 3)
    0.047
    """
    if variance < _LEAST_VARIANCE:
        return compare_shares(expected / n * n_before, n_before, events, n)
    error = np.sqrt(variance * (1 + n / n_before))
    return float(2 * stats.norm.sf(abs(events - expected) / error))


def compare_means(mean_1, n_1, mean_2, n_2, variance):
    """Return the p-value of the hypothesis that two means of probabilities differ only by chance.

    Unlike the events themselves, probabilities vary only with the attributes. If the sum of the
    second sample varies too little for a normal approximation, the means are compared as shares of
    events, which is conservative.

    Parameters
    ----------
    mean_1, mean_2 : float
        Means.
    n_1, n_2 : int
        Number of probabilities.
    variance : float
        Variance of a probability.

    Examples
    --------
    >>> round(compare_means(0.43, 4000, 0.45, 3000, 0.08), 4)
    0.0034
    >>> round(compare_means(0.43, 4000, 0.5, 30, 0.08), 2)
    0.46
    """
    if n_2 * variance < _LEAST_VARIANCE:
        return compare_shares(mean_1 * n_1, n_1, mean_2 * n_2, n_2)
    error = np.sqrt(variance * (1 / n_1 + 1 / n_2))
    return float(2 * stats.norm.sf(abs(mean_1 - mean_2) / error))


def compare_curves(below_1, n_1, below_2, n_2):
    """Return the Kolmogorov-Smirnov distance at some points, and the p-value of its test.

    The largest difference over some points is at most that over all, so the test is conservative.

    Parameters
    ----------
    below_1, below_2 : ndarray of shape (n_points,)
        Number of values that are at most each point.
    n_1, n_2 : int
        Number of values.

    Examples
    --------
    >>> distance, p = compare_curves(np.array([25, 50, 75]), 100, np.array([10, 20, 50]), 100)
    >>> distance, round(p, 4)
    (0.3, 0.0002)
    """
    if not (n_1 and n_2 and len(below_1)):
        return 0.0, 1.0
    distance = float(np.abs(below_1 / n_1 - below_2 / n_2).max())
    return distance, float(kolmogorov(distance * np.sqrt(n_1 * n_2 / (n_1 + n_2))))


def compare_counts(counts_1, counts_2):
    """Return the p-value of the chi-square test that two samples have the same category shares.

    Examples
    --------
    >>> round(compare_counts(np.array([50, 50, 2]), np.array([80, 20, 1])), 6)
    4.3e-05
    """
    table = np.array([counts_1, counts_2], dtype=float)
    if not table.sum(axis=1).all():
        return 1.0
    expected = stats.contingency.expected_freq(table).min(axis=0)
    rare = expected < _LEAST_EXPECTED
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return 1.0
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def stability_index(counts_1, counts_2):
    """Return the population stability index of two samples counted in the same parts.

    The sum over the parts of (b - a) log(b / a) for the shares a and b, with half a case added to
    each part, so that none is empty.

    Examples
    --------
    >>> round(stability_index(np.array([50, 50]), np.array([70, 30])), 2)
    0.17
    """
    a, b = ((np.asarray(c) + 0.5) / (np.sum(c) + 0.5 * len(c)) for c in (counts_1, counts_2))
    return float(((b - a) * np.log(b / a)).sum())


def choose_ends(n_points):
    """Select the points that divide the values into about ten parts.

    Examples
    --------
    >>> choose_ends(4), choose_ends(100)
    (array([0, 1, 2]), array([ 9, 19, 29, 39, 49, 59, 69, 79, 89]))
    """
    n_parts = min(_PARTS, n_points)
    ends = np.arange(1, n_parts) * n_points // n_parts - 1
    return np.unique(np.maximum(ends, 0)) if n_parts > 1 else np.zeros(1, dtype=int)


def reject_holm(p_values, alpha):
    """Return which of several hypotheses Holm's procedure rejects at a family-wise level.

    Examples
    --------
    >>> reject_holm([0.001, 0.04, 0.02], 0.05)
    array([ True,  True,  True])
    >>> reject_holm([0.001, 0.04, 0.03], 0.05)
    array([ True, False, False])
    """
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    limits = alpha / np.arange(len(p_values), 0, -1)
    passed = np.cumprod(p_values[order] <= limits).astype(bool)
    rejected = np.zeros(len(p_values), dtype=bool)
    rejected[order] = passed
    return rejected
