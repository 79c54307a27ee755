"""ConfDTree: the probabilities of every node, corrected on the way to the root."""

import numpy as np

from keeptree.exporters.sql.decision import largest_at_most
from keeptree.text import plural
from keeptree.tree import ERROR, SHARE

_MOST = 600  # tests times classes
_LARGEST = 1.7e308  # bounds from here on are infinite
_CLOSE = 1e-12  # probabilities within this of the largest one tie
_AS_IT_WAS, _FINED, _BLENDED = range(3)


class ConfDTree:
    """Probabilities below each node as columns, those of the children first.

    A row is scored in every subtree, as an alternative route may lead to any of them.

    Parameters
    ----------
    formulas : Formulas
        The columns and the tests of the tree.
    model : dict
        The kind ``confdtree`` of :func:`keeptree.exporters.plain_model.plain_model`.
    """

    def __init__(self, formulas, model):
        self.model, self.tree, self.texts = model, formulas.data["tree"], formulas.tree
        self.inputs, self.steps, self.spell = formulas.inputs, formulas.steps, formulas.spell
        self.n_classes = formulas.n_classes
        self._unchecked = {}
        size = len(model["checks"]) * self.n_classes
        if size > _MOST:
            raise ValueError(
                f"This ConfDTreeClassifier has {plural(len(model['checks']), 'test')} that correct "
                f"{plural(self.n_classes, 'class', 'classes')}, and a query may have {_MOST:,} "
                "corrections; prune the tree, or export the model to Python, JavaScript or C."
            )

    def probabilities(self):
        """Text of the probability of each class."""
        p = {}
        for node in reversed(self._preorder()):
            p[node] = self._below(node, p)
        total = self.steps.named("t", " + ".join(p[0]))
        return [f"{value} / {total}" for value in p[0]]

    def _preorder(self):
        order, todo = [], [0]
        while todo:
            order.append(todo.pop())
            todo += self.tree["children"][order[-1]]
        return order

    def _below(self, node, p):
        """Return the columns of probabilities of a node; ``p`` holds those of the nodes below."""
        if not self.tree["children"][node]:
            return self._leaf(node)
        at, rule = self.tree["attribute"][node], self.model["checks"].get(str(node))
        taken = self._columns(self._taken(node, p))
        corrected = taken if rule is None else self._correct(node, rule, taken, p)
        if all(missing == ERROR for missing in self.tree["missing"]):
            return corrected
        missing = self.texts.is_missing(at)
        unchecked = self._missing(node)
        return self._columns(
            f"CASE WHEN {missing} THEN {other} ELSE {own} END"
            for own, other in zip(corrected, unchecked, strict=True)
        )

    def _leaf(self, node):
        return [self.spell.value(value) for value in self.model["values"][node]]

    def _columns(self, texts):
        return [self.steps.named("f", text) for text in texts]

    def _taken(self, node, p):
        """Texts of the probabilities of the child that the row goes to."""
        zero = self.spell.value(0.0)
        return [
            self.texts.branches(node, lambda child, c=c: p[child][c], zero)
            for c in range(self.n_classes)
        ]

    def _without_checks(self, node):
        """Columns of the average of the leaves below a node, without corrections."""
        if node not in self._unchecked:
            children = self.tree["children"][node]
            if not children:
                return self._leaf(node)
            known = self._taken(node, {child: self._without_checks(child) for child in children})
            missing = self.texts.is_missing(self.tree["attribute"][node])
            self._unchecked[node] = self._columns(
                f"CASE WHEN {missing} THEN {other} ELSE {own} END"
                for own, other in zip(known, self._missing(node), strict=True)
            )
        return self._unchecked[node]

    def _missing(self, node):
        """Texts of the probabilities of a row whose value is missing at a node."""
        goes = self.tree["missing"][node]
        if goes not in (SHARE, ERROR):
            return self._without_checks(goes)
        children = [k for k in self.tree["children"][node] if self.tree["share"][k] > 0]
        shares = [self.tree["share"][child] for child in children]
        below = [self._without_checks(child) for child in children]
        return [
            " + ".join(
                f"{self.spell.number(share / sum(shares))} * {p[c]}"
                for share, p in zip(shares, below, strict=True)
            )
            for c in range(self.n_classes)
        ]

    def _correct(self, node, rule, taken, p):
        """Return the columns after a check: unchanged, fined, or averaged over several routes."""
        named, classes, zero = self.steps.named, range(self.n_classes), self.spell.value(0.0)
        children = self.tree["children"][node]
        most = named("m", self.spell.greatest(taken))
        close = self.spell.number(_CLOSE)
        ties = " ".join(f"WHEN {taken[c]} >= {most} - {close} THEN {c}" for c in self._declared())
        leader = named("l", f"CASE {ties} END")
        other = [named("o", self._is_usual(node, rule, "other", c)) for c in classes]
        found = named("n", self._sum_of_others(leader, other))
        weights = [
            named("w", self._sum_of_others(leader, other, [weight[c] for c in classes]))
            for weight in rule["weight"]
        ]
        place = dict(zip(children, weights, strict=True))
        own = named("w", self.texts.branches(node, place.__getitem__, zero))
        total = named("w", " + ".join(weights))
        usual = [named("o", self._is_usual(node, rule, "interval", c)) for c in classes]
        unusual = " ".join(
            f"WHEN {c} THEN {usual[c]}" for c in classes if rule["interval"][c] is not None
        )
        if not unusual:
            return taken
        what = named(
            "k",
            f"CASE WHEN CASE {leader} {unusual} ELSE 1 END = 1 THEN {_AS_IT_WAS} "
            f"WHEN {found} = 0 THEN {_FINED} WHEN {total} > {own} THEN {_BLENDED} "
            f"ELSE {_AS_IT_WAS} END",
        )
        largest = named("m", self._pick(leader, taken))
        return self._columns(
            f"CASE {what} WHEN {_FINED} THEN {taken[c]} + {largest} * {self._fine(rule, leader, c)}"
            f" WHEN {_BLENDED} THEN "
            f"({' + '.join(f'{place[k]} * {p[k][c]}' for k in children)}) / {total} "
            f"ELSE {taken[c]} END"
            for c in classes
        )

    def _declared(self):
        return self.tree["declared"]

    def _sum_of_others(self, leader, other, weight=None):
        """Sum the weights of the classes other than the leader whose interval holds the value."""
        terms = []
        for c, inside in enumerate(other):
            value = 1.0 if weight is None else weight[c]
            if value:
                value = self.spell.value(value)
                terms.append(f"CASE WHEN {inside} = 1 AND {leader} <> {c} THEN {value} ELSE 0 END")
        return " + ".join(terms) or self.spell.value(0.0)

    def _fine(self, rule, leader, c):
        """Return the gain or loss of a class from a fine, depending on the class that is fined."""
        texts = []
        for of, fine in enumerate(self.model["fine"]):
            receives = [
                share if self.model["to_all"] or k != of else 0.0
                for k, share in enumerate(rule["receives"])
            ]
            total = sum(receives)
            gain = fine * (receives[c] / total - (c == of)) if total else 0.0
            texts.append(self.spell.value(gain))
        return self._pick(leader, texts)

    def _pick(self, leader, texts):
        cases = " ".join(f"WHEN {c} THEN {text}" for c, text in enumerate(texts))
        return f"CASE {leader} {cases} END"

    def _is_usual(self, node, rule, name, c):
        """1 if the value lies in an interval of a class, or its category is usual there; else 0."""
        at = self.tree["attribute"][node]
        if rule["usual"] is not None:
            bit = 1 if name == "interval" else 2
            return self.inputs.by_category(at, [str(int(u[c] & bit > 0)) for u in rule["usual"]], 0)
        if rule[name][c] is None:
            return "0"
        x, (low, high) = self.inputs.known(at), rule[name][c]
        moved = largest_at_most if self.tree["float32"] else float
        conditions = [f"{x} IS NOT NULL"]
        if low > -_LARGEST:
            below = moved(float(np.nextafter(low, -np.inf)))
            conditions.append(f"{x} > {self.spell.exact(below)}")
        if high < _LARGEST:
            conditions.append(f"{x} <= {self.spell.exact(moved(high))}")
        return f"CASE WHEN {' AND '.join(conditions)} THEN 1 ELSE 0 END"
