"""Columns of a data file as numbers or labels: how a cell is read in fit and in predict.

Columns are Arrow arrays. In fit a CSV column, which is text, becomes what all of its cells are
(:func:`infer_column`). A fitted model knows what its columns are, so that afterwards a column
becomes numbers (:func:`cells_as_numbers`) or some of the model's labels (:func:`cells_as_labels`).
"""

import numpy as np

from keeptree.data.columns import is_number
from keeptree.data.labels import label_kind

_TRUTH = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0}


def infer_column(column):
    """Text as whole numbers, numbers or booleans, whichever all cells are; else as it is.

    A column with codes such as 01234 stays text.

    Parameters
    ----------
    column : pyarrow.Array
        Text column.

    Returns
    -------
    values : ndarray or pandas.Series
        int64; float64, NaN where missing; bool (float64 where some are missing); or text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.any(pc.match_substring_regex(column, "^0[0-9]+$")).as_py():
        return column.to_pandas()  # 01234 is a code, which a number would lose
    if column.null_count == len(column):
        return cells_as_numbers(column)
    if column.null_count == 0:  # NumPy has no missing whole number
        try:
            return pc.cast(column, pa.int64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            pass
    try:
        return pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        pass
    if not all(value is None or value in _TRUTH for value in column.unique().to_pylist()):
        return column.to_pandas()
    numbers = cells_as_numbers(column)
    return numbers if column.null_count else numbers.astype(bool)


def cells_as_numbers(column, name="", first_row=0):
    """A column as float64, NaN where missing; ``True`` and ``False`` count 1 and 0.

    Parameters
    ----------
    column : pyarrow.Array
        Text, numbers or booleans.
    name, first_row : str and int
        The column's name and the number of its first row, for the complaint about other cells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells_as_numbers(pa.array(["1.5", None, "True"]))
    array([1.5, nan, 1. ])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        values = column.to_numpy(zero_copy_only=False)
        if values.dtype.kind in "biuf" or column.null_count == len(column):
            return values.astype(np.float64)
        raise ValueError(
            f"The column {name!r} holds {column.type}, where the model expects numbers; convert it."
        )
    try:
        return pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        values = column.to_pylist()
    for row, value in enumerate(values):
        if value is not None and value not in _TRUTH and not is_number(value):
            raise ValueError(
                f"The column {name!r} holds {value!r:.50} in row {first_row + row + 1}, where the "
                "model expects a number; correct it or leave the cell empty."
            )
    return np.array([_TRUTH[v] if v in _TRUTH else float(v or "nan") for v in values])


def cells_as_labels(column, labels, name=""):
    """A column as a categorical one of a model's labels; a value that is none of them is missing.

    Text and numbers are compared as they are where the labels are of that kind, else by what they
    look like: ``"3"``, 3 and 3.0 are alike then.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
        Categorical, text or numbers.
    labels : sequence
        What the model knows.
    name : str
        Name of the column, for the complaint about labels that look alike.

    Returns
    -------
    values : pandas.Categorical

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells_as_labels(pa.array([3, 1, 7]), ["1", "2", "3"]).tolist()
    ['3', '1', nan]
    """
    import pandas as pd
    import pyarrow as pa

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = encoded.to_pandas().array
    kinds = {label_kind(label) for label in labels}
    alike = all(label_kind(value) in kinds for value in values.categories)
    look = (lambda label: label) if alike else _look
    position = {look(label): code for code, label in enumerate(labels)}
    if len(position) < len(labels):
        value = values.categories[0]
        raise ValueError(
            f"The column {name!r} holds {label_kind(value)} such as {value!r:.50}, but the model "
            f"knows {' and '.join(sorted(kinds))} such as {labels[0]!r:.50}; convert the column."
        )
    codes = np.array([*(position.get(look(value), -1) for value in values.categories), -1])
    return pd.Categorical.from_codes(codes[values.codes], categories=pd.Index(list(labels)))


def unseen_cells(column, values):
    """The cells of a column that :func:`cells_as_labels` did not know.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
        What it was given.
    values : pandas.Categorical
        What it returned.

    Returns
    -------
    places : ndarray of int
        Their positions.
    cells : list
        What they hold.

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


def _look(label):
    """What a label looks like: a number, if it can be read as one."""
    text = str(label)
    if text in _TRUTH:
        return _TRUTH[text]
    return float(text) if is_number(text) else text
