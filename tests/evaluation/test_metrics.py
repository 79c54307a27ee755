"""Metrics agree with scikit-learn where it has them, and otherwise with their definitions."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from keeptree.evaluation.metrics import (
    CURVES,
    METRICS,
    cost,
    cost_metric,
    find_metrics,
)
from keeptree.evaluation.ranking import GRID, auc, mean_roc, partial_auc, stays_ahead, weighted_area


@st.composite
def answers(draw, fewest=2, most=4):
    """Return true classes, each at least once, and probabilities with many ties."""
    k = draw(st.integers(fewest, most))
    n = draw(st.integers(2 * k, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    truth = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    raw = rng.integers(0, draw(st.sampled_from([2, 5, 100])), (n, k)) + 0.5
    return truth, raw / raw.sum(axis=1, keepdims=True)


def naive_auc(truth, score, ties):
    """Return the AUC by counting pairs one by one."""
    pairs = [(p, q) for p in score[truth] for q in score[~truth]]
    return np.mean([1.0 if p > q else ties if p == q else 0.0 for p, q in pairs])


@given(answers(most=2), st.sampled_from([0, 0.5, 1]))
@settings(max_examples=60, deadline=None)
def test_two_class_auc_counts_pairs(case, ties):
    truth, p = case
    assert auc(truth, p, ties=ties) == pytest.approx(naive_auc(truth == 1, p[:, 1], ties))
    assert auc(truth, p[:, 1]) == pytest.approx(roc_auc_score(truth, p[:, 1]))


@given(answers(most=2), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_a_case_of_weight_two_counts_as_two_cases(case, seed):
    truth, score = case[0] == 1, case[1][:, 1]
    times = np.random.default_rng(seed).integers(0, 4, len(truth))
    assume(times.any())
    rows = np.repeat(np.arange(len(truth)), times)
    (area,) = weighted_area(truth, score)(times[None].astype(float))
    expected = auc(truth[rows], score[rows], [False, True])
    assert area == pytest.approx(expected, nan_ok=True)


@given(answers(fewest=3), st.sampled_from(["macro", "weighted"]))
@settings(max_examples=40, deadline=None)
def test_auc_of_several_classes_agrees_with_scikit_learn(case, average):
    truth, p = case
    expected = roc_auc_score(truth, p, multi_class="ovr", average=average)
    assert auc(truth, p, average=average) == pytest.approx(expected)


def test_a_class_without_cases_is_left_out_of_the_average():
    truth = np.array([0, 0, 1, 1])
    p = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.6, 0.1], [0.1, 0.9, 0.0]])
    expected = np.mean([naive_auc(truth == c, p[:, c], 0.5) for c in (0, 1)])
    assert auc(truth, p, labels=[0, 1, 2]) == pytest.approx(expected)
    assert np.isnan(auc([1, 1], [0.2, 0.3], labels=[0, 1]))
    assert np.isnan(partial_auc([1, 1], [0.2, 0.3], labels=[0, 1])).all()


@given(answers())
@settings(max_examples=60, deadline=None)
def test_the_partial_area_is_the_integral_of_the_roc_curve(case):
    truth, p = case
    area = partial_auc(truth, p)
    assert area[0] == 0
    assert area[-1] == pytest.approx(auc(truth, p))
    assert (np.diff(area) >= 0).all()
    fine = np.linspace(0, 1, 20001)
    curve = mean_roc(truth, p, x=fine)
    assert (np.diff(curve) >= -1e-12).all()
    middle = np.concatenate([[0], np.cumsum((curve[1:] + curve[:-1]) / 2 * np.diff(fine))])
    np.testing.assert_allclose(area, np.interp(GRID, fine, middle), atol=2e-3)


def test_a_ranking_stays_ahead_until_its_lead_is_no_longer_significant():
    x = [0, 0.25, 0.5, 1]
    theirs = np.zeros((4, 4))
    ours = np.array([[0, 1, 1, 1], [0, 1, 2, 1], [0, 1, -2, 1], [0, 1, 3, 1]])
    assert stays_ahead(ours, theirs, x) == 0.25  # ahead again at 1, but not significantly at 0.5
    assert stays_ahead(ours, theirs, x, confidence=0.5) == 1
    assert stays_ahead(theirs - 1, theirs, x) == 0
    with pytest.raises(ValueError, match="two or more samples"):
        stays_ahead([[0, 1]], [[0, 1]], [0, 1])


@given(answers())
@settings(max_examples=40, deadline=None)
def test_probability_metrics_agree_with_their_definitions(case):
    truth, p = case
    labels = np.arange(p.shape[1])
    value = {name: m.function(truth, p, labels) for name, m in METRICS.items()
             if m.needs == "probability"}  # fmt: skip
    summed = np.mean(
        [((np.eye(len(labels))[c] - q) ** 2).sum() for c, q in zip(truth, p, strict=True)]
    )
    assert value["mse"] == pytest.approx(summed)
    if len(labels) == 2:
        assert value["brier"] == pytest.approx(brier_score_loss(truth, p[:, 1]))
    else:
        assert value["brier"] == pytest.approx(summed)
    assert value["log_loss"] == pytest.approx(log_loss(truth, p, labels=labels))
    assert value["log_loss_unclipped"] == pytest.approx(value["log_loss"])
    assert 0 <= value["ece"] <= 1


def test_log_loss_of_probability_zero_is_infinite_unless_clipped():
    y, p = [0, 1], [[1.0, 0.0], [1.0, 0.0]]
    assert METRICS["log_loss_unclipped"].function(y, p, [0, 1]) == np.inf
    assert np.isfinite(METRICS["log_loss"].function(y, p, [0, 1]))


def test_invalid_input_raises_a_clear_error():
    with pytest.raises(ValueError, match=r"matrix has shape \(1, 2\).*each of 2 classes"):
        cost([0, 1], [0, 1], matrix=[[1, 2]])
    with pytest.raises(ValueError, match=r"scores have shape \(2, 3\).*each of 2 classes"):
        auc([0, 1], np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"probabilities have shape \(2,\).*each of 2 classes"):
        METRICS["mse"].function([0, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="no metric 'briar'; did you mean 'brier'"):
        find_metrics(["auc", "briar"])


def test_a_custom_metric_is_used_unchanged():
    own = {"cost": cost_metric([[0, 5], [1, 0]])}
    assert find_metrics(own) == own
    assert own["cost"].function([0, 1], [1, 1], [0, 1]) == 2.5
    assert not METRICS.keys() & CURVES.keys()
