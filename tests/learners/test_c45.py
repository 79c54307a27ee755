"""C45Classifier as an estimator: scikit-learn's contract, valid and invalid input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from keeptree.learners import C45Classifier, prune
from tests.learners.random_data import as_labels, random_table


@parametrize_with_checks(
    [
        C45Classifier(),
        C45Classifier("gini", pruning="pessimistic", laplace=True),
        C45Classifier("information-gain", pruning="none", binary_splits=True),
    ]
)
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)


@pytest.fixture
def weather():
    """Return Quinlan's weather data, a table of fourteen days."""
    outlook = "sunny sunny overcast rainy rainy rainy overcast sunny sunny rainy sunny overcast"
    X = pd.DataFrame(
        {
            "outlook": pd.Categorical(
                [*outlook.split(), "overcast", "rainy"], categories=["sunny", "overcast", "rainy"]
            ),
            "temperature": [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71],
            "humidity": [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91],
            "windy": pd.Categorical(
                [str(w) for w in [0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1]], categories=["1", "0"]
            ),
        }
    )
    y = pd.Categorical(list("nnyyynynyyyyyn"), categories=["y", "n"])
    return X, y


def test_the_weather_data_give_the_tree_of_quinlan(weather):
    tree = C45Classifier().fit(*weather).tree_
    assert tree.to_text().splitlines() == [
        "outlook = sunny",
        "  humidity <= 75: y (2)",
        "  humidity > 75: n (3)",
        "outlook = overcast: y (4)",
        "outlook = rainy",
        "  windy = 1: n (2)",
        "  windy = 0: y (3)",
    ]


def test_pandas_polars_and_codes_give_the_same_tree(weather):
    X, y = weather
    expected = C45Classifier().fit(X, y).tree_
    enums = {
        name: pl.Series(X[name].tolist()).cast(pl.Enum(list(X[name].cat.categories)))
        for name in ("outlook", "windy")
    }
    frame = pl.DataFrame(
        {name: enums[name] if name in enums else X[name].to_numpy() for name in X.columns}
    )
    target = pl.Series(list(y)).cast(pl.Enum(["y", "n"]))
    tree = C45Classifier().fit(frame, target).tree_
    assert tree.to_text() == expected.to_text()
    assert tree.categories == expected.categories
    assert C45Classifier().fit(frame, target).predict(X).tolist() == list(y)
    codes = X.assign(outlook=X["outlook"].cat.codes, windy=X["windy"].cat.codes).to_numpy(float)
    for nominal in ([0, 3], [True, False, False, True]):
        tree = C45Classifier(categorical_features=nominal).fit(codes, y).tree_
        assert tree.feature.tolist() == expected.feature.tolist()
        np.testing.assert_array_equal(tree.counts, expected.counts)


def test_text_columns_are_nominal_with_sorted_categories(weather):
    X, y = weather
    for dtype in (object, "string"):
        text = X.astype({"outlook": dtype, "windy": dtype})
        text.loc[0, "outlook"] = None
        tree = C45Classifier().fit(text, y).tree_
        assert tree.categories == (("overcast", "rainy", "sunny"), None, None, ("0", "1"))
    named = C45Classifier(categorical_features=["temperature"]).fit(X, y).tree_
    assert named.categories[1] == tuple(sorted(set(X["temperature"])))


def test_polars_categorical_and_string_columns_are_nominal(weather):
    X, y = weather
    frame = pl.DataFrame(
        {
            "outlook": pl.Series(X["outlook"].astype(str)).cast(pl.Categorical),
            "windy": pl.Series(X["windy"].astype(str)),
        }
    )
    model = C45Classifier().fit(frame, y)
    assert set(model.tree_.categories[0]) == {"sunny", "overcast", "rainy"}
    assert model.tree_.categories[1] == ("0", "1")
    assert model.predict(frame).shape == (14,)


