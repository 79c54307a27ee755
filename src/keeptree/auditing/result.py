"""The result of an audit: findings, alarms and the verdict."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from keeptree.annotations import Filename
from keeptree.auditing.classes import ClassChange, ExpectedShare
from keeptree.auditing.columns import LEAST_SHARE, ColumnChange
from keeptree.auditing.leaves import LeafChange
from keeptree.auditing.performance import ByRule, Expected, Realised
from keeptree.auditing.words import tell_audit, tell_verdict
from keeptree.data.labels import plain
from keeptree.notebook import framed_text
from keeptree.output import require_extra, write_text
from keeptree.text import plural

SCHEMA = 1  # version of the dict, raised by incompatible changes


@dataclass(frozen=True)
class Audit:
    """The result of :func:`~keeptree.audit`.

    Parameters
    ----------
    model : str
        Class of the model.
    digest : str
        Digest of the tree.
    rows : int
        Number of new cases.
    reference_rows : int
        Number of training cases they are compared with.
    alpha : float
        Probability of any alarm if nothing has changed.
    columns : tuple of ColumnChange
        All columns, starting with those that most paths test.
    expected : Expected
        Expected accuracy.
    realised : Realised or None
        Accuracy on the cases whose outcome is known; None if there are none.
    classes : tuple of ClassChange
        Every class, if outcomes are known.
    expected_classes : tuple of ExpectedShare
        The share of every class that the probabilities of the new cases expect.
    leaves : tuple of LeafChange
        Every leaf of the tree.
    fell, estimate_off : bool
        Whether the accuracy (realised, else expected) has fallen, and whether the realised accuracy
        differs from the one predicted by the probabilities.
    shares_only : bool
        Whether the outcomes differ from the training sample only in the shares of the classes.
    ignored : tuple of str
        Columns of the new data that the model does not know, so they are not compared.
    by_rule : ByRule or None
        The decisions of a model that decides by cost or probability; None if it follows the tree,
        which all other figures are about.
    likely_target : str or None
        The only one of them whose values are classes of the tree, if no outcomes were given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier(max_depth=2)).fit(X, y)
    >>> new = X.assign(**{"petal width (cm)": 2 * X["petal width (cm)"]})
    >>> result = kt.audit(model, new, y)
    >>> result
    Audit(150 cases, alarm)
    >>> result.drift, [column.name for column in result.columns if column.changed]
    (True, ['petal width (cm)'])
    >>> round(result.realised.accuracy, 3)
    0.607
    """

    model: str
    digest: str
    rows: int
    reference_rows: int
    alpha: float
    columns: tuple[ColumnChange, ...]
    expected: Expected
    realised: Realised | None
    classes: tuple[ClassChange, ...]
    expected_classes: tuple[ExpectedShare, ...]
    leaves: tuple[LeafChange, ...]
    fell: bool
    estimate_off: bool
    shares_only: bool
    ignored: tuple[str, ...] = ()
    by_rule: ByRule | None = None
    likely_target: str | None = None

    @property
    def drift(self) -> bool:
        """Whether the distribution of any column or the expected share of any class changed."""
        moved = any(column.changed for column in self.columns)
        return moved or any(found.changed for found in self.expected_classes)

    @property
    def inaccurate(self) -> bool:
        """Whether the tree or its probabilities have become less accurate since the fit.

        A leaf that is right more often than at fit raises no alarm if the probabilities predicted
        it. Without outcomes, an expected accuracy that cannot be trusted is an alarm as well.
        """
        if self.realised is None and not self.expected.trusted:
            return True
        worse = any(leaf.changed and not leaf.improved for leaf in self.leaves)
        return self.fell or self._estimates_off or worse or self._new_classes

    @property
    def aged(self) -> str | None:
        """What has aged, as far as the outcomes show.

        - ``"cases"``: decisions are right more or less often than before, as the probabilities
          predicted, because the mix of cases has changed.
        - ``"classes"``: the classes have other shares than at fit, but the cases of each class
          reach the same leaves. The probabilities are off; the tree separates the classes as
          before.
        - ``"tree"``: decisions are right more or less often than before, and neither of these
          explains it.
        - ``"estimate"``: only the probabilities are off.
        - None: nothing, or no outcomes are known.
        """
        if self.realised is None:
            return None
        leaves = [leaf for leaf in self.leaves if leaf.changed]
        if not (self.fell or self._estimates_off or leaves):
            return None
        if not self._estimates_off and all(leaf.foreseen for leaf in leaves):
            return "cases"
        if self.shares_only and not self._new_classes:
            return "classes"
        return "tree" if self.fell or leaves else "estimate"

    @property
    def _estimates_off(self):
        """Whether outcomes differ from what the probabilities predicted."""
        return self.estimate_off or any(found.changed for found in self.classes)

    @property
    def _new_classes(self):
        """Whether classes that the tree does not know are common enough to matter."""
        realised = self.realised
        return realised is not None and realised.new_classes >= LEAST_SHARE * realised.cases > 0

    @cached_property
    def verdict(self) -> str:
        """The result in one sentence."""
        return tell_verdict(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as JSON-compatible values."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "digest": self.digest,
            "rows": self.rows,
            "reference_rows": self.reference_rows,
            "alpha": self.alpha,
            "verdict": self.verdict,
            "alarms": {"drift": self.drift, "accuracy": self.inaccurate},
            "aged": self.aged,
            "expected": asdict(self.expected),
            "realised": None if self.realised is None else asdict(self.realised),
            "by_rule": None if self.by_rule is None else asdict(self.by_rule),
            "classes": [_plain(asdict(found)) for found in self.classes],
            "expected_classes": [_plain(asdict(found)) for found in self.expected_classes],
            "columns": [_plain(asdict(column)) for column in self.columns],
            "ignored": list(self.ignored),
            "likely_target": self.likely_target,
            "leaves": [_plain(asdict(leaf)) for leaf in self.leaves],
        }

    def to_html(self) -> str:
        """Return the audit as one self-contained HTML page."""
        require_extra("jinja2", extra="report")
        from keeptree.auditing.page import render_audit

        return render_audit(self)

    def save(self, path: Filename) -> None:
        """Write the audit as an HTML page; an old file is replaced once the new one is complete."""
        write_text(path, self.to_html())

    def __str__(self):
        return "\n".join(tell_audit(self))

    def __repr__(self):
        alarm = "alarm" if self.drift or self.inaccurate else "no alarm"
        return f"Audit({plural(self.rows, 'case')}, {alarm})"

    def _repr_html_(self):
        verdict, *figures = tell_audit(self)
        return framed_text("audit", "\n".join(figures).strip("\n"), head=verdict)


def _plain(value):
    """JSON-compatible values, for labels of any type."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    value = plain(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
