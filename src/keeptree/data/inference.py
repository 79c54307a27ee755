"""Infer whether a text column holds numbers, booleans, dates or text.

Columns are Arrow arrays. A column has a type only if all of its cells do.
"""

from dataclasses import dataclass

import numpy as np

from keeptree.data.dates import find_format, read_dates
from keeptree.data.dialect import Dialect
from keeptree.data.labels import TRUTH
from keeptree.data.notation import Notation
from keeptree.data.numbers import read_numbers

PLAIN = Dialect()
_WHOLE = "^-?(?:0|[1-9][0-9]{0,17})$"  # integers, but not codes such as 01234
_DECIMAL = "^-?[0-9]{1,20}\\.[0-9]+(?:[eE][-+]?[0-9]{1,2})?$"  # floating-point numbers
_LONG = 256  # number of rows from which columns are read one by one


@dataclass(frozen=True)
class Column:
    """A converted column of a training table.

    Parameters
    ----------
    values : ndarray or pandas.Series
        int64; float64, NaN where missing; bool (float64 where some are missing); or text.
    notation : Notation or None
        Unit or date format, if any.
    example : tuple or None
        A cell that is not a plain number, and the number it was read as.
    """

    values: object
    notation: Notation | None = None
    example: tuple | None = None


def infer_columns(columns, dialect=PLAIN, dates=None):
    """Return the result of :func:`infer_column` for each of several columns.

    ``columns`` is a dict of columns of the same length. Those of plain numbers are detected
    together, which is faster.
    """
    plain = plain_numbers(columns, dialect)
    return {
        name: Column(plain[name]) if name in plain else infer_column(column, dialect, name, dates)
        for name, column in columns.items()
    }


def infer_column(column, dialect=PLAIN, name="", dates=None):
    """Convert text to integers, numbers, booleans or dates if all cells allow it.

    A column with codes such as 01234 stays text.

    Parameters
    ----------
    column : pyarrow.Array
        Text column.
    dialect : Dialect
        Number format of the file.
    name : str
        Column name.
    dates : {"days", "dmy", "mdy", "drop"}, optional
        How to read dates. By default, or with ``"drop"``, dates stay text, and their format is
        reported in ``notation``.

    Returns
    -------
    read : Column
        The converted column.
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


def infer_target(column, dialect=PLAIN):
    """Convert labels to plain numbers or booleans if all of them are; otherwise keep the text."""
    values = None if _has_codes(column) else infer_plain(column, dialect)
    return column.to_pandas() if values is None else values


def infer_plain(column, dialect=PLAIN):
    """Convert text to plain numbers or booleans; return None if some cell is neither."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count == len(column):
        return np.full(len(column), np.nan)
    if column.null_count == 0:  # NumPy integers cannot be missing
        try:
            # Try ten cells first, because Arrow converts the whole column before it fails.
            pc.cast(column[:10], pa.int64())
            return pc.cast(column, pa.int64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            pass
    if dialect.decimal == "." or not _has_mark(column):
        try:
            return pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            pass
    if not all(value is None or value in TRUTH for value in column.unique().to_pylist()):
        return None
    numbers = np.array([TRUTH.get(value, np.nan) for value in column.to_pylist()])
    return numbers if column.null_count else numbers.astype(bool)


def plain_numbers(columns, dialect=PLAIN):
    """Convert the text columns that clearly hold plain numbers, all at once.

    Parameters
    ----------
    columns : dict of str to pyarrow.Array
        Columns of the same length.
    dialect : Dialect
        Number format of the file.

    Returns
    -------
    values : dict of str to ndarray
        Results of :func:`infer_plain` for some of the columns. The others are left to that
        function, which is also faster for long columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = {"age": ["31", "4"], "dose": [None, "0.5"], "zip": ["01234", "7"]}
    >>> plain_numbers({name: pa.array(column) for name, column in cells.items()})
    {'age': array([31,  4]), 'dose': array([nan, 0.5])}
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(columns) < 2 or len(next(iter(columns.values()))) > _LONG:
        return {}
    names, cells = list(columns), pa.concat_arrays(columns.values())

    def columns_of(cells):
        return cells.to_numpy(zero_copy_only=False).reshape(len(names), -1)

    def match(pattern):
        return columns_of(pc.match_substring_regex(cells, pattern).fill_null(False))

    whole = match(_WHOLE)
    number = whole | columns_of(cells.is_null())
    if dialect.decimal == "." and not number.all():
        number |= match(_DECIMAL)
    is_whole, is_number = whole.all(axis=1), number.all(axis=1)
    found = {}
    for kind, chosen in ((pa.int64(), is_whole), (pa.float64(), is_number & ~is_whole)):
        chosen = [names[k] for k in np.flatnonzero(chosen)]
        if chosen:
            text = pa.concat_arrays(columns[name] for name in chosen)
            values = pc.cast(text, kind).to_numpy(zero_copy_only=False)
            found.update(zip(chosen, values.reshape(len(chosen), -1), strict=True))
    return found


def check_marks(column, dialect, name, what="The column"):
    """Raise a ValueError if a mark could separate either decimals or thousands."""
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
            f"{what} {name!r} contains numbers such as {cell!r:.50}, and nothing in the file shows "
            f"whether the {word} marks decimals or thousands; give --decimal {mark} or "
            f"--thousands {mark}."
        )


def _infer_dates(column, name, dates):
    """Convert a column of dates to days; without ``dates`` only mark it as dates."""
    formats = find_format(column, dates if dates in ("dmy", "mdy") else None)
    if not formats:
        return Column(column.to_pandas())
    if len(formats) > 1 and dates == "days":
        cell = next(value for value in column.to_pylist() if value is not None)
        raise ValueError(
            f"The column {name!r} holds dates such as {cell!r:.50}, and none of them shows whether "
            "the day or the month comes first; give --dates dmy or --dates mdy."
        )
    notation = Notation(date=formats[0])
    if dates in (None, "drop"):
        return Column(column.to_pandas(), notation)
    days = read_dates(column, formats[0])
    return Column(days, notation, _example(column, days))


def _whole(numbers):
    """Convert numbers to int64 if all are known and whole."""
    with np.errstate(invalid="ignore"):
        whole = (numbers == np.rint(numbers)) & (abs(numbers) < 2**53)
    return numbers.astype(np.int64) if whole.all() else numbers


def _example(column, numbers):
    """Return the longest of the first cells, as an example of the notation, and its number."""
    first = column.slice(0, 1000).to_pylist()
    row = max(range(len(first)), key=lambda k: len(first[k] or ""))
    return first[row], float(numbers[row])


def _has_codes(column):
    """Return whether some cell is a code such as 01234, whose leading zero a number would lose."""
    return _first_match(column, "^0[0-9]+$") is not None


def _first_match(column, pattern):
    import pyarrow.compute as pc

    found = column.filter(pc.match_substring_regex(column, pattern))
    return found[0].as_py() if len(found) else None


def _has_mark(column):
    return _first_match(column, r"[.,]") is not None
