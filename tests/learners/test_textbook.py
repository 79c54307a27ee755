"""Worked examples on decision trees (Tan, Steinbach and Kumar, chapter 4)."""

import numpy as np
import pandas as pd
import pytest

from keeptree import Tree, prune
from keeptree.learners import C45Classifier
from tests.reference.c45 import gain_of, xlogx


@pytest.fixture
def tax():
    """Return ten taxpayers; the refund of the last one is missing."""
    X = pd.DataFrame(
        {
            "refund": pd.Categorical(
                ["Yes", "No", "No", "Yes", "No", "No", "Yes", "No", "No", None],
                categories=["Yes", "No"],
            ),
            "status": pd.Categorical(
                [*"SMSMDMDSMS"],
                categories=["S", "M", "D"],  # single, married, divorced
            ),
            "income": [125, 100, 70, 120, 95, 60, 220, 85, 75, 90],
        }
    )
    y = pd.Categorical([*"NNNNYNNYNY"], categories=["Y", "N"])
    return X, y


def entropy(*counts):
    total = sum(counts)
    return (xlogx(total) - sum(map(xlogx, counts))) / total


def test_the_entropy_of_the_parent_is_that_of_the_book():
    assert entropy(3, 7) == pytest.approx(0.8813, abs=5e-5)


def test_the_entropy_of_the_children_leaves_out_the_missing_refund():
    assert 0.3 * entropy(0, 3) + 0.6 * entropy(2, 4) == pytest.approx(0.551, abs=5e-4)


def test_gain_follows_c45_and_not_the_example():
    """The example gives 0.3303 = 0.8813 - 0.551 and omits the factor 0.9.

    C4.5 measures the entropy before the split on the nine known rows as well.
    """
    refund = np.array([[0, 3.0], [2, 4.0]])
    assert gain_of(refund, 10) < 0.9 * (0.8813 - 0.551) < 0.3303
    expected = 0.9 * (entropy(2, 7) - 6 / 9 * entropy(2, 4))
    assert gain_of(refund, 10) == pytest.approx(expected)


def test_the_missing_refund_is_divided_3_to_6(tax):
    X, y = tax
    model = C45Classifier(pruning="none", collapse=False, min_samples_leaf=1)
    tree = model.fit(X[["refund"]], y).tree_
    assert tree.feature[0] == 0
    left, right = tree.children(0)
    np.testing.assert_allclose(tree.counts[left, tree.declared], [3 / 9, 3])
    np.testing.assert_allclose(tree.counts[right, tree.declared], [2 + 6 / 9, 4])
    np.testing.assert_allclose(tree.shares[[left, right]], [3 / 9, 6 / 9])


def test_a_missing_marital_status_is_married_with_weight_3_67_of_6_67():
    """In the example, row 10 (single) is counted as married with a weight of 6/9."""
    counts = np.array([[2 + 6 / 9, 4], [6 / 9, 3], [2, 1]])
    tree = Tree(
        kind=[2, 0, 0], feature=[0, -1, -1], threshold=[np.nan] * 3, child_start=[0, 2, 2, 2],
        child=[1, 2], category_start=[0, 3, 3, 3], category_child=[2, 1, 2], missing=[-1, -1, -1],
        counts=counts, classes=["Yes", "No"], n_features=1,
        categories=[("Single", "Married", "Divorced")],
    )  # fmt: skip
    np.testing.assert_allclose(tree.shares[1:], [3.67 / 6.67, 3 / 6.67], atol=1e-3)
    row = pd.DataFrame({"status": [None]})
    married, others = counts[1] / counts[1].sum(), counts[2] / counts[2].sum()
    expected = (11 / 20) * married + (9 / 20) * others
    np.testing.assert_allclose(tree.predict_proba(row)[:, tree.declared], [expected])


def four_leaves():
    """Return a tree with four leaves and 9 errors among 20 cases of yes and 10 of no."""
    counts = [[20, 10], [8, 4], [3, 4], [4, 1], [5, 1]]
    return Tree(
        kind=[2, 0, 0, 0, 0], feature=[0, -1, -1, -1, -1], threshold=[np.nan] * 5,
        child_start=[0, 4, 4, 4, 4, 4], child=[1, 2, 3, 4], category_start=[0, 4, 4, 4, 4, 4],
        category_child=[1, 2, 3, 4], missing=[-1] * 5, counts=counts, classes=["Yes", "No"],
        n_features=1, categories=[("A1", "A2", "A3", "A4")],
    )  # fmt: skip


def pessimistic_error(tree, penalty=0.5):
    leaves = tree.kind == 0
    errors = (tree.weight - tree.counts.max(axis=1))[leaves].sum()
    return errors + penalty * tree.n_leaves


def test_pruning_reduces_the_pessimistic_error_from_11_to_10_5():
    tree = four_leaves()
    assert pessimistic_error(tree) / 30 == pytest.approx(11 / 30)
    pruned = prune(tree, "pessimistic")
    assert pruned.n_leaves == 1
    assert pessimistic_error(pruned) / 30 == pytest.approx(10.5 / 30)
    assert prune(tree, "pessimistic", penalty=0.3).n_leaves == 4


def test_pessimistic_pruning_prefers_the_leaf_in_a_tie():
    assert prune(four_leaves(), "pessimistic", penalty=1 / 3).n_leaves == 1


def test_30_leaves_and_10_errors_have_a_pessimistic_error_of_2_5_percent():
    """Ten errors in 1000 cases and 30 leaves: (10 + 30 x 0.5) / 1000 = 2.5%."""
    counts = np.vstack([[0, 0], [10, 480], np.tile([510 / 29, 0], (29, 1))])
    counts[0] = counts.sum(axis=0)
    assert counts[0].sum() == pytest.approx(1000)
    n = 31
    tree = Tree(
        kind=[2] + [0] * 30, feature=[0] + [-1] * 30, threshold=[np.nan] * n,
        child_start=[0] + [30] * n, child=range(1, n), category_start=[0] + [30] * n,
        category_child=range(1, n), missing=[-1] * n, counts=counts, classes=["a", "b"],
        n_features=1, categories=[tuple(range(30))],
    )  # fmt: skip
    assert pessimistic_error(tree) / 1000 == pytest.approx(0.025)
