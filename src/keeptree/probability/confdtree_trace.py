"""Traces: what ConfDTree did to one case, node by node, as data and in plain English."""

from dataclasses import dataclass

import numpy as np

from keeptree.text import number_text
from keeptree.tree import LEAF, NOMINAL, NUMERIC

# In the order of the codes in keeptree._compiled.confdtree.
_ACTIONS = (
    None,
    "leaf",
    "not checked",
    "off",
    "missing",
    "no interval",
    "inside",
    "rerouted",
    "fined",
)


@dataclass(frozen=True)
class TraceStep:
    """One node on the path of a case.

    Parameters
    ----------
    node : int
        The node of the tree.
    action : str
        ``"leaf"``: the leaf where the walk begins. ``"inside"``: the value is within the interval
        of the assigned class; nothing changes. ``"rerouted"``: all children are followed.
        ``"fined"``: the largest probability is reduced. ``"not checked"``: the test is skipped
        (nominal, too few cases, not normal). ``"no interval"``: the assigned class has none here.
        ``"missing"``: the case has no value for the test. ``"off"``: below a missing value.
    on_path : bool
        Whether the node is on the tree's own path for the case rather than on an alternative route.
    test : str or None
        The test of the node, e.g. ``"age <= 40"``; None in a leaf.
    value : object
        The case's value of the tested attribute; None in a leaf or if missing.
    assigned : object
        The class with the largest probability when the node was checked.
    kind : str or None
        ``"normal"``, ``"t"`` or ``"category"``; None if there was no interval to check.
    interval : tuple of float or None
        Bounds of the assigned class; for a nominal test, its usual categories.
    alternatives : dict
        Class -> bounds, for the other classes whose interval contains the value (if rerouted).
    weights : dict
        Child -> weight in the average; the weights sum to 1 (if rerouted).
    predictions : dict
        Child -> its probabilities, for the children that were followed.
    probability : ndarray
        Probabilities after this node.
    """

    node: int
    action: str
    on_path: bool
    test: str | None
    value: object
    assigned: object
    kind: str | None
    interval: tuple | None
    alternatives: dict
    weights: dict
    predictions: dict
    probability: np.ndarray


@dataclass(frozen=True)
class Trace:
    """What happened to one case.

    Parameters
    ----------
    steps : tuple of TraceStep
        In the order in which they were taken: from the leaf to the root, with each alternative
        route before the node that caused it.
    tree_probability, probability : ndarray of shape (n_classes,)
        Probabilities before and after the method.
    """

    steps: tuple
    tree_probability: np.ndarray
    probability: np.ndarray
    text: str

    @property
    def path(self):
        """The steps on the tree's own path, from the leaf to the root."""
        return tuple(step for step in self.steps if step.on_path)

    @property
    def changed(self):
        """Whether some step was rerouted or fined."""
        return any(step.action in ("rerouted", "fined") for step in self.steps)

    def __str__(self):
        return self.text


def trace_rows(model, X):
    """Trace of each row of an encoded matrix through a fitted ConfDTreeClassifier."""
    corrected, X = model.predict_proba_encoded(X), model.tree_.lift(X)
    plain = model.walk_.leaves(X)
    return [_Tracer(model, X[i : i + 1]).trace(plain[i], corrected[i]) for i in range(len(X))]


