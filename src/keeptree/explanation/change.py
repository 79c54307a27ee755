"""One nearest change: as data, and as a sentence."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from keeptree.data.labels import plain
from keeptree.explanation.change_html import change_html
from keeptree.explanation.wording import join, lower_first, tell_change, tell_estimate
from keeptree.text import clean, plural

_LOOSEN = {
    "fixed": "unlock {}",
    "bounds": "widen the bounds of {}",
    "increase_only": "let {} fall",
    "decrease_only": "let {} rise",
    "max_changes": "allow {}",
    "steps": "allow other values of {}",
    "within": "go beyond the observed values of {}",
}


@dataclass(frozen=True)
class Move:
    """The change of one attribute.

    Parameters
    ----------
    name : str
        The column.
    feature : int
        Its position.
    before, after : float or label
        The case's value, and the nearest one with which the decision changes.
    rounded : float or label
        As near to ``after`` with as few digits as possible; the decision changes there too.
    cost : float
        What it costs to go to ``after``.
    nominal : bool
        Whether the values are categories.
    """

    name: str
    feature: int
    before: object
    after: object
    rounded: object
    cost: float
    nominal: bool

    def __str__(self):
        return tell_change(self.name, self.before, self.rounded, self.nominal)


@dataclass(frozen=True, eq=False)
class NearestChange:
    """The smallest change with which the kept tree decides otherwise.

    Parameters
    ----------
    decided : label
        What the tree decides for the case.
    predicted : label
        What it decides after the change; the same if there is none.
    target : label or None
        The class asked for.
    cost : float
        Of the whole change in the metric; infinite if there is none that is allowed.
    changes : tuple of Move
        The attributes that change.
    leaf : int
        The leaf the changed case ends in; -1 if nothing changes.
    point : ndarray of shape (n_features,)
        The changed case, with the labels of nominal attributes.
    rounded : ndarray of shape (n_features,)
        The same with the rounded numbers of the sentence, which lead to the same decision.
    probability : dict
        Class -> probability of the changed case, by the model.
    alternatives : tuple of NearestChange
        Further ones if more than one was asked for, dearer and dearer.
    names : dict
        Class -> what people call it; a class without one is told by its label.
    why : callable or None
        Returns why there is no allowed change: the reason, and the constraints that stand in the
        way. It is called when the reason is asked for.
    """

    decided: object
    predicted: object
    target: object
    cost: float
    changes: tuple
    leaf: int
    point: np.ndarray
    rounded: np.ndarray
    probability: dict
    alternatives: tuple = ()
    names: dict = field(default_factory=dict, repr=False)
    why: Callable | None = field(default=None, repr=False)

    @property
    def found(self):
        """Whether there is an allowed change (or none is needed)."""
        return bool(np.isfinite(self.cost))

    @cached_property
    def loosen(self):
        """Constraints each of which alone stands in the way: (kind, column), cheapest first.

        If nothing else can change the decision: the missing values, as ("missing", column).
        """
        return tuple(entry[:2] for entry in self._reason[1])

    @property
    def sentence(self):
        """The change in one sentence."""
        if not self.found:
            return self._tell_missed()
        if not self.changes:
            return f"The tree decides {self._name(self.decided)} already."
        moves = join([str(move) for move in self.changes])
        return f"Becomes {self._name(self.predicted)} if {moves}, nothing else changed."

    @property
    def text(self):
        """The sentence, the probability after the change, and the alternatives."""
        lines = [self.sentence]
        if self.changes:
            lines[0] += f" {tell_estimate(self.predicted, self.probability, self.names)}"
        return "\n".join([*lines, *self._tell_alternatives()])

    def __str__(self):
        return "\n".join([self.sentence, *self._tell_alternatives()])

    def _repr_html_(self):
        return change_html(self)

    def to_dict(self):
        """Return plain values that JSON can hold."""
        return {
            "found": self.found,
            "decided": self.decided,
            "predicted": self.predicted,
            "target": self.target,
            "cost": self.cost if self.found else None,
            "changes": [{**vars(move), "text": str(move)} for move in self.changes],
            "leaf": self.leaf if self.leaf >= 0 else None,
            "probability": [
                {"class": label, "probability": p} for label, p in self.probability.items()
            ],
            "point": [_json(value) for value in self.point],
            "loosen": [list(entry) for entry in self.loosen],
            "sentence": self.sentence,
            "alternatives": [other.to_dict() for other in self.alternatives],
        }

    def _name(self, label):
        return clean(self.names.get(label, label))

    def _tell_alternatives(self):
        return [f"Or it {lower_first(other.sentence)}" for other in self.alternatives]

    @cached_property
    def _reason(self):
        return ("", ()) if self.why is None else self.why()

    def _tell_missed(self):
        reason, enough = self._reason
        always = f"The tree always decides {self._name(self.decided)}, whatever changes."
        if reason == "tree":
            never = f"The tree never decides {self._name(self.target)}, whatever changes."
            return always if self.target is None else never
        if reason == "missing":
            lacking = [clean(name) for _, name, *_ in enough]
            verb = f"always decides {self._name(self.decided)}"
            if self.target is not None:
                verb = f"never decides {self._name(self.target)}"
            are = "is" if len(lacking) == 1 else "are"
            return f"While {join(lacking)} {are} missing, the tree {verb}, whatever else changes."
        wanted = None if self.target is None else f"makes it {self._name(self.target)}"
        outcome = wanted or "alters the decision"
        hints = {}
        for kind, name, _, count in enough[:3]:
            words = plural(count, "change") if kind == "max_changes" else clean(name)
            hints.setdefault(_LOOSEN[kind], []).append(words)
        if not hints:
            return f"No allowed change {outcome}; more than one constraint stands in the way."
        ways = " or ".join(words.format(join(names, "or")) for words, names in hints.items())
        return f"No allowed change {outcome}; {ways}?"


def _json(value):
    value = plain(value)
    return None if isinstance(value, float) and np.isnan(value) else value
