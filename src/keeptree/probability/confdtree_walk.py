"""The walk of ConfDTree from a leaf to the root, as arrays for the compiled function."""

from dataclasses import dataclass

import numpy as np

from keeptree._compiled.confdtree import Program, walk_rows
from keeptree.probability.confdtree_statistics import characteristic_categories, route_weights
from keeptree.probability.smoothing import smoothed_nodes
from keeptree.tree import ERROR, LEAF, Tree


@dataclass(frozen=True, eq=False)
class Walk:
    """A tree whose probabilities are corrected on the walk from the leaf to the root.

    Parameters
    ----------
    tree : Tree
        The kept tree.
    leaf_value : ndarray of shape (n_nodes, n_classes)
        Probabilities from which the walk starts.
    route_weight : ndarray of shape (n_nodes, n_classes)
        Weight of each node, as a child, for each class.
    characteristic : ndarray of shape (n_categories, n_classes)
        Which categories are usual in a class: bit 0 for the assigned class, bit 1 for the others.
    program : Program
        Arrays that the compiled function reads.
    """

    tree: Tree
    leaf_value: np.ndarray
    route_weight: np.ndarray
    characteristic: np.ndarray
    program: Program

    def correct(self, X, out, record=None):
        """Fill ``out`` with the corrected probabilities; return each row's changes and visits."""
        tally = np.empty((2, len(X)), dtype=np.int64)
        record = np.empty((0, 2)) if record is None else record
        walk_rows(X, self.program, out, tally, record)
        return tally

    def leaves(self, X):
        """Return the leaf probabilities of encoded rows, before any correction."""
        return self.tree.leaf_average(X, self.leaf_value)

    def probability(self, X, out):
        """Fill ``out`` with the probabilities of encoded, finite rows."""
        if self._refuses_missing and np.isnan(X).any():
            self.tree.route(X)  # raises the error that names the row and the column
        changes, _ = self.correct(X, out)
        shared = self.tree.shared_rows(X)
        same = shared[changes[shared] == 0]
        if len(same):
            # Add in the same order as the tree does, so that the results are equal to the last bit.
            out[same] = self.leaves(X[same])

    @property
    def _refuses_missing(self):
        return bool((self.tree.missing[self.tree.kind != LEAF] == ERROR).any())


def make_walk(tree, statistics, intervals, settings):
    """Return the walk of a tree with its statistics and intervals.

    Parameters
    ----------
    tree : Tree
        The kept tree.
    statistics : NodeStatistics
        Statistics of its nodes.
    intervals : Intervals
        Intervals of the classes in each node.
    settings : Settings
        The parameters and options of the classifier.

    Returns
    -------
    walk : Walk
        The walk, ready to correct rows.
    """
    class_weight, fine_scale = _balance(statistics.reached[0], settings.balance)
    # Use the tree's own proportions, because smoothed_nodes divides once more, which may change the
    # last bit.
    leaf_value = (
        tree.proportions
        if settings.smoothing == "leaves"
        else smoothed_nodes(tree, settings.smoothing, strength=settings.strength)
    )
    route_weight = route_weights(statistics, settings, class_weight)
    characteristic = characteristic_categories(tree, statistics, intervals, settings)
    bounds = [intervals.low[0], intervals.high[0], intervals.low[1], intervals.high[1]]
    arrays = (
        _steps(tree, intervals.takes_part),
        np.concatenate([tree.child, tree.category_child]).astype(np.int64),
        np.column_stack([tree.threshold, tree.shares]),
        leaf_value,
        np.stack([*bounds, route_weight, statistics.reached > 0], axis=-1),
        characteristic,
        np.stack([np.minimum(settings.fine * fine_scale, 1.0), class_weight]),
        tree.declared.astype(np.int64),
    )
    scalars = (settings.fine_to == "all", tree.compare_dtype == "float32", tree.max_depth + 1)
    program = Program(*(np.ascontiguousarray(array) for array in arrays), *scalars)
    return Walk(tree, leaf_value, route_weight, characteristic, program)


def _balance(counts, balance):
    """Return the weight of a case of each class, and the factor of the class's fine."""
    n_classes, share = len(counts), counts / counts.sum()
    if not balance:
        return np.ones(n_classes), np.ones(n_classes)
    with np.errstate(divide="ignore"):
        return np.where(share > 0, 1 / (n_classes * share), 0.0), n_classes * share


def _steps(tree, takes_part):
    """Return the integers that the compiled function reads for each node, one column each."""
    steps = np.zeros((tree.n_nodes + 1, 6), dtype=np.int64)
    steps[:-1, 0], steps[:-1, 1] = tree.kind, tree.feature
    steps[:, 2], steps[:, 3] = tree.child_start, len(tree.child) + tree.category_start
    steps[:-1, 4], steps[:-1, 5] = tree.missing, takes_part
    return steps
