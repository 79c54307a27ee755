"""Tables and progress bars on a terminal, drawn by rich."""

import sys
from contextlib import contextmanager

from keeptree.output import require_extra


def open_console():
    """Return a rich console on the standard output; an error names the extra that has rich."""
    require_extra("rich", extra="report")
    from rich.console import Console

    return Console(highlight=False)


def make_table(head, rows):
    """Return a rich table: names to the left in the first column, figures to the right.

    Parameters
    ----------
    head : list of str
        Titles of the columns.
    rows : iterable of list
        Cells: text, or text and its style.
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


@contextmanager
def progress_bar(description, total, text, *, done=0, wanted=True, transient=False, **fields):
    """Yield a function that moves a progress bar on the standard error.

    A bar is shown only on a terminal, and only if rich is installed.

    Parameters
    ----------
    description : str
        Text before the bar.
    total : float
        Value at the end.
    text : str
        Text behind the bar, as rich's TextColumn has it.
    done : float
        Value at the start.
    wanted : bool
        Whether to show it at all.
    transient : bool
        Whether it disappears at the end.
    **fields
        Other values that the text shows.

    Yields
    ------
    move : callable
        ``move(done, **fields)``.
    """
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    except ModuleNotFoundError:
        wanted = False
    if not wanted or not sys.stderr.isatty():
        yield lambda done, **fields: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(text),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task(description, total=total, completed=done, **fields)
        yield lambda done, **fields: bar.update(task, completed=done, **fields)
