"""The paired tests agree with SciPy, and the correction with Nadeau and Bengio (2003)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp, wilcoxon

from keeptree.evaluation.significance import (
    accuracy_interval,
    compare_accuracies,
    hits_and_errors,
    paired_difference,
)

RNG = np.random.default_rng(3)
GAINS = RNG.normal(0.3, 1, 30)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_p_values_and_intervals_agree_with_scipy(alternative):
    result = paired_difference(GAINS, alternative=alternative)
    expected = ttest_1samp(GAINS, 0, alternative=alternative)
    assert result.p_t == pytest.approx(expected.pvalue)
    assert result.p_wilcoxon == wilcoxon(GAINS, alternative=alternative).pvalue
    assert result.p_corrected is None
    interval = ttest_1samp(GAINS, 0).confidence_interval()
    assert (result.low, result.high) == pytest.approx((interval.low, interval.high))
    assert result.sd == pytest.approx(GAINS.std(ddof=1))


def test_the_correction_widens_the_interval_and_raises_the_p_value():
    plain = paired_difference(GAINS, test_share=0.5)
    wide = paired_difference(GAINS, test_share=0.5, corrected=True)
    assert plain.p_t < plain.p_corrected == wide.p_corrected
    ratio = np.sqrt((1 / 30 + 0.5) / (1 / 30))
    assert (wide.high - wide.low) / (plain.high - plain.low) == pytest.approx(ratio)
    assert paired_difference(GAINS, test_share=0).p_corrected == pytest.approx(plain.p_t)


def test_on_resampled_splits_only_the_corrected_test_keeps_its_level():
    # The 30 splits share a random error, as overlapping training parts do. No difference is real.
    rng = np.random.default_rng(0)
    results = [
        paired_difference(rng.normal(0, np.sqrt(0.5)) + rng.normal(size=30), test_share=0.5)
        for _ in range(400)
    ]
    assert np.mean([r.p_t < 0.05 for r in results]) > 0.2
    assert np.mean([r.p_corrected < 0.05 for r in results]) < 0.08


@pytest.mark.parametrize(("value", "p"), [(0.0, 1.0), (0.1, 0.0), (-0.1, 1.0)])
def test_identical_differences_give_an_interval_of_width_zero(value, p):
    result = paired_difference([value] * 5, test_share=0.5)
    assert result.p_t == result.p_corrected == p
    assert (result.low, result.high) == (value, value)
    assert 0 <= result.p_wilcoxon <= 1


def test_a_single_pair_gives_only_a_mean():
    result = paired_difference([0.2])
    assert (result.n, result.mean, result.sd, result.p_t, result.low) == (1, 0.2, None, None, None)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"differences": [0, np.nan]}, "finite numbers"),
        ({"differences": [0, 1], "alternative": "better"}, "'greater', 'less' or 'two-sided'"),
        ({"differences": [0, 1], "corrected": True}, "needs test_share"),
    ],
)
def test_invalid_input_raises_a_clear_error(wrong, says):
    with pytest.raises(ValueError, match=says):
        paired_difference(**wrong)


@given(st.integers(1, 300), st.data())
@settings(max_examples=50, deadline=None)
def test_the_textbook_interval_is_the_wilson_interval(n, data):
    right = data.draw(st.integers(0, n))
    expected = binomtest(right, n).proportion_ci(method="wilson")
    found = accuracy_interval(right / n, n)
    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_an_accuracy_in_percent_is_refused():
    with pytest.raises(ValueError, match="The accuracy is 85 on 30 cases; give a share"):
        accuracy_interval(85, 30)
    with pytest.raises(ValueError, match="on 0 cases"):
        compare_accuracies(0.5, 10, 0.5, 0)


def test_accuracies_of_zero_and_one_give_valid_p_values():
    assert compare_accuracies(1.0, 10, 1.0, 20).p_value == 1.0
    assert compare_accuracies(1.0, 10, 0.0, 20).p_value == 0.0


def test_hits_lie_farther_from_the_boundary_than_errors():
    distance = np.concatenate([RNG.normal(2, 1, 80), RNG.normal(0.5, 0.5, 20)])
    correct = np.arange(100) < 80
    result = hits_and_errors(distance, correct)
    assert (result.n_hits, result.n_errors) == (80, 20)
    assert result.difference == pytest.approx(result.hits - result.errors)
    error = np.hypot(
        distance[:80].std(ddof=1) / np.sqrt(80), distance[80:].std(ddof=1) / np.sqrt(20)
    )
    assert result.kappa == pytest.approx(result.difference / error)
    assert result.kappa > 1.645
    assert np.isnan(hits_and_errors(distance, np.ones(100, bool)).kappa)
