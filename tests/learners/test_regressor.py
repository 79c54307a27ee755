"""TreeRegressor agrees with scikit-learn on numbers, finds the best subsets, and prunes."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_linnerud, make_friedman1, make_regression
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils._test_common.instance_generator import PER_ESTIMATOR_XFAIL_CHECKS
from sklearn.utils.estimator_checks import parametrize_with_checks

import keeptree as kt
from tests.reference.regression import RegressionReference, count_leaves

HOLDS_OUT_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": "rows, not weights, are held out"
}


@parametrize_with_checks(
    [
        kt.TreeRegressor(),
        kt.TreeRegressor(1, min_samples_split=2),
        kt.TreeRegressor(validation_fraction=0.3),
    ],
    expected_failed_checks=lambda model: HOLDS_OUT_ROWS if model.validation_fraction else {},
)
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)


def test_scikit_learn_expects_the_same_failure_of_comparable_estimators():
    comparable = HistGradientBoostingRegressor  # holds out a validation_fraction as well
    assert set(HOLDS_OUT_ROWS) <= set(PER_ESTIMATOR_XFAIL_CHECKS[comparable])


def numeric_sets():
    yield "diabetes", *load_diabetes(return_X_y=True)
    exercise, body = load_linnerud(return_X_y=True)
    yield "linnerud", exercise, body[:, 0]
    yield "friedman", *make_friedman1(2000, noise=1.0, random_state=0)
    yield "linear", *make_regression(1000, 12, noise=5.0, random_state=1)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (1500, 5))
    yield "few values", X, X[:, 0] * X[:, 1] + rng.normal(size=1500)


@pytest.mark.parametrize(("X", "y"), [pytest.param(X, y, id=n) for n, X, y in numeric_sets()])
@pytest.mark.parametrize(
    "options",
    [
        {"min_samples_leaf": 1, "min_samples_split": 2},
        {"min_samples_leaf": 5},
        {"min_samples_leaf": 20, "min_samples_split": 60},
        {"min_samples_leaf": 3, "max_depth": 4},
    ],
)
def test_trees_on_numbers_equal_those_of_scikit_learn(X, y, options):
    X = X.astype(np.float32).astype(np.float64)  # scikit-learn compares in single precision
    model = kt.TreeRegressor(**options).fit(X, y)
    options = {"min_samples_split": 10, **options}
    truth = DecisionTreeRegressor(random_state=0, **options).fit(X, y)
    # Tied tests divide the sample in the same way, but may decide other rows differently.
    np.testing.assert_allclose(model.predict(X), truth.predict(X), rtol=1e-12)
    assert model.get_n_leaves() == truth.get_n_leaves()
    assert model.get_depth() == truth.get_depth()


def test_without_ties_thresholds_equal_those_of_scikit_learn():
    X, y = make_friedman1(5000, noise=1.0, random_state=3)
    X = X.astype(np.float32).astype(np.float64)
    model = kt.TreeRegressor(25).fit(X, y)
    truth = kt.keep(DecisionTreeRegressor(min_samples_leaf=25, random_state=0).fit(X, y))
    np.testing.assert_array_equal(model.tree_.feature, truth.feature)
    np.testing.assert_allclose(model.tree_.threshold, truth.threshold)
    np.testing.assert_allclose(model.tree_.mean, truth.mean)
    np.testing.assert_allclose(model.tree_.variance, truth.variance)
    np.testing.assert_allclose(model.tree_.counts, truth.counts)


def mixed_rows(seed, n=80, missing=0.15):
    """Return two numeric and two nominal columns (5 and 3 categories), and untied targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    X[:, 2], X[:, 3] = rng.integers(0, 5, n), rng.integers(0, 3, n)
    y = X[:, 0] + np.array([2.0, -1, 3, 0, 1])[X[:, 2].astype(int)] * (X[:, 3] - 1)
    y += rng.normal(size=n) * 0.3
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def as_table(X, frame=pd.DataFrame):
    if frame is pl.DataFrame:
        numbers = {"a": pl.Series(X[:, 0], nan_to_null=True), "b": pl.Series(X[:, 1])}
        labels = {"c": list("vwxyz"), "d": list("lmn")}
        return pl.DataFrame(numbers).with_columns(
            pl.Series(name, [None if np.isnan(v) else texts[int(v)] for v in X[:, j]]).cast(
                pl.Enum(texts)
            )
            for j, (name, texts) in enumerate(labels.items(), start=2)
        )
    table = pd.DataFrame(X[:, :2], columns=["a", "b"])
    for j, (name, texts) in enumerate({"c": list("vwxyz"), "d": list("lmn")}.items(), start=2):
        codes = np.nan_to_num(X[:, j], nan=-1).astype(int)
        table[name] = pd.Categorical.from_codes(codes, texts)
    return table


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("options", [{"min_leaf": 5}, {"min_leaf": 2, "min_split": 4}])
def test_trees_equal_those_of_the_plain_implementation(seed, options):
    X, y = mixed_rows(seed, missing=0.15 if seed % 4 else 0.0)
    rng = np.random.default_rng(seed)
    weight = None if seed % 2 else rng.integers(1, 5, len(y)) * 0.75
    model = kt.TreeRegressor(
        options["min_leaf"], min_samples_split=options.get("min_split", 10)
    ).fit(as_table(X), y, weight)
    plain = RegressionReference([0, 0, 5, 3], ordered=True, **options).fit(X, y, weight)
    assert model.get_n_leaves() == count_leaves(plain.root)
    np.testing.assert_allclose(model.predict(as_table(X)), plain.predict(X), rtol=1e-9)
    unseen, _ = mixed_rows(seed + 100)
    np.testing.assert_allclose(model.predict(as_table(unseen)), plain.predict(unseen), rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_ordering_categories_by_mean_finds_the_best_subset(seed):
    # Breiman's theorem holds if both branches are heavy enough.
    X, y = mixed_rows(seed, missing=0.0)
    model = kt.TreeRegressor(1, min_samples_split=2).fit(as_table(X), y)
    plain = RegressionReference([0, 0, 5, 3], ordered=False, min_leaf=1, min_split=2).fit(X, y)
    assert model.get_n_leaves() == count_leaves(plain.root)
    # The reference tries tied subsets in another order, so other rows may be decided differently.
    np.testing.assert_allclose(model.predict(as_table(X)), plain.predict(X), rtol=1e-9)


def test_targets_far_from_zero_lose_no_precision():
    # scikit-learn sums the targets without centring them and loses the digits that matter here.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (1500, 5)).astype(float)
    y = X[:, 0] * 0.25 + rng.integers(0, 1024, 1500) / 2**20  # exact with and without the shift
    near, far = (kt.TreeRegressor().fit(X, y + shift) for shift in (0, 2.0**22))
    np.testing.assert_array_equal(near.tree_.feature, far.tree_.feature)
    np.testing.assert_allclose(near.predict(X), far.predict(X) - 2.0**22, atol=1e-8)


def test_pandas_polars_and_arrays_give_the_same_predictions():
    X, y = mixed_rows(0, n=200)
    expected = kt.TreeRegressor().fit(as_table(X), y)
    other = kt.TreeRegressor().fit(as_table(X, pl.DataFrame), y)
    np.testing.assert_array_equal(
        other.predict(as_table(X, pl.DataFrame)), expected.predict(as_table(X))
    )
    coded = kt.TreeRegressor(categorical_features=[2, 3]).fit(X, y)
    np.testing.assert_array_equal(coded.predict(X), expected.predict(as_table(X)))


def test_a_category_without_cases_joins_the_heavier_branch():
    column = pd.Categorical(["a"] * 10 + ["b"] * 30, categories=["a", "b", "never"])
    y = np.repeat([0.0, 1.0], [10, 30])
    model = kt.TreeRegressor().fit(pd.DataFrame({"c": column}), y)
    rows = pd.DataFrame({"c": pd.Categorical(["never", "a"], categories=column.categories)})
    assert model.predict(rows).tolist() == [1.0, 0.0]


def test_weights_are_equivalent_to_repeated_rows():
    X, y = mixed_rows(1, n=150)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = kt.TreeRegressor().fit(as_table(X), y, weight)
    repeated = np.repeat(np.arange(len(y)), weight)
    other = kt.TreeRegressor().fit(as_table(X[repeated]), y[repeated])
    np.testing.assert_allclose(weighted.predict(as_table(X)), other.predict(as_table(X)))


def test_every_node_stores_the_weight_mean_and_variance_of_its_cases():
    X, y = make_friedman1(500, noise=1.0, random_state=0)
    tree = kt.TreeRegressor(10).fit(X, y).tree_
    path = tree.decision_path(X).toarray().astype(bool)
    for node in range(tree.n_nodes):
        inside = y[path[:, node]]
        assert tree.weight[node] == len(inside)
        assert tree.mean[node] == pytest.approx(inside.mean())
        assert tree.variance[node] == pytest.approx(inside.var())
    again = kt.Tree.from_dict(tree.to_dict())
    np.testing.assert_array_equal(again.predict(X), tree.predict(X))
    np.testing.assert_array_equal(again.variance, tree.variance)


def test_a_node_with_little_variance_becomes_a_leaf():
    X, y = make_friedman1(500, random_state=0)
    tree = kt.TreeRegressor(1, min_samples_split=2, epsilon=4.0).fit(X, y).tree_
    assert (tree.variance[tree.kind != 0] > 4).all()
    assert kt.TreeRegressor(epsilon=np.var(y) + 1).fit(X, y).get_n_leaves() == 1


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e9, 1e200])
def test_the_unit_of_the_target_does_not_matter(scale):
    X, y = make_friedman1(300, noise=1.0, random_state=0)
    plain, scaled = (kt.TreeRegressor().fit(X, t) for t in (y, y * scale))
    np.testing.assert_array_equal(scaled.tree_.feature, plain.tree_.feature)
    np.testing.assert_allclose(scaled.predict(X) / scale, plain.predict(X), rtol=1e-9)


