"""Trees like the kept one, which the soft expert averages with it in a small sample.

A single tree depends on chance: another sample of the same cases would give another one. Averaging
trees that are grown on resampled cases removes much of that variance (Breiman 2001, Random
forests). The kept tree decides alone; these trees are part of the estimate. They use the attributes
that the kept tree tests, and other ones only if ``sample.more`` allows it.
"""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from keeptree.probability.further_tests import is_large
from keeptree.probability.trees_beside import Scaled, place_beside
from keeptree.tree import NOMINAL, NUMERIC

_TREES = 16  # a power of two, so that all have the same weight
_LEAVES = 32
_SHRINKAGE = 0.1  # pseudo-cases that each node takes over from its parent


def grow_similar_trees(sample):
    """Return trees beside the tree of a sample and the probabilities of their nodes, or None.

    Each tree is grown on as many cases of each class as the sample has, drawn with replacement. A
    large sample needs none, and trees that test nominal columns have none.

    Returns
    -------
    similar : tuple of LeafSplits and ndarray, or None
        The splits, and the probabilities of the nodes that they add, in order. The leaf that they
        divide comes first.
    """
    kind = sample.tree.kind
    if is_large(sample) or (kind == NOMINAL).any() or not (kind == NUMERIC).any():
        return None
    scaled, present = Scaled(sample), sample.present
    if len(scaled.columns) == 0 or len(np.unique(present.y)) < 2:
        return None
    X = scaled.rows(present.X)
    grown = _grow(X, present.y, present.weight)
    splits, nodes = place_beside(sample.tree, grown, scaled, weight=_TREES)
    n_classes, first = len(sample.tree.classes), sample.tree.n_nodes + 1
    values = np.full((1 + 2 * len(splits.node), n_classes), 1 / n_classes)
    for tree, numbers in zip(grown, nodes, strict=True):
        values[numbers - first] = _probabilities(tree, X, present.y, present.weight, n_classes)
    return splits, values


def _grow(X, y, weight):
    """Return trees grown on resampled cases, as scikit-learn's ``tree_``."""
    draws, grown = np.random.default_rng(0), []
    for seed in range(_TREES):
        drawn = np.zeros(len(y))
        for c in np.unique(y):
            members = np.flatnonzero(y == c)
            drawn[members] = np.bincount(
                draws.integers(len(members), size=len(members)), minlength=len(members)
            )
        learner = DecisionTreeClassifier(
            max_features="sqrt", max_leaf_nodes=_LEAVES, random_state=seed
        )
        grown.append(learner.fit(X, y, drawn * weight).tree_)
    return grown


def _probabilities(tree, X, y, weight, n_classes):
    """Return the class shares of all cases in each node, shrunk towards those of its parent."""
    reached = tree.decision_path(X.astype(np.float32))
    counts = np.stack([reached.T @ np.where(y == c, weight, 0.0) for c in range(n_classes)], axis=1)
    p = np.empty_like(counts)
    p[0] = (counts[0] + 1) / (counts[0] + 1).sum()
    for node in np.flatnonzero(tree.children_left >= 0):  # a node comes before its children
        for child in (tree.children_left[node], tree.children_right[node]):
            pseudo = counts[child] + _SHRINKAGE * p[node]
            p[child] = pseudo / pseudo.sum()
    return p
