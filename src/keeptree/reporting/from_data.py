"""Write a report on a table: split, grow or keep the tree, fit and evaluate."""

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

from keeptree.data.cases import read_cases
from keeptree.data.files import find_column, unused_columns
from keeptree.data.labels import find_class, label_names, rename_classes
from keeptree.data.source import as_data_file
from keeptree.data.training import read_training
from keeptree.probability.estimator import (
    check_learner,
    fit_learner,
    is_kept,
    unfitted_learner,
)
from keeptree.probability.kept import KeptTreeClassifier
from keeptree.progress import step
from keeptree.reporting.methods import make_methods
from keeptree.reporting.report import report, write_report
from keeptree.text import plural


def report_data(
    X,
    y,
    *,
    tree=None,
    out="report.html",
    test_size=1 / 3,
    random_state=0,
    title=None,
    rows=True,
    target=None,
    positive=None,
    fixed=(),
    labels=None,
    about=None,
    methods="report",
):
    """Hold out some cases, fit the recommended model on the others and write a report.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Attributes.
    y : array-like of shape (n_samples,)
        Classes.
    tree : estimator, Tree or None
        A fitted tree or a :class:`~keeptree.Tree` is kept; an unfitted learner is fitted on the
        training cases; None means :class:`~keeptree.C45Classifier`.
    out : str or Path, default="report.html"
        File to write.
    test_size : float, default=1/3
        Share of held-out cases, stratified by class if possible.
    random_state : int, default=0
        Seed of the split.
    title, rows, target, positive, fixed, about
        As in :func:`keeptree.report`.
    labels : dict, optional
        Class -> display name.
    methods : {"report", "demo"}, default="report"
        Methods to evaluate in addition to the recommended one.

    Returns
    -------
    data : dict
        Result of :func:`keeptree.report`.
    """
    (X_train, X_test, y_train, y_test), stratified = hold_out(X, y, test_size, random_state)
    given = is_kept(tree)
    # Grown once, so that every method keeps the same tree.
    with step("Growing the tree"):
        tree = tree if given else fit_learner(unfitted_learner(tree), X_train, y_train, None)
    model = KeptTreeClassifier(tree).fit(X_train, y_train)
    rename_classes(model, labels)
    others = make_methods(methods, tree)
    for name, other in others.items():
        with step(f"Fitting {name}"):
            other.fit(X_train, y_train)
    split = (
        f"{len(y_train):,} training cases, {len(y_test):,} held out"
        f"{', stratified by class' if stratified else ''}, seed {random_state}. All quality "
        f"figures come from the held-out cases."
    )
    split += (
        " The tree itself was given: if it was grown on some of the held-out cases, its figures "
        "and ours are too optimistic."
        if given
        else " The tree was grown on the training cases."
    )
    notes = {**(about or {}), "Split": split}
    if not given:
        notes["Tree"] = (
            f"{type(tree).__name__}, grown on the training cases and not changed afterwards."
        )
    told = {"target": target, "positive": positive, "fixed": fixed, "about": notes}
    return write_report(
        model, X_test, y_test, out, title, rows, **told, others=others, grown=not given
    )


def report_file(
    data,
    target,
    *,
    tree=None,
    model=None,
    out="report.html",
    title=None,
    rows=True,
    positive=None,
    fixed=(),
    labels=None,
    nominal=(),
    drop=(),
):
    """Write a report on a data file, as ``keeptree report`` does.

    Parameters
    ----------
    data : str, Path or DataFile
        Data file. With ``model``, it must contain held-out cases; otherwise a third of the cases
        is held out.
    target : str
        Column of the class.
    tree : Tree or estimator, optional
        Tree to keep, with columns matched by name, or an unfitted learner; by default
        :class:`~keeptree.C45Classifier`.
    model : fitted classifier, optional
        Model to report on instead of fitting one.
    out, title, rows
        As in :func:`~keeptree.report`.
    fixed : sequence of str
        As in :func:`~keeptree.report`; columns of the file that the tree does not use are ignored.
    positive : str, optional
        Positive class of a two-class problem, as written in the file; by default the rarer
        class.
    labels : dict of str to str, optional
        Class as written in the file -> display name.
    nominal : sequence of str
        Numeric columns to read as categories.
    drop : sequence of str
        Columns to ignore, such as an identifier.

    Returns
    -------
    data : dict
        Result of :func:`~keeptree.report`.
    """
    with step("Reading the data"):
        if model is not None:
            X, y = read_cases(model, data, target)
        else:
            X, y, _ = read_training(data, target, nominal, drop, tree)
            check_learner(tree, X)
    fixed = _lockable(fixed, X.columns, data)  # before a model is fitted
    classes = y.unique() if model is None else model.classes_
    if positive is not None:
        positive = find_class(positive, classes)
    if labels:
        label_names(classes, labels)
    file = as_data_file(data).name
    about = {"Data": f"{file}, target {target}, {plural(len(X), 'row')}."}
    X = _number_rows(X, file)
    told = {"target": target, "positive": positive, "fixed": fixed, "about": about}
    if model is not None:
        rename_classes(model, labels)
        return report(model, X, y, out, title, rows, **told)
    return report_data(X, y, tree=tree, out=out, title=title, rows=rows, labels=labels, **told)


def _lockable(names, columns, data):
    """Return the names that are in ``columns``; a name that the file does not have is an error."""
    if set(names) <= set(columns):
        return names
    others = unused_columns(data, columns)
    for name in names:
        find_column(name, [*columns, *others])
    return [name for name in names if name not in others]


def hold_out(X, y, test_size=1 / 3, random_state=0):
    """Split like ``train_test_split``; also return whether the split is stratified.

    The only case of a class is never held out, since it could not be predicted.
    """
    y = y if hasattr(y, "dtype") else np.asarray(y)  # a categorical target declares an order
    _, code, members = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    alone = members[code] == 1
    if alone.all():
        alone[:] = False
    rows = np.flatnonzero(~alone)
    stratified = bool(members[code[rows]].min() >= 2 and len(y) * test_size >= len(members))
    train, test = train_test_split(
        rows,
        test_size=test_size,
        random_state=random_state,
        stratify=code[rows] if stratified else None,
    )
    train = np.append(train, np.flatnonzero(alone))
    return [
        _safe_indexing(X, train),
        _safe_indexing(X, test),
        _take(y, train),
        _take(y, test),
    ], stratified


def _take(y, rows):
    """Take some labels, keeping the type and its declared classes."""
    return y.iloc[rows] if hasattr(y, "iloc") else y[rows]


def _number_rows(X, file):
    """Number the rows of a frame as ``keeptree explain`` does."""
    import pandas as pd

    name = f"row of {file}; the first after the header is 1, as for keeptree explain --row"
    return X.set_axis(pd.RangeIndex(1, len(X) + 1, name=name), axis=0)