def test_equal_targets_keep_their_value_to_the_last_bit():
    X = np.arange(30.0)[:, None]
    y = np.repeat([0.1, 0.7, 0.3], 10)
    assert set(kt.TreeRegressor().fit(X, y).predict(X)) == {0.1, 0.7, 0.3}


def test_neighbouring_doubles_can_be_separated():
    low = 1.0
    X = np.array([[low], [np.nextafter(low, 2)]] * 10)
    y = np.array([0.0, 1.0] * 10)
    np.testing.assert_array_equal(kt.TreeRegressor().fit(X, y).predict(X), y)


def plain_pruning(tree, X, y):
    """Return the number of leaves after naive bottom-up pruning by squared error."""
    shares = tree.leaf_weights(X).toarray()
    below = np.zeros(tree.n_nodes)
    through = shares.copy()
    kept_leaf = np.zeros(tree.n_nodes, dtype=bool)
    for node in tree.preorder[::-1]:
        children = tree.children(node)
        if len(children):
            through[:, node] = through[:, children].sum(axis=1)
        as_leaf = (through[:, node] * (y - tree.mean[node]) ** 2).sum()
        below[node] = below[children].sum() if len(children) else as_leaf
        if len(children) == 0 or as_leaf <= below[node] + 1e-9:
            kept_leaf[node], below[node] = True, as_leaf
    return int(sum(kept_leaf[n] and not kept_leaf[tree.path(n)[:-1]].any() for n in tree.preorder))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_pruning_keeps_branches_that_help_held_out_rows(missing):
    X, y = mixed_rows(3, n=400, missing=missing)
    y += np.random.default_rng(0).normal(size=len(y)) * 2
    model = kt.TreeRegressor(2, min_samples_split=4, validation_fraction=0.3, random_state=1)
    model.fit(as_table(X), y)
    order = np.random.RandomState(1).permutation(len(y))
    held_out, growing = order[:120], order[120:]
    grown = kt.TreeRegressor(2, min_samples_split=4).fit(as_table(X[growing]), y[growing])
    assert model.get_n_leaves() < grown.get_n_leaves()
    assert model.tree_.weight[0] == len(growing)
    expected = plain_pruning(grown.tree_, as_table(X[held_out]), y[held_out])
    assert model.get_n_leaves() == expected


