"""X as the user has it (NumPy, pandas, polars) into the float matrix a Tree compares."""

from numbers import Number

import numpy as np
from sklearn.utils import check_array

from keeptree.data.cells import is_number
from keeptree.data.labels import is_missing, plain


def column_names(X):
    """Column names of a data frame as a tuple of str, or None for anything without names."""
    columns = getattr(X, "columns", None)
    return None if columns is None else tuple(str(name) for name in columns)


def comparable_names(X):
    """Column names as scikit-learn counts them: None unless every one of them is a str."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


def count_categories(categories):
    """Number of categories of each column, as a list; 0 for a column of numbers."""
    return [0 if labels is None else len(labels) for labels in categories]


def take_rows(X, start, stop):
    """Rows ``start:stop`` of an array or data frame, without a copy where possible."""
    return X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]


def as_matrix(X, categories=None):
    """Return X as a float64 matrix: missing values are NaN, nominal columns hold category codes.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Nothing is copied if it is a float64 array already. Infinite values pass: whoever needs
        finite ones checks while reading.
    categories : sequence of (None or sequence), optional
        For each column the labels of a nominal attribute in declared order, or None for a numeric
        one. A label that was not declared is an unknown value, hence missing.

    Returns
    -------
    matrix : ndarray of shape (n, d), float64
    """
    if categories is None or all(labels is None for labels in categories):
        if type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size:
            return X  # the checks below would find nothing, block after block
        try:
            return check_array(X, dtype=np.float64, ensure_all_finite=False)
        except ValueError:
            if hasattr(X, "columns"):
                for column in _columns(X):
                    _check_no_text(column)
            raise
    columns = _columns(X)
    if len(columns) != len(categories):
        raise ValueError(f"X has {len(columns)} columns, but the tree expects {len(categories)}.")
    matrix = np.empty((len(columns[0]), len(columns)))
    if len(matrix) == 0:
        raise ValueError("Found array with 0 sample(s): X has no row; at least one is needed.")
    for j, (column, labels) in enumerate(zip(columns, categories, strict=True)):
        if labels is not None:
            matrix[:, j] = encode_labels(column, labels)
        else:
            matrix[:, j] = as_numbers(column)
    return matrix


def as_numbers(column, ensure_all_finite=False):
    """A numeric column as float64; pandas' NA and None are NaN."""
    values = np.asarray(column)
    if values.dtype.kind in "mM":
        name = getattr(column, "name", None)
        raise ValueError(
            f"The column {name!r} holds dates or times; turn them into numbers before, for "
            "instance days since the first."
        )
    if values.dtype.kind == "O":
        # NA has no number and no truth value, and NumPy refuses both.
        values = np.array([np.nan if _is_none(value) else value for value in values], dtype=object)
        _check_no_text(column)
    values = values.reshape(-1, 1)
    return check_array(
        values, dtype=np.float64, ensure_all_finite=ensure_all_finite, input_name="X"
    )[:, 0]


def _check_no_text(column):
    """Raise a ValueError that names the place of the first text that is no number, if any."""
    name = getattr(column, "name", None)
    index = getattr(column, "index", None)  # right in a block of rows too; a position is not
    for row, value in enumerate(column):
        if isinstance(value, str) and not is_number(value):
            place = f" at index {plain(index[row])!r}" if hasattr(column, "iloc") else ""
            raise ValueError(
                f"{'A column' if name is None else f'The column {name!r}'} of numbers holds "
                f"{value!r:.50}{place}; correct it or leave it missing."
            )


def encode_labels(column, labels):
    """Codes of a nominal column: the position of each value in ``labels``, NaN where unknown.

    Examples
    --------
    >>> encode_labels(["red", "blue", None, "pink"], ("blue", "red"))
    array([ 1.,  0., nan, nan])
    """
    if type(getattr(column, "dtype", None)).__name__ == "CategoricalDtype":
        # One look-up per category; -1, pandas' code of a missing value, takes the last: NaN.
        categories = column.dtype.categories.rename(getattr(column, "name", None))
        return np.append(encode_labels(categories, labels), np.nan)[column.array.codes]
    position = {label: float(code) for code, label in enumerate(labels)}
    codes = np.array([position.get(plain(value), np.nan) for value in column])
    if np.isnan(codes).any():
        _check_kinds(column, codes, labels)
    return codes


def _check_kinds(column, codes, labels):
    """Raise a ValueError if a column holds numbers where the labels are text, or the reverse."""
    known = {_kind(label) for label in labels}
    for value, code in zip(column, codes, strict=True):
        if np.isnan(code) and not is_missing(value) and _kind(value) not in known:
            name = getattr(column, "name", None)
            raise ValueError(
                f"{'A nominal column' if name is None else f'The column {name!r}'} holds "
                f"{_kind(value)} such as {plain(value)!r:.50}, but the tree knows "
                f"{' and '.join(sorted(known))} such as {labels[0]!r:.50}; convert the column."
            )


def _kind(label):
    """What a label is, in words."""
    if isinstance(label, str):
        return "text"
    return "numbers" if isinstance(label, Number | np.bool_) else type(label).__name__


def _is_none(value):
    return value is None or type(value).__name__ == "NAType"


def _columns(X):
    """The columns of X: those of a data frame, or 1-D arrays."""
    if column_names(X) is not None:
        return [X[name] for name in X.columns]
    matrix = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
    if matrix.ndim != 2:
        raise ValueError(f"Expected a 2D array: X has {matrix.ndim} dimension(s), not 2.")
    return list(matrix.T)