def test_nullable_columns_beside_nominal_columns_are_read_as_numbers(weather):
    X, y = weather
    nullable = X.astype({"temperature": "Int64", "humidity": "Float64"})
    nullable.loc[2, "humidity"] = pd.NA
    plain = X.astype({"humidity": float})
    plain.loc[2, "humidity"] = np.nan
    model = C45Classifier().fit(nullable, y)
    assert model.tree_.to_dict() == C45Classifier().fit(plain, y).tree_.to_dict()
    np.testing.assert_array_equal(model.predict_proba(nullable), model.predict_proba(plain))


def test_an_undeclared_category_is_treated_as_missing(weather):
    X, y = weather
    model = C45Classifier().fit(X, y)
    rows = pd.DataFrame(
        {"outlook": ["foggy", None], "temperature": 70, "humidity": 70, "windy": "1"}
    )
    new, missing = model.predict_proba(rows)
    np.testing.assert_array_equal(new, missing)
    np.testing.assert_allclose(new, [5 / 14, 9 / 14])  # 5/14 yes + 4/14 yes + 5/14 no


def test_laplace_changes_only_probabilities(weather):
    X, y = weather
    plain, smooth = C45Classifier().fit(X, y), C45Classifier(laplace=True).fit(X, y)
    assert plain.tree_.to_dict() == smooth.tree_.to_dict()
    assert plain.predict(X).tolist() == smooth.predict(X).tolist()
    np.testing.assert_allclose(smooth.predict_proba(X[2:3]), [[1 / 6, 5 / 6]])


def test_rows_of_zero_weight_are_ignored():
    X, y, n_categories, _ = random_table(3)
    weight = np.arange(len(y)) % 3 > 0
    nominal = np.flatnonzero(n_categories)
    a = C45Classifier(categorical_features=nominal).fit(X[weight], y[weight]).tree_
    model = C45Classifier(categorical_features=nominal).fit(X, y, sample_weight=weight * 1.0)
    assert a.feature.tolist() == model.tree_.feature.tolist()
    np.testing.assert_array_equal(a.counts, model.tree_.counts)


@pytest.mark.parametrize("seed", range(8))
def test_the_counts_of_a_leaf_are_those_of_its_rows(seed):
    X, y, n_categories, _ = random_table(seed)
    X = np.nan_to_num(X)
    frame = pd.DataFrame(
        {
            f"a{j}": pd.Categorical(X[:, j].astype(int), categories=labels) if labels else X[:, j]
            for j, labels in enumerate(as_labels(n_categories))
        }
    )
    model = C45Classifier(pruning="none", min_samples_leaf=1).fit(frame, y)
    counts = np.zeros_like(model.tree_.counts)
    np.add.at(counts, (model.apply(frame), y), 1)
    leaves = model.tree_.kind == 0
    np.testing.assert_array_equal(counts[leaves], model.tree_.counts[leaves])


def test_probabilities_sum_to_one_whatever_is_missing():
    X, y, n_categories, _ = random_table(7)
    nominal = np.flatnonzero(n_categories)
    for laplace in (False, True):
        model = C45Classifier(laplace=laplace, categorical_features=nominal, pruning="none")
        proba = model.fit(X, y).predict_proba(np.full_like(X, np.nan))
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        np.testing.assert_allclose(proba, np.tile(proba[0], (len(X), 1)))


def test_max_depth_limits_the_tree():
    X, y = make_classification(500, random_state=0)
    deep = C45Classifier(pruning="none").fit(X, y)
    assert deep.get_depth() > 3
    shallow = C45Classifier(pruning="none", collapse=False, max_depth=3).fit(X, y)
    assert shallow.get_depth() == 3
    assert shallow.get_n_leaves() == shallow.tree_.n_leaves == len(np.unique(shallow.apply(X)))
    assert C45Classifier(max_depth=0).fit(X, y).get_n_leaves() == 1


