"""Read scikit-learn's decision trees and extra trees."""

import numpy as np
import sklearn
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from keeptree.tree import ERROR, LEAF, NUMERIC, Tree

_LARGEST = np.finfo(np.float64).max


def classifier_tree(model):
    """Return a fitted tree classifier as a Tree."""
    nodes = _checked(model)
    fractions = nodes.value[:, 0, : len(model.classes_)]
    counts = _whole(fractions * nodes.weighted_n_node_samples[:, None])
    if getattr(model, "monotonic_cst", None) is not None or not _adds_up(counts, nodes):
        counts = _sum_leaves(counts, nodes)
    return Tree(
        counts=counts,
        # scikit-learn decides by fractions, whose products with the weight could tie.
        label=fractions.argmax(axis=1),
        classes=model.classes_,
        **_structure(model, nodes),
    )


def regressor_tree(model):
    """Return a fitted tree regressor as a Tree; the variance is known for squared error only."""
    nodes = _checked(model)
    squared = model.criterion in ("squared_error", "friedman_mse")
    return Tree(
        counts=_whole(nodes.weighted_n_node_samples[:, None]),
        mean=nodes.value[:, 0, 0],
        variance=_variance(nodes.impurity) if squared else np.full(nodes.node_count, np.nan),
        **_structure(model, nodes),
    )


def _checked(model):
    check_is_fitted(model)
    if model.n_outputs_ != 1:
        raise ValueError(
            f"The tree has {model.n_outputs_} outputs, but a kept tree has one; "
            "fit one tree for each output."
        )
    return model.tree_


def _variance(impurity):
    """Return the variance of each node; scikit-learn's may be negative by rounding, or overflow."""
    return np.where(np.isfinite(impurity), np.maximum(impurity, 0), np.nan)


def _structure(model, nodes):
    inner = nodes.children_left >= 0
    children = np.column_stack([nodes.children_left, nodes.children_right])
    goes_left = nodes.missing_go_to_left.astype(bool)
    allows_missing = get_tags(model).input_tags.allow_nan
    followed = np.where(goes_left, children[:, 0], children[:, 1])
    return {
        "kind": np.where(inner, NUMERIC, LEAF),
        "feature": np.where(inner, nodes.feature, -1),
        # scikit-learn tests for missing values with the threshold inf, so that every number goes
        # left.
        "threshold": np.where(inner, np.clip(nodes.threshold, -_LARGEST, _LARGEST), np.nan),
        "child_start": np.concatenate([[0], np.cumsum(2 * inner)]),
        "child": children[inner].ravel(),
        "missing": np.where(inner & allows_missing, followed, ERROR),
        "n_features": model.n_features_in_,
        "feature_names": getattr(model, "feature_names_in_", None),
        "compare_dtype": "float32",  # scikit-learn casts to float32 before comparing
        "source": {"model": type(model).__name__, "library": f"scikit-learn {sklearn.__version__}"},
    }


def _whole(counts):
    """Return fraction x weight, rounded to an integer if it is one up to rounding error."""
    whole = np.rint(counts)
    # Tolerance relative to the weight of the tree, because case weights may be small.
    scale = np.maximum(counts, min(1.0, counts.max(initial=0.0)))
    return np.where(np.abs(counts - whole) <= 1e-9 * scale, whole, counts)


def _adds_up(counts, nodes):
    inner = nodes.children_left >= 0
    total = counts[nodes.children_left[inner]] + counts[nodes.children_right[inner]]
    return np.allclose(total, counts[inner], rtol=1e-9, atol=1e-9)


def _sum_leaves(counts, nodes):
    """Return the counts of all nodes as sums over their leaves.

    With monotonic constraints or hierarchical shrinkage the stored fractions do not add up.
    """
    counts = counts.copy()
    # In scikit-learn, parents come before their children.
    for node in np.flatnonzero(nodes.children_left >= 0)[::-1]:
        counts[node] = counts[nodes.children_left[node]] + counts[nodes.children_right[node]]
    return counts
