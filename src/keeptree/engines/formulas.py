"""Text that a spreadsheet would run as a formula, made harmless.

Excel, LibreOffice and Google Sheets take a cell of a CSV file for a formula if it starts with one
of a few marks, quoted or not; a name in somebody's data can so send the sheet elsewhere. With an
apostrophe before it the cell is text. (OWASP, "CSV Injection".)
"""

from keeptree.data.columns import is_number

_STARTS = r"^\s*[=+\-@\t\r]"


def escape_formulas(column):
    """Return a column with an apostrophe before every text that a spreadsheet would run.

    Parameters
    ----------
    column : pyarrow.Array
        Anything but text, and text that is a number such as ``-5``, stays as it is.

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
    """Return text as :func:`escape_formulas` writes it."""
    first = text.lstrip(" ")[:1]
    return f"'{text}" if first and first in "=+-@\t\r\n" and not is_number(text) else text