@pytest.mark.parametrize("penalty", [1.1, 2.1, 3.1, 8.1, 1000])
def test_max_leaf_nodes_prunes_the_weakest_links(penalty):
    """The trees are those that minimise errors plus a penalty per leaf (Breiman et al. 1984)."""
    X, y = make_classification(500, flip_y=0.3, random_state=0)
    whole = C45Classifier(pruning="none", min_samples_leaf=1).fit(X, y)
    expected = prune(whole, "pessimistic", penalty=penalty)
    assert expected.n_leaves < whole.get_n_leaves()
    limited = whole.set_params(max_leaf_nodes=expected.n_leaves).fit(X, y)
    assert limited.tree_.to_text() == expected.to_text()


@pytest.mark.parametrize("pruning", ["error-based", "reduced-error", "pessimistic", "none"])
def test_max_leaf_nodes_holds_for_every_pruning_method(pruning):
    X, y = make_classification(500, flip_y=0.2, random_state=0)
    for most in (1, 2, 5):
        limited = C45Classifier(pruning=pruning, max_leaf_nodes=most).fit(X, y)
        assert 1 <= limited.get_n_leaves() <= most
    free = C45Classifier(pruning=pruning).fit(X, y)
    roomy = C45Classifier(pruning=pruning, max_leaf_nodes=free.get_n_leaves()).fit(X, y)
    assert roomy.tree_.digest == free.tree_.digest


def test_all_criteria_learn_and_give_different_trees():
    X, y = load_iris(return_X_y=True)
    for criterion in ("gain-ratio", "information-gain", "gini", "misclassification"):
        assert C45Classifier(criterion).fit(X, y).score(X, y) > 0.95
    X, y = make_classification(400, flip_y=0.2, random_state=1)
    trees = {c: C45Classifier(c).fit(X, y).tree_.to_text() for c in ("gain-ratio", "gini")}
    assert len(set(trees.values())) == 2


def test_gini_chooses_the_threshold_of_scikit_learn():
    from sklearn.tree import DecisionTreeClassifier

    X, y = make_classification(1000, n_features=5, random_state=3)
    ours = C45Classifier("gini", pruning="none", collapse=False, max_depth=1, snap_thresholds=False)
    theirs = DecisionTreeClassifier(max_depth=1, min_samples_leaf=25).fit(X.astype("f4"), y).tree_
    tree = ours.fit(X.astype("f4"), y).tree_
    assert tree.feature[0] == theirs.feature[0]
    assert tree.threshold[0] == pytest.approx(theirs.threshold[0], abs=1e-6)


