"""Learning curves: schedules, nested samples, points."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from keeptree.evaluation import arithmetic_schedule, geometric_schedule, learning_curve
from keeptree.evaluation.learning import _proportional_order
from tests.evaluation.models import Counting

X, Y = load_iris(return_X_y=True)


def test_schedules():
    assert arithmetic_schedule(1000, 4) == [250, 500, 750, 1000]
    assert arithmetic_schedule(3) == [1, 2, 3]
    assert geometric_schedule(1600, start=100) == [100, 200, 400, 800, 1600]
    assert geometric_schedule(1000, start=10, ratio=10) == [10, 100, 1000]
    ratios = np.divide(geometric_schedule(5000)[1:], geometric_schedule(5000)[:-1])
    np.testing.assert_allclose(ratios, 2, rtol=0.01)
    with pytest.raises(ValueError, match="a ratio above 1"):
        geometric_schedule(100, ratio=1)


def test_every_prefix_of_a_training_part_keeps_the_class_proportions():
    y = np.repeat([0, 1, 2], [60, 30, 10])
    order = _proportional_order(np.arange(100), y, np.random.default_rng(0))
    assert sorted(order) == list(range(100))
    for size in range(1, 101):
        counts = np.bincount(y[order[:size]], minlength=3)
        assert (np.abs(counts - size * np.array([0.6, 0.3, 0.1])) <= 1).all()


@pytest.fixture(scope="module")
def curve():
    models = {"Bayes": GaussianNB(), "shares": Counting()}
    return learning_curve(models, X, Y, n_splits=4, n_jobs=1, progress=False)


def test_accuracy_grows_with_the_size_of_the_training_sample(curve):
    assert curve.sizes == [12, 25, 50, 100]
    points = [p for p in curve.points() if (p["metric"], p["model"]) == ("accuracy", "Bayes")]
    assert [p["size"] for p in points] == curve.sizes
    assert [p["n"] for p in points] == [4] * 4
    assert points[0]["mean"] < points[-1]["mean"]
    row = next(line for line in curve.to_markdown().splitlines() if "shares" in line)
    assert row == "| shares | 0.500 ± 0.000 | 0.500 ± 0.000 | 0.500 ± 0.000 | 0.500 ± 0.000 |"


def test_a_curve_prints_as_a_table_for_each_metric(curve):
    lines = str(curve).splitlines()
    assert lines[0].split() == ["AUC", "↑", "12", "25", "50", "100"]
    assert lines[3].split() == ["shares", *["0.500", "±", "0.000"] * 4]
    assert lines[5].split()[0] == "accuracy"
    assert len({len(line) for line in lines[:4]}) == 1  # the columns are aligned
    assert lines[-1].startswith("Mean ± standard error by number of training cases")


def test_a_printed_curve_leaves_out_metrics_that_are_not_numbers():
    options = {"metrics": ["accuracy", "confusion"], "sizes": [50], "n_splits": 2, "n_jobs": 1}
    curve = learning_curve([GaussianNB()], X, Y, **options)
    assert "confusion" not in str(curve)
    assert "confusion" not in curve.to_markdown()


def test_the_last_point_uses_the_whole_training_part(curve):
    largest = learning_curve([GaussianNB()], X, Y, sizes=[1.0], n_splits=4, n_jobs=1)
    assert largest.sizes == [100]
    expected = {p["metric"]: p["mean"] for p in curve.points()
                if p["model"] == "Bayes" and p["size"] == 100}  # fmt: skip
    assert {p["metric"]: p["mean"] for p in largest.points()} == pytest.approx(expected)


def test_a_size_at_which_a_model_fails_has_no_point():
    class Never(Counting):
        def fit(self, X, y):
            if len(X) < 20:
                raise RuntimeError("too few")
            return super().fit(X, y)

    curve = learning_curve({"late": Never()}, X, Y, sizes=[10, 50], n_splits=2, n_jobs=1)
    assert len(curve.failures) == 2
    assert [p["mean"] is None for p in curve.points()] == [True, False] * 2
    failed = "2 fits failed and left no value; the first was late on 10 training cases: "
    assert failed in str(curve)


@pytest.mark.parametrize("sizes", [[0], [101], [0.5, 1.5], []])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match="from 1 to 100, the smallest training part"):
        learning_curve([GaussianNB()], X, Y, sizes=sizes, n_jobs=1)


def test_an_unknown_schedule_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match="no schedule 'geometry'; did you mean 'geometric'"):
        learning_curve([GaussianNB()], X, Y, sizes="geometry")
