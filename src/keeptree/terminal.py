"""Tables on a terminal, drawn by rich."""

from keeptree.output import require_extra


def open_console():
    """Return a rich console on standard output, or name the extra that installs rich."""
    require_extra("rich", extra="report")
    from rich.console import Console

    return Console(highlight=False)


def make_table(head, rows):
    """Return a rich table with names on the left and figures on the right.

    Parameters
    ----------
    head : list of str
        Titles of the columns.
    rows : iterable of list
        Cells: text, or pairs of text and style.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, title in enumerate(head):
        table.add_column(Text(title), justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else Text(*cell) for cell in row))
    return table
