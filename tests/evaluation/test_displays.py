"""The displays show the measured values, for two and for several classes."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from keeptree.evaluation import (
    LearningDisplay,
    MeanRocDisplay,
    PairedDifferenceDisplay,
    ReliabilityDisplay,
    compare,
    learning_curve,
)

pytestmark = pytest.mark.usefixtures("closed_figures")
MODELS = {"tree": DecisionTreeClassifier(random_state=0), "Bayes": GaussianNB(), "svm": LinearSVC()}
METRICS = ["auc", "brier", "accuracy", "recall", "roc", "reliability"]


@pytest.fixture(scope="module", params=[load_breast_cancer, load_iris])
def comparison(request):
    X, y = request.param(return_X_y=True)
    return compare(MODELS, X, y, metrics=METRICS, n_splits=4, n_jobs=1, progress=False)


def test_differences(comparison, tmp_path):
    display = PairedDifferenceDisplay.from_comparison(comparison)
    assert [ax.get_title() for ax in display.axes_] == ["AUC", "Brier", "accuracy", "recall"]
    assert [t.get_text() for t in display.axes_[0].get_yticklabels()] == ["Bayes", "svm"]
    assert "no value" in [t.get_text() for t in display.axes_[1].texts]
    entry = comparison.differences()[0]
    drawn = [line.get_xdata() for line in display.axes_[0].lines]
    assert any(np.allclose(x, [entry["low"], entry["high"]]) for x in drawn)
    display.figure_.savefig(tmp_path / "x.png")


@pytest.mark.parametrize("baseline", ["tree", "Bayes"])
def test_infinite_differences_are_marked_even_if_both_losses_are_infinite(baseline):
    X, y = load_breast_cancer(return_X_y=True)
    models = {**MODELS, "small": DecisionTreeClassifier(max_depth=5, random_state=0)}
    del models["svm"]
    metrics = ["log_loss_unclipped"]
    found = compare(
        models, X, y, baseline=baseline, metrics=metrics, n_splits=3, n_jobs=1, progress=False
    )
    values = [found.values(model, *metrics) for model in ("tree", "small")]
    assert np.isinf(values).all()
    (ax,) = PairedDifferenceDisplay.from_comparison(found).axes_
    assert [text.get_text() for text in ax.texts] == ["infinite", "infinite"]


def test_roc(comparison):
    display = MeanRocDisplay.from_comparison(comparison)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    means = {e["model"]: e["mean"] for e in comparison.means() if e["metric"] == "auc"}
    best = max(means, key=means.get)
    assert labels[0] == f"{best}  {means[best]:.3f}"
    line = display.ax_.lines[1]
    np.testing.assert_allclose(line.get_ydata()[1:], comparison.curve(best, "roc"))
    again = MeanRocDisplay.from_comparison(comparison, ax=display.ax_)
    assert again.ax_ is display.ax_


def test_reliability(comparison):
    display = ReliabilityDisplay.from_comparison(comparison)
    assert [ax.get_title() for ax in display.axes_] == ["tree", "Bayes"]  # svm has no probabilities
    bins = comparison.curve("Bayes", "reliability")
    gap = np.abs(bins[:, 1] - bins[:, 2]).sum() / bins[:, 0].sum()
    assert display.axes_[1].texts[0].get_text() == f"mean gap {gap:.3f}"


def test_learning():
    X, y = load_iris(return_X_y=True)
    curve = learning_curve({"Bayes": GaussianNB()}, X, y, n_splits=3, n_jobs=1, progress=False)
    display = LearningDisplay.from_curve(curve)
    assert [ax.get_ylabel() for ax in display.axes_] == ["AUC", "accuracy"]
    assert display.axes_[0].get_xscale() == "log"
    np.testing.assert_array_equal(display.axes_[1].lines[0].get_xdata(), curve.sizes)


def test_displays_of_metrics_that_were_not_measured_raise_a_clear_error():
    X, y = load_iris(return_X_y=True)
    found = compare([LinearSVC()], X, y, metrics=["auc", "reliability"], n_splits=2, n_jobs=1)
    with pytest.raises(ValueError, match="has no 'roc'; add it to the metrics"):
        MeanRocDisplay.from_comparison(found)
    with pytest.raises(ValueError, match="No model has a reliability curve"):
        ReliabilityDisplay.from_comparison(found)
    with pytest.raises(ValueError, match="only one model"):
        PairedDifferenceDisplay.from_comparison(found)
