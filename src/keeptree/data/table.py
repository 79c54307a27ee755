"""Convert X (NumPy, pandas, polars) to the float matrix that a Tree compares."""

import numpy as np
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.validation import validate_data

from keeptree.data.columns import (
    AS_MISSING,
    DECLARED,
    OBSERVED,
    as_numbers,
    check_no_text,
    encode_nominal,
    is_number,
    read_nominal,
)
from keeptree.data.groups import column_groups, plain_columns


def column_names(X):
    """Return the column names of a data frame as a tuple of str, or None without names."""
    columns = getattr(X, "columns", None)
    return None if columns is None else tuple(str(name) for name in columns)


def comparable_names(X):
    """Return the column names if all of them are str, as scikit-learn requires, else None."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


def take_named(X, names):
    """Return the columns ``names`` of a data frame, in this order.

    If the data frame lacks one of them, or X has no names to compare, X is returned unchanged.

    Examples
    --------
    >>> import pandas as pd
    >>> take_named(pd.DataFrame({"id": [7], "b": [2], "a": [1]}), ["a", "b"]).to_dict("list")
    {'a': [1], 'b': [2]}
    """
    present = comparable_names(X)
    if present is None or names is None or present == tuple(names):
        return X
    return X[list(names)] if set(names) <= set(present) else X


def count_categories(categories):
    """Return the number of categories of each column; 0 for numeric columns."""
    return [0 if labels is None else len(labels) for labels in categories]


def take_rows(X, start, stop):
    """Return the rows ``start:stop`` of an array or data frame, without a copy where possible."""
    return X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]


def column_values(X, position, rows):
    """Return the original values of a column in some rows, by position."""
    column = _column(_frame_or_array(X), position)
    return [column.iloc[row] if hasattr(column, "iloc") else column[row] for row in rows.tolist()]


def as_matrix(X, categories=None, unknown=None):
    """Convert X to a float64 matrix, with NaN for missing values and codes for categories.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        A float64 array is not copied. Infinite values are allowed; callers that need finite
        values check for them.
    categories : sequence of (None or sequence), optional
        For each column, the labels of a nominal attribute in declared order, or None if numeric.
        Other labels are unknown and become missing.
    unknown : sequence of int, optional
        For each column, how to treat unknown labels; see :func:`encode_nominal`.

    Returns
    -------
    matrix : ndarray of shape (n, d), float64
        The converted table.
    """
    if categories is None or all(labels is None for labels in categories):
        if type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size:
            return X  # skip checks that a matrix of numbers passes anyway
        try:
            return check_array(as_array(X), dtype=np.float64, ensure_all_finite=False)
        except ValueError:
            if hasattr(X, "columns"):
                for j in range(X.shape[1]):
                    check_no_text(_column(X, j))
            raise
    X = _frame_or_array(X)
    if X.shape[1] != len(categories):
        raise ValueError(f"X has {X.shape[1]} columns, but the tree expects {len(categories)}.")
    nominal = [j for j, labels in enumerate(categories) if labels is not None]
    matrix = _read_numbers(X, nominal, order="C", ensure_all_finite=False)
    for j in nominal:
        rule = AS_MISSING if unknown is None else unknown[j]
        matrix[:, j] = encode_nominal(_column(X, j), categories[j], rule)
    return matrix


def as_array(X):
    """Convert a data frame of NumPy numbers to a float64 array; return anything else unchanged.

    scikit-learn checks data frames column by column but arrays as a whole.
    """
    is_plain = hasattr(X, "iloc") and 0 < len(plain_columns(X)) == X.shape[1]
    return X.to_numpy(np.float64) if is_plain else X


def validate_numbers(estimator, X, ensure_all_finite, reset=True):
    """Apply scikit-learn's ``validate_data`` and return a float64 array."""
    checks = {"dtype": np.float64, "ensure_all_finite": ensure_all_finite}
    array = as_array(X)
    if array is X:
        try:
            return validate_data(estimator, X, reset=reset, **checks)
        except ValueError:
            _refuse_text(X)  # names the column
            raise
    validate_data(
        estimator, X, reset=reset, skip_check_array=True
    )  # checks the names and number of the columns
    return check_array(array, estimator=estimator, input_name="X", **checks)


def _refuse_text(X):
    """Raise a ValueError that names the first column with text, if there is one."""
    if not hasattr(X, "columns"):
        X = np.asarray(X)
    if len(X.shape) != 2 or getattr(getattr(X, "dtype", None), "kind", "O") not in "OUT":
        return
    for j in range(X.shape[1]):
        column = _column(X, j)
        text = next((v for v in column if isinstance(v, str) and not is_number(v)), None)
        if text is not None:
            name = repr(X.columns[j]) if hasattr(X, "columns") else f"at position {j}"
            raise ValueError(
                f"The column {name} holds text, such as {str(text)!r:.50}, but the tree takes only "
                "numbers; leave the column out, or encode it in a pipeline."
            )


