"""Bins contain every case once; bins of equal width match scikit-learn's calibration curve."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from keeptree.evaluation.reliability import (
    expected_calibration_error,
    quantile_bins,
    reliability_bins,
)


def test_reliability_bins_agree_with_scikit_learns_calibration_curve():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    truth = rng.random(500) < p**2
    bins = reliability_bins(truth, np.column_stack([1 - p, p]))
    observed, predicted = calibration_curve(truth, p, n_bins=10)
    np.testing.assert_allclose(bins[:, 2] / bins[:, 0], observed)
    np.testing.assert_allclose(bins[:, 1] / bins[:, 0], predicted)
    gap = (bins[:, 0] / 500) @ np.abs(observed - predicted)
    ece = expected_calibration_error(truth, np.column_stack([1 - p, p]))
    assert ece == pytest.approx(gap)


def test_with_several_classes_the_bins_use_the_most_probable_class():
    p = [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]
    bins = reliability_bins([0, 1], p, labels=[0, 1, 2])
    assert bins[5].tolist() == [1, 0.5, 1]
    assert bins[8].tolist() == [1, 0.8, 0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=200), st.randoms())
@settings(deadline=None)
def test_quantile_bins_contain_every_case_once_and_keep_ties_together(scores, random):
    score = np.array(scores)
    truth = np.array([random.random() < 0.5 for _ in scores])
    bins = quantile_bins(score, truth)
    assert len(bins) <= 10
    assert sum(b["cases"] for b in bins) == len(score)
    assert sum(b["happened"] for b in bins) == truth.sum()
    for before, after in pairwise(bins):
        assert before["to"] < after["from"]
    for b in bins:
        assert b["low"] <= b["observed"] + 1e-12
        assert b["observed"] <= b["high"] + 1e-12