class _Tracer:
    """Turns the record of one row's walk into a trace."""

    def __init__(self, model, row):
        self.model, self.tree, self.row = model, model.tree_.lifted, row[0]
        record = np.zeros((self.tree.n_nodes, 2 + len(model.tree_.classes)))
        model.walk_.correct(row, np.empty((1, len(model.tree_.classes))), record)
        self.action, self.assigned = record[:, :2].astype(int).T
        self.prediction = record[:, 2:]
        self.steps, self.lines = [], []

    def trace(self, plain, corrected):
        """Return the trace of the row; without recursion, because trees may be very deep."""
        todo = [("enter", 0, 0, True)]
        while todo:
            event, node, indent, own = todo.pop()
            if event == "leave":
                step = self._step(node, own)
                self.steps.append(step)
                self._tell(step, indent)
            elif event == "others":
                self._tell_others(node, indent)
            else:
                todo.append(("leave", node, indent, own))
                todo.extend(self._below(node, indent, own))
        outcome = "unchanged" if not self._acted() else self._say(corrected)
        self.lines.append(f"Result: {outcome}.")
        return Trace(tuple(self.steps), plain, corrected, "\n".join(self.lines))

    def _acted(self):
        return any(step.action in ("rerouted", "fined") for step in self.steps)

    def _below(self, node, indent, own):
        """Return the children to visit before leaving a node, in reverse order.

        The child that the case itself follows is visited first.
        """
        if self.tree.kind[node] == LEAF:
            return []
        children = [int(c) for c in self.tree.children(node) if self.action[c]]
        action = _ACTIONS[self.action[node]]
        if action == "rerouted":
            first = self._followed(node)
            others = [("enter", c, indent + 1, False) for c in children[::-1] if c != first]
            return [*others, ("others", node, indent, own), ("enter", first, indent, own)]
        if action == "missing" and len(children) > 1:
            return [("enter", c, indent + 1, own) for c in children[::-1]]
        return [("enter", c, indent, own) for c in children]

    def _followed(self, node):
        value = np.array([node]), np.ones(1)
        return int(self.tree.descend(self.row[None], np.zeros(1, dtype=int), *value)[1][0])

    def _step(self, node, own):
        tree, model = self.tree, self.model
        classes, action = model.tree_.classes, _ACTIONS[self.action[node]]
        leader = int(self.assigned[node])
        children = [int(c) for c in tree.children(node)]
        judged = action in ("inside", "rerouted", "fined")
        alternatives, weights, kind = {}, {}, None
        if judged:
            kind = "normal" if model.intervals_.normal[node, leader] else "t"
            kind = "category" if tree.kind[node] == NOMINAL else kind
        if action == "rerouted":
            found = [c for c in range(len(classes)) if c != leader and self._within(node, c)]
            alternatives = {_plain(classes[c]): self._bounds(1, node, c) for c in found}
            weight = model.walk_.route_weight[children][:, found].sum(axis=1)
            weights = dict(zip(children, (weight / weight.sum()).tolist(), strict=True))
        return TraceStep(
            node=node,
            action=action,
            on_path=own,
            test=None if tree.kind[node] == LEAF else self._branch(children[0]),
            value=self._value(node),
            assigned=_plain(classes[leader]),
            kind=kind,
            interval=self._bounds(0, node, leader) if judged else None,
            alternatives=alternatives,
            weights=weights,
            predictions={c: self.prediction[c].copy() for c in children if self.action[c]},
            probability=self.prediction[node].copy(),
        )

    def _compared(self, node):
        value = self.row[self.tree.feature[node]]
        return float(np.float32(value)) if self.tree.compare_dtype == "float32" else float(value)

    def _value(self, node):
        """Return the case's value at a test, as the tree compares it; a category by its label."""
        if self.tree.kind[node] == LEAF or np.isnan(self._compared(node)):
            return None
        value = self._compared(node)
        if self.tree.kind[node] == NUMERIC:
            return value
        return self.tree.categories[self.tree.feature[node]][int(value)]

    def _within(self, node, c):
        if self.tree.kind[node] == NOMINAL:
            place = self.tree.category_start[node] + int(self._compared(node))
            return bool(self.model.walk_.characteristic[place, c] & 2)
        low, high = self._bounds(1, node, c)
        return low <= self._compared(node) <= high

    def _bounds(self, which, node, c):
        """Return the bounds of a class at one of the two levels, or its usual categories."""
        if self.tree.kind[node] == NOMINAL:
            part = slice(self.tree.category_start[node], self.tree.category_start[node + 1])
            usual = self.model.walk_.characteristic[part, c] & (1 << which)
            labels = self.tree.categories[self.tree.feature[node]]
            return tuple(label for label, yes in zip(labels, usual, strict=True) if yes)
        intervals = self.model.intervals_
        return float(intervals.low[which, node, c]), float(intervals.high[which, node, c])

    def _branch(self, child):
        """Return the condition under which a case goes to a child."""
        branch = self.tree.branch(child)
        if branch.is_numeric:
            return branch.text()
        return f"{branch.name} is {' or '.join(map(str, branch.labels))}"

    def _say(self, p):
        """Return the probabilities in words: at most five, without those that round to zero."""
        largest = np.argsort(-p, kind="stable")[:5]
        shown = [c for c in sorted(largest) if p[c] >= 5e-4]
        return ", ".join(f"p({_plain(self.model.tree_.classes[c])}) = {p[c]:.3f}" for c in shown)

    def _where(self, node):
        name = self.tree.feature_name(self.tree.feature[node])
        value = self._value(node)
        shown = number_text(value) if isinstance(value, float) else value
        return f"Node {node}, {name} = {shown}"

    def _tell(self, step, indent):
        words = {
            "leaf": lambda: f"Leaf {step.node}: {self._say(step.probability)}.",
            "inside": lambda: (
                f"{self._where(step.node)}: usual for class {step.assigned}, inside "
                f"{_range(step.interval)} ({step.kind}). No change."
            ),
            "fined": lambda: (
                f"{self._where(step.node)}: unusual for class {step.assigned}, outside "
                f"{_range(step.interval)} ({step.kind}), and for every other class. Fined: "
                f"{self._say(step.probability)}."
            ),
            "rerouted": lambda: (
                "Averaged: "
                + "; ".join(
                    f"{self._branch(c)} with weight {w:.3g}"
                    for c, w in step.weights.items()
                    if w > 0
                )
                + f". Now {self._say(step.probability)}."
            ),
            "no interval": lambda: (
                f"{self._where(step.node)}: class {step.assigned} has no interval here. No change."
            ),
            "not checked": lambda: f"{self._where(step.node)}: this test is not checked.",
            "missing": lambda: (
                f"Node {step.node}: {self.tree.feature_name(self.tree.feature[step.node])} is "
                f"missing, so nothing below is corrected. {self._say(step.probability)}."
            ),
        }
        if step.action in words:
            self.lines.append("  " * indent + words[step.action]())

    def _tell_others(self, node, indent):
        step = self._step(node, True)
        usual = " and ".join(f"{c}, {_range(b)}" for c, b in step.alternatives.items())
        self.lines.append(
            "  " * indent + f"{self._where(node)}: unusual for class {step.assigned}, outside "
            f"{_range(step.interval)} ({step.kind}), but usual for {usual}. All branches are "
            "followed:"
        )


def _range(bounds):
    """Return bounds, or categories, in words."""
    if bounds and isinstance(bounds[0], float):
        return f"{bounds[0]:.4g} to {bounds[1]:.4g}"
    return " / ".join(map(str, bounds)) or "no category"


def _plain(label):
    return label.item() if isinstance(label, np.generic) else label
