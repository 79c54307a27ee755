"""A branch describes the condition that leads to a child."""

import numpy as np
import pytest
from hypothesis import given

import keeptree as kt
from keeptree.tree import NUMERIC
from tests.strategies import trees


def colours():
    """Return a tree that tests colour in {red, blue}, then age <= 2.5."""
    return kt.Tree(
        kind=[2, 0, 1, 0, 0], feature=[0, -1, 1, -1, -1],
        threshold=[np.nan, np.nan, 2.5, np.nan, np.nan], child_start=[0, 2, 2, 4, 4, 4],
        child=[1, 2, 3, 4], category_start=[0, 3, 3, 3, 3, 3], category_child=[1, 2, 1],
        missing=[-1] * 5, counts=[[3, 3], [3, 0], [0, 3], [0, 1], [0, 2]], classes=["no", "yes"],
        n_features=2, feature_names=["colour", "age"], categories=[("red", "green", "blue"), None],
    )  # fmt: skip


def test_a_branch_describes_its_condition():
    tree = colours()
    first, second, below, above = (tree.branch(node) for node in range(1, 5))
    assert (first.node, first.child, first.feature, first.name) == (0, 1, 0, "colour")
    assert first.labels == ("red", "blue")
    assert second.labels == ("green",)
    assert (below.sign, below.threshold, below.labels) == ("<=", 2.5, ())
    assert [branch.is_numeric for branch in (first, below)] == [False, True]
    assert [branch.text() for branch in (first, second, below, above)] == [
        "colour in {red, blue}",
        "colour = green",
        "age <= 2.5",
        "age > 2.5",
    ]
    assert [branch.symbol for branch in (first, below, above)] == [None, "≤", ">"]


def test_no_branch_leads_to_the_root():
    with pytest.raises(ValueError, match="No branch leads to the root"):
        colours().branch(0)


@given(trees())
def test_the_branches_of_a_node_share_its_test_and_divide_its_values(tree):
    for node in np.flatnonzero(tree.kind).tolist():
        branches = [tree.branch(child) for child in tree.children(node)]
        assert {branch.node for branch in branches} == {node}
        if tree.kind[node] == NUMERIC:
            assert [branch.sign for branch in branches] == ["<=", ">"]
        else:
            labels = [label for branch in branches for label in branch.labels]
            assert sorted(labels) == sorted(tree.categories[tree.feature[node]])