def test_an_outlier_in_the_target_does_not_hide_the_gain_of_other_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    y = np.where(X[:, 0] > 0, 1.0, 0.0)
    X[0], y[0] = 10, 1e5
    model = kt.TreeRegressor(1, min_samples_split=2, validation_fraction=0.5, random_state=0)
    np.testing.assert_array_equal(model.fit(X, y).predict([[-1.0], [1.0]]), [0.0, 1.0])


def test_pruning_helps_with_noisy_targets():
    X, y = make_friedman1(1200, noise=3.0, random_state=0)
    train, test = slice(0, 800), slice(800, None)
    scores = [
        kt.TreeRegressor(1, min_samples_split=2, validation_fraction=fraction, random_state=0)
        .fit(X[train], y[train])
        .score(X[test], y[test])
        for fraction in (None, 0.3)
    ]
    assert scores[1] > scores[0]


def test_a_chain_of_10_000_tests_does_not_overflow_the_stack():
    # With alternating targets, the best test always splits off a single row.
    n = 10_001
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2.0
    model = kt.TreeRegressor(1, min_samples_split=2).fit(X, y)
    assert model.get_depth() >= n - 1 > sys.getrecursionlimit()
    np.testing.assert_array_equal(model.predict(X), y)
    pruned = kt.TreeRegressor(1, min_samples_split=2, validation_fraction=0.1, random_state=0)
    assert pruned.fit(X, y).get_depth() < n


