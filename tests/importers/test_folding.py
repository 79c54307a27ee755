"""A pipeline becomes one tree over its raw columns; every row reaches the same leaf."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.importers.folding import CannotFoldError
from keeptree.importers.folding.floats import LARGEST, from_keys, last_alike, to_keys
from tests.importers.random_pipelines import (
    draw_fitted,
    draw_frame,
    folded,
    pipeline_leaves,
    probe_rows,
    special_numbers,
)

floats = st.floats(allow_nan=False, allow_infinity=False)


def agree(pipeline, rows, X=None):
    """Check that accepted rows reach the leaves of the pipeline, and return the folded tree."""
    tree, origin = folded(pipeline, X)
    leaf, at = pipeline_leaves(pipeline, rows)
    assert len(at)
    part = rows.iloc[at] if hasattr(rows, "iloc") else rows[at]
    np.testing.assert_array_equal(origin[tree.apply(part)], leaf)
    return tree


@pytest.fixture
def loans():
    frame, y = draw_frame(np.random.default_rng(3), 400)
    return frame, y


@given(st.integers(0, 2**32))
@settings(max_examples=5)  # python -m benchmarks.folding tests many more
@pytest.mark.filterwarnings("ignore")
def test_random_pipelines_and_their_folded_trees_agree_on_every_row(seed):
    rng = np.random.default_rng(seed)
    drawn = draw_fitted(rng)
    if drawn is None:
        return
    frame, _, pipeline = drawn
    tree, origin = folded(pipeline, frame)
    np.testing.assert_array_equal(
        origin[tree.apply(frame)], pipeline[-1].apply(pipeline[:-1].transform(frame))
    )
    if tree.n_leaves > 1:
        agree(pipeline, probe_rows(frame, tree, rng, 60), frame)
    if tree.classes is not None:
        np.testing.assert_allclose(
            tree.predict_proba(frame), pipeline.predict_proba(frame), atol=1e-12
        )


@given(floats, floats)
def test_keys_have_the_order_of_the_floats_and_round_trip(x, z):
    keys = to_keys(np.array([x, z]))
    assert (keys[0] < keys[1]) == (x < z)
    np.testing.assert_array_equal(from_keys(keys), [x, z])


@given(floats, floats, floats)
def test_bisection_finds_the_last_float_before_a_change(x, y, z):
    low, middle, high = np.sort([x, y, z])
    found = last_alike(np.array([low]), np.array([high]), lambda v: v <= middle)
    assert found[0] == (middle if middle < high else low) or low == high or middle == high


MONOTONE = {
    "log1p": FunctionTransformer(np.log1p),
    "power": PowerTransformer(),
    "box-cox": PowerTransformer(method="box-cox"),
    "normal": QuantileTransformer(n_quantiles=50, output_distribution="normal"),
    "uniform": QuantileTransformer(n_quantiles=50),
    "clipped": MinMaxScaler(clip=True),
    "decreasing": FunctionTransformer(np.negative),
    "decreasing then increasing": FunctionTransformer(np.square),
}


@pytest.mark.parametrize("step", MONOTONE.values(), ids=MONOTONE.keys())
@pytest.mark.filterwarnings("ignore")
def test_floats_beside_a_raw_threshold_reach_the_leaves_of_the_pipeline(step):
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(300, 2))
    y = (X[:, 0] > 1).astype(int) + (X[:, 1] > 2)
    pipeline = make_pipeline(step, DecisionTreeClassifier(random_state=0)).fit(X, y)
    tree, _ = folded(pipeline, X)
    for f in (0, 1):
        values = special_numbers(tree.threshold[tree.feature == f])
        rows = np.tile(X[:1], (len(values), 1))
        rows[:, f] = values
        agree(pipeline, rows, X)


TEXT = ["colour", "size", "id"]
NUMBERS = ["age", "balance", "income", "rooms"]


def typed(numbers, text):
    """Return a function that converts a frame to other dtypes."""
    return lambda frame: frame.astype(dict.fromkeys(NUMBERS, numbers) | dict.fromkeys(TEXT, text))


def as_arrow_table(frame):
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False)


CONTAINERS = {
    "categorical": typed("float64", "category"),
    "nullable": typed("Float64", "string"),
    "arrow numbers": typed("double[pyarrow]", object),
    "arrow text": typed("float64", "string[pyarrow]"),
    "arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda frame: pl.from_dict({c: frame[c].tolist() for c in frame}, strict=False),
    "polars categories": lambda frame: CONTAINERS["polars"](frame).with_columns(
        pl.col(TEXT).cast(pl.Categorical)
    ),
    "pyarrow": as_arrow_table,
}


def without_nan(frame):
    """Return the frame with None instead of NaN in text columns, which all libraries accept."""
    text = frame[TEXT].astype(object)
    return frame.assign(**{name: text[name].where(text[name].notna(), None) for name in TEXT})


@given(st.integers(0, 2**32))
@settings(max_examples=5, deadline=None)
@pytest.mark.filterwarnings("ignore")
def test_rows_of_every_kind_of_frame_reach_the_same_leaf(seed):
    rng = np.random.default_rng(seed)
    drawn = draw_fitted(rng)
    if drawn is None:
        return
    frame, _, pipeline = drawn
    tree, origin = folded(pipeline, frame)
    rows = probe_rows(frame, tree, rng, 60)
    leaves, answered = pipeline_leaves(pipeline, rows)
    rows = without_nan(rows.iloc[answered].reset_index(drop=True))
    if not len(rows):
        return
    np.testing.assert_array_equal(origin[tree.apply(rows)], leaves)
    matrix = rows[list(tree.feature_names)].to_numpy(dtype=object)
    np.testing.assert_array_equal(origin[tree.apply(matrix)], leaves, err_msg="NumPy")
    for name, convert in CONTAINERS.items():
        np.testing.assert_array_equal(origin[tree.apply(convert(rows))], leaves, err_msg=name)


def test_a_pipeline_fitted_to_an_array_without_names_is_folded(loans):
    frame, y = loans
    X = frame[["age", "balance", "colour"]].fillna({"colour": "none"}).to_numpy(dtype=object)
    columns = ColumnTransformer(
        [("numbers", SimpleImputer(add_indicator=True), [0, 1]), ("colour", OneHotEncoder(), [-1])]
    )
    pipeline = make_pipeline(columns, DecisionTreeClassifier(max_depth=5)).fit(X, y)
    assert agree(pipeline, X).feature_names is None


def test_tests_on_one_hot_columns_become_one_test_on_their_categories():
    X = pd.DataFrame({"colour": list("rgb") * 20, "id": range(60)})
    y = np.where(X["colour"] == "r", "stop", np.where(X["colour"] == "g", "go", "wait"))
    columns = make_column_transformer((OneHotEncoder(), ["colour"]))
    tree = agree(make_pipeline(columns, DecisionTreeClassifier()).fit(X, y), X)
    assert tree.feature_names == ("colour",)
    assert tree.max_depth == 1
    assert sorted(tree.branch(leaf).text() for leaf in tree.children(0)) == [
        "colour = b",
        "colour = g",
        "colour = r",
    ]


def test_a_missing_category_has_a_branch_of_its_own_if_the_pipeline_gives_it_one():
    X = pd.DataFrame({"colour": ["r", "g", np.nan] * 20})
    y = X["colour"].isna().to_numpy()
    encoder = OneHotEncoder(handle_unknown="ignore")
    pipeline = make_pipeline(encoder, DecisionTreeClassifier()).fit(X, y)
    rows = pd.DataFrame({"colour": ["r", "g", "violet", np.nan]})
    tree = agree(pipeline, rows)
    assert tree.branch(tree.apply(rows)[3]).text() == "colour is missing"
    assert tree.categories == (("g", "r", "(other)"),)
    again = kt.Tree.from_dict(tree.to_dict())
    np.testing.assert_array_equal(again.apply(rows), tree.apply(rows))


def test_a_missing_number_has_a_branch_of_its_own_if_an_indicator_is_tested():
    X = np.array([[1.0], [2.0], [np.nan]] * 20)
    y = np.isnan(X[:, 0])
    imputer = SimpleImputer(add_indicator=True)
    pipeline = make_pipeline(imputer, DecisionTreeClassifier(random_state=0)).fit(X, y)
    tree = agree(pipeline, np.array([[1.0], [1e300], [np.nan]]))
    leaf = tree.apply([[np.nan]])[0]
    if tree.threshold[0] == LARGEST:
        assert tree.branch(leaf).text() == "x[0] is missing"


def test_an_unseen_category_is_refused_if_the_encoder_refuses_it():
    X = pd.DataFrame({"colour": ["r", "g", np.nan] * 20})
    y = X["colour"] == "r"
    steps = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    tree = kt.keep(make_pipeline(steps, DecisionTreeClassifier()).fit(X, y))
    assert tree.apply(X.iloc[2:3]) == tree.apply(pd.DataFrame({"colour": ["g"]}))
    with pytest.raises(
        ValueError,
        match=r"'colour' holds 'violet', which is unknown .* accepts only 'g'",
    ):
        tree.apply(pd.DataFrame({"colour": ["violet"]}))


@pytest.mark.parametrize("unit", ["ns", "s"])
@pytest.mark.parametrize("unknown", ["error", "ignore"])
def test_dates_that_an_encoder_treats_as_categories_are_found_again(unit, unknown):
    rng = np.random.default_rng(0)
    quarter = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 6, 300) * 91, "D")
    X = pd.DataFrame({"since": quarter.astype(f"datetime64[{unit}]"), "age": rng.normal(size=300)})
    y = (quarter > "2015-08-01") ^ (X["age"] > 0)
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown=unknown), ["since"]), ("passthrough", ["age"])
    )
    pipeline = make_pipeline(columns, DecisionTreeClassifier(max_depth=4, random_state=0)).fit(X, y)
    assert (kt.keep(pipeline).predict(X) == pipeline.predict(X)).all()
    model = kt.SmoothedTreeClassifier(pipeline).fit(X, y)
    assert (model.predict(X) == pipeline.predict(X)).all()


def test_a_middle_bin_becomes_two_thresholds_and_counts_follow_the_rows():
    X = np.linspace(0, 1, 90)[:, None]
    y = (X[:, 0] > 1 / 3) & (X[:, 0] < 2 / 3)
    bins = KBinsDiscretizer(3, strategy="uniform")
    pipeline = make_pipeline(bins, DecisionTreeClassifier(max_depth=1)).fit(X, y)
    with pytest.warns(UserWarning, match="1 leaf of the pipeline's tree appear several times"):
        tree = kt.keep(pipeline)
    assert (tree.n_leaves, sorted(tree.weight[tree.kind == 0])) == (3, [30, 30, 30])
    part = X[X[:, 0] > 1 / 6]
    tree = agree(pipeline, special_numbers(tree.threshold)[:-1, None], part)
    assert sorted(tree.weight[tree.kind == 0]) == [20, 30, 40]
    np.testing.assert_allclose(tree.predict_proba(X), pipeline.predict_proba(X))


def test_a_search_over_a_pipeline_with_pandas_output_is_folded(loans):
    frame, y = loans
    columns = make_column_transformer(
        (OrdinalEncoder(), ["size"]), (StandardScaler(), ["income", "balance"])
    ).set_output(transform="pandas")
    pipeline = make_pipeline(columns, DecisionTreeClassifier(random_state=0))
    search = GridSearchCV(pipeline, {"decisiontreeclassifier__max_depth": [2, 4]}).fit(frame, y)
    np.testing.assert_array_equal(kt.keep(search).predict(frame), search.predict(frame))


def test_a_c45_tree_after_a_scaler_keeps_its_nominal_tests(loans):
    frame, y = loans
    frame = frame[["age", "colour", "size"]].fillna({"colour": "none"})
    columns = make_column_transformer((StandardScaler(), ["age"]), remainder="passthrough")
    columns.set_output(transform="pandas")
    pipeline = make_pipeline(columns, kt.C45Classifier()).fit(frame, y)
    tree = kt.keep(pipeline)
    assert tree.feature_names == ("age", "colour", "size")
    np.testing.assert_array_equal(tree.predict(frame), pipeline.predict(frame))


@pytest.mark.filterwarnings("ignore")
def test_models_explanations_and_files_of_a_folded_tree_use_raw_columns(loans, tmp_path):
    frame, y = loans
    labels = np.where(y == 1, "good", "bad")
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["colour", "size"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income"]),
    )
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    pipeline = make_pipeline(columns, tree).fit(frame, labels)
    model = kt.KeptTreeClassifier(pipeline).fit(frame, labels)
    np.testing.assert_array_equal(model.predict(frame), pipeline.predict(frame))
    kt.save(model, tmp_path / "model.json")
    again = kt.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    row = frame.iloc[0][["colour", "size", "age", "income"]]
    change = kt.nearest_change(model, row)
    assert {step.name for step in change.changes} <= set(row.index)
    assert kt.explain(model, row).to_dict()["change"] is not None
    frame.to_csv(tmp_path / "new.csv", index=False)
    kt.predict_file(again, tmp_path / "new.csv", tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")["prediction"].tolist() == (
        pipeline.predict(frame).tolist()
    )
    kt.report(model, frame, labels, out=tmp_path / "page.html")


REFUSED = {
    "PCA": PCA(2),
    "SplineTransformer": SplineTransformer(),
    "sin is not among the monotone functions": FunctionTransformer(np.sin),
    "FunctionTransformer": FunctionTransformer(lambda X: X + 1),
}


@pytest.mark.parametrize("step", REFUSED.values(), ids=REFUSED.keys())
def test_a_step_that_cannot_be_folded_is_named_and_fold_false_keeps_the_tree(step, request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    pipeline = make_pipeline(StandardScaler(), step, DecisionTreeClassifier()).fit(X, X[:, 0] > 0)
    name = request.node.callspec.id
    with pytest.raises(CannotFoldError, match=rf"Cannot fold the step .*{name}.*fold=False"):
        kt.keep(pipeline)
    rows = pipeline[:-1].transform(X)
    expected = pipeline[-1].apply(rows)
    np.testing.assert_array_equal(kt.keep(pipeline, fold=False).apply(rows), expected)


def test_a_subclass_of_a_known_scaler_is_refused():
    class Squared(StandardScaler):
        def transform(self, X):
            return super().transform(X) ** 2

    X = np.random.default_rng(0).normal(size=(60, 2))
    pipeline = make_pipeline(Squared(), DecisionTreeClassifier()).fit(X, X[:, 0] > 0)
    with pytest.raises(CannotFoldError, match=r"'squared' \(Squared\)"):
        kt.keep(pipeline)


def test_pipelines_that_are_unfitted_or_fitted_in_parts_raise_clear_errors():
    with pytest.raises(NotFittedError, match="not fitted"):
        kt.keep(make_pipeline(StandardScaler(), DecisionTreeClassifier()))
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] > 0
    pipeline = make_pipeline(
        StandardScaler().fit(X[:, :2]), DecisionTreeClassifier(random_state=0).fit(X, y)
    )
    with pytest.raises(ValueError, match=r"give 2 columns, but its tree was fitted to 3; fit the"):
        kt.keep(pipeline)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    whole = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(frame, y)
    with pytest.raises(ValueError, match="lacks the column 'c', which the model needs; it has 'd'"):
        kt.keep(whole).apply(frame.rename(columns={"c": "d"}))


def test_folding_does_not_change_the_pipeline(loans):
    frame, y = loans
    columns = make_column_transformer((OneHotEncoder(), ["size"]), (StandardScaler(), ["income"]))
    pipeline = make_pipeline(columns, DecisionTreeClassifier(max_depth=3)).fit(frame, y)
    before = pipeline.predict_proba(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kt.keep(pipeline)
    np.testing.assert_array_equal(pipeline.predict_proba(frame), before)


def test_numbers_that_an_encoder_treats_as_categories_are_read_from_a_file(loans, tmp_path):
    frame, y = loans
    # The imputer fills in missing values only, so unseen categories remain distinct from them.
    filled = SimpleImputer(strategy="most_frequent")
    encoder = make_pipeline(filled, OneHotEncoder(handle_unknown="ignore"))
    columns = make_column_transformer((encoder, ["rooms"]))
    pipeline = make_pipeline(columns, DecisionTreeClassifier()).fit(frame, y)
    model = kt.SmoothedTreeClassifier(pipeline).fit(frame, y)
    assert model.tree_.categories == ((1, 2, 3, 4, 5, "(other)"),)
    frame.assign(rooms=frame["rooms"].where(frame["rooms"] < 5, 9)).to_csv(
        tmp_path / "new.csv", index=False
    )
    kt.predict_file(model, tmp_path / "new.csv", tmp_path / "out.csv")
    expected = pipeline.predict(pd.read_csv(tmp_path / "new.csv"))
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "out.csv")["prediction"], expected)
