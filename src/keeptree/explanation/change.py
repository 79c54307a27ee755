"""A nearest change, as data and as a sentence."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from keeptree.data.labels import plain
from keeptree.explanation.change_html import change_html
from keeptree.explanation.wording import join, lower_first, tell_change, tell_estimate
from keeptree.text import class_text, clean, plural

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
        Column name.
    feature : int
        Column index.
    before, after : float or label
        Value of the case, and the nearest value that changes the decision.
    rounded : float or label
        Value close to ``after`` with as few digits as possible that also changes the decision.
    cost : float
        Cost of the change to ``after``.
    nominal : bool
        Whether the values are categories.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier(max_depth=2)).fit(X, y)
    >>> move, = kt.nearest_change(model, X.iloc[60]).changes
    >>> move.name, float(move.before), float(move.rounded)
    ('petal width (cm)', 1.0, 0.6)
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
    """The smallest change of a case that alters the tree's decision.

    Parameters
    ----------
    decided : label
        Decision of the tree for the case.
    predicted : label
        Decision after the change; the same as ``decided`` if there is no change.
    target : label or None
        Requested class.
    cost : float
        Total cost in the metric; infinite if no allowed change exists.
    changes : tuple of Move
        Attributes that change.
    leaf : int
        Leaf of the changed case; -1 if nothing changes.
    point : ndarray of shape (n_features,)
        Changed case, with labels for nominal attributes.
    rounded : ndarray of shape (n_features,)
        Changed case with the rounded numbers of the sentence; the tree decides ``predicted`` there
        too.
    probability : dict
        Class -> probability of the changed case.
    alternatives : tuple of NearestChange
        Further changes in order of cost, if more than one was requested.
    names : dict
        Class -> display name; by default the label.
    why : callable or None
        Function that returns the reason why no allowed change exists and the constraints that
        prevent it. It is called only when needed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier(max_depth=2)).fit(X, y)
    >>> change = kt.nearest_change(model, X.iloc[60])
    >>> print(change)
    Becomes target = 0 if petal width (cm) falls from 1.0 to 0.6 (−0.4), with nothing else changed.
    >>> change.predicted, round(change.cost, 2), len(change.changes)
    (0, 0.53, 1)
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
        """Whether an allowed change exists, or no change is needed."""
        return bool(np.isfinite(self.cost))

    @cached_property
    def loosen(self):
        """Constraints whose removal alone would allow a change, as (kind, column), cheapest first.

        If only missing values prevent a change, they are listed as ("missing", column).
        """
        return tuple(entry[:2] for entry in self._reason[1])

    @property
    def sentence(self):
        """The change in one sentence."""
        if not self.found:
            return self._tell_missed()
        if not self.changes:
            return f"The tree already decides {self._name(self.decided)}."
        moves = join([str(move) for move in self.changes])
        return f"Becomes {self._name(self.predicted)} if {moves}, with nothing else changed."

    @property
    def text(self):
        """The sentence, the probability after the change, and the alternatives."""
        return "\n".join([self._tell(bool(self.changes)), *self._tell_alternatives()])

    def __str__(self):
        return "\n".join([self._tell(self._is_doubtful), *self._tell_alternatives()])

    def __repr__(self):
        if not self.found:
            return f"NearestChange(none allowed, decided={self.decided!r})"
        return f"NearestChange({self.sentence!r}, cost={self.cost:.4g})"

    def _repr_html_(self):
        return change_html(self)

    def to_dict(self):
        """Return the change as JSON-compatible values."""
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
        return class_text(clean(self.names.get(label, label)))

    @property
    def _is_doubtful(self):
        """Whether another class would be more probable than the decision after the change."""
        p = self.probability
        return bool(self.changes) and p[self.predicted] < max(p.values())

    def _tell(self, with_estimate):
        if not with_estimate:
            return self.sentence
        return f"{self.sentence} {tell_estimate(self.predicted, self.probability, self.names)}"

    def _tell_alternatives(self):
        told = [other._tell(other._is_doubtful) for other in self.alternatives]
        return [f"Or it {lower_first(text)}" for text in told]

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
            return f"No allowed change {outcome}; more than one constraint prevents it."
        ways = " or ".join(words.format(join(names, "or")) for words, names in hints.items())
        return f"No allowed change {outcome}; {ways}?"


def _json(value):
    value = plain(value)
    return None if isinstance(value, float) and np.isnan(value) else value
