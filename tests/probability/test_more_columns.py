"""Columns that the probabilities read although the tree does not test them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data.sample import Sample
from keeptree.probability import further_tests
from keeptree.probability.more_columns import MOST, more_columns
from tests.exporters.models import mixed_table, oblique


def stump_sample(n=400, noise=3, seed=0):
    """Return a table whose class depends on two columns, and a tree that tests only the first."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 2 + noise)), columns=["a", "b", *"cdefghij"[:noise]])
    y = (X["a"] + X["b"] + 0.3 * rng.normal(size=n) > 0).to_numpy().astype(int)
    return X, y, DecisionTreeClassifier(max_leaf_nodes=2, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def stump():
    X, y, tree = stump_sample()
    assert kt.keep(tree).tested.tolist() == [0]
    return X, y, tree


@pytest.fixture(scope="module")
def model(stump):
    X, y, tree = stump
    return kt.KeptTreeClassifier(tree, columns="all").fit(X, y)


def test_by_default_only_tested_columns_matter(stump):
    X, y, tree = stump
    model = kt.KeptTreeClassifier(tree).fit(X, y)
    assert model.read_columns.tolist() == [0]
    other = X.assign(b=0.0, c=1e9)
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(X))


def test_all_columns_improve_a_tree_that_misses_one(stump, model):
    X, y, tree = stump
    new, true, _ = stump_sample(seed=1)
    p = model.predict_proba(new)
    before = kt.KeptTreeClassifier(tree).fit(X, y).predict_proba(new)
    assert 1 in model.read_columns
    assert log_loss(true, p) < log_loss(true, before) / 2
    assert roc_auc_score(true, p[:, 1]) > roc_auc_score(true, before[:, 1]) + 0.1


def test_the_decisions_stay_those_of_the_tree(stump, model):
    X, _, tree = stump
    assert (model.predict(X) == tree.predict(X)).all()


@pytest.mark.parametrize("columns", [["b"], [1], ("b", 1), np.array([1])])
def test_a_list_adds_the_named_columns(stump, columns):
    X, y, tree = stump
    model = kt.KeptTreeClassifier(tree, columns=columns).fit(X, y)
    assert model.read_columns.tolist() == [0, 1]
    moved = X.assign(c=7.0, d=7.0)
    np.testing.assert_array_equal(model.predict_proba(moved), model.predict_proba(X))


@pytest.mark.parametrize(
    "columns", [["nope"], [5], [-1], [True, False, True, False, False], [1.7], [None]]
)
def test_unknown_columns_are_refused(stump, columns):
    X, y, tree = stump
    with pytest.raises(ValueError, match=r"columns=.* is not among the 5 columns of the tree"):
        kt.KeptTreeClassifier(tree, columns=columns).fit(X, y)
    with pytest.raises(ValueError, match="'columns' parameter"):
        kt.KeptTreeClassifier(tree, columns="some").fit(X, y)


def test_a_column_that_the_tree_was_not_fitted_on_cannot_be_added(stump):
    X, y, tree = stump
    wider = X.assign(sex="f")
    for columns in (["sex"], np.array(["sex"])):
        with pytest.raises(ValueError, match="columns names 'sex', which the tree was not fitted"):
            kt.KeptTreeClassifier(tree, columns=columns).fit(wider, y)
    with pytest.raises(ValueError, match="leave it out"):
        kt.KeptTreeClassifier(tree, columns="all").fit(wider, y)


def test_constant_and_empty_columns_are_not_read(stump):
    X, y, tree = stump
    X = X.assign(c=1.0, d=np.nan)
    tree = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0).fit(X, y)
    model = kt.KeptTreeClassifier(tree, columns="all").fit(X, y)
    assert model.read_columns.tolist() == [0, 1, 4]


def test_of_many_columns_the_best_are_read():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    y = (X[:, 0] + X[:, 59] > 0).astype(int)
    kept = kt.keep(DecisionTreeClassifier(max_leaf_nodes=2, random_state=0).fit(X, y))
    more = more_columns(Sample(kept, X, y, more="all"))
    assert len(more) == MOST
    assert {0, 59} - set(kept.tested.tolist()) <= set(more.tolist())


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_choice_of_columns_depends_on_the_order_of_values_alone(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 40)).round(rng.integers(0, 3))
    y = rng.integers(0, 3, 60)
    tree = kt.keep(DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y))
    found = more_columns(Sample(tree, X, y, more="all"))
    same = more_columns(Sample(tree, np.exp(X), y, more="all"))
    np.testing.assert_array_equal(found, same)
    assert not set(found.tolist()) & set(tree.tested.tolist())


