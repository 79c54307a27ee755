"""Read numbers as people write them: ``1,169``, ``1.169,00``, ``EUR 1169``, ``35%``, ``12 kg``.

Numbers may have thousands separators, and all numbers of a column may share a unit. The patterns
work in both Arrow (RE2) and Python.
"""

import re

import numpy as np

_SIGN = "[+\\-\u2212]?"
_GROUPS = [
    "'",
    "\u2019",
    " ",
    "\u00a0",
    "\u2009",
    "\u202f",
]  # in addition to the dot or comma that is not the decimal mark
_CURRENCIES = (
    "US\\$|A\\$|C\\$|R\\$|[$€£¥₹₩₺₽]|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK"
    "|HUF|RON|BGN|RUB|TRY|BRL|MXN|ZAR|KRW|SGD|HKD|ILS|THB|Rs\\.?|kr\\.?|zł|Fr\\."
)
_UNITS = (  # units that may follow a number without a space
    "%|‰|mg|kg|g|t|lbs?|oz|km/h|km|cm|mm|mi|m|ft|in|yd|mph|mpg|ml|cl|l|kWh|kW|W|V|hp|bhp|cc|CC"
    "|Hz|kHz|MHz|GHz|KB|MB|GB|TB|ms|s|sec|min|h|hrs?|yrs?|years|months|days|weeks|°C|°F|°"
)
_WORD = "[^\\W\\d_][^\\d\\s,;]{0,15}"  # any word after a space is a unit


def number_pattern(decimal=".", thousands=None):
    """Return the regular expression of a number.

    Parameters
    ----------
    decimal : {".", ","}
        Decimal mark.
    thousands : str, optional
        Thousands separator, allowed anywhere before the decimals. By default the usual marks
        between groups of three digits.
    """
    whole = "[0-9]+"
    if thousands:
        whole = f"[0-9][0-9{_escape(_alike(thousands))}]*"
    else:
        marks = map(_escape, _grouping(decimal))
        groups = "|".join(f"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+" for mark in marks)
        whole = f"(?:{groups}|{whole})"
    mark = f"[{decimal}]"
    return f"{_SIGN}(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+\\-]?[0-9]+)?"


def cell_pattern(decimal=".", thousands=None):
    """Return the regular expression of a number with an optional unit, with named groups."""
    number = number_pattern(decimal, thousands)
    space = "[ \u00a0\u2009\u202f]"
    return (
        f"^(?P<sign>{_SIGN})(?P<before>{_CURRENCIES})?{space}*(?P<number>{number})"
        f"(?:{space}*(?P<after>{_CURRENCIES}|{_UNITS})|{space}+(?P<word>{_WORD}))?$"
    )


def read_numbers(column, dialect, decimal=None):
    """Convert a text column of numbers that share one unit, or have none.

    Parameters
    ----------
    column : pyarrow.Array
        Text, null where missing.
    dialect : Dialect
        Number format.
    decimal : {".", ","}, optional
        Overrides the decimal mark of the dialect.

    Returns
    -------
    values : ndarray of float64 or None
        Numbers, NaN where missing; None if a cell is not a number or units differ.
    units : set of str
        Units found; "" for numbers without a unit.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from keeptree.data.dialect import Dialect
    >>> read_numbers(pa.array(["EUR 1,169", None, "EUR 20.5"]), Dialect())
    (array([1169. ,   nan,   20.5]), {'EUR'})
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    decimal = decimal or dialect.decimal or "."
    parts = pc.extract_regex(column, cell_pattern(decimal, dialect.thousands))
    if parts.null_count > column.null_count:
        return None, set()
    sign, number = pc.struct_field(parts, "sign"), pc.struct_field(parts, "number")
    unit = pc.binary_join_element_wise(
        *(pc.struct_field(parts, name) for name in ("before", "after", "word")), ""
    )
    units = {text for text in unit.unique().to_pylist() if text is not None}
    marks = [_alike(dialect.thousands)] if dialect.thousands else _grouping(decimal)
    number = pc.replace_substring_regex(number, f"[{_escape(''.join(marks))}]", "")
    number = pc.replace_substring(number, decimal, ".")
    text = pc.binary_join_element_wise(sign, number, "")
    text = pc.replace_substring(text, "\u2212", "-")
    text = pc.replace_substring_regex(text, "^[+]|[.]$", "")  # not supported by Arrow
    try:
        values = pc.cast(text, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:  # a sign before the unit and another before the number
        return None, set()
    return np.asarray(values, dtype=np.float64), units


def match_numbers(values, decimal="."):
    """Return a mask of the texts that are numbers, with or without a common unit.

    Examples
    --------
    >>> match_numbers(["3", "1,169", "35%", "3 rooms", "old"]).tolist()
    [True, True, True, False, False]
    """
    pattern = re.compile(cell_pattern(decimal))
    found = [pattern.match(value) for value in values]
    return np.array([bool(m) and m["word"] is None for m in found], dtype=bool)


def _grouping(decimal):
    """Return the possible thousands separators for a decimal mark."""
    return ["," if decimal == "." else ".", *_GROUPS]


def _alike(mark):
    """Return a thousands separator and its look-alikes, such as all kinds of spaces."""
    return "".join(_GROUPS[2:]) if mark.isspace() else mark


def _escape(marks):
    return marks.replace("\\", "\\\\").replace(".", "\\.").replace("-", "\\-").replace("]", "\\]")
