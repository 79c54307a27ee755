"""Detect the separator, decimal mark and header of a delimited file.

Options that the user does not give are detected from the beginning of the file. If two readings are
plausible, an error asks for the option instead of guessing.
"""

import csv
import io
import re
from dataclasses import dataclass

from keeptree.data.numbers import cell_pattern

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space"}
MISSING = ["", "?", "NA", "NaN", "nan", "null", "None"]  # values that mean an empty cell
_GUESSED = ",;\t|"
_RECORDS = 2000  # number of records that are inspected


@dataclass(frozen=True)
class Dialect:
    """Format of the cells and numbers of a table.

    Parameters
    ----------
    sep : str
        Column separator.
    decimal : str or None
        Decimal mark; None if it is undetermined, which only matters for numbers with a mark.
    thousands : str or None
        Thousands separator, removed from numbers. None accepts any usual mark between groups of
        three digits.
    recognised : tuple of str
        What was detected other than the defaults, in words.
    skip : int
        Lines before the header.
    """

    sep: str = ","
    decimal: str | None = "."
    thousands: str | None = None
    recognised: tuple = ()
    skip: int = 0


def recognise(text, complete=True, sep=None, decimal=None, thousands=None):
    r"""Detect the dialect of a delimited file from its beginning.

    Parameters
    ----------
    text : str
        Beginning of the file, including the header.
    complete : bool
        Whether this is the whole file; otherwise the last record may be cut off.
    sep, decimal, thousands : str, optional
        Options given by the user.

    Returns
    -------
    dialect : Dialect
        Detected dialect. Two plausible separators raise a ValueError.

    Examples
    --------
    >>> recognise("a;b\n1,5;x\n2,25;y\n")
    Dialect(sep=';', decimal=',', thousands=None,
            recognised=('semicolon-separated', 'with decimal commas'), skip=0)
    """
    recognised, skip = [], 0
    declared = re.match(r"sep=(.)\r?\n", text)  # "sep=;" is how Excel declares the separator
    if declared:
        text, skip, sep = text[declared.end() :], 1, sep or declared[1]
    if sep is None:
        sep = _recognise_separator(text, complete)
        if sep != ",":
            recognised.append(f"{SEPARATORS[sep]}-separated")
    if decimal is None:
        _, *rows = read_records(text, sep, complete) or [[]]
        decimal = _recognise_decimal(rows, sep, thousands)
        if decimal == ",":
            recognised.append("with decimal commas")
    return Dialect(sep, decimal, thousands, tuple(recognised), skip)


def read_records(text, sep, complete=True):
    """Parse the first records into lists of cells; None if they cannot be parsed."""
    records = []
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=sep):
            records += [record] if record else []
            if len(records) > _RECORDS:
                return records
    except csv.Error:
        return None
    return records if complete or len(records) < 2 else records[:-1]


def _recognise_separator(text, complete):
    """Return the separator with which every record has as many cells as the header."""
    widths = {}
    for sep in _GUESSED:
        records = read_records(text, sep, complete)
        if records:
            widths[sep] = [len(record) for record in records]
    named = {sep: width for sep, width in widths.items() if width[0] > 1}
    even = [sep for sep, width in named.items() if len(set(width)) == 1]
    plausible = even or list(named)
    if len(plausible) > 1:
        names = " or ".join(SEPARATORS[sep] for sep in plausible)
        example = SEPARATORS[plausible[0]]
        raise ValueError(
            f"its columns may be separated by {names}; choose one with --sep, for instance "
            f"--sep {example}"
        )
    return plausible[0] if plausible else ","


def _recognise_decimal(rows, sep, thousands):
    """Return the decimal mark implied by the numeric columns; None if undetermined."""
    if thousands in (".", ","):
        return "," if thousands == "." else "."
    readings = {mark: re.compile(cell_pattern(mark)) for mark in ".,"}
    proven = set()
    for cells in zip(*rows, strict=False):
        known = {cell.strip() for cell in cells}.difference(MISSING)
        fits = [mark for mark, cell in readings.items() if all(map(cell.match, known))]
        proven.update(fits if len(fits) == 1 else ())
    if len(proven) == 1:
        return proven.pop()
    # Where semicolons separate the columns, a comma may well be the decimal mark.
    return None if sep == ";" and not proven else "."
