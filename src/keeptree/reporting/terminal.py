"""The dict of :mod:`keeptree.reporting.collect` as a table for the terminal."""

from keeptree.output import require

_HEADS = {"auc": "AUC ↑", "brier": "Brier ↓", "log_loss": "Log-loss ↓"}


def print_report(data, console=None):
    """Print summary, table and the place of the page.

    Parameters
    ----------
    data : dict
        From :func:`keeptree.reporting.collect.collect`, with ``page``, the path of the page.
    console : rich.console.Console, optional
        Where; default the standard output.
    """
    require("rich", extra="report")
    from rich.console import Console
    from rich.text import Text

    console = console or Console(highlight=False)
    console.print()
    console.print(Text(data["title"], style="bold"))
    console.print()
    for sentence in data["summary"]:
        console.print(Text(sentence))
    console.print()
    console.print(_table(data["methods"], console.options.ascii_only))
    console.print()
    for line in _notes(data):
        console.print(Text(line, style="dim"))
    console.print()
    # Soft wrap: a path that is broken over lines cannot be copied.
    console.print(Text(f"Page: {data['page']}"), soft_wrap=True)
    console.print(Text("Open it in a browser; it needs no network."))
    console.print()


def _table(rows, ascii_only):
    from rich import box
    from rich.table import Table

    from keeptree.reporting.quality import METRICS

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("Method", no_wrap=True)
    for key in METRICS:
        head = _HEADS[key].split()[0] if ascii_only else _HEADS[key]
        table.add_column(f"{head}  ", justify="right", no_wrap=True)
    table.add_column("Scores", justify="right", no_wrap=True)
    for before, row in zip([None, *rows], rows, strict=False):
        if before and before["family"] != row["family"]:
            table.add_section()
        cells = [_cell(row, key, decimals) for key, (_, decimals) in METRICS.items()]
        table.add_row(row["label"], *cells, str(row["distinct"]))
    return table


def _cell(row, key, decimals):
    from rich.text import Text

    if row[key] is None:
        return Text("-  ", style="dim")
    best = key in row["best"]
    return Text(f"{row[key]:.{decimals}f}{' *' if best else '  '}", style="bold" if best else "")


def _notes(data):
    yield f"* best in its column. {data['n_test']} held-out cases; Scores: distinct values."
    for row in data["methods"]:
        if row["impossible"]:
            cases = "1 case" if row["impossible"] == 1 else f"{row['impossible']} cases"
            yield (
                f"{row['label']}: {cases} happened that had probability 0; log-loss is clipped at "
                "2.2e-16, as scikit-learn does."
            )
