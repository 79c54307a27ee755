"""Convert columns of a data file to the numbers or labels that a fitted model expects.

Columns are Arrow arrays. The model stores how its numbers were written
(:class:`~keeptree.data.notation.Notation`), so that cells are read the same way in predict.
"""

from bisect import bisect_left

import numpy as np

from keeptree.data.columns import AS_MISSING, REFUSED, dates_for_numbers, is_number, unknown_label
from keeptree.data.dates import ISO, is_date_type, read_dates
from keeptree.data.inference import PLAIN, check_marks, infer_plain
from keeptree.data.labels import TRUTH, label_kind, tell_kinds
from keeptree.data.notation import Notation
from keeptree.data.numbers import read_numbers


def cells_as_numbers(column, name="", first_row=0, dialect=PLAIN, notation=None):
    """Convert a column to float64, with NaN where missing; booleans become 1 and 0.

    Parameters
    ----------
    column : pyarrow.Array
        Text, numbers, booleans or dates.
    name, first_row : str and int
        Column name and index of its first row, for error messages.
    dialect : Dialect
        Number format of the file.
    notation : Notation, optional
        Unit or date format that the model expects.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells_as_numbers(pa.array(["1.5", None, "True"]))
    array([1.5, nan, 1. ])
    >>> cells_as_numbers(pa.array(["35%", "7.5 %"]), notation=Notation(unit="%"))
    array([35. ,  7.5])
    """
    import pyarrow as pa

    notation = notation or Notation()
    if notation.date and (is_date_type(column.type) or is_text(column)):
        return _cells_as_days(column, name, first_row, notation)
    if not is_text(column):
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.float64())
        values = column.to_numpy(zero_copy_only=False)
        if values.dtype.kind in "biuf" or column.null_count == len(column):
            return values.astype(np.float64)
        if pa.types.is_boolean(column.type):
            return column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        if is_date_type(column.type):
            raise ValueError(dates_for_numbers(name))
        raise ValueError(
            f"The column {name!r} holds {column.type}, where the model expects numbers; convert it."
        )
    values = None if notation.unit else infer_plain(column, dialect)
    if values is not None:
        return values.astype(np.float64)
    check_marks(column, dialect, name)

    def read(cells):
        values, units = read_numbers(cells, dialect)
        return values if values is not None and units <= {notation.unit} else None

    cells = column if notation.unit else _truth_as_digits(column)
    values = read(cells)
    if values is None:
        row = _first_unreadable(cells, lambda part: read(part) is not None)
        raise ValueError(_unexpected(column[row].as_py(), name, first_row + row, notation))
    return values


def cells_as_labels(column, labels, name="", unknown=AS_MISSING):
    """Convert a column to a categorical with the model's labels; other values become missing.

    Values of the same kind as the labels are compared directly. Otherwise, and if all labels are
    booleans, both are read as numbers if possible, so that ``"3"``, 3 and 3.0 are equal, and so
    are ``"true"``, ``"True"`` and 1.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
        Categorical, text or numbers.
    labels : sequence
        Labels that the model knows.
    name : str
        Column name, for error messages.
    unknown : int
        How to treat other values: the code of a label that stands for all others, or REFUSED to
        raise a ValueError.

    Returns
    -------
    values : pandas.Categorical
        The column, with the model's labels as categories.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells_as_labels(pa.array([3, 1, 7]), ["1", "2", "3"]).tolist()
    ['3', '1', nan]
    """
    import pandas as pd
    import pyarrow as pa

    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = encoded.to_pandas().array
    # The label that stands for all others is always text.
    known = [label for code, label in enumerate(labels) if code != unknown]
    kinds = {label_kind(label) for label in known}
    alike = all(label_kind(value) in kinds for value in values.categories)
    look = (lambda label: label) if alike and not truth_labels(known) else read_label
    position = {look(label): code for code, label in enumerate(labels)}
    if len(position) < len(labels):
        value = values.categories[0]
        raise ValueError(
            f"The column {name!r} holds {tell_kinds([value])} such as {value!r:.50}, but the model "
            f"knows {tell_kinds(known)} such as {labels[0]!r:.50}; convert the column."
        )
    codes = np.array([*(position.get(look(value), unknown) for value in values.categories), -1])
    if (codes == REFUSED).any():
        value = values.categories[int((codes == REFUSED).argmax())]
        raise ValueError(unknown_label(name, value, labels))
    return pd.Categorical.from_codes(codes[values.codes], categories=pd.Index(list(labels)))


def truth_labels(labels):
    """Return the labels by their value, 1 or 0, if all of them are booleans; otherwise {}.

    Examples
    --------
    >>> truth_labels(["False", "True"]), truth_labels(["yes", "no"])
    ({0.0: 'False', 1.0: 'True'}, {})
    """
    spelt = [label for label in labels if isinstance(label, bool | str) and str(label) in TRUTH]
    values = {TRUTH[str(label)]: label for label in spelt}
    return values if len(values) == len(labels) else {}


def is_text(column):
    """Return whether the cells of an Arrow column are text."""
    import pyarrow as pa

    return pa.types.is_string(column.type) or pa.types.is_large_string(column.type)


def unseen_cells(column, values):
    """Find the cells that :func:`cells_as_labels` did not recognise.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
        Argument of :func:`cells_as_labels`.
    values : pandas.Categorical
        Result of :func:`cells_as_labels`.

    Returns
    -------
    places : ndarray of int
        Positions of the cells.
    cells : list
        Values of the cells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = pa.array(["red", None, "pink"])
    >>> unseen_cells(column, cells_as_labels(column, ["red", "blue"]))
    (array([2]), ['pink'])
    """
    missing = np.flatnonzero(values.codes < 0)
    known = column.is_valid().to_numpy(zero_copy_only=False)[missing] if len(missing) else []
    places = missing[np.asarray(known, dtype=bool)]
    return places, column.take(places).to_pylist()


def _cells_as_days(column, name, first_row, notation):
    def read(cells):
        days = read_dates(cells, notation.date)
        return read_dates(cells, ISO) if days is None else days  # ISO dates are unambiguous

    days = read(column)
    if days is None:
        row = _first_unreadable(column, lambda cells: read(cells) is not None)
        raise ValueError(_unexpected(column[row].as_py(), name, first_row + row, notation))
    return days


def _first_unreadable(column, is_readable):
    """Return the position of the first cell that cannot be converted."""
    return bisect_left(range(len(column)), True, key=lambda k: not is_readable(column[: k + 1]))


def _unexpected(value, name, row, notation):
    advice = "correct it or leave the cell empty"
    if not notation.date and not notation.unit and _looks_marked(value):
        advice = "set the number format with --decimal or --thousands, or correct it"
    return (
        f"The column {name!r} holds {value!r:.50} in row {row + 1}, where the model expects "
        f"{notation.tell()}; {advice}."
    )


def _truth_as_digits(column):
    """Replace booleans such as "True" and "no" by the digits 1 and 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    place = pc.index_in(column, value_set=pa.array(list(TRUTH)))
    digits = pa.array([f"{value:.0f}" for value in TRUTH.values()]).take(place)
    return pc.coalesce(digits, column)


def _looks_marked(value):
    """Return whether a value is a number with some decimal mark or thousands separator."""
    import pyarrow as pa

    cell = pa.array([str(value)])
    return any(read_numbers(cell, PLAIN, decimal)[0] is not None for decimal in ".,")


def read_label(label):
    """Return a label as a number if it reads as one or as a boolean, otherwise as text."""
    text = str(label)
    if text in TRUTH:
        return TRUTH[text]
    return float(text) if is_number(text) else text