def read_table(X, nominal=None):
    """Encode a training table and find its categories.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Training table. In a data frame, columns with pandas' categorical or polars' Enum dtype
        are nominal with their declared categories; columns with text or polars' Categorical are
        nominal with the sorted observed categories.
    nominal : None, "from_dtype", or array-like of bool, int or str
        Further nominal columns, as a mask, indices or names, with sorted observed categories.

    Returns
    -------
    matrix : array of shape (n, d), float64
        Codes in nominal columns, NaN where missing.
    categories : tuple of length d
        Labels of nominal columns, None for numeric ones.
    """
    names, X = column_names(X), _frame_or_array(X)
    chosen = _chosen_columns(nominal, X.shape[1], names)
    if names is not None:
        chosen = chosen | _nominal_dtypes(X)
    chosen = np.flatnonzero(chosen).tolist()
    matrix = _read_numbers(X, chosen, order="F", ensure_all_finite="allow-nan")
    categories = [None] * X.shape[1]
    for j in chosen:
        categories[j], matrix[:, j] = read_nominal(_column(X, j))
    return matrix, tuple(categories)


def has_nominal(X, nominal=None):
    """Return whether :func:`read_table` would find a nominal column."""
    names = column_names(X)
    if names is None:
        return not _by_dtype(nominal) and _chosen_columns(nominal, _width(X), None).any()
    return bool(_chosen_columns(nominal, len(names), names).any() or _nominal_dtypes(X).any())


def _nominal_dtypes(X):
    """Return a mask of the columns of a data frame that are nominal by dtype."""
    return np.array([type(dtype).__name__ in DECLARED + OBSERVED for dtype in X.dtypes], dtype=bool)


def _chosen_columns(nominal, width, names):
    chosen = np.zeros(width, dtype=bool)
    if _by_dtype(nominal):
        return chosen
    nominal = np.asarray(nominal)
    if nominal.size == 0:
        return chosen
    if nominal.dtype.kind == "b":
        if nominal.shape != (width,):
            raise ValueError(
                f"categorical_features as a mask must have one entry for each of the {width} "
                f"columns, got shape {nominal.shape}."
            )
        return nominal
    if nominal.dtype.kind in "iu":
        if nominal.min() < 0 or nominal.max() >= width:
            raise ValueError(
                f"categorical_features as indices must be in [0, {width - 1}], got "
                f"{nominal.tolist()}."
            )
        chosen[nominal] = True
        return chosen
    if names is None:
        raise ValueError("categorical_features as names needs a data frame; pass indices.")
    unknown = [name for name in nominal.tolist() if name not in names]
    if unknown:
        raise ValueError(f"categorical_features names columns that X does not have: {unknown}.")
    return np.isin(np.array(names, dtype=object), nominal.astype(object))


def _by_dtype(nominal):
    return nominal is None or (isinstance(nominal, str) and nominal == "from_dtype")


def _width(X):
    shape = np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"Expected a 2D array: X has {len(shape)} dimension(s), not 2.")
    return shape[1]


def _frame_or_array(X):
    """Return X itself if it is a data frame, otherwise a 2-D array."""
    if hasattr(X, "columns"):
        return X
    matrix = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
    if matrix.ndim != 2:
        raise ValueError(f"Expected a 2D array: X has {matrix.ndim} dimension(s), not 2.")
    return matrix


def _column(X, position):
    """Return a column of a data frame or array."""
    if hasattr(X, "iloc"):
        return X.iloc[:, position]
    return X[X.columns[position]] if hasattr(X, "columns") else X[:, position]


def _read_numbers(X, nominal, order, ensure_all_finite):
    """Convert X to a float64 matrix; the caller fills the columns of ``nominal``."""
    if len(X) == 0:
        raise ValueError("Found array with 0 sample(s): X has no row; at least one is needed.")
    matrix, nominal = np.empty(X.shape, order=order), set(nominal)
    plain = [j for j in plain_columns(X) if j not in nominal]
    for group in column_groups(plain, len(X)):
        values = X.iloc[:, group].to_numpy(np.float64)
        if ensure_all_finite:
            assert_all_finite(values, allow_nan=True, input_name="X")
        matrix[:, group] = values
    for j in sorted({*range(X.shape[1])} - nominal - {*plain}):
        matrix[:, j] = as_numbers(_column(X, j), ensure_all_finite)
    return matrix
