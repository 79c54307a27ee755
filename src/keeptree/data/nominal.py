"""Which columns are nominal, their categories, and the table as codes."""

import numpy as np

from keeptree.data.table import as_numbers, column_names, encode_labels

DECLARED = ("CategoricalDtype", "Enum")  # dtypes that list their categories
OBSERVED = ("Categorical", "StringDtype", "String", "ObjectDType", "Object")  # those that do not


def read_table(X, nominal=None):
    """Return (matrix, categories) of a training table.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Nominal are the columns named by ``nominal`` and, in a data frame, those of pandas'
        categorical or polars' Enum dtype (declared categories, in declared order) and those that
        hold text or polars' Categorical (observed categories, sorted).
    nominal : None, "from_dtype", or array-like of bool, int or str
        More nominal columns, as a mask, indices or names: observed categories, sorted.

    Returns
    -------
    matrix : array of shape (n, d), float64
        Codes in nominal columns, NaN where missing.
    categories : tuple of length d
        Labels of nominal columns, None for numeric ones.
    """
    is_frame = column_names(X) is not None
    columns = [X[name] for name in X.columns] if is_frame else list(np.asarray(X).T)
    chosen = _chosen_columns(nominal, len(columns), column_names(X))
    if len(columns[0]) == 0:
        raise ValueError("Found array with 0 sample(s): X has no row; at least one is needed.")
    matrix = np.empty((len(columns[0]), len(columns)), order="F")
    categories = []
    for j, column in enumerate(columns):
        kind = _kind(column.dtype) if is_frame else ""
        if kind in DECLARED:
            labels, matrix[:, j] = _DECLARED_CODES[kind](column)
        elif chosen[j] or kind in OBSERVED:
            labels, matrix[:, j] = _observed(np.asarray(column))
        else:
            labels, matrix[:, j] = None, as_numbers(column, "allow-nan")
        categories.append(labels)
    return matrix, tuple(categories)


def has_nominal(X, nominal=None):
    """Whether :func:`read_table` would find a nominal column."""
    names = column_names(X)
    if names is None:
        return not _by_dtype(nominal) and _chosen_columns(nominal, _width(X), None).any()
    if _chosen_columns(nominal, len(names), names).any():
        return True
    return any(_kind(dtype) in DECLARED + OBSERVED for dtype in X.dtypes)


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


def _kind(dtype):
    """Name of a dtype's class: no library is imported to ask."""
    return type(dtype).__name__


def _pandas_codes(column):
    codes = column.array.codes.astype(np.float64)
    codes[codes < 0] = np.nan
    return tuple(column.dtype.categories.tolist()), codes


def _polars_codes(column):
    labels = tuple(column.dtype.categories.to_list())
    return labels, encode_labels(column.to_list(), labels)


_DECLARED_CODES = {
    "CategoricalDtype": _pandas_codes,
    "Enum": _polars_codes,
}


def _observed(values):
    values = values.tolist()
    found = {value for value in values if not _is_missing(value)}
    if not found:
        return ("missing",), np.full(len(values), np.nan)
    try:
        labels = tuple(sorted(found))
    except TypeError:
        labels = tuple(sorted(found, key=lambda value: (type(value).__name__, str(value))))
    return labels, encode_labels(values, labels)


def _is_missing(value):
    # pandas' NA has no truth value, and no NaN equals itself.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value
