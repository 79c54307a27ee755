"""Prune any tree by error-based, reduced-error or pessimistic pruning."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_sample_weight

from keeptree._compiled import prune_counts
from keeptree._compiled.prune_error import PruneOptions, Rows, count_rows, prune_error_based
from keeptree.data.labels import label_codes
from keeptree.importers import keep
from keeptree.learners.shape import label_shape, shape_to_tree, tree_to_shape
from keeptree.tree import ERROR, LEAF, SHARE, Tree, refuse_oblique


def prune(
    tree: Any,
    method: Literal["error-based", "reduced-error", "pessimistic", "redundant"],
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    **options: Any,
) -> Tree:
    """Return a pruned copy of a tree.

    Parameters
    ----------
    tree : Tree or model
        A classification tree, or anything :func:`keeptree.keep` accepts.
    method : {"error-based", "reduced-error", "pessimistic", "redundant"}
        - ``"error-based"``: as in C4.5 and J48, a node becomes a leaf, or is replaced by its
          largest branch, where this does not increase the upper confidence limit of the training
          errors. X and y are the training rows; the new tree has their counts. Options:
          ``confidence_factor=0.25``, ``subtree_raising=True`` (False needs no X and uses the tree's
          own counts).
        - ``"reduced-error"``: a node becomes a leaf where this does not increase the errors on X
          and y, rows that the tree was not grown on. The tree keeps its counts.
        - ``"pessimistic"``: a node becomes a leaf where this does not increase the training errors
          plus half an error per leaf. Without X and y, the tree's own counts are used. Option:
          ``penalty=0.5``.
        - ``"redundant"``: sibling leaves that assign the same class are merged repeatedly. The
          decisions stay the same. Needs no data.
    X : array-like or data frame of shape (n, d), optional
        Rows with the tree's columns.
    y : array-like of shape (n,), optional
        Classes of the rows.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    **options
        See ``method``.

    Returns
    -------
    pruned : Tree
        A new tree; the given one is not changed.

    Examples
    --------
    >>> import keeptree as kt
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> grown = kt.C45Classifier(pruning="none", collapse=False).fit(X, y).tree_
    >>> grown.n_leaves, kt.prune(grown, "error-based", X, y).n_leaves
    (7, 5)
    >>> kt.prune(grown, "pessimistic", penalty=2).n_leaves
    3
    """
    tree = keep(tree)
    refuse_oblique(tree, "cannot be pruned here", "prune with the learner that grew the tree")
    if method not in _METHODS:
        raise ValueError(f"method must be one of {sorted(_METHODS)}, got {method!r}.")
    if tree.classes is None:
        raise ValueError(
            "A regression tree has no classes to prune by; give a classification tree."
        )
    return _METHODS[method](tree, _read_rows(tree, X, y, sample_weight), **options)


def quantile(confidence_factor):
    """Return the confidence factor in single precision, and its upper normal quantile."""
    factor = np.float32(confidence_factor)
    return float(factor), float(ndtri(float(np.float32(1) - factor)))


def prune_errors(shape, X, label, weight, confidence_factor, subtree_raising, tolerance=0.0):
    """Apply error-based pruning to a shape in place; its counts become those of the rows."""
    tested = np.unique(shape.feature[(shape.n_children > 0) & (shape.missing == SHARE)])
    factor, z = quantile(confidence_factor)
    options = PruneOptions(
        factor=factor,
        z=z,
        tolerance=tolerance,
        raising=bool(subtree_raising),
        complete=not np.isnan(X[:, tested]).any(),
    )
    prune_error_based(shape, Rows(X, label, weight), options)


def prune_reduced(shape, X, label, weight, classes_of_nodes, tolerance=0.0):
    """Apply reduced-error pruning to a shape in place, with rows that it was not grown on."""
    grown = shape.counts.sum(axis=1)
    tested = count_shape(shape, X, label, weight, grown, tolerance)
    prune_counts.prune_reduced_error(shape, tested, grown, classes_of_nodes)


def count_shape(shape, X, label, weight, grown=None, tolerance=0.0):
    """Return the counts of rows in each node; ``grown`` weights how missing values are shared."""
    counted = shape._replace(counts=np.zeros_like(shape.counts))
    grown = np.zeros(len(shape.feature)) if grown is None else grown
    count_rows(counted, Rows(X, label, weight), tolerance, grown)
    return counted.counts


def prune_pessimistic(shape, classes_of_nodes, penalty=0.5):
    """Apply pessimistic pruning to a shape in place, with ``penalty`` errors per leaf."""
    prune_counts.prune_pessimistic(shape, classes_of_nodes, penalty)


def collapse_shape(shape):
    """Collapse a shape in place as J48 does: remove splits that save no training error."""
    prune_counts.collapse_nodes(shape, label_shape(shape))


def _error_based(tree, rows, confidence_factor=0.25, subtree_raising=True):
    if not 0 < confidence_factor <= 1:
        raise ValueError(f"confidence_factor must be in (0, 1], got {confidence_factor!r}.")
    shape, _ = tree_to_shape(tree)
    if rows is None:
        if subtree_raising:
            raise ValueError(
                "Subtree raising sends training rows down other branches and needs them; pass X "
                "and y, or subtree_raising=False."
            )
        X, label, weight = np.zeros((0, tree.n_features)), np.zeros(0, dtype=np.int64), np.zeros(0)
    else:
        X, label, weight = rows
        shape = shape._replace(counts=count_shape(shape, X, label, weight))
    prune_errors(shape, X, label, weight, confidence_factor, subtree_raising)
    return shape_to_tree(shape, **_metadata(tree))


def _reduced_error(tree, rows):
    if rows is None:
        raise ValueError(
            "Reduced-error pruning needs rows that the tree was not grown on; pass them as X and y."
        )
    shape, nodes = tree_to_shape(tree)
    label = _declared_label(tree, nodes)
    prune_reduced(shape, *rows, label)
    return shape_to_tree(shape, label, **_metadata(tree))


def _pessimistic(tree, rows, penalty=0.5):
    if not penalty >= 0:
        raise ValueError(f"penalty must not be negative, got {penalty!r}.")
    shape, nodes = tree_to_shape(tree)
    label = _declared_label(tree, nodes)
    kept_counts = shape.counts
    if rows is not None:
        shape = shape._replace(counts=count_shape(shape, *rows))
    prune_pessimistic(shape, label, penalty)
    return shape_to_tree(shape._replace(counts=kept_counts), label, **_metadata(tree))


def _redundant(tree, rows):
    shape, nodes = tree_to_shape(tree)
    label = _declared_label(tree, nodes)
    prune_counts.merge_same_answers(shape, label)
    return shape_to_tree(shape, label, **_metadata(tree))


_METHODS = {
    "error-based": _error_based,
    "reduced-error": _reduced_error,
    "pessimistic": _pessimistic,
    "redundant": _redundant,
}


def _declared_label(tree, nodes):
    """Return the class of each node as a position in declared order, as a Shape has it."""
    return np.argsort(tree.declared).astype(np.int32)[tree.label[nodes]]


def _metadata(tree):
    names = ("n_features", "feature_names", "categories", "compare_dtype")
    kept = {name: getattr(tree, name) for name in names}
    return kept | {"classes": tree.classes[tree.declared], "source": dict(tree.source)}


def _read_rows(tree, X, y, sample_weight):
    """Return X, class codes and weights for the compiled functions, or None without data."""
    if X is None and y is None:
        return None
    if X is None or y is None:
        raise ValueError("Only one of X and y was given; pass both, or neither.")
    X = tree.encode(X)
    if tree.compare_dtype == "float32":
        X = X.astype(np.float32).astype(np.float64)
    y = column_or_1d(y)
    check_consistent_length(X, y)
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    label = label_codes(y, tree.classes[tree.declared])
    refuses = np.unique(tree.feature[(tree.kind != LEAF) & (tree.missing == ERROR)])
    if np.isnan(X[:, refuses]).any():
        raise ValueError("X has missing values where the tree has no rule for them; fill them in.")
    present = weight > 0
    return X[present], label[present], weight[present]
