"""Similar trees, which the soft expert averages with the kept tree in a small sample.

Another sample would give another tree. Averaging trees with randomly drawn thresholds removes much
of this variance (Geurts, Ernst and Wehenkel 2006, Extremely randomized trees). The kept tree alone
decides; similar trees only change the estimate. They use the attributes that the kept tree tests,
and other ones only if ``sample.more`` allows it.
"""

import numpy as np
from sklearn.tree import ExtraTreeClassifier

from keeptree.probability.further_tests import is_large
from keeptree.probability.leaf_splits import EVENLY
from keeptree.probability.trees_beside import Scaled, place_beside
from keeptree.tree import NOMINAL, NUMERIC

_TREES = 64  # a power of two, so that all have the same weight
_LEAVES = 32
_COLUMNS = 0.5  # share of the columns for which each node draws a threshold; it uses the best
_SHRINKAGE = 0.1  # pseudo-cases that each node takes over from its parent


def wants_similar_trees(tree, sample):
    """Return whether the soft expert averages a tree with similar trees.

    Similar trees gained nothing in large samples, and they cannot test nominal columns.
    """
    return not is_large(sample) and not (tree.kind == NOMINAL).any()


def grow_similar_trees(sample):
    """Return trees beside the tree of a sample and the probabilities of their nodes, or None.

    There are none if the sample has one class, the tree has no numeric test, or float32 can hold
    none of the columns.

    Returns
    -------
    similar : tuple of LeafSplits and ndarray, or None
        The splits, and the probabilities of the nodes that they add, in order. The leaf that they
        divide comes first.
    """
    scaled, present = Scaled(sample), sample.present
    numeric = (sample.tree.kind == NUMERIC).any() and len(scaled.columns) > 0
    if not numeric or len(np.unique(present.y)) < 2:
        return None
    grown = _grow(scaled.rows(present.X), present.y, present.weight)
    splits = place_beside(sample.tree, grown, scaled, weight=_TREES)
    return splits, _probabilities(splits, present)


def _grow(X, y, weight):
    """Return trees with random thresholds, as scikit-learn's ``tree_``."""
    learners = (
        ExtraTreeClassifier(max_features=_COLUMNS, max_leaf_nodes=_LEAVES, random_state=seed)
        for seed in range(_TREES)
    )
    return [learner.fit(X, y, weight / weight.max()).tree_ for learner in learners]


def _probabilities(splits, sample):
    """Return the class shares of all cases in each node, shrunk towards those of its parent.

    Cases are sent through the splits, because scikit-learn's trees read rounded values.
    """
    X, y, weight, tree = sample.X, sample.y, sample.weight, sample.tree
    n_classes, first = len(tree.classes), tree.n_nodes + 1
    p, reached = np.empty((1 + 2 * len(splits.node), n_classes)), {first: np.arange(len(y))}
    p[0] = np.bincount(y, weight, n_classes) + 1
    p[0] /= p[0].sum()
    for k, node in enumerate(splits.node.tolist()):
        rows, missing = reached.pop(node), splits.missing[k]
        left = right = rows
        if missing != EVENLY:
            value = X[rows, splits.feature[k]].astype(tree.compare_dtype).astype(np.float64)
            goes = np.where(np.isnan(value), missing == 0, value <= splits.threshold[k])
            left, right = rows[goes], rows[~goes]
        for child, part in ((first + 1 + 2 * k, left), (first + 2 + 2 * k, right)):
            pseudo = np.bincount(y[part], weight[part], n_classes) + _SHRINKAGE * p[node - first]
            reached[child], p[child - first] = part, pseudo / max(pseudo.sum(), 1e-300)
    return p
