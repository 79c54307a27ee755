"""C45Classifier grows the same trees as Weka's J48 on every fixture."""

import numpy as np
import pandas as pd
import pytest

from keeptree.learners import C45Classifier
from tests.fixtures import weka

SETTINGS = {
    "default": {},
    "unpruned": {"pruning": "none"},
    "unpruned_uncollapsed": {"pruning": "none", "collapse": False},
    "no_raising": {"subtree_raising": False},
    "confidence_0.05": {"confidence_factor": 0.05},
    "minimum_10": {"min_samples_leaf": 10},
    "binary": {"binary_splits": True},
    "binary_unpruned": {"binary_splits": True, "pruning": "none"},
    "laplace": {"laplace": True},
    "reduced_error_3": {"pruning": "reduced-error"},
    "reduced_error_5": {"pruning": "reduced-error", "n_folds": 5},
    "reduced_error_3_exact": {"pruning": "reduced-error", "snap_thresholds": "exact"},
    "reduced_error_5_exact": {
        "pruning": "reduced-error",
        "n_folds": 5,
        "snap_thresholds": "exact",
    },
}


def as_frame(data, rows):
    """Return rows of a fixture as a data frame, with categorical columns."""
    columns = {}
    for j, labels in enumerate(data.categories):
        column = data.X[rows, j]
        if labels is not None:
            codes = np.nan_to_num(column, nan=-1).astype(int)
            column = pd.Categorical.from_codes(codes, list(labels))
        columns[f"{j} {data.feature_names[j]}"] = column
    return pd.DataFrame(columns)


def differences(model, truth, unseen):
    """Return the differences in words; an empty list if there are none."""
    tree = model.tree_
    if tree.n_nodes != len(truth.kind):
        return [f"{tree.n_nodes} nodes, not {len(truth.kind)}"]
    found = []
    if not np.array_equal(np.diff(tree.child_start), truth.n_children):
        found.append("structure")
    if not np.array_equal(tree.feature, truth.attribute):
        found.append("attributes")
    numeric, binary = truth.kind == weka.NUMERIC, truth.kind == weka.BINARY
    if not np.allclose(tree.threshold[numeric], truth.threshold[numeric], rtol=0, atol=1e-9):
        found.append("thresholds")
    for node in np.flatnonzero(binary):
        children = tree.category_child[tree.category_start[node] : tree.category_start[node + 1]]
        if np.flatnonzero(children == tree.children(node)[0]).tolist() != [truth.threshold[node]]:
            found.append(f"category of node {node}")
    declared = tree.declared  # Weka's order of the classes; ours is sorted
    if not np.allclose(tree.counts[:, declared], truth.weights, rtol=0, atol=1e-6):
        found.append("counts")
    leaves = truth.kind == weka.LEAF
    if not np.array_equal(tree.label[leaves], declared[truth.label[leaves]]):
        found.append("labels")
    if not np.allclose(model.predict_proba(unseen)[:, declared], truth.proba, rtol=0, atol=1e-9):
        found.append("probabilities")
    if not np.array_equal(model.predict(unseen), tree.classes[declared[truth.predicted]]):
        found.append("predictions")
    return found


@pytest.mark.parametrize("name", weka.data_sets())
def test_trees_equal_those_of_weka(name):
    data = weka.load(name)
    X, unseen = as_frame(data, data.train), as_frame(data, data.unseen)
    y = pd.Categorical.from_codes(data.y[data.train], list(data.classes))
    assert data.trees, "a fixture without trees tests nothing"
    wrong = {}
    for setting, truth in data.trees.items():
        model = C45Classifier(**SETTINGS[setting]).fit(X, y)
        if found := differences(model, truth, unseen):
            wrong[setting] = found
    assert wrong == {}
