"""Read a training sample from a data file and check it."""

import re
import warnings
from typing import NamedTuple

import numpy as np

from keeptree.data.cells import read_label, truth_labels
from keeptree.data.files import find_column
from keeptree.data.frame import listed, read_frame
from keeptree.data.groups import column_groups, plain_columns
from keeptree.data.source import as_data_file
from keeptree.text import plural

MOST_CLASSES = 1000
_MOST_NUMBERS = 20  # most classes that are numbers, or nearly one per row, without a remark
_FEWEST_CELLS = 20  # fewest known cells of a column that may be an identifier
_IDENTIFIER = "looks like an identifier; leave it out with --drop (in Python: drop)."
_NAMED_ID = re.compile(r"(^|[^a-z])(id|ids|key|nr|no|number)$|[a-z](Id|ID|Nr|No)$|^(ID|Id)")


class Training(NamedTuple):
    """A training sample from a file.

    Parameters
    ----------
    X : pandas.DataFrame
        Attributes.
    y : pandas.Series
        Classes, with the column name; a categorical target keeps its declared labels.
    notation : tuple or None
        For each attribute, its unit or date format, or None if it has neither; None if no attribute
        has one. A model stores it as ``notation_``.
    """

    X: object
    y: object
    notation: tuple | None


def read_training(data, target, nominal=(), drop=(), tree=None, warn=True):
    """Read attributes and classes from a data file.

    Parameters
    ----------
    data : str, Path or DataFile
        Data file; see :func:`~keeptree.data.frame.read_frame`.
    target : str
        Column of the class.
    nominal : sequence of str
        Numeric columns to read as categories.
    drop : sequence of str
        Columns to ignore, such as an identifier.
    tree : Tree or estimator, optional
        Tree or learner. If it has column names, only these columns are returned, in its order.
    warn : bool, default=True
        Whether to warn about suspect columns.

    Returns
    -------
    sample : Training
        Attributes, classes and notation.
    """
    if target in drop:
        raise ValueError(f"The target {target!r} cannot be dropped; drop other columns only.")
    frame, notation = read_frame(data, nominal, drop, target, _nominal_columns(tree))
    X, y = split_target(frame, target)
    if y.nunique() < 2:
        raise ValueError(
            f"The target {target!r} has only one value; at least two classes are needed."
        )
    X = _with_booleans(_columns_of(tree, X, data), tree)
    if warn:
        warn_suspect_columns(X, y)
    notations = tuple(notation.get(name) for name in X.columns)
    return Training(X, y, notations if any(notations) else None)


def split_target(frame, target):
    """Separate the column ``target`` from the attributes.

    Returns
    -------
    X : pandas.DataFrame
        The other columns.
    y : pandas.Series
        Target. An unknown name, missing labels and values that cannot be classes raise a
        ValueError.
    """
    find_column(target, frame.columns)
    y = frame[target]
    missing = int(y.isna().sum())
    if missing:
        raise ValueError(
            f"The target {target!r} is missing in {plural(missing, 'row')}; remove those rows."
        )
    if frame.shape[1] == 1:
        raise ValueError(
            f"There is no column besides the target {target!r}; add at least one attribute."
        )
    distinct = y.nunique()
    if distinct > MOST_CLASSES:
        raise ValueError(
            f"The target {target!r} has {distinct} distinct values, which look like an identifier "
            f"or a measurement, not like classes; choose a column with at most {MOST_CLASSES}."
        )
    if distinct > max(len(y) / 2, _MOST_NUMBERS):
        raise ValueError(
            f"The target {target!r} has {distinct} distinct values in {len(y)} rows, so it looks "
            "like an identifier or a measurement, not like classes; choose another column, or bin "
            "this one."
        )
    if y.dtype.kind == "f" and (y % 1 != 0).any():
        raise ValueError(
            f"The target {target!r} holds fractions such as {y[y % 1 != 0].iloc[0]:g}, which look "
            "like a measurement, not like classes; choose another column, or bin this one."
        )
    return frame.drop(columns=[target]), y


