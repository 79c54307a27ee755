"""Audit a model on new cases: data drift, expected accuracy and realised accuracy."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from keeptree.annotations import Filename
from keeptree.auditing.classes import compare_classes, expected_shares, only_shares_changed
from keeptree.auditing.columns import KINDS, compare_columns
from keeptree.auditing.count import NEW_CLASS, NO_OUTCOME, AuditCount
from keeptree.auditing.leaves import compare_leaves
from keeptree.auditing.performance import (
    LEAST_LOSS,
    MOST_BEYOND,
    beyond_by_chance,
    expected_accuracy,
    optimism,
    own_decisions,
    realised_accuracy,
)
from keeptree.auditing.result import Audit
from keeptree.auditing.significance import reject_holm
from keeptree.auditing.target import likely_target, likely_target_of_file
from keeptree.blocks import ROWS
from keeptree.data.arrow import from_arrow
from keeptree.data.cases import read_blocks
from keeptree.data.cells import cells_as_labels
from keeptree.data.labels import class_names, is_missing, plain
from keeptree.data.source import DataFile, as_data_file
from keeptree.data.table import column_names, take_rows
from keeptree.explanation.unfamiliar import find_unseen
from keeptree.explanation.wording import join
from keeptree.geometry.rows import check_finite
from keeptree.importers import unwrap
from keeptree.importers.steps import read_rows, run_steps, take_columns
from keeptree.output import require_extra
from keeptree.progress import step
from keeptree.text import clean, plural
from keeptree.tree import Tree


def audit(model: Any, X: ArrayLike, y: ArrayLike | None = None, *, alpha: float = 0.05) -> Audit:
    """Compare new cases, and their outcomes if known, with the training sample of a model.

    Parameters
    ----------
    model : fitted KeepTree classifier
        It stores aggregates of its training sample. It may be inside a pipeline, a search or a
        ``FrozenEstimator``.
    X : array-like or data frame of shape (n_samples, n_features)
        New cases. The columns of a data frame are matched by name; others are ignored.
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
    shift), only outcomes can show it. It is not trusted (``expected.trusted``) if at least 10% of
    the cases have an unseen category or a value outside the training range in a column that the
    model reads, beyond what chance explains.

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
    _check_alpha(alpha)
    inner, steps = _check_model(model)
    X = from_arrow(X)
    table = take_columns(X, model)
    read = set(column_names(table) or ())
    ignored = [name for name in column_names(X) or () if name not in read]
    table = run_steps(table, steps)
    count, tree = AuditCount(inner), inner.tree_
    outcome = None if y is None else _outcomes(y, tree.classes)
    n = table.shape[0] if hasattr(table, "shape") else len(table)
    if outcome is not None and len(outcome) != n:
        raise ValueError(f"y has {len(outcome)} outcomes, but X has {n} rows.")
    with step("Auditing", n) as move:
        for start in range(0, n, ROWS):
            block = run_steps(take_rows(table, start, start + ROWS), inner.preprocessing_)
            rows = read_rows(block, tree)
            check_finite(rows, tree, start)
            known = None if outcome is None else outcome[start : start + ROWS]
            count.add(rows, find_unseen(block, rows, tree), known)
            move(min(start + ROWS, n))
    target = likely_target(X, ignored, tree.classes) if y is None else None
    return _conclude(count, alpha, ignored, target)


def audit_file(
    model: Any, data: Filename | DataFile, target: str | None = None, *, alpha: float = 0.05
) -> Audit:
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
    be right for 94.6% of them (95.0% when the model was fitted).
    """
    require_extra("pandas", "pyarrow", extra="files")
    _check_alpha(alpha)
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
    likely = None
    if target is None:
        likely = likely_target_of_file(data, block.ignored, inner.tree_.classes)
    return _conclude(count, alpha, block.ignored, likely)


def _check_alpha(alpha):
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} is not a probability between 0 and 1.")


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


def _conclude(count, alpha, ignored, likely):
    """Run all tests together and collect the findings."""
    if count.rows == 0:
        raise ValueError("There are no cases to audit.")
    if 0 < count.new_classes == count.leaf_outcomes.sum():
        names = [clean(name) for name in class_names(count.model, count.tree.classes)]
        raise ValueError(
            f"None of the {plural(count.new_classes, 'outcome')} is a class of the tree "
            f"({join(names)}); check how they are coded."
        )
    columns, classes, leaves, shares = (
        compare(count)
        for compare in (compare_columns, compare_classes, compare_leaves, expected_shares)
    )
    expected = expected_accuracy(count, 1 - alpha)
    realised = realised_accuracy(count, 1 - alpha)
    tests = [(column, kind, p) for column in columns for kind, p in column.p_values.items()]
    tests += [(found, "class", found.p_value) for found in classes]
    tests += [(share, "share", share.p_value) for share in shares]
    tests += [(leaf, "leaf", leaf.p_value) for leaf in leaves if leaf.outcomes]
    tests += [(expected, "expected", expected.p_value)]
    if realised:
        tests += [(realised, "fell", realised.p_fallen), (realised, "off", realised.p_estimate)]
    rejected = reject_holm([p for *_, p in tests], alpha)
    significant = {
        (id(what), kind) for (what, kind, _), out in zip(tests, rejected, strict=True) if out
    }
    columns = [
        _sort_kinds(c, [kind for kind in KINDS if (id(c), kind) in significant]) for c in columns
    ]
    shares = [replace(s, changed=s.large and (id(s), "share") in significant) for s in shares]
    classes = [replace(c, changed=c.large and (id(c), "class") in significant) for c in classes]
    leaves = [replace(f, changed=f.large and (id(f), "leaf") in significant) for f in leaves]
    off, least = False, LEAST_LOSS + optimism(count)
    if realised:
        fell = (id(realised), "fell") in significant
        fell &= realised.at_fit - realised.accuracy >= least
        off = (id(realised), "off") in significant
        off &= abs(realised.accuracy - realised.expected) >= least
    else:
        fell = (id(expected), "expected") in significant and expected.loss >= least
    new = any(c.read and not {"unseen", "outside"}.isdisjoint(c.changed) for c in columns)
    if new and expected.beyond >= MOST_BEYOND + beyond_by_chance(count):
        expected = replace(expected, trusted=False)
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
        expected_classes=tuple(shares),
        leaves=tuple(leaves),
        fell=bool(fell),
        estimate_off=bool(off),
        shares_only=only_shares_changed(count, alpha),
        ignored=tuple(ignored),
        by_rule=own_decisions(count),
        likely_target=likely,
    )


def _sort_kinds(column, significant):
    """Return the column with its significant changes, divided by whether they are large."""
    large = column.large
    return replace(
        column,
        changed=tuple(kind for kind in significant if kind in large),
        slight=tuple(kind for kind in significant if kind not in large),
    )
