"""Oblique tests: routing, JSON, text, and the view with a column for each weighted sum."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keeptree as kt
from keeptree.tree.oblique import example_tree
from tests.reference.oblique import leaf_of
from tests.strategies import decode, oblique_trees, random_rows

RULES = ("child", "share", "mixed")


def rows_on_planes(tree, seed, n=40, **options):
    """Return random rows, a third of them on the plane of a test or one ulp beside it."""
    X, rng = random_rows(tree, seed, n, **options), np.random.default_rng(seed)
    oblique = np.flatnonzero(tree.kind == 3)
    for i in range(0, n if len(oblique) else 0, 3):
        node = int(rng.choice(oblique))
        (feature, weight), *rest = tree.terms(node)
        others = sum(w * X[i, f] for f, w in rest)
        X[i, feature] = (tree.threshold[node] - others) / weight
        if rng.random() < 0.5:
            X[i, feature] = np.nextafter(X[i, feature], rng.choice([-np.inf, np.inf]))
    return X


@settings(deadline=None, max_examples=100)
@given(oblique_trees(missing=RULES), st.integers(0, 1000), st.sampled_from([0.0, 0.2]))
def test_rows_on_and_beside_the_planes_follow_the_weighted_sums(tree, seed, missing):
    X = rows_on_planes(tree, seed, missing=missing)
    assert tree.route(X).tolist() == [leaf_of(tree, row) for row in X]


@settings(deadline=None, max_examples=60)
@given(oblique_trees(missing=RULES), st.integers(0, 1000))
def test_the_lifted_tree_makes_the_same_decisions(tree, seed):
    X = rows_on_planes(tree, seed, missing=0.2)
    lifted, rows = tree.lifted, tree.lift(X)
    assert not lifted.has_oblique
    assert rows.shape[1] == lifted.n_features
    np.testing.assert_array_equal(lifted.route(rows), tree.route(X))
    np.testing.assert_array_equal(lifted.decide(rows), tree.decide(X))
    shares, lifted_shares = tree.route_shares(X), lifted.route_shares(rows)
    np.testing.assert_array_equal(shares.toarray(), lifted_shares.toarray())


@settings(deadline=None, max_examples=60)
@given(oblique_trees(missing=("error", *RULES)))
def test_json_gives_the_same_tree_and_digest(tree):
    again = kt.Tree.from_dict(tree.to_dict())
    assert again.to_dict() == tree.to_dict()
    assert again.digest == tree.digest
    assert tree.to_dict()["version"] == (3 if tree.has_oblique else 2)


@settings(deadline=None, max_examples=60)
@given(oblique_trees(max_classes=3, nominal=False, missing=("error", *RULES)), st.integers(0, 1000))
def test_the_exact_text_sends_every_row_to_the_same_class(tree, seed):
    X = rows_on_planes(tree, seed)
    named = replace(tree, feature_names=[f"a {j} (+ *)" for j in range(tree.n_features)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = kt.keep(named.to_text(None))
    columns = [named.feature_names.index(name) for name in again.feature_names]
    np.testing.assert_array_equal(again.predict(X[:, columns]), tree.predict(X))


@settings(deadline=None, max_examples=40)
@given(oblique_trees(missing=RULES), st.integers(0, 1000))
def test_public_methods_accept_tables_with_labels(tree, seed):
    X = rows_on_planes(tree, seed, missing=0.1)
    np.testing.assert_array_equal(tree.apply(decode(tree, X)), tree.route(X))
    passed = tree.decision_path(decode(tree, X))
    assert all(passed[i, leaf] == 1 for i, leaf in enumerate(tree.route(X)))


def test_a_tree_without_oblique_tests_keeps_its_digest_and_version():
    tree = example_tree().lifted
    assert tree.to_dict()["version"] == 2
    assert not any(name.startswith("term") for name in tree.to_dict())


def test_a_branch_is_written_as_a_weighted_sum():
    branch = example_tree().branch(2)
    assert branch.is_oblique
    assert branch.columns == (0, 1)
    assert branch.terms == ((0, 1.0), (1, -1.2))
    assert branch.text() == "age − 1.2 × income > 3.5"


def test_a_missing_value_without_a_rule_raises_an_error_that_names_the_column():
    with pytest.raises(ValueError, match="Row 1 has no value for 'income'"):
        example_tree().apply([[1.0, 2.0], [1.0, None]])


def test_a_rule_for_missing_values_can_be_chosen():
    tree = kt.keep(example_tree(), missing="majority")
    assert tree.predict([[np.nan, 1.0], [1.0, np.nan]]).tolist() == ["no", "no"]
    assert tree.sharing_columns.tolist() == []
    assert kt.keep(example_tree(), missing="share").sharing_columns.tolist() == [0, 1]


BROKEN = {
    "no weights": {"term_start": [0, 0, 0, 0], "term_feature": [], "term_weight": []},
    "a column that does not exist": {"term_feature": [0, 2]},
    "a column twice": {"term_feature": [1, 1]},
    "must be finite and not zero": {"term_weight": [0.0, 1.0]},
    "one number for each term": {"term_weight": [1.0]},
    "increase from 0": {"term_start": [0, 1, 2, 1]},
    "only an oblique test has weights": {"term_start": [0, 1, 2, 2]},
    "float32": {"compare_dtype": "float32"},
    "must be -1": {"feature": [0, -1, -1]},
    "not a finite number": {"threshold": [np.nan] * 3},
    "categories": {"categories": [None, ("low", "high")]},
}


@pytest.mark.parametrize("message", BROKEN)
def test_an_invalid_oblique_test_is_refused(message):
    with pytest.raises(ValueError, match=message):
        replace(example_tree(), **BROKEN[message])


WRONG = {
    "0.8 * a + b <= 3: x": "column 7: a column of `a \\+ b` has no weight",
    "0.8 * a - 2 * a <= 3: x": "column 1: a column occurs twice",
    "0.8 * a - 2 * b = 3: x": "a weighted sum is compared by <= or >",
    "0 * a <= 3: x": "the weight `0` must be a finite number",
    "0.8 * <= 3: x": "expected weighted columns",
    "2 * a <= 3\n  a = red: x\n  else: y": "`a` has categories, which cannot be added",
}


@pytest.mark.parametrize("text", WRONG)
def test_an_error_in_a_sum_names_its_line_and_column(text):
    with pytest.raises(ValueError, match=WRONG[text]):
        kt.keep(f"{text}\nelse: z")


def test_weighted_sums_are_read_from_text():
    tree = kt.keep('- 0.5 * "a + b" + 2e0 × income (k) < 3: yes\nelse: no')
    assert tree.feature_names == ("a + b", "income (k)")
    assert tree.terms(0) == ((0, -0.5), (1, 2.0))
    assert tree.predict([[0.0, 1.5], [0.0, 1.4]]).tolist() == ["no", "yes"]


def test_a_column_that_looks_like_a_sum_is_quoted():
    tree = replace(example_tree().lifted, feature_names=["2 * a", "b", "c"])
    again = kt.keep(replace(tree, feature=[0, -1, -1]).to_text(None))
    assert again.feature_names == ("2 * a",)


REFUSING = {
    "pruned": lambda tree, model, X, y: kt.prune(tree, "redundant"),
    "the PMML export": lambda tree, model, X, y: kt.export(tree, format="pmml"),
}


@pytest.mark.parametrize("what", REFUSING)
def test_functions_that_cannot_use_oblique_tests_refuse_them(what):
    with pytest.raises(ValueError, match=f"oblique tests .*{what}"):
        REFUSING[what](example_tree(), None, None, None)
