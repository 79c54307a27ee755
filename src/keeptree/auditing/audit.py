"""Audit a model on new cases: data drift, expected accuracy and realised accuracy."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from keeptree.annotations import Filename
from keeptree.auditing.classes import ClassChange, compare_classes, only_shares_changed
from keeptree.auditing.columns import LEAST_SHARE, ColumnChange, compare_columns
from keeptree.auditing.count import NEW_CLASS, NO_OUTCOME, AuditCount
from keeptree.auditing.leaves import LeafChange, compare_leaves
from keeptree.auditing.performance import (
    LEAST_LOSS,
    Expected,
    Realised,
    expected_accuracy,
    realised_accuracy,
)
from keeptree.auditing.significance import reject_holm
from keeptree.auditing.words import tell_audit, tell_verdict
from keeptree.blocks import ROWS
from keeptree.data.arrow import from_arrow
from keeptree.data.cases import read_blocks
from keeptree.data.cells import cells_as_labels
from keeptree.data.labels import class_names, is_missing, plain
from keeptree.data.source import DataFile, as_data_file
from keeptree.data.table import take_rows
from keeptree.explanation.unfamiliar import find_unseen
from keeptree.explanation.wording import join
from keeptree.importers import unwrap
from keeptree.importers.steps import run_steps
from keeptree.notebook import framed_text
from keeptree.output import require_extra, write_text
from keeptree.progress import step
from keeptree.text import clean, plural
from keeptree.tree import Tree

SCHEMA = 1  # version of the dict, raised by incompatible changes


def audit(model: Any, X: ArrayLike, y: ArrayLike | None = None, *, alpha: float = 0.05) -> "Audit":
    """Compare new cases, and their outcomes if known, with the training sample of a model.

    Parameters
    ----------
    model : fitted KeepTree classifier
        It stores aggregates of its training sample. It may be inside a pipeline, a search or a
        ``FrozenEstimator``.
    X : array-like or data frame of shape (n_samples, n_features)
        New cases, in the format of the model's ``predict``.
    y : array-like of shape (n_samples,), optional
        Their true classes; None or NaN where the outcome is not known yet.
    alpha : float, default=0.05
        Probability of any alarm if nothing has changed. The p-values of all tests are corrected
        together, by Holm's procedure.

    Returns
    -------
    result : Audit
        Prints as a short report; ``verdict`` is one sentence, ``drift`` and ``inaccurate`` are
        the two alarms, ``to_dict()`` and ``save("audit.html")`` hold everything.

    See Also
    --------
    audit_file : The same for a data file of any size.
    unfamiliar : Only find new values.

    Notes
    -----
    Without outcomes, the expected accuracy is the mean probability that the tree's decision is
    right. This estimate is valid even if the mix of cases changes (covariate shift), as long as the
    relation between attributes and classes stays the same. If that relation changes (concept
    shift), only outcomes can show it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import keeptree as kt
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = kt.KeptTreeClassifier().fit(X[:400], y[:400])
    >>> result = kt.audit(model, X[400:], y[400:])
    >>> result.inaccurate, round(result.expected.accuracy, 2), round(result.realised.accuracy, 2)
    (False, 0.93, 0.92)
    """
    inner, steps = _check_model(model)
    table = run_steps(from_arrow(X), steps)
    count = AuditCount(inner)
    outcome = None if y is None else _outcomes(y, inner.tree_.classes)
    n = table.shape[0] if hasattr(table, "shape") else len(table)
    if outcome is not None and len(outcome) != n:
        raise ValueError(f"y has {len(outcome)} outcomes, but X has {n} rows.")
    with step("Auditing", n) as move:
        for start in range(0, n, ROWS):
            block = take_rows(table, start, start + ROWS) if hasattr(table, "shape") else table
            rows = inner.encode(block)
            known = None if outcome is None else outcome[start : start + ROWS]
            count.add(rows, find_unseen(block, rows, inner.tree_), known)
            move(min(start + ROWS, n))
    return _conclude(count, alpha)


def audit_file(
    model: Any, data: Filename | DataFile, target: str | None = None, *, alpha: float = 0.05
) -> "Audit":
    """Audit a model on a data file; memory does not grow with its number of rows.

    Parameters
    ----------
    model : fitted KeepTree classifier
        For example one returned by :func:`~keeptree.load`.
    data : str, Path or DataFile
        The new cases. Columns are matched by name; columns that the model does not use are ignored.
    target : str, optional
        Column of the true class; empty cells are outcomes that are not known yet.
    alpha : float, default=0.05
        Probability of any alarm if nothing has changed.

    Returns
    -------
    result : Audit
        The same as for :func:`~keeptree.audit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.KeptTreeClassifier().fit(X, y)
    >>> X.sample(60, random_state=0).to_csv("new.csv", index=False)
    >>> print(kt.audit_file(model, "new.csv").verdict)
    No alarm: the new cases look like the training sample, and the tree's decisions are expected to
    be right for 94.2% of them (95.1% when the model was fitted).
    """
    require_extra("pandas", "pyarrow", extra="files")
    inner, steps = _check_model(model)
    if steps:
        raise ValueError(
            "The tree is the last step of a pipeline, so the types of the input columns are "
            "unknown; read the file and call kt.audit."
        )
    count, labels = AuditCount(inner), inner.tree_.classes.tolist()
    with step(f"Auditing {as_data_file(data).name}", 1.0) as move:
        for block in read_blocks(data, inner, [] if target is None else [target]):
            outcome = None
            if target is not None:
                cells = block.kept[target]
                outcome = np.asarray(cells_as_labels(cells, labels, target).codes, dtype=np.int64)
                empty = np.array(cells.is_null().to_pylist(), dtype=bool)
                outcome[outcome < 0] = NEW_CLASS
                outcome[empty] = NO_OUTCOME
            count.add(inner.encode(block.frame), block.unseen, outcome)
            move(block.done, f"{count.rows:,} rows")
    return _conclude(count, alpha)


@dataclass(frozen=True)
class Audit:
    """The result of :func:`audit`.

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
    leaves : tuple of LeafChange
        Every leaf of the tree.
    fell, estimate_off : bool
        Whether the accuracy (realised, else expected) has fallen, and whether the realised accuracy
        differs from the one predicted by the probabilities.
    shares_only : bool
        Whether the outcomes differ from the training sample only in the shares of the classes.

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
    leaves: tuple[LeafChange, ...]
    fell: bool
    estimate_off: bool
    shares_only: bool

    @property
    def drift(self) -> bool:
        """Whether the distribution of any column has changed."""
        return any(column.changed for column in self.columns)

    @property
    def inaccurate(self) -> bool:
        """Whether the tree or its probabilities have become less accurate since the fit.

        A leaf that is right more often than at fit raises no alarm if the probabilities predicted
        it.
        """
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
            "classes": [_plain(asdict(found)) for found in self.classes],
            "columns": [_plain(asdict(column)) for column in self.columns],
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


def _check_model(model):
    """Return the classifier with the training statistics, and the pipeline steps before it."""
    if isinstance(model, Tree):
        raise TypeError(
            "A Tree does not store its training sample; give a model fitted around it, such as "
            "kt.KeptTreeClassifier(tree).fit(X, y)."
        )
    inner, steps = unwrap(model)
    check_is_fitted(inner)
    if getattr(inner, "reference_", None) is None:
        raise ValueError(
            f"This {type(inner).__name__} has no reference statistics to compare new cases with; "
            "fit a KeepTree classifier, such as kt.KeptTreeClassifier, with this version."
        )
    own = len(getattr(inner, "preprocessing_", ()))
    return inner, steps[: len(steps) - own]


def _outcomes(y, classes):
    """Positions of true classes, with special codes for missing and new classes."""
    values = from_arrow(y)
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    position = {plain(label): code for code, label in enumerate(classes.tolist())}
    return np.array(
        [NO_OUTCOME if is_missing(v) else position.get(plain(v), NEW_CLASS) for v in values],
        dtype=np.int64,
    )


def _conclude(count, alpha):
    """Run all tests together and collect the findings."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} is not a probability between 0 and 1.")
    if count.rows == 0:
        raise ValueError("There are no cases to audit.")
    if 0 < count.new_classes == count.leaf_outcomes.sum():
        names = [clean(name) for name in class_names(count.model, count.tree.classes)]
        raise ValueError(
            f"None of the {plural(count.new_classes, 'outcome')} is a class of the tree "
            f"({join(names)}); check how they are coded."
        )
    columns, classes, leaves = (
        compare(count) for compare in (compare_columns, compare_classes, compare_leaves)
    )
    expected = expected_accuracy(count, 1 - alpha)
    realised = realised_accuracy(count, 1 - alpha)
    tests = [(column, kind, p) for column in columns for kind, p in column.p_values.items()]
    tests += [(found, "class", found.p_value) for found in classes]
    tests += [(leaf, "leaf", leaf.p_value) for leaf in leaves if leaf.outcomes]
    tests += [(expected, "expected", expected.p_value)]
    if realised:
        tests += [(realised, "fell", realised.p_fallen), (realised, "off", realised.p_estimate)]
    rejected = reject_holm([p for *_, p in tests], alpha)
    significant = {
        (id(what), kind) for (what, kind, _), out in zip(tests, rejected, strict=True) if out
    }
    columns = [
        replace(c, changed=tuple(kind for kind in c.large if (id(c), kind) in significant))
        for c in columns
    ]
    classes = [replace(c, changed=c.large and (id(c), "class") in significant) for c in classes]
    leaves = [replace(f, changed=f.large and (id(f), "leaf") in significant) for f in leaves]
    off = False
    if realised:
        fell = (id(realised), "fell") in significant
        fell &= realised.at_fit - realised.accuracy >= LEAST_LOSS
        off = (id(realised), "off") in significant
        off &= abs(realised.accuracy - realised.expected) >= LEAST_LOSS
    else:
        fell = (id(expected), "expected") in significant and expected.loss >= LEAST_LOSS
    return Audit(
        model=type(count.model).__name__,
        digest=count.tree.digest,
        rows=count.rows,
        reference_rows=count.reference.rows,
        alpha=alpha,
        columns=tuple(columns),
        expected=expected,
        realised=realised,
        classes=tuple(classes),
        leaves=tuple(leaves),
        fell=bool(fell),
        estimate_off=bool(off),
        shares_only=only_shares_changed(count, alpha),
    )


def _plain(value):
    """JSON-compatible values, for labels of any type."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    value = plain(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