def test_rows_without_weight_choose_no_columns(stump):
    X, y, tree = stump
    noise = np.random.default_rng(3).normal(size=(50, 5))
    sample = Sample(kt.keep(tree), X.to_numpy(), y, more="all")
    longer = Sample(
        kt.keep(tree),
        np.vstack([X, noise]),
        np.append(y, np.zeros(50, dtype=int)),
        np.append(np.ones(len(y)), np.zeros(50)),
        more="all",
    )
    np.testing.assert_array_equal(more_columns(sample), more_columns(longer))


def test_nominal_columns_are_read_by_the_kernel():
    X, y = mixed_table()
    model = kt.KeptTreeClassifier(kt.C45Classifier(max_depth=1), columns="all").fit(X, y)
    assert len(model.tree_.tested) == 1
    assert model.read_columns.tolist() == [0, 1, 2, 3]
    other = X.assign(colour=pd.Categorical(["red"] * len(X), categories=["blue", "green", "red"]))
    assert not np.allclose(model.predict_proba(other), model.predict_proba(X))
    unseen = X.assign(letter="zebra")
    assert np.isfinite(model.predict_proba(unseen)).all()


def test_missing_values_of_untested_columns_are_accepted(stump, model):
    X, _, _ = stump
    p = model.predict_proba(X.assign(b=np.nan))
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize("large", [False, True])
def test_contributions_name_the_columns_and_add_up(stump, large, monkeypatch):
    monkeypatch.setattr(further_tests, "_FEWEST_ROWS", 100 if large else 10**6)
    X, y, tree = stump
    model = kt.KeptTreeClassifier(tree, columns="all").fit(X, y)
    parts = model.contributions(X)
    assert parts.node.tolist()[: np.argmin(parts.node)] == [0]
    outside = parts.column[parts.node < 0]
    assert 1 in outside
    assert not set(outside.tolist()) & set(model.tree_.tested.tolist())
    p = model.predict_proba(X)
    total = parts.start + parts.value.sum(axis=1)
    np.testing.assert_allclose(total, np.log(p[:, 1] / p[:, 0]), atol=1e-9)
    b = parts.test[:, parts.column.tolist().index(1)]
    assert np.corrcoef(b, X["b"])[0, 1] > 0.9


def test_a_story_names_the_columns_outside_the_tree(stump, model):
    X, _, _ = stump
    story = kt.explain(model, X.iloc[0])
    assert "b (not in the tree)" in story.text
    assert [part["name"] for part in story.to_dict()["contributions"] if part["kind"] == "column"]
    assert "b" in [value["attribute"] for value in story.to_dict()["values"]]


def test_the_model_survives_saving_and_cloning(stump, model, tmp_path):
    X, y, tree = stump
    kt.save(model, tmp_path / "model.json")
    loaded = kt.load(tmp_path / "model.json")
    assert loaded.columns == "all"
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    named = kt.KeptTreeClassifier(tree, columns=["b"])
    assert clone(named).columns == ["b"]
    kt.save(named.fit(X, y), tmp_path / "named.json")
    again = kt.load(tmp_path / "named.json")
    np.testing.assert_array_equal(again.predict_proba(X), named.predict_proba(X))
    assert list(again.columns) == ["b"]


def test_a_service_must_send_all_columns_that_are_read(stump, model):
    X, _, _ = stump
    score = model.scorer()
    assert "b" in score.columns
    row = X.iloc[5].to_dict()
    np.testing.assert_array_equal(score(row).probability, model.predict_proba(X.iloc[5:6])[0])
    with pytest.raises(ValueError, match="The row has no 'b'"):
        score({"a": 1.0})


def test_a_tree_without_its_learner_reads_them_too(stump):
    X, y, tree = stump
    new, true, _ = stump_sample(seed=1)
    alone = kt.KeptTreeClassifier(kt.keep(tree)).fit(X, y)
    model = kt.KeptTreeClassifier(kt.keep(tree), columns="all").fit(X, y)
    for name in ("soft", "margin"):  # that of the kernel is fitted
        assert model.weights_[name] == alone.weights_[name]
    assert (model.margin_.asked(model.tree_).node < 0).any()
    assert log_loss(true, model.predict_proba(new)) < log_loss(true, alone.predict_proba(new)) - 0.1


