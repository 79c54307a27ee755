"""prune applies the methods of C45Classifier to any Tree and merges leaves of equal class."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from keeptree import Tree, prune
from keeptree.learners import C45Classifier
from keeptree.learners.folds import pruning_fold
from keeptree.learners.shape import shape_to_tree, tree_to_shape
from tests.learners.random_data import code_frame, random_table


def same(a, b):
    """Return whether two trees are equal up to the last bits of their counts."""
    a, b = a.to_dict(), b.to_dict()
    np.testing.assert_allclose(a.pop("counts"), b.pop("counts"), atol=2e-6)
    return a == b


GROWN = {"pruning": "none", "collapse": False, "min_samples_leaf": 1}


@pytest.fixture(params=range(12))
def table(request):
    X, y, n_categories, n_classes = random_table(request.param, (60, 150))
    return code_frame(X, n_categories), pd.Categorical.from_codes(y, range(n_classes))


@pytest.mark.parametrize("raising", [True, False])
def test_error_based_pruning_agrees_with_the_learner(table, raising):
    X, y = table
    grown = C45Classifier(**GROWN).fit(X, y).tree_
    before = grown.to_dict()
    options = {"confidence_factor": 0.4, "subtree_raising": raising}
    pruned = prune(grown, "error-based", X, y, **options)
    learner = C45Classifier(**GROWN).set_params(pruning="error-based", **options)
    assert same(pruned, learner.fit(X, y).tree_)
    assert grown.to_dict() == before


def test_error_based_pruning_without_rows_uses_the_counts(table):
    X, y = table
    grown = C45Classifier(**GROWN).fit(X, y).tree_
    ours = prune(grown, "error-based", subtree_raising=False)
    assert same(ours, prune(grown, "error-based", X, y, subtree_raising=False))
    with pytest.raises(ValueError, match="pass X and y"):
        prune(grown, "error-based")


def test_reduced_error_pruning_uses_the_given_rows(table):
    X, y = table
    growing, held_out = pruning_fold(y.codes, 3)
    grown = C45Classifier(**GROWN).fit(X.iloc[growing], y[growing]).tree_
    rows, truth = X.iloc[held_out], y[held_out]
    pruned = prune(grown, "reduced-error", rows, truth)
    np.testing.assert_allclose(pruned.counts[0], grown.counts[0], atol=1e-6)
    complete = ~rows.isna().any(axis=1).to_numpy()
    if complete.all():
        before, after = ((t.predict(rows) != np.asarray(truth)).sum() for t in (grown, pruned))
        assert after <= before
    again = prune(pruned, "reduced-error", rows, truth)
    assert same(again, pruned)


def test_pessimistic_pruning_agrees_with_the_learner(table):
    X, y = table
    grown = C45Classifier(**GROWN).fit(X, y).tree_
    learner = C45Classifier(**GROWN).set_params(pruning="pessimistic").fit(X, y)
    assert same(prune(grown, "pessimistic"), learner.tree_)
    assert same(prune(grown, "pessimistic", X, y), learner.tree_)
    assert prune(grown, "pessimistic", penalty=1e9).n_leaves == 1


def test_redundant_leaves_are_merged_without_changing_decisions(table):
    X, y = table
    grown = C45Classifier(**GROWN).fit(X, y).tree_
    merged = prune(grown, "redundant")
    complete = X[~X.isna().any(axis=1)]
    if len(complete):
        assert merged.predict(complete).tolist() == grown.predict(complete).tolist()
    for node in np.flatnonzero(merged.kind != 0):
        children = merged.children(node)
        answers = set(merged.label[children].tolist())
        assert (merged.kind[children] != 0).any() or len(answers) > 1


def test_converting_a_tree_to_a_shape_and_back_changes_nothing(table):
    tree = C45Classifier(**GROWN).fit(*table).tree_
    shape, nodes = tree_to_shape(tree)
    names = ("n_features", "classes", "feature_names", "categories", "source")
    again = shape_to_tree(shape, tree.label[nodes], **{name: getattr(tree, name) for name in names})
    assert same(again, tree)


def test_missing_values_keep_their_branch_after_pruning():
    """As in other libraries, nodes are not numbered in the order of their children."""
    tree = Tree(
        kind=[1, 0, 1, 0, 0], feature=[0, -1, 0, -1, -1], threshold=[5, np.nan, 2, np.nan, np.nan],
        child_start=[0, 2, 2, 4, 4, 4], child=[2, 1, 4, 3], missing=[1, -2, 3, -2, -2],
        counts=[[6, 6], [0, 6], [6, 0], [3, 0], [3, 0]], classes=["a", "b"], n_features=1,
    )  # fmt: skip
    merged = prune(tree, "redundant")
    assert merged.n_leaves == 2
    X = [[1.0], [3.0], [7.0], [np.nan]]
    assert merged.predict(X).tolist() == tree.predict(X).tolist() == ["a", "a", "b", "b"]


def test_float32_trees_are_pruned_with_float32_comparisons():
    X, y = load_iris(return_X_y=True)
    grown = C45Classifier(**GROWN).fit(X.astype(np.float32), y).tree_
    single = Tree(**{**grown.__dict__, "compare_dtype": "float32"})
    pruned = prune(single, "error-based", X, y)
    assert pruned.compare_dtype == "float32"
    np.testing.assert_array_equal(pruned.counts[0], [50, 50, 50])


def test_bad_arguments_are_refused():
    X, y = load_breast_cancer(return_X_y=True)
    tree = C45Classifier().fit(X, y).tree_
    for arguments, message in [
        (("everything",), "method must be one of"),
        (("reduced-error",), "pass them as X and y"),
        (("reduced-error", X), "pass both, or neither"),
        (("reduced-error", X, y + 1), "The tree does not know the labels"),
        (("reduced-error", X[:, :3], y), "columns"),
    ]:
        with pytest.raises(ValueError, match=message):
            prune(tree, *arguments)
    for method, options in [
        ("error-based", {"confidence_factor": 0}),
        ("pessimistic", {"penalty": -1}),
    ]:
        with pytest.raises(ValueError, match="must"):
            prune(tree, method, X, y, **options)


def test_rows_of_zero_weight_are_ignored():
    X, y = load_breast_cancer(return_X_y=True)
    grown = C45Classifier(**GROWN).fit(X, y).tree_
    kept = np.arange(len(y)) % 2 == 0
    by_weight = prune(grown, "error-based", X, y, sample_weight=kept.astype(float))
    assert same(by_weight, prune(grown, "error-based", X[kept], y[kept]))


def test_a_tree_without_a_rule_for_missing_values_refuses_them():
    tree = Tree(
        kind=[1, 0, 0], feature=[0, -1, -1], threshold=[5, np.nan, np.nan],
        child_start=[0, 2, 2, 2], child=[1, 2], missing=[-2, -2, -2],
        counts=[[6, 6], [6, 0], [0, 6]], classes=["a", "b"], n_features=1,
    )  # fmt: skip
    with pytest.raises(ValueError, match="no rule for"):
        prune(tree, "reduced-error", [[np.nan]], ["a"])