def warn_suspect_columns(X, y):
    """Warn about empty and constant columns, likely identifiers and a numeric target."""
    constant = []
    for group in column_groups(list(range(X.shape[1])), len(X)):
        part = X.iloc[:, group]
        fractions = _columns_with_fractions(part)
        constant += _constant_columns(part)
        for name, cells in part.count().items():
            if cells == 0:
                _warn(f"The column {name!r} is empty, so nothing can be learned from it.")
            elif cells < _FEWEST_CELLS or name in fractions:
                continue
            elif part[name].dtype == "category":
                if part[name].nunique() > 0.9 * cells:
                    _warn(f"The column {name!r} has nearly one category per case and {_IDENTIFIER}")
            elif _numbers_rows(name, part[name].dropna().to_numpy()):
                _warn(
                    f"The column {name!r} has a different whole number in each row and "
                    f"{_IDENTIFIER}"
                )
    if constant:
        one = len(constant) == 1
        _warn(
            f"The column{'' if one else 's'} {listed(constant)} {'has' if one else 'have'} the "
            f"same value in every row, so nothing can be learned from {'it' if one else 'them'}."
        )
    values = np.unique(np.asarray(y))
    if len(values) > _MOST_NUMBERS and values.dtype.kind in "iuf":
        _warn(
            f"The target has {len(values)} classes, all of them numbers; if it is a measurement, "
            "bin it."
        )


def _warn(text):
    warnings.warn(text, stacklevel=5)


def _constant_columns(X):
    """Return the names of the columns that have the same known value in every row."""
    numbers = X.iloc[:, plain_columns(X)]
    values = numbers.to_numpy(np.float64)
    nominal = X.select_dtypes("category")
    codes = [column.cat.codes.to_numpy() for _, column in nominal.items()]
    return [
        *numbers.columns[(values == values[0]).all(axis=0)],
        *(name for name, c in zip(nominal, codes, strict=True) if c[0] >= 0 and (c == c[0]).all()),
    ]


def _columns_with_fractions(X):
    """Return the names of the columns that contain fractions."""
    numbers = X.iloc[:, plain_columns(X)]
    rest = numbers.to_numpy(np.float64) % 1
    return set(numbers.columns[((rest != 0) & ~np.isnan(rest)).any(axis=0)])


def _numbers_rows(name, values):
    """Return whether distinct integers seem to number the rows.

    They are nearly sorted, or the name of the column says so.
    """
    if values.dtype.kind not in "iuf" or len(np.unique(values)) < len(values):
        return False
    steps = np.diff(values)
    in_order = max(np.mean(steps > 0), np.mean(steps < 0)) > 0.95
    return bool(in_order or _NAMED_ID.search(name))


def _columns_of(tree, X, data):
    """Return the columns of a tree in its order; all columns for a learner or an unnamed tree."""
    names = getattr(tree, "feature_names_in_", getattr(tree, "feature_names", None))
    if names is None:
        return X
    absent = [name for name in names if name not in X.columns]
    if absent:
        raise ValueError(
            f"{as_data_file(data)} lacks {', '.join(map(repr, absent[:5]))}, which the tree uses; "
            f"its columns are {', '.join(map(repr, X.columns[:10]))}."
        )
    return X[list(names)]


def _nominal_columns(tree):
    """Return the names of the nominal columns of a tree, and the labels that it knows."""
    names, categories = getattr(tree, "feature_names", None), getattr(tree, "categories", None)
    if names is None or categories is None:
        return {}
    return {
        name: [label for code, label in enumerate(labels) if code != tree.unknown[j]]
        for j, (name, labels) in enumerate(zip(names, categories, strict=True))
        if labels is not None
    }


def _with_booleans(X, tree):
    """Replace the values of columns of booleans by the labels of the tree, as in predict."""
    changed = {}
    for name, known in _nominal_columns(tree).items():
        if labels := truth_labels(known):
            spelt = {
                value: labels.get(read_label(value), value) for value in X[name].cat.categories
            }
            changed[name] = X[name].astype(object).map(spelt).astype("category")
    return X.assign(**changed) if changed else X
