"""Error rates of a tree, estimated from its training counts."""

from typing import Any, Literal

import numpy as np

from keeptree.choice import one_of
from keeptree.importers import keep
from keeptree.learners.prune import quantile
from keeptree.tree import LEAF

METHODS = ("optimistic", "pessimistic", "error-based")


def tree_error(
    tree: Any,
    method: Literal["optimistic", "pessimistic", "error-based"] = "pessimistic",
    *,
    penalty: float = 0.5,
    confidence_factor: float = 0.25,
) -> float:
    """Return the error rate of a tree, estimated from its own class counts.

    Parameters
    ----------
    tree : Tree or model
        A classification tree with counts, or anything :func:`keeptree.keep` accepts.
    method : {"optimistic", "pessimistic", "error-based"}
        - ``"optimistic"``: the training errors (resubstitution).
        - ``"pessimistic"``: the training errors plus ``penalty`` for every leaf.
        - ``"error-based"``: as in C4.5, the upper confidence limit of the training errors in every
          leaf, as if they came from a binomial distribution.
    penalty : float, default=0.5
        Errors added for each leaf by ``"pessimistic"``.
    confidence_factor : float in (0, 1], default=0.25
        Confidence factor of ``"error-based"``; smaller is more pessimistic.

    Returns
    -------
    error : float
        Expected errors divided by cases. ``"pessimistic"`` can exceed 1.

    Notes
    -----
    All three use only the sample that the tree was grown on, and none replaces held-out cases: the
    first is always too optimistic, and the others are rules of thumb for comparing subtrees in
    pruning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> from keeptree.evaluation import tree_error
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = kt.C45Classifier().fit(X, y).tree_
    >>> [round(tree_error(tree, m), 3) for m in ("optimistic", "pessimistic", "error-based")]
    [0.02, 0.037, 0.064]
    """
    tree, method = keep(tree), one_of(METHODS, method, "error estimate")
    if tree.classes is None:
        raise ValueError("A regression tree has no errors to count; give a classification tree.")
    total = tree.weight[0]
    if not total > 0:
        raise ValueError("The tree has no class counts; add them with kt.keep(tree, X, y).")
    leaves = np.flatnonzero((tree.kind == LEAF) & (tree.weight > 0))
    weight = tree.weight[leaves]
    errors = np.maximum(weight - tree.counts[leaves, tree.label[leaves]], 0.0)
    if method == "error-based":
        if not 0 < confidence_factor <= 1:
            raise ValueError(f"confidence_factor must be in (0, 1], got {confidence_factor!r}.")
        errors = upper_errors(weight, errors, confidence_factor)
    if method == "pessimistic":
        if not penalty >= 0:
            raise ValueError(f"penalty must not be negative, got {penalty!r}.")
        return float((errors.sum() + penalty * tree.n_leaves) / total)
    return float(errors.sum() / total)


def tree_errors(tree):
    """Return all estimates of :func:`tree_error` by name."""
    return {method: tree_error(tree, method) for method in METHODS}


def upper_errors(weight, errors, confidence_factor=0.25):
    """Return the upper confidence limit of the errors in leaves, as in C4.5 and J48.

    Examples
    --------
    >>> upper_errors([6.0, 9.0, 1.0], [0.0, 0.0, 0.0]).round(3)   # Quinlan's 6 x 0.206, ...
    array([1.238, 1.285, 0.75 ])
    """
    weight, errors = np.asarray(weight, dtype=float), np.asarray(errors, dtype=float)
    factor, z = quantile(confidence_factor)
    if factor > 0.5:
        return errors.copy()
    none = weight * (1 - factor ** (1 / weight))
    few = none + errors * (_limit(weight, np.ones_like(errors), z) - none)
    return np.where(errors < 1, few, _limit(weight, errors, z)) + 0.0


def _limit(weight, errors, z):
    """Return the limit for at least one error: Wilson's, with half an error added."""
    share = np.minimum((errors + 0.5) / weight, 1.0)
    root = np.sqrt(share / weight - share**2 / weight + z**2 / (4 * weight**2))
    limit = (share + z**2 / (2 * weight) + z * root) / (1 + z**2 / weight) * weight
    return np.where(errors + 0.5 >= weight, np.maximum(weight, errors), limit)