def test_a_tree_of_one_leaf_has_probabilities_from_its_columns(stump):
    X, y, _ = stump
    leaf = DecisionTreeClassifier(max_depth=1, min_samples_leaf=399, random_state=0).fit(X, y)
    assert kt.keep(leaf).n_leaves == 1
    model = kt.KeptTreeClassifier(leaf, columns="all").fit(X, y)
    assert roc_auc_score(y, model.predict_proba(X)[:, 1]) > 0.9


def test_transformed_columns_of_a_pipeline_are_read(stump):
    X, y, _ = stump
    pipeline = make_pipeline(
        StandardScaler(), DecisionTreeClassifier(max_leaf_nodes=2, random_state=0)
    ).fit(X, y)
    model = kt.KeptTreeClassifier(pipeline, columns="all").fit(X, y)
    assert 1 in model.read_columns
    assert (model.predict(X) == pipeline.predict(X)).all()


@pytest.mark.parametrize("columns", [[], ["a"], [0]])
def test_a_list_that_adds_nothing_is_the_default(stump, columns):
    X, y, tree = stump
    tree = kt.keep(tree)
    same = kt.KeptTreeClassifier(tree, columns=columns).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(same, kt.KeptTreeClassifier(tree).fit(X, y).predict_proba(X))


def test_a_table_of_columns_is_refused(stump):
    X, y, tree = stump
    with pytest.raises(ValueError, match="columns has 2 dimensions"):
        kt.KeptTreeClassifier(tree, columns=[["b"], ["c"]]).fit(X, y)


def test_an_index_of_columns_is_saved_as_a_list(stump, tmp_path):
    X, y, tree = stump
    model = kt.KeptTreeClassifier(tree, columns=X.columns[1:3]).fit(X, y)
    kt.save(model, tmp_path / "model.json")
    assert kt.load(tmp_path / "model.json").columns == ["b", "c"]


def test_positions_mean_the_same_columns_in_every_fold(stump):
    X, y, _ = stump
    learner = make_pipeline(
        SelectKBest(k=3), DecisionTreeClassifier(max_leaf_nodes=2, random_state=0)
    )
    pipeline = learner.fit(X, y)
    kept = kt.keep(pipeline)
    position = next(f for f in range(kept.n_features) if f not in kept.tested)
    by_position = kt.KeptTreeClassifier(pipeline, columns=[position]).fit(X, y)
    by_name = kt.KeptTreeClassifier(pipeline, columns=[kept.feature_name(position)]).fit(X, y)
    np.testing.assert_array_equal(by_position.predict_proba(X), by_name.predict_proba(X))


def test_a_large_sample_of_a_tree_without_numeric_tests_uses_quantiles(stump, monkeypatch):
    monkeypatch.setattr(further_tests, "_FEWEST_ROWS", 100)
    X, y, _ = stump
    leaf = DecisionTreeClassifier(max_depth=1, min_samples_leaf=399, random_state=0).fit(X, y)
    model = kt.KeptTreeClassifier(leaf, columns="all").fit(X, y)
    assert set(model.contributions(X).column.tolist()) >= {0, 1}


def test_a_story_of_an_oblique_tree_knows_which_columns_it_tests():
    X, y, tree = oblique()
    model = kt.KeptTreeClassifier(tree, columns="all").fit(X, y)
    assert set(tree.tested.tolist()) == {0, 1, 2, 3}
    assert "(not in the tree)" not in kt.explain(model, X[0]).text
    assert model.contributions(X[:5]).column.max() < tree.n_features


def test_an_audit_counts_columns_of_the_probabilities_as_used(stump, model):
    X, _, _ = stump
    audit = kt.audit(model, X.assign(b=X["b"] + 5))
    changed = {column.name: column for column in audit.columns}["b"]
    assert changed.read
    assert changed.tested == 0
    assert "does not use" not in audit.verdict
    assert "b (used by the probabilities only)" in str(audit)


def test_unseen_categories_of_the_probabilities_are_told_apart():
    X, y = mixed_table()
    model = kt.KeptTreeClassifier(kt.C45Classifier(max_depth=1), columns="all").fit(X, y)
    untested = next(
        f for f in ("colour", "letter") if X.columns.get_loc(f) not in model.tree_.tested
    )
    found = kt.unfamiliar(model, X.assign(**{untested: "violet"}))
    assert found.column(untested).probabilities_only
    assert "which affect the probabilities but no decision" in str(found)
