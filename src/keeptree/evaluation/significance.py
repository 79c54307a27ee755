"""Significance of differences: paired tests over splits, and intervals of accuracies."""

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, t, wilcoxon


@dataclass(frozen=True)
class PairedDifference:
    """The mean of paired differences, with its interval and tests.

    Attributes
    ----------
    n : int
        Number of pairs.
    mean, sd, se : float
        Mean, standard deviation, and standard error of the mean; None with too few pairs.
    low, high : float or None
        Confidence interval of the mean, by the t distribution.
    p_t, p_wilcoxon : float or None
        p-values of the paired t-test and of the Wilcoxon signed-rank test.
    p_corrected : float or None
        p-value of the corrected resampled t-test, if ``test_share`` was given.

    Examples
    --------
    >>> from keeptree.evaluation import paired_difference
    >>> result = paired_difference([0.02, 0.03, 0.01, 0.02, 0.04], corrected=False)
    >>> round(result.low, 3), round(result.high, 3)
    (0.01, 0.038)
    """

    n: int
    mean: float
    sd: float | None
    se: float | None
    low: float | None
    high: float | None
    p_t: float | None
    p_wilcoxon: float | None
    p_corrected: float | None


def paired_difference(
    differences: ArrayLike,
    *,
    alternative: Literal["greater", "less", "two-sided"] = "greater",
    confidence: float = 0.95,
    test_share: float | None = None,
    corrected: bool = False,
) -> PairedDifference:
    """Test whether the mean of paired differences is larger than chance would explain.

    Parameters
    ----------
    differences : array-like of shape (n,)
        Difference of two models on each split, or on each case of one test set: ours minus theirs.
    alternative : {"greater", "less", "two-sided"}
        Alternative hypothesis of the tests, as in SciPy.
    confidence : float
        Confidence level of the interval, which is always two-sided.
    test_share : float, optional
        Number of test cases per training case. The training parts of resampled splits overlap,
        which makes plain tests overconfident. To correct for this, Nadeau and Bengio (2003) add
        this share to 1 / n in the variance of the mean.
    corrected : bool
        Whether the interval uses the corrected variance too.

    Returns
    -------
    result : PairedDifference
        Mean, interval and p-values.

    Examples
    --------
    >>> result = paired_difference([0.02, 0.03, 0.01, 0.02, 0.04], test_share=0.5)
    >>> round(result.mean, 3), round(result.p_t, 4), round(result.p_corrected, 4)
    (0.024, 0.0046, 0.0328)
    >>> result.p_wilcoxon
    0.03125
    """
    differences = np.asarray(differences, dtype=float)
    if differences.ndim != 1 or not np.isfinite(differences).all():
        raise ValueError("The differences must be finite numbers, one for each pair.")
    if alternative not in ("greater", "less", "two-sided"):
        raise ValueError(f"alternative is {alternative!r}; give 'greater', 'less' or 'two-sided'.")
    if corrected and test_share is None:
        raise ValueError("The corrected interval needs test_share; give it or set corrected=False.")
    n = len(differences)
    mean = float(differences.mean()) if n else float("nan")
    if n < 2:
        return PairedDifference(n, mean, *[None] * 7)
    sd = float(differences.std(ddof=1))
    se = sd / np.sqrt(n)
    wide = None if test_share is None else sd * np.sqrt(1 / n + test_share)
    reach = (wide if corrected else se) * t.ppf((1 + confidence) / 2, n - 1)
    return PairedDifference(
        n, mean, sd, float(se), float(mean - reach), float(mean + reach),
        _t_test(mean, se, n, alternative),
        _wilcoxon(differences, alternative),
        None if wide is None else _t_test(mean, wide, n, alternative),
    )  # fmt: skip


def describe_differences(differences, **options):
    """Return :func:`paired_difference` as a dict; values may be missing or infinite.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Differences; NaN where a value is missing.
    **options
        Options of :func:`paired_difference`.

    Returns
    -------
    found : dict
        The fields of :class:`PairedDifference`, and ``n_infinite``. If any value is infinite, so
        is the mean (None if they have both signs), and all fields that need a spread are None.

    Examples
    --------
    >>> import numpy as np
    >>> found = describe_differences(np.array([1.0, np.inf, np.nan]))
    >>> found["n"], found["n_infinite"], found["mean"], found["sd"]
    (2, 1, inf, None)
    """
    differences = differences[~np.isnan(differences)]
    infinite = differences[np.isinf(differences)]
    if len(differences) > len(infinite) == 0:
        return {**asdict(paired_difference(differences, **options)), "n_infinite": 0}
    signs = np.unique(np.sign(infinite))
    mean = float(signs[0] * np.inf) if len(signs) == 1 else None
    nothing = asdict(PairedDifference(len(differences), mean, *[None] * 7))
    return {**nothing, "n_infinite": len(infinite)}


