"""The figures agree with scikit-learn, and their intervals with a plain bootstrap."""

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from keeptree.reporting.quality import compare_metrics


def sample(n=300, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.4).astype(int)
    p = 1 / (1 + np.exp(-(2 * truth - 1 + noise * rng.normal(size=n))))
    return np.column_stack([1 - p, p]), truth


def test_the_metrics_agree_with_scikit_learn():
    p, truth = sample()
    metrics = compare_metrics(p, p, truth, positive=1)["metrics"]
    expected = {
        "auc": roc_auc_score(truth, p[:, 1]),
        "brier": brier_score_loss(truth, p[:, 1]),
        "log_loss": log_loss(truth, p[:, 1]),
    }
    for key, value in expected.items():
        assert metrics[key]["ours"]["value"] == pytest.approx(value, rel=1e-12)


def test_the_auc_of_many_classes_is_the_mean_over_the_classes():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(4), size=200)
    truth = rng.integers(4, size=200)
    metrics = compare_metrics(p, p, truth, positive=0)["metrics"]
    expected = roc_auc_score(truth, p, multi_class="ovr")
    assert metrics["auc"]["ours"]["value"] == pytest.approx(expected, rel=1e-12)
    assert metrics["log_loss"]["ours"]["value"] == pytest.approx(log_loss(truth, p), rel=1e-12)


def test_the_interval_of_the_difference_is_paired():
    good, truth = sample(noise=1.0)
    noisy, _ = sample(noise=4.0)
    gain = compare_metrics(good, noisy, truth, 1)["metrics"]["auc"]["difference"]
    assert 0 < gain["low"] < gain["value"] < gain["high"]
    same = compare_metrics(good, good, truth, 1)["metrics"]
    for key in same:
        assert same[key]["difference"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def plain_auc(positive, score):
    """Return the share of the pairs in the right order."""
    above, below = score[positive][:, None], score[~positive]
    return ((above > below) + 0.5 * (above == below)).mean()


def test_the_interval_agrees_with_a_plain_bootstrap():
    p, truth = sample(n=120)
    interval = compare_metrics(p, p, truth, 1)["metrics"]["auc"]["ours"]
    rng = np.random.default_rng(7)
    drawn = [rng.integers(120, size=120) for _ in range(2000)]
    values = [plain_auc(truth[rows] == 1, p[rows, 1]) for rows in drawn]
    low, high = np.percentile(values, [2.5, 97.5])
    assert interval["low"] == pytest.approx(low, abs=0.01)
    assert interval["high"] == pytest.approx(high, abs=0.01)


def test_one_class_has_no_auc():
    p, _ = sample(20)
    auc = compare_metrics(p, p, np.zeros(20, dtype=int), 1)["metrics"]["auc"]
    assert auc["ours"] == {"value": None, "low": None, "high": None}


@pytest.mark.parametrize(("deaths", "scarce"), [(1, {"class": 1, "cases": 1}), (10, None)])
def test_the_auc_has_no_interval_on_a_few_cases_of_a_class(deaths, scarce):
    # Resamples keep the same few cases, so their spread hides how much depends on these.
    p, _ = sample(94)
    quality = compare_metrics(p, p[::-1], np.repeat([0, 1], [94 - deaths, deaths]), 1)
    assert quality["scarce"] == scarce
    for found in quality["metrics"]["auc"].values():
        assert found["value"] is not None
        assert (found["low"] is None) == (deaths < 10)
    assert quality["metrics"]["brier"]["ours"]["low"] is not None


def test_a_large_sample_needs_no_matrix_of_pairs():
    p, truth = sample(20_000)  # 8,000 x 12,000 pairs would be 800 MB
    tracemalloc.start()
    quality = compare_metrics(p, p, truth, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
    assert quality["resamples"] >= 200


def test_probability_zero_of_the_true_class_is_clipped_as_in_scikit_learn():
    p = np.array([[1.0, 0.0], [0.5, 0.5]])
    value = compare_metrics(p, p, np.array([1, 0]), 1)["metrics"]["log_loss"]["ours"]["value"]
    assert value == pytest.approx((-np.log(np.finfo(float).eps) - np.log(0.5)) / 2)
