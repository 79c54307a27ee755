"""Convert one column of a table in memory to numbers or category codes.

Columns come from NumPy, pandas or polars. Dtypes are recognised by class name, so that no library
is imported just to check a type.
"""

import numpy as np
from sklearn.utils import check_array

from keeptree.data.labels import TRUTH, is_missing, label_kind, plain, tell_kinds

DECLARED = ("CategoricalDtype", "Enum")  # dtypes that declare their categories in order
# Dtypes with text, which declare no categories.
OBSERVED = ("Categorical", "StringDtype", "String", "ObjectDType", "Object")


def dtype_kind(column):
    """Return the class name of a column's dtype, or "" if it has none."""
    dtype = getattr(column, "dtype", None)
    return "" if dtype is None else type(dtype).__name__


def is_number(text):
    """Return whether text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_numbers(column, ensure_all_finite=False):
    """Convert a numeric column to float64, with NaN for NA and None."""
    values = np.asarray(column)
    if values.dtype.kind in "mM":
        raise ValueError(dates_for_numbers(getattr(column, "name", None)))
    if values.dtype.kind == "O":
        # NumPy cannot convert NA, which is neither a number nor a boolean.
        values = np.array([np.nan if is_missing(v) else v for v in values], dtype=object)
        check_no_text(column)
    values = values.reshape(-1, 1)
    return check_array(
        values, dtype=np.float64, ensure_all_finite=ensure_all_finite, input_name="X"
    )[:, 0]


def dates_for_numbers(name):
    """Return the error message for a date column where numbers are expected."""
    return (
        f"The column {name!r} holds dates or times; convert them to numbers first, for instance "
        "days since 1970-01-01."
    )


def check_no_text(column):
    """Raise a ValueError for the first text that is not a number, if any."""
    name = getattr(column, "name", None)
    # An index label stays valid in a block of rows, a position does not.
    index = getattr(column, "index", None)
    for row, value in enumerate(column):
        if isinstance(value, str) and not is_number(value):
            place = f" at index {plain(index[row])!r}" if hasattr(column, "iloc") else ""
            raise ValueError(
                f"{'A numeric column' if name is None else f'The numeric column {name!r}'} holds "
                f"{value!r:.50}{place}; correct it or leave it missing."
            )


# special values of ``unknown``: treat unknown labels as missing, or refuse them
AS_MISSING, REFUSED = -1, -2


def encode_nominal(column, labels, unknown=AS_MISSING):
    """Encode a nominal column: the position of each value in ``labels``, NaN where missing.

    A boolean also matches the text "True" or "False" (or "true" and "false"), and vice versa.

    Parameters
    ----------
    column : pandas or polars column, or any other sequence
        Values.
    labels : sequence
        Known labels.
    unknown : int
        How to treat other values: the code of a label that stands for all others, AS_MISSING, or
        REFUSED to raise a ValueError.

    Examples
    --------
    >>> encode_nominal(["red", "blue", None, "pink"], ("blue", "red"))
    array([ 1.,  0., nan, nan])
    >>> encode_nominal(["red", "blue", None, "pink"], ("blue", "red", "(other)"), unknown=2)
    array([ 1.,  0., nan,  2.])
    >>> encode_nominal([True, False], ("False", "True"))
    array([1., 0.])
    """
    if dtype_kind(column) == "CategoricalDtype":
        # Look up each category once; pandas' code -1 for missing picks the last entry, NaN.
        categories = column.dtype.categories.rename(getattr(column, "name", None))
        used = np.isin(
            np.arange(len(categories)), column.array.codes
        )  # unused categories may be unknown
        codes = np.full(len(categories) + 1, np.nan)
        codes[:-1][used] = encode_nominal(categories[used], labels, unknown)
        return codes[column.array.codes]
    position = {label: float(code) for code, label in enumerate(labels)}
    known = [label for code, label in enumerate(labels) if code != unknown]
    position.update(_truth_positions(known, position, unknown))
    codes = np.array([position.get(plain(value), np.nan) for value in column])
    if np.isnan(codes).any():
        _check_kinds(column, codes, known)
        if unknown != AS_MISSING:
            _set_unknown(column, codes, labels, unknown)
    return codes


def declared_labels(column):
    """Return the labels that a dtype declares, and the code of each value.

    Parameters
    ----------
    column : pandas or polars column, or any other array
        Target or attribute.

    Returns
    -------
    declared : tuple or None
        Labels in declared order (an array or pandas Index) and codes, -1 where a value is missing;
        None if the dtype declares nothing.
    """
    kind = dtype_kind(column)
    if kind == "CategoricalDtype":
        return column.dtype.categories, np.asarray(getattr(column, "array", column).codes)
    if kind == "Enum":
        labels = column.dtype.categories.to_list()
        position = {label: code for code, label in enumerate(labels)}
        return np.array(labels), np.array([position.get(value, -1) for value in column.to_list()])
    return None


def read_nominal(column):
    """Return the labels and codes of a nominal training column, NaN where missing.

    Examples
    --------
    >>> read_nominal(np.array(["red", "blue", None], dtype=object))
    (('blue', 'red'), array([ 1.,  0., nan]))
    """
    declared = declared_labels(column)
    if declared is not None:
        labels, codes = declared
        return tuple(labels.tolist()), np.where(codes < 0, np.nan, codes)
    values = np.asarray(column).tolist()
    found = {value for value in set(values) if not is_missing(value)}
    if not found:
        return ("missing",), np.full(len(values), np.nan)
    try:
        labels = tuple(sorted(found))
    except TypeError:
        labels = tuple(sorted(found, key=lambda value: (type(value).__name__, str(value))))
    return labels, encode_nominal(values, labels)


def _set_unknown(column, codes, labels, unknown):
    """Encode unknown values, or raise a ValueError for the first of them."""
    for row, value in enumerate(column):
        if np.isnan(codes[row]) and not is_missing(value):
            if unknown == REFUSED:
                raise ValueError(unknown_label(getattr(column, "name", None), plain(value), labels))
            codes[row] = unknown


def unknown_label(name, value, labels):
    """Return the error message for an unknown label."""
    shown = ", ".join(repr(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")
    return (
        f"{'A column' if name is None else f'The column {name!r}'} holds {value!r:.50}, which is "
        f"unknown to the tree; it accepts only {shown}."
    )


def _truth_positions(known, position, unknown):
    """Return the codes of booleans where the labels are text, and of text where they are booleans.

    1 and 0 count as booleans, as everywhere in Python. Labels of several kinds, and those that
    spell a boolean in two ways, are only compared directly.
    """
    # With a label that stands for all others, a boolean that is no label is one of the others.
    codes = {0.0: float(unknown), 1.0: float(unknown)} if unknown >= 0 else {}
    if known and all(isinstance(label, bool) for label in known):
        codes |= {float(label): position[label] for label in known}
        return {text: codes[value] for text, value in TRUTH.items() if value in codes}
    spelt = {label: TRUTH[label] for label in known if isinstance(label, str) and label in TRUTH}
    if not spelt or len(set(spelt.values())) < len(spelt):
        return {}
    if not all(isinstance(label, str) for label in known):
        return {}
    return codes | {value: position[label] for label, value in spelt.items()}


def _check_kinds(column, codes, labels):
    """Raise a ValueError if the column holds numbers and the labels are text, or vice versa."""
    known = {label_kind(label) for label in labels}
    if not known:
        return
    for value, code in zip(column, codes, strict=True):
        if np.isnan(code) and not is_missing(value) and label_kind(value) not in known:
            name = getattr(column, "name", None)
            raise ValueError(
                f"{'A nominal column' if name is None else f'The column {name!r}'} holds "
                f"{tell_kinds([value])} such as {plain(value)!r:.50}, but the tree knows "
                f"{tell_kinds(labels)} such as {labels[0]!r:.50}; convert the column."
            )
