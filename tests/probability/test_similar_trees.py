"""Similar trees change the soft expert's estimate, and neither the tree nor how a model is used."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data.sample import Sample
from keeptree.exporters.check import answers_of_python, compare
from keeptree.exporters.rows import beside, sample_rows
from keeptree.exporters.subject import subject_of
from keeptree.probability import further_tests, kept, similar_trees
from keeptree.probability.similar_trees import grow_similar_trees
from keeptree.probability.soft import fit_soft
from tests.exporters.test_code import FORMATS
from tests.strategies import random_rows, trees


@pytest.fixture(scope="module")
def cancer():
    """Return a tree with five leaves and a small sample with missing values."""
    X, y = load_breast_cancer(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.02] = np.nan
    return DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(X[:200], y[:200]), X, y


@pytest.fixture(scope="module")
def model(cancer):
    tree, X, y = cancer
    return kt.KeptTreeClassifier(tree).fit(X[:200], y[:200])


def walk(splits, values, n, root, row):
    """Return the value of the leaf below a root that a row reaches; the tree has n nodes."""
    at = dict(zip(splits.node.tolist(), range(len(splits.node)), strict=True))
    while root in at:
        k = at[root]
        x = row[splits.feature[k]]
        second = splits.missing[k] if np.isnan(x) else int(x > splits.threshold[k])
        root = n + 2 + 2 * k + second
    return values[root - n - 1]


@settings(max_examples=25, deadline=None)
@given(
    trees(max_leaves=10, max_classes=3, missing=("child", "share", "mixed")),
    st.sampled_from([0.0, 0.2, 1.0]),
    st.integers(0, 2**32 - 1),
)
def test_the_estimate_is_the_mean_over_the_tree_and_the_similar_trees(tree, strength, seed):
    """Each tree counts the same, and a naive walk through the similar trees finds their leaves."""
    X, rows = random_rows(tree, seed, 80, missing=0.1), random_rows(tree, seed + 1, 8, missing=0.2)
    sample = Sample(tree, X, np.arange(80) % len(tree.classes), np.ones(80))
    similar = grow_similar_trees(sample)
    if similar is None:
        assert not (tree.kind == 1).any() or len(tree.classes) < 2
        return
    splits, values = similar
    alone, joined = fit_soft(sample, strength), fit_soft(sample, strength, similar=True)
    joined.check(tree)
    expected, p = np.empty((2, len(rows), len(tree.classes)))
    alone.probability(rows, expected)
    joined.probability(rows, p)
    even, n = np.flatnonzero(splits.missing == -1), tree.n_nodes
    children = {n + 2 + 2 * k + side for k in even for side in (0, 1)}
    roots = sorted(children - set(splits.node[even]))
    compared = rows.astype(tree.compare_dtype).astype(float)
    for root in roots:
        expected += [walk(splits, values, n, root, row) for row in compared]
    assert len(roots) == similar_trees._TREES
    np.testing.assert_allclose(p, expected / (1 + len(roots)), atol=1e-9)


def test_a_leaf_has_the_class_shares_of_all_its_cases(cancer, monkeypatch):
    clf, X, y = cancer
    tree = kt.keep(clf)
    monkeypatch.setattr(similar_trees, "_SHRINKAGE", 0.0)
    splits, values = grow_similar_trees(Sample(tree, X, y))
    even = set(splits.node[splits.missing == -1].tolist())
    compared = X.astype(np.float32).astype(float)
    root = next(node for node in splits.node.tolist() if node not in even)
    reached = np.array([walk(splits, values, tree.n_nodes, root, row) for row in compared])
    for shares in np.unique(reached, axis=0):
        here = (reached == shares).all(axis=1)
        np.testing.assert_allclose(shares, np.bincount(y[here], minlength=2) / here.sum())


def test_a_sample_of_one_class_and_a_tree_without_numeric_tests_have_no_similar_trees(cancer):
    clf, X, y = cancer
    tree = kt.keep(clf)
    assert grow_similar_trees(Sample(tree, X, y)) is not None
    assert grow_similar_trees(Sample(tree, X[y == 1], y[y == 1])) is None  # one class
    leaf = kt.keep(DecisionTreeClassifier(max_leaf_nodes=2).fit(np.ones((9, 1)), np.arange(9) % 2))
    assert grow_similar_trees(Sample(leaf, np.ones((9, 1)), np.arange(9) % 2)) is None


@pytest.mark.parametrize("fewest", [150, 190, 400])
def test_the_refits_average_similar_trees_if_the_whole_sample_does(cancer, monkeypatch, fewest):
    """Five folds of 200 rows leave 160 to train on, and weights must fit the final experts."""
    monkeypatch.setattr(further_tests, "_FEWEST_ROWS", fewest)
    clf, X, y = cancer
    seen = []

    def fit(*arguments, fit=fit_soft):
        seen.append(fit(*arguments))
        return seen[-1]

    monkeypatch.setattr(kept, "fit_soft", fit)
    kt.KeptTreeClassifier(clf).fit(X[:200], y[:200])
    assert [expert.splits is not None for expert in seen] == [fewest > 160] * 6


def test_a_tree_with_nominal_tests_has_no_similar_trees():
    import pandas as pd

    kinds = pd.Series(["a", "b", "c"] * 40, dtype="category")
    X = pd.DataFrame({"kind": kinds, "size": np.arange(120.0) % 7})
    y = (kinds == "a").to_numpy().astype(int)
    model = kt.KeptTreeClassifier(kt.C45Classifier(min_samples_leaf=2)).fit(X, y)
    assert model.soft_.splits is None


def test_the_tree_still_decides_and_no_other_column_is_read(cancer, model):
    clf, X, _ = cancer
    splits, tree = model.soft_.splits, model.tree_
    assert set(splits.feature) <= set(tree.tested)
    np.testing.assert_array_equal(model.predict(X), clf.predict(X))
    np.testing.assert_array_equal(model.read_columns, tree.tested)


def test_allowed_columns_are_tested_and_read(cancer):
    clf, X, y = cancer
    model = kt.KeptTreeClassifier(clf, columns="all").fit(X[:200], y[:200])
    others = set(model.soft_.splits.feature) - set(model.tree_.tested)
    assert others
    assert others <= set(model.read_columns)


@pytest.mark.parametrize("strength", [0.0, 0.2])
def test_a_loaded_model_and_its_exports_give_the_same_probabilities(model, tmp_path, strength):
    model.soft_ = replace(model.soft_, strength=strength)  # the tests of the tree hard, then soft
    model.pool_ = replace(model.pool_, weights=np.array([0.5, 0.3, 0.3]))
    kt.save(model, tmp_path / "model.json")
    loaded, X = kt.load(tmp_path / "model.json"), load_breast_cancer().data
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    for name in ("model.py", "model.js", "model.c", "model.onnx", "model.sql"):
        assert "not checked" not in kt.export(model, tmp_path / name).checked


@pytest.mark.parametrize("format", [*FORMATS, "onnx", "sql"])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_exports_compare_values_at_the_thresholds_of_similar_trees_as_python_does(
    cancer, format, kind
):
    """Their tests are hard, so a value rounded to the other side changes the estimate."""
    clf, X, y = cancer
    learner = clf if kind == "float32" else kt.C45Classifier(max_leaf_nodes=5)
    subject = subject_of(kt.KeptTreeClassifier(learner).fit(X[:200], y[:200]))
    assert subject.tree.compare_dtype == kind
    splits, rng = subject.model.soft_.splits, np.random.default_rng(0)
    rows = sample_rows(subject, 500)
    for f in np.unique(splits.feature):
        tried = np.concatenate([beside(t) for t in splits.threshold[splits.feature == f]])
        rows.X[:, f] = np.where(rng.random(500) < 0.9, rng.choice(tried, 500), rows.X[:, f])
    writer = import_module(f"keeptree.exporters.{format}")
    theirs = writer.run(writer.write(subject), subject, rows)
    assert compare(answers_of_python(subject, rows.X), theirs).wrong == 0


@pytest.mark.parametrize(("field", "value"), [("weight", -1.0), ("weight", "1"), ("beside", False)])
def test_damaged_splits_are_refused(model, field, value):
    splits = replace(model.soft_.splits, **{field: value})
    with pytest.raises(ValueError, match="Not a KeepTree model"):
        replace(model.soft_, splits=splits).check(model.tree_)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    missing=st.sampled_from([0.0, 0.05, 0.6]),
    shift=st.sampled_from([0.0, 1e8]),
)
def test_any_sample_gives_probabilities_and_rows_without_weight_are_never_read(
    seed, missing, shift
):
    rng = np.random.default_rng(seed)
    n = 120
    X, y = rng.normal(size=(n, 3)), rng.integers(3, size=n)
    X[:, 1] += y
    X[rng.random(X.shape) < missing] = np.nan
    X += shift
    weight = (rng.random(n) >= 0.3) * rng.choice([0.5, 1.0, 3.0], n)
    tree = kt.C45Classifier(max_leaf_nodes=5, pruning="none").fit(X, y).tree_
    similar = grow_similar_trees(Sample(tree, X, y, weight))
    if similar is None:
        return
    used = weight > 0
    X[~used] = 1e300
    again = grow_similar_trees(Sample(tree, X[used], y[used], weight[used]))
    np.testing.assert_array_equal(similar[0].threshold, again[0].threshold)
    np.testing.assert_array_equal(similar[1], again[1])
    assert np.isfinite(similar[0].threshold).all()
    np.testing.assert_allclose(similar[1].sum(axis=1), 1)
    assert (similar[1] > 0).all()
