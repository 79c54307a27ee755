"""Decisions by cost: the matrix, the decision, saving, exports, and scikit-learn's thresholds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.evaluation.metrics import cost
from keeptree.probability.costs import cheapest, read_costs
from keeptree.probability.methods import METHODS, make_method

MATRIX = [[0, 1], [20, 0]]
PROBABLE = [name for name, method in METHODS.items() if method.kind != "GeometricRankClassifier"]


@given(
    arrays(float, (6, 3), elements=st.floats(0, 1)),
    arrays(float, (3, 3), elements=st.floats(0, 100)),
)
def test_the_cheapest_class_has_the_least_expected_cost(p, matrix):
    for row, decided in zip(p, cheapest(p, matrix), strict=True):
        expected = [sum(row[c] * matrix[c][k] for c in range(3)) for k in range(3)]
        assert decided == min(range(3), key=expected.__getitem__)


def test_costs_that_a_dict_omits_are_zero_or_one():
    by_name = {"b": {"a": 7, "b": -1}}
    np.testing.assert_array_equal(
        read_costs(by_name, np.array(["a", "b", "c"])), [[0, 1, 1], [7, -1, 1], [1, 1, 0]]
    )
    np.testing.assert_array_equal(read_costs({"1": {"0": 5}}, np.array([0, 1])), [[0, 1], [5, 0]])


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        ([[0, 1]], "shape .1, 2.; give one row .true class. and one column"),
        ([[0, 1, 2], [1, 0, 2]], "in this order: sick, well"),
        ([[0, np.nan], [1, 0]], "infinite or missing"),
        ([[0, "dear"], [1, 0]], "is not a matrix of numbers"),
        ([[20, 0], [0, 1]], "correct decision for the class 'sick' more expensive"),
        ({"sick": 20}, "give a dict from decided classes to costs"),
        ({"sick": {"wel": 20}}, "did you mean 'well'"),
        ({"sick": {"well": "dear"}}, "not a number"),
    ],
)
def test_invalid_costs_raise_a_clear_error(costs, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_costs(costs, np.array(["sick", "well"]))


@pytest.mark.filterwarnings("ignore:strength")
@pytest.mark.parametrize("name", PROBABLE)
def test_every_method_decides_by_costs_and_keeps_its_probabilities(cancer, cancer_tree, name):
    X, y = cancer
    tree = kt.keep(cancer_tree)
    model = make_method(name, tree, MATRIX).fit(X, y)
    p = make_method(name, tree).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), p)
    # Deciding 1 has the expected cost p(0) x 1, and deciding 0 has p(1) x 20.
    expected = np.where(p[:, 0] * 1 <= p[:, 1] * 20, 1, 0)
    clear = np.abs(p[:, 0] - 20 * p[:, 1]) > 1e-9
    np.testing.assert_array_equal(model.predict(X)[clear], expected[clear])
    assert [model.scorer()(row).label for row in X[:20]] == model.predict(X[:20]).tolist()


def test_deciding_by_cost_is_cheaper_than_by_the_tree_or_by_probability():
    X, y = load_breast_cancer(return_X_y=True)
    train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
    matrix, total = [[0, 30], [1, 0]], {}
    for decide in ("tree", "probability", "cost"):
        model = kt.KeptTreeClassifier(
            DecisionTreeClassifier(max_leaf_nodes=6, random_state=0),
            decide=decide,
            costs=matrix if decide == "cost" else None,
        ).fit(X[train], y[train])
        total[decide] = cost(y[test], model.predict(X[test]), matrix=matrix)
    assert total["cost"] < min(total["probability"], total["tree"])


def test_costs_by_name_are_saved_as_a_matrix(iris, tmp_path):
    X, y = iris
    names = np.array(["a", "b", "c"])[y]
    model = kt.SmoothedTreeClassifier(decide="cost", costs={"b": {"c": 9}}).fit(X, names)
    kt.save(model, tmp_path / "m.json")
    loaded = kt.load(tmp_path / "m.json")
    assert loaded.costs == [[0, 1, 1], [1, 0, 9], [1, 1, 0]]
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert clone(loaded).costs == loaded.costs


def test_costs_must_match_decide_and_the_number_of_classes(iris):
    X, y = iris
    with pytest.raises(ValueError, match='decide="cost" needs costs'):
        kt.SmoothedTreeClassifier(decide="cost").fit(X, y)
    with pytest.raises(ValueError, match="decide='tree' does not use it"):
        kt.SmoothedTreeClassifier(costs=np.ones((3, 3))).fit(X, y)
    with pytest.raises(ValueError, match="for each of 3 classes"):
        kt.SmoothedTreeClassifier(decide="cost", costs=MATRIX).fit(X, y)
    with pytest.raises(ValueError, match="'rank' only ranks"):
        make_method("rank", None, MATRIX)


def _savings(y_true, y_pred):
    return -cost(y_true, y_pred, [0, 1], matrix=MATRIX)


@pytest.mark.parametrize("method", ["laplace", "kernel", "kept"])
def test_scikit_learn_can_tune_the_threshold_of_a_classifier(cancer, method):
    X, y = cancer
    learner = make_method(method, DecisionTreeClassifier(max_leaf_nodes=6, random_state=0))
    tuned = TunedThresholdClassifierCV(learner, scoring=make_scorer(_savings), cv=3).fit(X, y)
    assert 0 <= tuned.best_threshold_ <= 1
    # An error on class 1 costs 20 times as much, so the threshold for class 1 is lower.
    assert tuned.best_threshold_ < 0.5
    p = tuned.estimator_.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(tuned.predict(X), (p >= tuned.best_threshold_).astype(int))


@pytest.mark.parametrize("frozen", [True, False])
def test_a_fitted_classifier_is_not_refitted_when_thresholds_are_tuned(cancer, frozen):
    X, y = cancer
    model = kt.KeptTreeClassifier(DecisionTreeClassifier(max_leaf_nodes=6)).fit(X[::2], y[::2])
    p = model.predict_proba(X)[:, 1]
    if frozen:
        fixed = FixedThresholdClassifier(FrozenEstimator(model), threshold=0.05).fit(X, y)
        np.testing.assert_array_equal(fixed.predict(X), (p >= 0.05).astype(int))
        fitted = FrozenEstimator(model)
    else:
        fitted = model
    tuned = TunedThresholdClassifierCV(
        fitted, scoring="balanced_accuracy", cv="prefit", refit=False
    ).fit(X[1::2], y[1::2])
    np.testing.assert_array_equal(tuned.predict_proba(X)[:, 1], p)
    scorer = get_scorer("balanced_accuracy")
    assert scorer(tuned, X[1::2], y[1::2]) >= scorer(model, X[1::2], y[1::2])


def test_the_threshold_of_a_ranking_is_tuned_on_its_scores(cancer, cancer_tree):
    X, y = cancer
    ranking = kt.GeometricRankClassifier(kt.keep(cancer_tree))
    tuned = TunedThresholdClassifierCV(ranking, scoring=make_scorer(_savings), cv=3).fit(X, y)
    assert set(tuned.predict(X)) == {0, 1}
