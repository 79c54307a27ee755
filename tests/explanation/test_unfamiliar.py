"""``unfamiliar`` reports values unlike the training sample and the decisions that they affect."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.explanation.chance import chance_of_outside
from keeptree.explanation.unfamiliar import UnfamiliarCount, find_unseen

AREAS = ["north", "south", "west"]


def draw(n, seed, areas=AREAS):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n).astype(float),
            "area": rng.choice(areas, n),
            "unused": rng.choice(["x", "y"], n),
        }
    )


@pytest.fixture(scope="module")
def model():
    """Return a tree that tests the area only if the age is above 40, and never the last column."""
    X = draw(400, 0)
    y = np.where(X["age"] > 40, np.where(X["area"] == "north", "a", "b"), "c")
    return kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)


def test_the_training_sample_contains_nothing_new(model):
    new = kt.unfamiliar(model, draw(400, 0))
    assert not new
    assert (
        str(new)
        == "Nothing new: categories, ranges and missing values are as in the training sample."
    )
    assert new.to_dict()["columns"] == []


def test_an_unseen_category_affects_only_decisions_whose_path_tests_it(model):
    X = draw(100, 1)
    X.loc[:9, "area"] = "east"
    X.loc[:9, "age"] = [25, 25, 25, 45, 45, 45, 45, 25, 25, 25]
    new = kt.unfamiliar(model, X)
    area = new.column("area")
    assert (area.categories, area.unseen, area.decisions) == ({"east": 10}, 10, 4)
    assert new.decisions == 4
    assert "area has an unseen category (east) in 10 rows, which affect 4 decisions" in str(new)


def test_an_unseen_category_of_an_unused_column_affects_no_decision(model):
    X = draw(50, 2)
    X["unused"] = "z"
    unused = kt.unfamiliar(model, X).column("unused")
    assert (unused.unseen, unused.decisions) == (50, 0)


def test_values_outside_the_range_are_counted_below_and_above(model):
    X = draw(50, 3)
    X.loc[:2, "age"] = [-5.0, 70.0, 80.0]
    age = kt.unfamiliar(model, X).column("age")
    assert (age.low, age.high, age.below, age.above) == (20.0, 59.0, 1, 2)
    assert "age lies outside 20 to 59 in 3 rows" in str(kt.unfamiliar(model, X))


def test_missing_values_are_reported_if_chance_does_not_explain_them():
    X = draw(400, 0)
    X.loc[:39, "age"] = np.nan
    y = np.where((X["age"] > 40) & (X["area"] == "north"), "yes", "no")
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    assert model.observed_.missing.tolist() == [0.1, 0.0, 0.0]
    few, many = draw(200, 4), draw(200, 4)
    few.loc[:24, "age"] = np.nan
    many.loc[:59, "age"] = np.nan
    assert not kt.unfamiliar(model, few)
    assert "age is missing in 30.0% of the rows (10.0% in the training sample)" in str(
        kt.unfamiliar(model, many)
    )
    some = draw(200, 4)
    some.loc[0, "area"] = None
    assert not kt.unfamiliar(model, some)  # one in 200 may be chance although it was none in 400
    some.loc[:12, "area"] = None
    assert "area is missing in 6.5% of the rows (0.0% in the training sample)" in str(
        kt.unfamiliar(model, some)
    )


def draw_with_gaps(rng, n, missing=0.05):
    """Return numeric columns with missing values at random."""
    values = rng.normal(size=(n, 6))
    return pd.DataFrame(np.where(rng.random((n, 6)) < missing, np.nan, values), columns=[*"abcdef"])


@pytest.mark.parametrize(("n_before", "n"), [(1000, 20_000), (300, 100), (2000, 2000)])
def test_unchanged_data_are_not_called_unexpected(n_before, n):
    """The training sample varies by chance as well, whatever the number of new rows."""
    outside = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = draw_with_gaps(rng, n_before)
        model = kt.SmoothedTreeClassifier().fit(X, X["a"].fillna(0) > 0)
        for _ in range(8):
            new = kt.unfamiliar(model, draw_with_gaps(rng, n))
            assert not new.unexpected
            assert not any(column.more_missing for column in new.columns)
            outside += sum(column.outside for column in new.columns)
    assert outside > 0  # single values outside the range are normal, and are still reported


def test_clearly_more_missing_values_and_values_outside_are_unexpected():
    rng = np.random.default_rng(0)
    X = draw_with_gaps(rng, 1000)
    model = kt.SmoothedTreeClassifier().fit(X, X["a"].fillna(0) > 0)
    more = kt.unfamiliar(model, draw_with_gaps(rng, 1000, missing=0.12))
    assert more.unexpected
    assert all(column.more_missing for column in more.columns)
    moved = draw_with_gaps(rng, 1000)
    moved["b"] *= 1000
    new = kt.unfamiliar(model, moved)
    assert [column.name for column in new.columns if column.unexpected] == ["b"]
    assert new.to_dict()["unexpected"] is True
    assert "more than chance explains" in new.tell(only_unexpected=True)
    assert "f lies outside" not in new.tell(only_unexpected=True)


def test_a_difference_below_one_percentage_point_is_not_reported():
    """With many rows half a point is significant, but it is not worth mentioning."""
    X = pd.DataFrame({"a": np.arange(100_000.0)})
    X.loc[::20, "a"] = np.nan
    model = kt.SmoothedTreeClassifier().fit(X, X.index > 50_000)
    new = pd.DataFrame({"a": np.where(np.arange(100_000) % 1000 < 55, np.nan, 5.0)})
    assert not kt.unfamiliar(model, new)
    new = pd.DataFrame({"a": np.where(np.arange(100_000) % 1000 < 61, np.nan, 5.0)})
    assert "missing in 6.1% of the rows (5.0% in" in str(kt.unfamiliar(model, new))


def test_the_chance_of_values_outside_the_range_is_that_of_a_simulation():
    rng = np.random.default_rng(0)
    for n_before, n in ((20, 10), (50, 200)):
        old, new = rng.normal(size=(20_000, n_before)), rng.normal(size=(20_000, n))
        low, high = old.min(axis=1)[:, None], old.max(axis=1)[:, None]
        outside = ((new < low) | (new > high)).sum(axis=1)
        for k in (0, 1, 3, 10):
            simulated = (outside >= k).mean()
            assert chance_of_outside(n_before, k, n) == pytest.approx(simulated, abs=0.015)


def test_a_category_that_is_declared_but_never_occurred_is_new(model):
    X = draw(400, 0).assign(area=lambda f: pd.Categorical(f["area"], [*AREAS, "east"]))
    y = np.where((X["age"] > 40) & (X["area"] == "north"), "yes", "no")
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    X = X.iloc[:10].assign(area=pd.Categorical(["east"] * 10, [*AREAS, "east"]), age=50.0)
    area = kt.unfamiliar(model, X).column("area")
    assert (area.categories, area.decisions) == ({"east": 10}, 10)


def test_a_tree_without_a_model_has_no_ranges_or_shares_of_missing_values(model):
    X = draw(20, 5)
    new = kt.unfamiliar(model.tree_, X)
    assert new.unknown == ("ranges", "missing values")
    assert str(new) == (
        "No new category. The model does not record the ranges and missing values of its sample."
    )
    assert kt.unfamiliar(model.tree_, X.assign(area="east")).column("area").unseen == 20


def test_a_model_saved_by_an_older_version_has_no_shares_of_missing_values(model, tmp_path):
    kt.save(model, tmp_path / "model.json")
    loaded = kt.load(tmp_path / "model.json")
    assert (
        kt.unfamiliar(loaded, draw(400, 0)).to_dict()
        == kt.unfamiliar(model, draw(400, 0)).to_dict()
    )
    loaded.reference_ = None  # the number of rows is then that of the tree
    gaps = draw(400, 0).assign(age=np.nan)
    assert kt.unfamiliar(loaded, gaps) == kt.unfamiliar(model, gaps)
    object.__setattr__(loaded.observed_, "missing", None)
    new = kt.unfamiliar(loaded, draw(20, 5))
    assert new.unknown == ("missing values",)
    assert str(new).endswith("does not record the missing values of its sample.")


def test_rows_are_compared_after_the_steps_of_a_pipeline():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipe = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2, random_state=0))
    model = kt.SmoothedTreeClassifier(pipe.fit(X, y)).fit(X, y)
    assert not kt.unfamiliar(model, X)
    far = X.copy()
    far.iloc[0, 2] = 100.0
    new = kt.unfamiliar(model, far)
    assert [column.above for column in new.columns] == [0, 0, 1, 0]


def test_the_result_can_be_written_as_json(model):
    X = draw(30, 6).assign(area="east")
    read = json.loads(json.dumps(kt.unfamiliar(model, X).to_dict(), allow_nan=False))
    assert read["columns"][0]["categories"] == [{"category": "east", "rows": 30}]
    assert read["rows"] == 30


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), block=st.integers(1, 60))
def test_counting_in_blocks_agrees_with_following_each_row(model, seed, block):
    X = draw(60, seed, [*AREAS, "east", "moon"])
    X.loc[::7, "age"] = np.nan
    X.loc[::5, "area"] = None
    whole = kt.unfamiliar(model, X)
    tree, rows = model.tree_, model.encode(X)
    count = UnfamiliarCount(model)
    for start in range(0, len(X), block):
        part = rows[start : start + block]
        count.add(part, find_unseen(X.iloc[start : start + block], part, tree))
    assert count.result() == whole
    assert whole.decisions == sum(
        walks_over_unseen(tree, X.iloc[i], rows[i], 0) for i in range(len(X))
    )


def walks_over_unseen(tree, case, row, node):
    """Return whether the path of one case tests a category that the tree does not know."""
    children = tree.children(node).tolist()
    if not children:
        return False
    f, value = tree.feature[node], row[tree.feature[node]]
    if np.isnan(value):
        unseen = tree.categories[f] is not None and not pd.isna(case.iloc[f])
        return unseen or any(walks_over_unseen(tree, case, row, child) for child in children)
    following = [
        child
        for child in children
        if (
            tree.categories[f][int(value)] in tree.branch(child).labels
            if tree.categories[f] is not None
            else (value <= tree.branch(child).threshold) == (tree.branch(child).sign == "<=")
        )
    ]
    return walks_over_unseen(tree, case, row, following[0])


@pytest.mark.parametrize("columns", [["id", "unused", "area", "age"], ["area", "unused", "age"]])
@pytest.mark.parametrize("part", ["model", "tree"])
def test_the_columns_of_a_frame_are_matched_by_name(model, columns, part):
    X = draw(60, 8).assign(id=np.arange(60.0), area=["east"] * 20 + ["north"] * 40)
    source = model if part == "model" else model.tree_
    new = kt.unfamiliar(source, X[columns])
    assert new.column("area").categories == {"east": 20}
    assert new == kt.unfamiliar(source, X[["age", "area", "unused"]])


def test_unseen_categories_are_found_even_if_a_step_cannot_be_folded():
    X = draw(300, 9)
    steps = make_column_transformer(
        (PolynomialFeatures(include_bias=False), ["age"]),
        ("passthrough", ["unused", "area"]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipe = make_pipeline(steps, kt.C45Classifier()).fit(X, X["area"])
    model = kt.SmoothedTreeClassifier(pipe).fit(X, X["area"])
    new = X.assign(area="east")[["area", "unused", "age"]]
    for found in (kt.unfamiliar(model, new), kt.unfamiliar(pipe, new)):
        assert found.column("area").categories == {"east": 300}
        assert found.decisions == 300
    area = next(column for column in kt.audit(model, new).columns if column.name == "area")
    assert area.new == ("east",)


def test_a_scikit_learn_pipeline_is_compared_by_its_raw_categories():
    X = draw(300, 10)[["area"]]
    pipe = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier())
    new = kt.unfamiliar(pipe.fit(X, X["area"]), X.assign(area="east"))
    assert new.column("area").categories == {"east": 300}


@pytest.mark.parametrize("size", [None, 1e-3])
def test_a_file_without_the_number_of_training_rows_still_shows_what_is_new(size):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    y = (X["a"] > 0).astype(int)
    weight = None if size is None else np.full(400, size)
    tree = DecisionTreeClassifier(max_depth=2)
    model = kt.SmoothedTreeClassifier(tree).fit(X, y, sample_weight=weight)
    del model.reference_  # as in files of older versions
    assert not kt.unfamiliar(model, X).unexpected
    assert kt.unfamiliar(model, 100 * X).unexpected
    X.loc[:199, "b"] = np.nan
    assert kt.unfamiliar(model, X).column("b").more_missing
