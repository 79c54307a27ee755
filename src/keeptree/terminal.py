"""Tables on a terminal, drawn by rich, and paragraphs that fit its width."""

import shutil
import sys
from textwrap import TextWrapper

from keeptree.output import require_extra

_WIDEST = 100  # longer lines are hard to read


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


def wrap_lines(text, width=None):
    r"""Return text whose lines are wrapped between words, with the rest of a line indented.

    Parameters
    ----------
    text : str
        Lines of any length.
    width : int, optional
        Length of a line. By default that of the terminal, at most 100; text that goes to a file or
        another program is not wrapped.

    Examples
    --------
    >>> print(wrap_lines("The leaves:\n  leaf 1: right for 80% of the cases", 24))
    The leaves:
      leaf 1: right for 80%
        of the cases
    """
    if width is None:
        if not sys.stdout.isatty():
            return text
        width = min(shutil.get_terminal_size().columns, _WIDEST)
    return "\n".join(_wrap(line, width) for line in text.splitlines())


def _wrap(line, width):
    margin = line[: len(line) - len(line.lstrip())]
    rest = margin + "  " if margin else ""
    wrapper = TextWrapper(
        width=max(width, 20),
        initial_indent=margin,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapper.fill(line.strip())
