"""The display draws the classifier's estimates."""

import sys

import matplotlib
import numpy as np
import pytest

import keeptree as kt

matplotlib.use("Agg")


def test_the_figure_shows_every_case_at_its_distance_and_probability(cancer, cancer_tree):
    X, y = cancer
    model = kt.DistanceKernelClassifier(cancer_tree).fit(X, y)
    display = kt.DistanceKernelDisplay.from_estimator(model, X, y, positive=0)
    h = kt.Boundary(cancer_tree).fit(X).signed_distance(X)[:, 0]
    np.testing.assert_allclose(display.distance, h)
    np.testing.assert_array_equal(display.probability, model.predict_proba(X)[:, 0])
    np.testing.assert_array_equal(display.error, cancer_tree.predict(X) != y)
    drawn = sum(len(points.get_offsets()) for points in display.ax_.collections)
    assert drawn == 2 * len(y), "each case is drawn once for Laplace and once for the kernel"
    assert "class 0" in display.ax_.get_ylabel()


def test_given_values_are_drawn_on_given_axes():
    figure = matplotlib.figure.Figure()
    ax = figure.subplots()
    display = kt.DistanceKernelDisplay.from_predictions([-1.0, 1.0], [0.9, 0.2], [0, 1], ax=ax)
    assert display.ax_ is ax
    with pytest.raises(ValueError, match="'probability': 1"):
        kt.DistanceKernelDisplay.from_predictions([-1.0, 1.0], [0.9], [0, 1])
    kt.DistanceKernelDisplay.from_predictions([-1.0, 1.0], [0.9, 0.1], [0, 1], laplace=[0.8, 0.2])


def test_data_that_cannot_be_drawn_raise_a_clear_error(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="not a fitted DistanceKernelClassifier"):
        kt.DistanceKernelDisplay.from_estimator(kt.DistanceKernelClassifier(), X, y)
    stump = kt.DistanceKernelClassifier(kt.C45Classifier(max_depth=0)).fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        kt.DistanceKernelDisplay.from_estimator(stump, X, y)
    model = kt.DistanceKernelClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"lengths|broadcast|shape"):
        kt.DistanceKernelDisplay.from_estimator(model, X, y[:5])


def test_without_matplotlib_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install \"keeptree\[plot\]\""):
        kt.DistanceKernelDisplay.from_predictions([-1.0, 1.0], [0.9, 0.2], [0, 1])
