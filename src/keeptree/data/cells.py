"""Columns of a data file as numbers or labels: how a cell is read in fit and in predict.

Columns are Arrow arrays. In fit a text column becomes what all of its cells are
(:func:`infer_column`), and the model keeps how that was (:class:`Notation`). So afterwards a column
becomes numbers (:func:`cells_as_numbers`) or some of the model's labels (:func:`cells_as_labels`)
in the same way.
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from keeptree.data.columns import AS_MISSING, REFUSED, dates_for_numbers, is_number, unknown_label
from keeptree.data.dates import ISO, find_format, is_date_type, read_dates, tell_format
from keeptree.data.dialect import Dialect
from keeptree.data.labels import label_kind
from keeptree.data.numbers import read_numbers
from keeptree.savable import expect, saved_part

_TRUTH = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0}
_PLAIN = Dialect()


@saved_part
@dataclass(frozen=True)
class Notation:
    """How the numbers of a column are written in a data file.

    Parameters
    ----------
    unit : str
        The unit that every number has, such as ``"EUR"`` or ``"%"``.
    date : str
        The format of dates, which are read as days since 1970-01-01: ``"ISO"`` or one of strptime.
    """

    unit: str = ""
    date: str = ""

    def check(self):
        """Raise if it was read from a file and is damaged."""
        texts = isinstance(self.unit, str) and isinstance(self.date, str)
        expect(texts and len(self.unit) < 100 and len(self.date) < 100, "a notation is damaged")

    def tell(self):
        """What the model expects, in words."""
        if self.date:
            return f"a date such as {tell_format(self.date)}"
        return f"a number in {self.unit}" if self.unit else "a number"


def check_notations(model):
    """Check the notations of a model that was read from a file; an older one has none."""
    notations = getattr(model, "notation_", None)
    if notations is not None:
        fits = isinstance(notations, tuple) and len(notations) == model.n_features_in_
        expect(fits, "notation_ is damaged")
        for notation in notations:
            expect(notation is None or isinstance(notation, Notation), "notation_ is damaged")
            if notation is not None:
                notation.check()


@dataclass(frozen=True)
class Column:
    """A column of a training table as it was read.

    Parameters
    ----------
    values : ndarray or pandas.Series
        int64; float64, NaN where missing; bool (float64 where some are missing); or text.
    notation : Notation or None
        How its numbers are written, if they have units or are dates.
    example : tuple or None
        A cell that is not written as a plain number, and the number it was read as.
    """

    values: object
    notation: Notation | None = None
    example: tuple | None = None


def infer_column(column, dialect=_PLAIN, name="", dates=None):
    """Text as whole numbers, numbers, booleans or dates, whichever all cells are; else as it is.

    A column with codes such as 01234 stays text.

    Parameters
    ----------
    column : pyarrow.Array
        Text column.
    dialect : Dialect
        How numbers are written in the file.
    name : str
        The name of the column.
    dates : {"days", "dmy", "mdy", "drop"}, optional
        How to read dates; without it, or with "drop", a column of dates is text with a notation.

    Returns
    -------
    read : Column
    """
    if _has_codes(column):
        return Column(column.to_pandas())
    values = infer_plain(column, dialect)
    if values is not None:
        return Column(values)
    check_marks(column, dialect, name)
    numbers, units = read_numbers(column, dialect)
    if numbers is not None and len(units) == 1:
        unit = units.pop()
        return Column(
            _whole(numbers), Notation(unit=unit) if unit else None, _example(column, numbers)
        )
    return _infer_dates(column, name, dates)


def infer_target(column, dialect=_PLAIN):
    """Text labels as plain numbers or booleans if all are, else as they are written."""
    values = None if _has_codes(column) else infer_plain(column, dialect)
    return column.to_pandas() if values is None else values


def infer_plain(column, dialect=_PLAIN):
    """Text as plain numbers or booleans, whichever all cells are; None if they are neither."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count == len(column):
        return np.full(len(column), np.nan)
    if column.null_count == 0:  # NumPy has no missing whole number
        try:
            return pc.cast(column, pa.int64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            pass
    if dialect.decimal == "." or not _has_mark(column):
        try:
            return pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            pass
    if not all(value is None or value in _TRUTH for value in column.unique().to_pylist()):
        return None
    numbers = np.array([_TRUTH.get(value, np.nan) for value in column.to_pylist()])
    return numbers if column.null_count else numbers.astype(bool)


def check_marks(column, dialect, name, what="The column"):
    """Raise a ValueError if numbers have a mark that may be a decimal mark or not."""
    if dialect.decimal is not None:
        return
    for decimal in ".,":
        if read_numbers(column, dialect, decimal)[0] is not None:
            break
    else:
        return
    cell = _first_match(column, r"\d[.,]\d")
    if cell is not None:
        mark = "," if "," in cell else "."
        word = "comma" if mark == "," else "point"
        raise ValueError(
            f"{what} {name!r} holds numbers such as {cell!r:.50}, and nothing in the file tells "
            f"whether the {word} marks decimals or thousands; give --decimal {mark} or "
            f"--thousands {mark}."
        )


def cells_as_numbers(column, name="", first_row=0, dialect=_PLAIN, notation=None):
    """A column as float64, NaN where missing; ``True`` and ``False`` count 1 and 0.

    Parameters
    ----------
    column : pyarrow.Array
        Text, numbers, booleans or dates.
    name, first_row : str and int
        The column's name and the number of its first row, for the complaint about other cells.
    dialect : Dialect
        How numbers are written in the file.
    notation : Notation, optional
        The units or dates that the model expects.

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
    if notation.date and (is_date_type(column.type) or _is_text(column)):
        return _cells_as_days(column, name, first_row, notation)
    if not _is_text(column):
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
    unknown : int
        What a value that is none of the labels is instead: the code of a label that stands for all
        others, or REFUSED, which is a ValueError.

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

    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = encoded.to_pandas().array
    # The label that stands for all others is text, whatever they are.
    kinds = {label_kind(label) for code, label in enumerate(labels) if code != unknown}
    alike = all(label_kind(value) in kinds for value in values.categories)
    look = (lambda label: label) if alike else _look
    position = {look(label): code for code, label in enumerate(labels)}
    if len(position) < len(labels):
        value = values.categories[0]
        raise ValueError(
            f"The column {name!r} holds {label_kind(value)} such as {value!r:.50}, but the model "
            f"knows {' and '.join(sorted(kinds))} such as {labels[0]!r:.50}; convert the column."
        )
    codes = np.array([*(position.get(look(value), unknown) for value in values.categories), -1])
    if (codes == REFUSED).any():
        value = values.categories[int((codes == REFUSED).argmax())]
        raise ValueError(unknown_label(name, value, labels))
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


def _infer_dates(column, name, dates):
    """A text column as days, if it holds dates; without ``dates`` only said to hold them."""
    formats = find_format(column, dates if dates in ("dmy", "mdy") else None)
    if not formats:
        return Column(column.to_pandas())
    if len(formats) > 1 and dates == "days":
        cell = next(value for value in column.to_pylist() if value is not None)
        raise ValueError(
            f"The column {name!r} holds dates such as {cell!r:.50}, and none of them tells whether "
            "the day or the month comes first; give --dates dmy or --dates mdy."
        )
    notation = Notation(date=formats[0])
    if dates in (None, "drop"):
        return Column(column.to_pandas(), notation)
    days = read_dates(column, formats[0])
    return Column(days, notation, _example(column, days))


def _cells_as_days(column, name, first_row, notation):
    def read(cells):
        days = read_dates(cells, notation.date)
        return read_dates(cells, ISO) if days is None else days  # ISO can mean nothing else

    days = read(column)
    if days is None:
        row = _first_unreadable(column, lambda cells: read(cells) is not None)
        raise ValueError(_unexpected(column[row].as_py(), name, first_row + row, notation))
    return days


def _first_unreadable(column, is_readable):
    """Position of the first cell that makes a column unreadable."""
    return bisect_left(range(len(column)), True, key=lambda k: not is_readable(column[: k + 1]))


def _unexpected(value, name, row, notation):
    advice = "correct it or leave the cell empty"
    if not notation.date and not notation.unit and _looks_marked(value):
        advice = "say how numbers are written with --decimal or --thousands, or correct it"
    return (
        f"The column {name!r} holds {value!r:.50} in row {row + 1}, where the model expects "
        f"{notation.tell()}; {advice}."
    )


def _truth_as_digits(column):
    import pyarrow as pa
    import pyarrow.compute as pc

    place = pc.index_in(column, value_set=pa.array(list(_TRUTH)))
    digits = pa.array([f"{value:.0f}" for value in _TRUTH.values()]).take(place)
    return pc.coalesce(digits, column)


def _looks_marked(value):
    import pyarrow as pa

    cell = pa.array([str(value)])
    return any(read_numbers(cell, _PLAIN, decimal)[0] is not None for decimal in ".,")


def _whole(numbers):
    """Numbers as int64 if all of them are known and whole."""
    with np.errstate(invalid="ignore"):
        whole = (numbers == np.rint(numbers)) & (abs(numbers) < 2**53)
    return numbers.astype(np.int64) if whole.all() else numbers


def _example(column, numbers):
    """The cell that shows best how numbers are written: the longest of the first."""
    first = column.slice(0, 1000).to_pylist()
    row = max(range(len(first)), key=lambda k: len(first[k] or ""))
    return first[row], float(numbers[row])


def _has_codes(column):
    """Whether some cell is a code such as 01234, which a number would lose."""
    return _first_match(column, "^0[0-9]+$") is not None


def _first_match(column, pattern):
    import pyarrow.compute as pc

    found = column.filter(pc.match_substring_regex(column, pattern))
    return found[0].as_py() if len(found) else None


def _has_mark(column):
    return _first_match(column, r"[.,]") is not None


def _is_text(column):
    import pyarrow as pa

    return pa.types.is_string(column.type) or pa.types.is_large_string(column.type)


def _look(label):
    """What a label looks like: a number, if it can be read as one."""
    text = str(label)
    if text in _TRUTH:
        return _TRUTH[text]
    return float(text) if is_number(text) else text
