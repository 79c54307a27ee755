"""Escape text that a spreadsheet would run as a formula.

Excel, LibreOffice and Google Sheets treat a cell of a CSV file as a formula if it starts with one
of a few characters, quoted or not, so a malicious value can send the content of a sheet elsewhere.
An apostrophe in front makes the cell text (OWASP, "CSV Injection").
"""

from keeptree.data.columns import is_number

_STARTS = r"^\s*[=+\-@\t\r]"


def escape_formulas(column):
    """Return a column with an apostrophe before every text that a spreadsheet would run.

    Parameters
    ----------
    column : pyarrow.Array
        Column to escape. Only text is changed, but not numbers written as text, such as ``-5``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> escape_formulas(pa.array(["=1+1", "-5", "Anna", None])).to_pylist()
    ["'=1+1", '-5', 'Anna', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    if not pc.any(pc.match_substring_regex(column, _STARTS)).as_py():
        return column
    cells = [None if text is None else escape_name(text) for text in column.to_pylist()]
    return pa.array(cells, column.type)


def escape_name(text):
    """Return text escaped as by :func:`escape_formulas`."""
    first = text.lstrip(" ")[:1]
    return f"'{text}" if first and first in "=+-@\t\r\n" and not is_number(text) else text
