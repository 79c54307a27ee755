"""CSV cells are text; here they become numbers or labels, the same in fit and in predict."""

import csv
from pathlib import Path

import numpy as np

MISSING = ["", "?", "NA", "NaN", "nan", "null", "None"]  # what an empty cell looks like
_TRUTH = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0}
_BLOCK = 1 << 23  # bytes of a file that are parsed at once


def read_header(path):
    """Column names of a CSV file: its first line, without spaces around them."""
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        names = [name.strip() for name in next(csv.reader(file), [])]
    if not names:
        raise ValueError("the first line is empty, where the names of the columns are expected")
    other = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
    if other:
        raise ValueError(
            f"its columns seem to be separated by {other!r}; save it with commas between them"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two columns are called {twice!r}; give each a name of its own")
    return names


def read_cells(path, columns=None):
    """Stream a CSV file as text without spaces around it, nulls where a cell is missing.

    Parameters
    ----------
    path : str or Path
        The file.
    columns : sequence of str, optional
        Those wanted; default all.

    Yields
    ------
    cells : dict of str to pyarrow.Array
        The columns of some rows.
    done : float
        How much of the file was read, between 0 and 1.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

    names, size = read_header(path), max(Path(path).stat().st_size, 1)
    options = (
        # Unlike skip_rows this skips a whole header, line breaks in its names included.
        arrow_csv.ReadOptions(block_size=_BLOCK, column_names=names, skip_rows_after_names=1),
        arrow_csv.ParseOptions(newlines_in_values=True),
        arrow_csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            include_columns=list(names if columns is None else columns),
        ),
    )
    missing = pa.array(MISSING)
    with pa.OSFile(str(path)) as file:
        try:
            reader = arrow_csv.open_csv(file, *options)
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                return  # a header and no row
            raise
        for number, batch in enumerate(reader, start=1):
            cells = {
                name: pc.utf8_trim_whitespace(batch.column(name)) for name in batch.schema.names
            }
            for name, column in cells.items():
                blank = pc.is_in(column, value_set=missing)
                cells[name] = pc.if_else(blank, pa.scalar(None, pa.string()), column)
            # The place in the file would not do: the reader is several blocks ahead.
            yield cells, min(number * _BLOCK / size, 1.0)


def infer_column(column):
    """Text as whole numbers, numbers or truth values, whichever all cells are; else as it is.

    A column with codes such as 01234 stays text.

    Returns
    -------
    values : ndarray or pandas.Series
        int64; float64, NaN where missing; bool (float64 where some are missing); or text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.any(pc.match_substring_regex(column, "^0[0-9]+$")).as_py():
        return column.to_pandas()  # 01234 is a code, which a number would lose
    if column.null_count < len(column):
        for kind in (pa.int64(), pa.float64()):
            if kind == pa.int64() and column.null_count:
                continue  # NumPy has no missing whole number
            try:
                return pc.cast(column, kind).to_numpy(zero_copy_only=False)
            except pa.ArrowInvalid:
                continue
        if not all(value is None or value in _TRUTH for value in column.unique().to_pylist()):
            return column.to_pandas()
        if column.null_count == 0:
            return as_numbers(column).astype(bool)
    return as_numbers(column)


def as_numbers(column, name="", first_row=0):
    """Text as float64, NaN where missing; ``True`` and ``False`` count 1 and 0.

    Parameters
    ----------
    column : pyarrow.Array
        Of text.
    name, first_row : str and int
        The column's name and the number of its first row, for the complaint about other text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_numbers(pa.array(["1.5", None, "True"]))
    array([1.5, nan, 1. ])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

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


def is_number(text):
    """Whether text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_labels(column, labels, name=""):
    """A column as a categorical one of a model's labels; a value that is none of them is missing.

    Text and numbers are compared as they are where the labels are of that kind, else by what they
    look like: ``"3"``, 3 and 3.0 are alike then.

    Parameters
    ----------
    column : pandas.Series
        Categorical, text or numbers.
    labels : sequence
        What the model knows.
    name : str
        Of the column, for the complaint about labels that look alike.

    Examples
    --------
    >>> import pandas as pd
    >>> as_labels(pd.Series([3, 1, 7]), ["1", "2", "3"]).tolist()
    ['3', '1', nan]
    """
    import pandas as pd

    values = column.array if column.dtype == "category" else pd.Categorical(column)
    kinds = {_kind(label) for label in labels}
    look = _as_it_is if all(_kind(value) in kinds for value in values.categories) else _look
    position = {look(label): code for code, label in enumerate(labels)}
    if len(position) < len(labels):
        value = values.categories[0]
        raise ValueError(
            f"The column {name!r} holds {_kind(value)} such as {value!r:.50}, but the model knows "
            f"{' and '.join(sorted(kinds))} such as {labels[0]!r:.50}; convert the column."
        )
    codes = np.array([*(position.get(look(value), -1) for value in values.categories), -1])
    return pd.Categorical.from_codes(codes[values.codes], categories=pd.Index(list(labels)))


def _as_it_is(label):
    return label


def _kind(label):
    if isinstance(label, str):
        return "text"
    return "truth values" if isinstance(label, bool | np.bool_) else "numbers"


def _look(label):
    """What a label looks like: a number, if it can be read as one."""
    text = str(label)
    if text in _TRUTH:
        return _TRUTH[text]
    return float(text) if is_number(text) else text