def test_ordering_categories_by_class_share_finds_the_best_subset():
    """The subset is the best of all 2^(k-1) - 1 divisions, for any impurity measure."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 6, 300)
    y = (random.random(300) < np.array([0.1, 0.8, 0.3, 0.9, 0.2, 0.6])[codes]).astype(int)
    X = pd.DataFrame({"a": pd.Categorical(codes, categories=range(7))})
    for criterion in ("information-gain", "gini"):
        model = C45Classifier(
            criterion, subset_splits=True, max_depth=1, pruning="none", collapse=False
        )
        tree = model.fit(X, y).tree_
        child = tree.category_child[:7]
        groups = [set(np.flatnonzero(child == c).tolist()) - {6} for c in tree.children(0)]
        assert groups == [{0, 2, 4}, {1, 3, 5}]
        heavier = tree.children(0)[np.argmax(tree.weight[tree.children(0)])]
        assert child[6] == heavier, "a category without cases joins the heavier branch"


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_chain_of_ten_thousand_nodes_does_not_overflow_the_stack(value):
    """With alternating classes, each test splits off one row.

    Many classes are declared, so that J48 accepts a branch with one row.
    """
    n = 5001
    X = np.column_stack([np.arange(n), np.full(n, value)])
    y = pd.Categorical.from_codes(np.arange(n) % 2, range(n // 10 + 1))
    model = C45Classifier(
        "information-gain", pruning="none", collapse=False, mdl_correction=False, min_samples_leaf=1
    ).fit(X, y)
    assert model.tree_.n_nodes == 2 * n - 1
    assert model.get_depth() == n - 1
    assert model.predict(X[-5:]).tolist() == list(y[-5:])
    for method in ("error-based", "pessimistic"):
        assert prune(model.tree_, method, X, y).n_nodes == 1
    assert prune(model.tree_, "reduced-error", X, y).n_nodes == 2 * n - 1
    assert prune(model.tree_, "redundant").n_nodes == 2 * n - 1


def test_unfitted_models_are_refused_and_clones_keep_their_parameters():
    with pytest.raises(NotFittedError):
        C45Classifier().predict([[0]])
    with pytest.raises(NotFittedError):
        C45Classifier().get_depth()
    assert clone(C45Classifier("gini", n_folds=7)).n_folds == 7


def test_one_class_gives_one_leaf():
    model = C45Classifier().fit([[1.0], [2.0]], ["a", "a"])
    assert model.get_n_leaves() == 1
    assert model.predict([[5.0], [np.nan]]).tolist() == ["a", "a"]
    np.testing.assert_array_equal(model.predict_proba([[0.0]]), [[1.0]])


def test_columns_without_a_useful_test_give_one_leaf():
    y = [0, 0, 0, 1, 1]
    all_missing = np.full((5, 1), np.nan)
    many = pd.DataFrame({"a": pd.Categorical(list("abcde"), categories=list("abcdefghijklm"))})
    unseen = pd.DataFrame({"a": pd.Categorical([None] * 5, categories=["x"])})
    objects = pd.DataFrame({"a": np.array([None] * 5, dtype=object)})
    for X in (np.zeros((5, 2)), all_missing, many, unseen, objects):
        model = C45Classifier().fit(X, y)
        assert model.get_n_leaves() == 1
        assert model.predict(X).tolist() == [0] * 5


def test_an_all_missing_column_is_never_tested():
    X = np.column_stack([np.full(20, np.nan), np.arange(20)])
    model = C45Classifier().fit(X, np.arange(20) > 9)
    assert model.tree_.feature[0] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample_weight": np.zeros(6)}, "zero"),
        ({"sample_weight": [1, 1, 1, 1, 1, -1]}, "Negative values"),
        ({"X": [[0], [1], [2], [np.inf], [4], [5]]}, "infinity"),
        ({"y": ["a", "b", None, "a", "b", "a"]}, "y has no label in row 2"),
        ({"y": [0, 1, np.nan, 0, 1, 0]}, "y contains NaN"),
        ({"y": pd.Categorical(["a", None, "a", "b", "b", "b"])}, "y has no label in row 1"),
        ({"y": [0.5, 1.5, 2.5, 0.1, 0.2, 0.3]}, "Unknown label type"),
        ({"X": pd.DataFrame({"a": ["x"] * 6, "b": [np.inf] * 6})}, "infinity"),
    ],
)
def test_bad_rows_are_refused(change, message):
    good = {"X": np.arange(6.0)[:, None], "y": [0, 1, 0, 1, 0, 1]}
    with pytest.raises(ValueError, match=message):
        C45Classifier().fit(**good | change)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"categorical_features": [3]}, r"must be in \[0, 0\]"),
        ({"categorical_features": [True, False]}, "one entry for each of the 1 columns"),
        ({"categorical_features": ["a"]}, "needs a data frame"),
        ({"binary_splits": True, "subset_splits": True}, "cannot both be True"),
        ({"pruning": "reduced-error", "n_folds": 7}, "6 rows cannot be divided"),
        ({"confidence_factor": 0}, "confidence_factor"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        C45Classifier(**parameters).fit(np.arange(6.0)[:, None], [0, 1, 2, 0, 1, 2])
