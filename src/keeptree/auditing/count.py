"""Sums over new cases for an audit, accumulated block by block."""

import numpy as np

from keeptree.data.labels import label_codes
from keeptree.explanation.unfamiliar import UnfamiliarCount
from keeptree.probability.expectation import BINS, Expectation, bin_probabilities
from keeptree.probability.smoothing import smoothed_nodes
from keeptree.tree import LEAF

NO_OUTCOME, NEW_CLASS = -1, -2  # in place of the position of a class


class AuditCount:
    """Sums over blocks of encoded rows; memory does not grow with the number of rows.

    Parameters
    ----------
    model : fitted KeepTree classifier
        The model that is audited.

    Attributes
    ----------
    expectation : Expectation
        What was expected at fit; for a model without probabilities, from the counts of the tree.
    rows : int
        Number of rows.
    below : list of ndarray
        For each column of ``model.reference_``: the number of rows up to each of its points, or in
        each category.
    known : ndarray
        Number of rows with a value in each of these columns.
    leaf_cases, leaf_expected, leaf_outcomes, leaf_right, leaf_hoped : ndarray of shape (n_nodes,)
        For each leaf: number of rows; sum of the probabilities that the decision is right; rows
        with a known outcome; right decisions among them; sum of their probabilities.
    squares, hoped_squares : float
        Sums of squares of these probabilities, of all rows and of those with an outcome.
    leaf_classes : ndarray of shape (n_nodes, n_classes)
        Outcomes of each class in each leaf.
    confusion : ndarray of shape (n_classes, n_classes)
        True classes in rows, decisions in columns.
    own : OwnCount or None
        The same for the decisions of a model that does not follow the tree.
    class_sums, class_sum_squares : ndarray of shape (n_classes,)
        Sum of the probabilities of each class over all rows, and of their squares.
    class_expected, class_squares : ndarray of shape (n_classes,)
        Sum of the probabilities of each class over the rows with an outcome, and of their squares.
    bins : ndarray of shape (10, 3)
        Reliability of the most probable class: cases, sum of its probabilities, cases of it.
    new_classes : int
        Rows whose outcome is a class that the tree does not know.
    """

    def __init__(self, model):
        tree, reference = model.tree_, model.reference_
        self.model, self.tree, self.reference = model, tree, reference
        self.rows = self.new_classes = 0
        self.squares = self.hoped_squares = 0.0
        self.below = [np.zeros(len(counts), dtype=np.int64) for counts in reference.below]
        self.known = np.zeros(len(reference.columns), dtype=np.int64)
        self.leaf_cases, self.leaf_outcomes, self.leaf_right = np.zeros((3, tree.n_nodes), int)
        self.leaf_expected, self.leaf_hoped = np.zeros((2, tree.n_nodes))
        n_classes = len(tree.classes)
        self.leaf_classes = np.zeros((tree.n_nodes, n_classes), dtype=np.int64)
        self.confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
        self.class_sums, self.class_sum_squares = np.zeros((2, n_classes))
        self.class_expected, self.class_squares = np.zeros((2, n_classes))
        self.bins = np.zeros((BINS, 3))
        self._new = UnfamiliarCount(model)
        self.own = None if getattr(model, "decide", "tree") == "tree" else OwnCount(model)
        self.expectation = getattr(model, "expected_", None)
        self._probability = getattr(model, "predict_proba_encoded", None)
        if self.expectation is None or self._probability is None:
            shares = smoothed_nodes(tree, "laplace")
            self.expectation = expect_from_counts(tree, shares, reference.rows)
            self._probability = lambda rows: tree.leaf_average(rows, shares)

    def add(self, rows, unseen, outcome=None):
        """Add a block.

        Parameters
        ----------
        rows : ndarray of shape (n, n_features)
            Encoded rows.
        unseen : dict
            Categories that the tree does not know, as
            :func:`~keeptree.explanation.unfamiliar.find_unseen` returns them.
        outcome : ndarray of shape (n,), optional
            Positions of the true classes in ``tree.classes``; ``NO_OUTCOME`` where it is not known
            yet, ``NEW_CLASS`` where the tree does not know it.
        """
        self.rows += len(rows)
        self._new.add(rows, unseen)
        self._add_columns(rows)
        leaf, decision = self.tree.route(rows), self.tree.decide(rows)
        self.leaf_cases += self._by_leaf(leaf)
        p = self._probability(rows)
        right = p[np.arange(len(rows)), decision]
        self.leaf_expected += self._by_leaf(leaf, right)
        self.squares += float(right @ right)
        if self.own is not None:
            self.own.add(rows, p, decision, outcome)
        self.class_sums += p.sum(axis=0)
        self.class_sum_squares += (p**2).sum(axis=0)
        if outcome is not None:
            self._add_outcomes(leaf, decision, p, np.asarray(outcome))

    def unfamiliar(self):
        """Return the values that the training sample did not have."""
        return self._new.result()

    @property
    def has_outcomes(self):
        """Whether the outcome of any row is known."""
        return bool(self.leaf_outcomes.any())

    def _by_leaf(self, leaf, values=None):
        return np.bincount(leaf, values, minlength=self.tree.n_nodes)

    def _add_columns(self, rows):
        for k, (f, points) in enumerate(
            zip(self.reference.columns.tolist(), self.reference.points, strict=True)
        ):
            values = rows[:, f]
            values = values[~np.isnan(values)]
            self.known[k] += len(values)
            if self.tree.categories[f] is not None:
                size = len(self.below[k])
                self.below[k] += np.bincount(values.astype(np.int64), minlength=size)
            elif len(points):
                place = np.searchsorted(points, values, side="left")
                self.below[k] += np.cumsum(np.bincount(place, minlength=len(points) + 1)[:-1])

    def _add_outcomes(self, leaf, decision, p, outcome):
        known = outcome != NO_OUTCOME
        leaf, decision, outcome = leaf[known], decision[known], outcome[known]
        right = outcome == decision
        self.new_classes += int((outcome == NEW_CLASS).sum())
        self.leaf_outcomes += self._by_leaf(leaf)
        self.leaf_right += self._by_leaf(leaf[right])
        told = outcome >= 0
        np.add.at(self.leaf_classes, (leaf[told], outcome[told]), 1)
        np.add.at(self.confusion, (outcome[told], decision[told]), 1)
        p = p[known]
        hoped = p[np.arange(len(leaf)), decision]
        self.leaf_hoped += self._by_leaf(leaf, hoped)
        self.hoped_squares += float(hoped @ hoped)
        self.class_expected += p.sum(axis=0)
        self.class_squares += (p**2).sum(axis=0)
        self.bins += bin_probabilities(p.max(axis=1), p.argmax(axis=1) == outcome)


