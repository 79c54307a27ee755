"""The statistical tests of an audit agree with SciPy's and keep their significance level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from keeptree.auditing.significance import (
    choose_ends,
    compare_counts,
    compare_curves,
    compare_shares,
    compare_with_expected,
    reject_holm,
    stability_index,
)


@given(st.integers(0, 2**32 - 1), st.integers(20, 200), st.integers(20, 200))
def test_the_distance_between_curves_is_that_of_scipy(seed, n_1, n_2):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n_1), rng.normal(0.3, 1, size=n_2)
    points = np.sort(np.concatenate([a, b]))
    below = [np.searchsorted(np.sort(x), points, side="right") for x in (a, b)]
    distance, p = compare_curves(below[0], n_1, below[1], n_2)
    expected = stats.ks_2samp(a, b, method="asymp")
    assert distance == pytest.approx(expected.statistic)
    assert p == pytest.approx(expected.pvalue, abs=0.1)  # SciPy corrects for small samples


@given(st.lists(st.integers(5, 500), min_size=2, max_size=6), st.integers(0, 2**32 - 1))
def test_counts_without_rare_categories_have_the_p_value_of_scipy(counts, seed):
    now = np.random.default_rng(seed).integers(5, 500, len(counts))
    table = np.array([counts, now])
    if stats.contingency.expected_freq(table).min() < 5:
        return
    expected = stats.chi2_contingency(table, correction=False).pvalue
    assert compare_counts(np.array(counts), now) == pytest.approx(expected)


def test_rare_categories_are_merged_instead_of_raising_the_statistic():
    before = np.array([500, 500, *[1] * 50])
    now = np.array([500, 500, *[0] * 50])
    assert compare_counts(before, now) > 1e-15  # one cell of 50 cases, not 50 cells of one
    assert compare_counts(np.array([3, 0]), np.array([0, 0])) == 1.0
    assert compare_counts(np.array([9]), np.array([7])) == 1.0


def test_a_one_sided_test_detects_only_a_decrease():
    assert compare_shares(90, 100, 70, 100, "greater") < 0.001
    assert compare_shares(70, 100, 90, 100, "greater") > 0.99


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.sampled_from([0.01, 0.05, 0.2]))
def test_holm_rejects_the_same_hypotheses_as_the_textbook_procedure(p_values, alpha):
    order = sorted(range(len(p_values)), key=lambda k: p_values[k])
    rejected = set()
    for rank, k in enumerate(order):
        if p_values[k] > alpha / (len(p_values) - rank):
            break
        rejected.add(k)
    assert set(np.flatnonzero(reject_holm(p_values, alpha)).tolist()) == rejected


@given(st.integers(1, 300))
def test_interval_ends_are_increasing_indices_of_points(n_points):
    ends = choose_ends(n_points)
    assert 1 <= len(ends) <= 9
    assert (np.diff(ends) > 0).all()
    assert 0 <= ends[0] <= ends[-1] < n_points


def test_the_stability_index_is_zero_for_equal_shares_and_finite_for_empty_parts():
    assert stability_index(np.array([10, 20, 30]), np.array([10, 20, 30])) == 0
    assert 0 < stability_index(np.array([10, 0]), np.array([0, 10])) < np.inf


@pytest.mark.parametrize(("n", "mean", "n_before"), [(400, 0.3, 4000), (400, 0.002, 1000)])
def test_comparing_events_with_their_probabilities_keeps_the_significance_level(n, mean, n_before):
    """This holds even for rare events, where a normal approximation would raise false alarms."""
    rng = np.random.default_rng(0)
    p = rng.beta(2 * mean, 2 * (1 - mean), n)
    variance = (p * (1 - p)).sum()
    p_values = [
        compare_with_expected((rng.random(n) < p).sum(), p.sum(), variance, n, n_before)
        for _ in range(2000)
    ]
    assert np.mean(np.array(p_values) <= 0.05) <= 0.06
    assert (
        compare_with_expected(
            round(p.sum() + 6 * variance**0.5 + 5), p.sum(), variance, n, n_before
        )
        < 0.001
    )
