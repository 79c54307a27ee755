"""A comparison as tables for the terminal."""

from keeptree.evaluation.tables import differences_table, heading, means_table, notes
from keeptree.output import require_extra
from keeptree.text import clean

_STYLE = {"▲": "bold green", "▼": "bold red", " ": "dim"}


def print_comparison(comparison, files=(), console=None):
    """Print means, differences, notes and the names of the files.

    Parameters
    ----------
    comparison : Comparison
        What to print.
    files : list of Path
        What was written, if anything.
    console : rich.console.Console, optional
        Where; default the standard output.
    """
    require_extra("rich", extra="report")
    from rich.console import Console
    from rich.text import Text

    console = console or Console(highlight=False)
    console.print()
    console.print(Text(heading(comparison), style="bold"))
    console.print()
    console.print(_means(comparison))
    if len(comparison.models) > 1 and comparison.n_splits > 1:
        console.print()
        console.print(Text(f"Difference to {clean(comparison.baseline)}", style="bold"))
        console.print()
        console.print(_differences(comparison))
    console.print()
    for line in notes(comparison):
        console.print(Text(line, style="dim"))
    for path in files:
        console.print(Text(f"Written: {path}"), soft_wrap=True)


def _means(comparison):
    from rich.text import Text

    head, rows = means_table(comparison)
    table = _table(head)
    for name, cells in rows:
        styled = [Text(f"{text} {'*' * best:1}", "bold" if best else "") for text, best in cells]
        table.add_row(Text(name), *styled)
    return table


def _differences(comparison):
    from rich.text import Text

    head, rows = differences_table(comparison)
    table = _table(head)
    for name, cells in rows:
        styled = [Text(f"{text} {mark}", _STYLE[mark]) for text, mark in cells]
        table.add_row(Text(name), *styled)
    return table


def _table(head):
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(head[0], no_wrap=True)
    for name in head[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    return table