class OwnCount:
    """Sums over the decisions of a model that decides by cost or by probability.

    Parameters
    ----------
    model : fitted KeepTree classifier
        The model.

    Attributes
    ----------
    rows, differing : int
        Number of rows, and of those where the decision is not the tree's.
    hoped : float
        Sum of the probabilities that the model's decisions are right.
    expected_costs, costs : ndarray of shape (2,)
        Sums of the costs of the model's and of the tree's decisions: expected from the
        probabilities, and of the known outcomes.
    outcomes, right : int
        Rows with a known class, and right decisions of the model among them.
    """

    def __init__(self, model):
        self.model, self.matrix = model, model.cost_matrix
        self.rows = self.differing = self.outcomes = self.right = 0
        self.hoped = 0.0
        self.expected_costs, self.costs = np.zeros((2, 2))

    def add(self, rows, p, by_tree, outcome=None):
        """Add encoded rows with their probabilities, the tree's decisions and the outcomes."""
        decision = label_codes(self.model.predict_encoded(rows), self.model.tree_.classes)
        self.rows += len(rows)
        self.differing += int((decision != by_tree).sum())
        self.hoped += float(p[np.arange(len(p)), decision].sum())
        told = np.zeros(len(rows), dtype=bool) if outcome is None else np.asarray(outcome) >= 0
        self.outcomes += int(told.sum())
        if told.any():
            self.right += int((decision == outcome)[told].sum())
        if self.matrix is None:
            return
        for k, decided in enumerate((decision, by_tree)):
            self.expected_costs[k] += (p * self.matrix[:, decided].T).sum()
            if told.any():
                self.costs[k] += self.matrix[np.asarray(outcome)[told], decided[told]].sum()


def expect_from_counts(tree, shares, rows):
    """Return the :class:`Expectation` of a sample of ``rows`` cases from a tree's own counts.

    ``shares`` are the class probabilities of the nodes.
    """
    weight = np.where(tree.kind == LEAF, tree.weight, 0.0)
    cases = np.maximum(np.rint(weight * (rows / weight.sum())), weight > 0)
    classes = cases[:, None] * shares
    right = classes[np.arange(tree.n_nodes), tree.label]
    squares = float((right * shares[np.arange(tree.n_nodes), tree.label]).sum())
    return Expectation(cases.astype(np.int64), right, squares, unseen=False, classes=classes)


def tested_columns(tree):
    """Return the columns that the tree tests, starting with the one that most cases pass."""
    width = np.diff(tree.term_start)
    feature = np.concatenate([tree.feature, tree.term_feature])
    weight = np.concatenate([tree.weight, np.repeat(tree.weight, width)])
    tests = feature >= 0
    passed = np.bincount(feature[tests], weight[tests], minlength=tree.n_features)
    order = np.argsort(-passed, kind="stable")
    return [f for f in order.tolist() if passed[f] > 0]