def test_constant_columns_and_equal_targets_give_a_leaf():
    X, y = np.ones((20, 2)), np.arange(20.0)
    assert kt.TreeRegressor().fit(X, y).predict(X[:1]) == pytest.approx(9.5)
    assert kt.TreeRegressor().fit(np.arange(20.0)[:, None], np.ones(20)).get_n_leaves() == 1


def test_a_column_without_values_changes_nothing():
    X, y = make_friedman1(200, random_state=0)
    empty = np.column_stack([np.full(200, np.nan), X])
    np.testing.assert_array_equal(
        kt.TreeRegressor().fit(empty, y).predict(empty), kt.TreeRegressor().fit(X, y).predict(X)
    )


def test_more_categories_than_rows_give_finite_predictions():
    rng = np.random.default_rng(0)
    labels = [str(k) for k in range(500)]
    table = pd.DataFrame({"id": pd.Categorical.from_codes(rng.integers(0, 500, 60), labels)})
    y = rng.normal(size=60)
    model = kt.TreeRegressor().fit(table, y)
    assert np.isfinite(model.predict(table)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample_weight": np.zeros(40)}, "(?i)sample weight.*zero"),
        ({"sample_weight": np.full(40, -1.0)}, "(?i)negative"),
        ({"X": np.full((40, 2), np.inf)}, "infinity"),
        ({"y": np.r_[np.nan, np.ones(39)]}, "y has no value in row 0"),
        ({"y": np.array([None, *range(39)])}, "y has no value in row 0"),
        ({"y": np.full(40, np.inf)}, "infinity"),
        ({"y": ["much"] * 40}, "could not convert string"),
    ],
)
def test_bad_input_raises_a_clear_error(change, message):
    given = {"X": np.random.default_rng(0).normal(size=(40, 2)), "y": np.arange(40.0)} | change
    with pytest.raises(ValueError, match=message):
        kt.TreeRegressor().fit(**given)


def test_holding_out_every_row_raises_an_error():
    with pytest.raises(ValueError, match="leaves no row"):
        kt.TreeRegressor(validation_fraction=0.9).fit([[1.0], [2.0]], [1.0, 2.0])
