"""ConfDTree in the graph: the predictions of all nodes, from the leaves to the root.

The prediction of a node is that of the child a row follows, corrected by the intervals of the node
(Katz et al. 2012). It does not depend on how a row came there, but for one thing: below a missing
value the method is off, hence a second, plain prediction of every node.
"""

import numpy as np

from keeptree._compiled.confdtree import (
    FINE,
    HIGH,
    HIGH_OTHER,
    LOW,
    LOW_OTHER,
    PRESENT,
    RECEIVES,
    ROUTE_WEIGHT,
    TAKES_PART,
    TIE,
)
from keeptree.tree import LEAF, NUMERIC


def add_confdtree(cases, place, model):
    """Probabilities of each row: (rows, classes).

    Parameters
    ----------
    cases : Cases
        The rows.
    place : dict
        Column of the tree -> column of the cases.
    model : ConfDTreeClassifier
        Fitted.
    """
    tree, program = model.tree_.lifted, model.walk_.program
    plain, corrected = {}, {}
    for node in tree.preorder[::-1].tolist():
        if tree.kind[node] == LEAF:
            value = cases.graph.constant(program.leaf_value[[node]])
            plain[node] = corrected[node] = value
            continue
        test = _Test(cases, place, tree, program, node)
        missing = test.without_value(plain)
        plain[node] = cases.graph.where(test.unknown, missing, test.follow(plain))
        p = test.follow(corrected)
        if program.steps[node, TAKES_PART]:
            p = test.correct(p, corrected)
        corrected[node] = cases.graph.where(test.unknown, missing, p)
        for child in test.children:
            del plain[child], corrected[child]
    p = corrected[0] + cases.graph.fill(cases.rows, 0.0, np.float64, 1)
    return p / p.sum()


class _Test:
    """One test of the tree: where rows go, and how its intervals correct a prediction."""

    def __init__(self, cases, place, tree, program, node):
        self._graph, self._tree, self._program, self._node = cases.graph, tree, program, node
        self.children = tree.children(node).tolist()
        self._value = cases.compared.take([place[int(tree.feature[node])]])
        self.unknown = self._value.is_nan()
        if tree.kind[node] == NUMERIC:
            above = self._value > float(tree.threshold[node])
            self._goes = [~above, above]
            return
        known = self._graph.where(self.unknown, self._graph.constant(0.0), self._value)
        self._code = known.at_least(0.0).cast(np.int64)
        taken = self._graph.constant(tree.category_children(node), np.int64).take(self._code, 0)
        self._goes = [taken.equals(child) for child in self.children]

    def follow(self, predictions):
        """Return the predictions of the children that rows with a known value follow."""
        result = predictions[self.children[0]]
        for child, goes in zip(self.children[1:], self._goes[1:], strict=True):
            result = self._graph.where(goes, predictions[child], result)
        return result

    def without_value(self, predictions):
        """Return the prediction for rows whose value is missing."""
        goes = int(self._tree.missing[self._node])
        if goes >= 0:
            return predictions[goes]
        shares = self._tree.shares[self.children]
        parts = zip(self.children, (shares / shares.sum()).tolist(), strict=True)
        return _total([predictions[child] * share for child, share in parts])

    def correct(self, p, predictions):
        """Apply alternative routes or a fine to rows outside the intervals."""
        leads, leader = self._leader(p)
        checked, inside, within = self._judge(leader)
        alternative = within & ~leads
        some = alternative.cast(np.float64).max() > 0.0
        outside = checked & ~inside
        mixed, several = self._reroute(alternative, predictions)
        fined, imposed = self._fine(p, leads, leader)
        p = self._graph.where(outside & some & several, mixed, p)
        return self._graph.where(outside & ~some & imposed, fined, p)

    def _leader(self, p):
        """Return the most probable class, the first declared of ties, as a mask and a position."""
        graph, order = self._graph, self._program.declared
        tied = ~(p.take(order) < p.max() - TIE)
        rank = graph.where(tied, graph.constant(np.arange(len(order))), len(order))
        first = rank.cast(np.float64).min().cast(np.int64)
        leader = graph.constant(order).take(first, axis=0)
        return graph.constant(np.arange(len(order))).equals(leader), leader

    def _judge(self, leader):
        """Return whether the leader has an interval, if it holds the value, and which others do."""
        graph, rules = self._graph, self._program.rules[self._node]
        low, high = (graph.constant(rules[:, k].copy()).take(leader, 0) for k in (LOW, HIGH))
        checked = ~low.is_nan()
        if self._tree.kind[self._node] == NUMERIC:
            inside = ~((self._value < low) | (self._value > high))
            least = np.where(np.isnan(rules[:, LOW_OTHER]), np.inf, rules[:, LOW_OTHER])
            most = np.where(np.isnan(rules[:, HIGH_OTHER]), -np.inf, rules[:, HIGH_OTHER])
            return checked, inside, ~((self._value < least) | (self._value > most))
        start, end = self._tree.category_start[self._node : self._node + 2]
        usual = self._program.characteristic[start:end]
        of_leader = graph.constant(((usual & 1) > 0).astype(np.int64).ravel())
        inside = of_leader.take(self._code * usual.shape[1] + leader, 0) > 0
        codes = self._code.flat()
        return (
            checked,
            inside,
            graph.constant(((usual & 2) > 0).astype(np.int64)).take(codes, 0) > 0,
        )

    def _reroute(self, alternative, predictions):
        """Average the children by the alternative classes; return also if there are several."""
        weight = self._program.rules[self.children][:, :, ROUTE_WEIGHT]
        weight = alternative.cast(np.float64) @ weight.T
        parts, others = [], []
        for b, (child, goes) in enumerate(zip(self.children, self._goes, strict=True)):
            parts.append(predictions[child] * weight.take([b]))
            others.append((weight.take([b]) > 0.0) & ~goes)
        several = others[0]
        for other in others[1:]:
            several = several | other
        total = self._graph.where(several, weight.sum(), self._graph.constant(1.0))
        return _total(parts) / total, several

    def _fine(self, p, leads, leader):
        """Return the prediction after fining its largest class, and whether a fine is due."""
        graph, program, zero = self._graph, self._program, self._graph.constant(0.0)
        present = program.rules[self._node, :, PRESENT] > 0
        receives = graph.constant(np.where(present, program.fines[RECEIVES], 0.0)[None])
        if not program.to_all:
            receives = graph.where(leads, zero, receives)
        total = receives.sum()
        amount = graph.where(leads, p, zero).sum() * graph.constant(program.fines[FINE]).take(
            leader, 0
        )
        imposed = (total > 0.0) & (amount > 0.0)
        shares = receives / graph.where(imposed, total, graph.constant(1.0))
        return graph.where(leads, p - amount, p) + amount * shares, imposed


def _total(parts):
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