def accuracy_interval(accuracy: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson interval of an accuracy or another share.

    (2 n a + z² ± z sqrt(z² + 4 n a - 4 n a²)) / (2 (n + z²))

    Parameters
    ----------
    accuracy : float
        Share of correct decisions.
    n : float
        Number of test cases.
    confidence : float
        Confidence level of the interval.

    Returns
    -------
    low, high : float
        Ends of the interval.

    Examples
    --------
    >>> low, high = accuracy_interval(0.8, 100)
    >>> round(low, 3), round(high, 3)
    (0.711, 0.867)
    """
    _check_accuracy(accuracy, n)
    z = norm.ppf((1 + confidence) / 2)
    middle = 2 * n * accuracy + z**2
    reach = z * np.sqrt(z**2 + 4 * n * accuracy * (1 - accuracy))
    low, high = (middle - reach) / (2 * (n + z**2)), (middle + reach) / (2 * (n + z**2))
    return float(max(low, 0.0)), float(min(high, 1.0))


@dataclass(frozen=True)
class AccuracyDifference:
    """Difference of two accuracies, with its standard error, interval and two-sided p-value."""

    difference: float
    se: float
    low: float
    high: float
    p_value: float


def compare_accuracies(
    accuracy_1: float, n_1: float, accuracy_2: float, n_2: float, confidence: float = 0.95
) -> AccuracyDifference:
    """Compare two models that were tested on different samples, with a z-test.

    Parameters
    ----------
    accuracy_1, accuracy_2 : float
        Shares of correct decisions.
    n_1, n_2 : int
        Numbers of test cases.
    confidence : float
        Confidence level of the interval.

    Returns
    -------
    result : AccuracyDifference
        Difference of the accuracies, tested by the normal approximation with the sum of both
        variances.

    Examples
    --------
    Is 85% on 30 cases better than 75% on 5000? The interval contains 0, so it may be chance.

    >>> result = compare_accuracies(0.85, 30, 0.75, 5000)
    >>> round(result.low, 3), round(result.high, 3), round(result.p_value, 3)
    (-0.028, 0.228, 0.127)
    """
    for accuracy, n in ((accuracy_1, n_1), (accuracy_2, n_2)):
        _check_accuracy(accuracy, n)
    difference = accuracy_1 - accuracy_2
    se = np.sqrt(accuracy_1 * (1 - accuracy_1) / n_1 + accuracy_2 * (1 - accuracy_2) / n_2)
    reach = se * norm.ppf((1 + confidence) / 2)
    p_value = float(2 * norm.sf(abs(difference) / se)) if se else float(difference == 0)
    return AccuracyDifference(
        difference, float(se), float(difference - reach), float(difference + reach), p_value
    )


@dataclass(frozen=True)
class HitsAndErrors:
    """Mean distances of correct and wrong decisions to the boundary, and the ratio kappa."""

    n_hits: int
    n_errors: int
    hits: float
    errors: float
    difference: float
    kappa: float


def hits_and_errors(distance: ArrayLike, correct: ArrayLike) -> HitsAndErrors:
    """Compare how far correct and wrong decisions lie from the boundary (Alvarez and Bernard 2005).

    Parameters
    ----------
    distance : array-like of shape (n,)
        Distance of each test case to the decision boundary.
    correct : array-like of bool of shape (n,)
        Whether the decision is correct.

    Returns
    -------
    result : HitsAndErrors
        ``kappa`` is the difference of the means divided by its standard error, sqrt(sd_hits² /
        n_hits + sd_errors² / n_errors): from 1.645 on, correct decisions lie farther from the
        boundary with a one-sided confidence of 95%. NaN if there are fewer than two correct or two
        wrong decisions.

    Examples
    --------
    >>> result = hits_and_errors([0.1, 0.2, 0.9, 1.0, 1.1], [False, False, True, True, True])
    >>> round(result.difference, 3), round(result.kappa, 2)
    (0.85, 11.13)
    """
    distance, correct = np.asarray(distance, dtype=float), np.asarray(correct, dtype=bool)
    groups = distance[correct], distance[~correct]
    means = [group.mean() if len(group) else np.nan for group in groups]
    difference = float(means[0] - means[1])
    kappa = float("nan")
    if min(map(len, groups)) >= 2:
        error = np.sqrt(sum(group.var(ddof=1) / len(group) for group in groups))
        kappa = float(difference / error) if error else float(np.copysign(np.inf, difference))
    n_hits, n_errors = map(len, groups)
    return HitsAndErrors(n_hits, n_errors, float(means[0]), float(means[1]), difference, kappa)


def _t_test(mean, error, n, alternative):
    """Return the p-value of a one-sample t-test with a given standard error."""
    if error == 0:  # all differences are equal, so there is no doubt about the sign of the mean
        extreme = {"greater": mean > 0, "less": mean < 0, "two-sided": mean != 0}[alternative]
        return 0.0 if extreme else 1.0
    ratio = mean / error
    if alternative == "two-sided":
        return float(2 * t.sf(abs(ratio), n - 1))
    return float(t.sf(ratio if alternative == "greater" else -ratio, n - 1))


def _wilcoxon(differences, alternative):
    if not differences.any():
        return 1.0
    return float(wilcoxon(differences, alternative=alternative).pvalue)


def _check_accuracy(accuracy, n):
    if not (0 <= accuracy <= 1 and n >= 1):
        raise ValueError(
            f"The accuracy is {accuracy} on {n} cases; give a share between 0 and 1, and one case "
            "or more."
        )
