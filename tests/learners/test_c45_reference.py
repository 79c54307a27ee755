"""Both growers agree with the plain reference on tables that trigger rare rules."""

import numpy as np
import pandas as pd
import pytest

from keeptree.learners import C45Classifier
from keeptree.learners.folds import pruning_fold
from keeptree.learners.grow import grow, grow_mixed
from keeptree.learners.grow_options import GrowOptions
from keeptree.learners.shape import shape_to_tree
from tests.learners.random_data import code_frame, random_table
from tests.reference.c45 import Options, Reference, weka_folds

SETTINGS = [
    ({}, {}),
    ({"pruning": "none", "collapse": False}, {"pruning": "none", "collapse": False}),
    ({"min_samples_leaf": 1, "confidence_factor": 0.5}, {"min_leaf": 1, "confidence": 0.5}),
    ({"binary_splits": True, "subtree_raising": False}, {"binary": True, "raising": False}),
    ({"pruning": "reduced-error", "n_folds": 4}, {"pruning": "reduced-error", "n_folds": 4}),
    ({"snap_thresholds": "tolerant"}, {"snap": "tolerant"}),
    ({"snap_thresholds": False, "mdl_correction": False}, {"snap": "none", "mdl": False}),
]


def flat(node):
    """Return the nodes of the reference in preorder."""
    nodes, stack = [], [node]
    while stack:
        nodes.append(stack.pop())
        stack.extend(nodes[-1].children[::-1])
    return nodes


def assert_same(tree, root):
    nodes = flat(root)
    assert tree.n_nodes == len(nodes)
    assert tree.feature.tolist() == [n.split.feature if n.split else -1 for n in nodes]
    thresholds = [n.split.threshold if n.split else np.nan for n in nodes]
    np.testing.assert_array_equal(tree.threshold, thresholds)
    np.testing.assert_allclose(tree.counts, [n.counts for n in nodes], atol=2e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_trees_equal_those_of_the_reference(seed, weighted):
    X, y, n_categories, n_classes = random_table(seed)
    random = np.random.default_rng(seed)
    weight = random.choice([0.5, 1, 1e-7, 3.3], len(y)) if weighted else np.ones(len(y))
    target = pd.Categorical.from_codes(y, range(n_classes))
    unseen = X[random.permutation(len(X))[:20]].copy()
    unseen[random.random(unseen.shape) < 0.2] = np.nan
    for ours, theirs in SETTINGS:
        if theirs.get("pruning") == "reduced-error":
            theirs = {**theirs, "snap": "tolerant"}
        model = C45Classifier(**ours).fit(code_frame(X, n_categories), target, sample_weight=weight)
        truth = Reference(n_categories, n_classes, Options(**theirs)).fit(X, y, weight)
        assert_same(model.tree_, truth.root)
        # Weka 3.6 sends values up to 1e-6 above a threshold to the left.
        if theirs.get("snap") != "tolerant":
            frame = code_frame(unseen, n_categories)
            np.testing.assert_allclose(
                model.predict_proba(frame), truth.predict_proba(unseen), atol=2e-6
            )


@pytest.mark.parametrize("criterion", ["gain-ratio", "information-gain", "gini"])
@pytest.mark.parametrize("seed", range(12))
def test_both_growers_give_the_same_tree(seed, criterion):
    random = np.random.default_rng(seed)
    n, n_classes = int(random.integers(20, 3000)), int(random.integers(2, 9))
    X = random.normal(size=(n, 5))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] = np.round(X[:, 2], 5)  # many values that are too close to be separated
    X[:, 3] *= 1e-5
    y = np.clip(np.round(X[:, 0] + X[:, 1] + random.normal(size=n)) + 2, 0, n_classes - 1)
    options = GrowOptions(criterion=criterion, min_leaf=int(random.integers(1, 5)), max_depth=12)
    args = (X, y.astype(np.int64), None, [0] * 5, n_classes, options)
    about = {"n_features": 5, "classes": range(n_classes), "categories": [None] * 5}
    fast = shape_to_tree(grow(*args), **about)
    general = shape_to_tree(grow_mixed(*args), **about)
    assert fast.to_dict() == general.to_dict()


@pytest.mark.parametrize("spread", [1e-3, 1e-9, 1e-13])
def test_values_that_differ_in_their_last_bits_are_sorted(spread):
    """In a column with a large number, the fast sort uses only the high bits of the others."""
    random = np.random.default_rng(0)
    n = 4000
    column = np.where(random.random(n) < 0.5, -1, 1) * (1e6 + spread * random.normal(size=n) * 1e6)
    column[: n // 4] = random.choice([0.0, -0.0, 5e-324, -5e-324], n // 4)
    y = ((np.argsort(np.argsort(column)) // 200) % 2).astype(np.int64)
    args = (column[:, None], y, None, [0], 2, GrowOptions())
    about = {"n_features": 1, "classes": [0, 1], "categories": [None]}
    fast = shape_to_tree(grow(*args), **about)
    assert fast.n_leaves > 1
    assert fast.to_dict() == shape_to_tree(grow_mixed(*args), **about).to_dict()


@pytest.mark.parametrize("seed", range(20))
def test_the_pruning_fold_equals_that_of_weka(seed):
    random = np.random.default_rng(seed)
    y, n_folds = random.integers(0, 4, random.integers(10, 80)), int(random.integers(2, 7))
    for ours, theirs in zip(pruning_fold(y, n_folds), weka_folds(y, n_folds), strict=True):
        assert ours.tolist() == theirs.tolist()
