"""A comparison as tables for the terminal."""

from keeptree.evaluation.tables import notes, terminal_tables
from keeptree.terminal import make_table, open_console


def print_comparison(comparison, files=()):
    """Print means, differences, notes and the names of the files.

    Parameters
    ----------
    comparison : Comparison
        Comparison to print.
    files : list of Path
        Files that were written, if any.
    """
    console = open_console()
    from rich.text import Text

    for title, head, rows in terminal_tables(comparison):
        console.print()
        console.print(Text(title, style="bold"))
        console.print()
        console.print(make_table(head, rows))
    console.print()
    for line in notes(comparison):
        console.print(Text(line, style="dim"))
    for path in files:
        console.print(Text(f"Written: {path}"), soft_wrap=True)
