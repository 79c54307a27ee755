"""The dict of :mod:`keeptree.reporting.collect` for the terminal: a table, or figures as JSON."""

from keeptree.output import require_extra
from keeptree.text import plural

_FIGURES = ("schema", "title", "model", "summary", "n_test", "decisions", "first", "about", "page")


def figures(data):
    """Return the figures of a report without charts, cases and the page's own model."""
    quality = data["quality"]
    return {
        **{key: data[key] for key in _FIGURES},
        "fingerprint": data["tree"]["fingerprint"],
        "metrics": None if quality is None else quality["metrics"],
        "methods": _without_curves(data["methods"]),
    }


def _without_curves(methods):
    return methods and [{k: v for k, v in row.items() if k != "roc"} for row in methods]


def print_report(data, console=None):
    """Print summary, table and the place of the page.

    Parameters
    ----------
    data : dict
        From :func:`keeptree.report`.
    console : rich.console.Console, optional
        Where; default the standard output.
    """
    require_extra("rich", extra="report")
    from rich.console import Console
    from rich.text import Text

    console = console or Console(highlight=False)
    console.print()
    console.print(Text(data["title"], style="bold"))
    console.print()
    for sentence in data["summary"]:
        console.print(Text(sentence))
    console.print()
    if data["quality"]:
        console.print(_table(data["quality"]["metrics"]))
        console.print()
        resamples = data["quality"]["resamples"]
        note = (
            f"{plural(data['n_test'], 'held-out case')}; 95 % intervals from {resamples} resamples."
        )
        console.print(Text(note, style="dim"))
        console.print()
    if data["methods"]:
        console.print(_methods_table(data["methods"]))
        console.print()
        console.print(Text("The same tree, the same held-out cases.", style="dim"))
        console.print()
    # Soft wrap: a path that is broken over lines cannot be copied.
    console.print(Text(f"Page: {data['page']}"), soft_wrap=True)
    console.print(Text("Open it in a browser; it needs no network."))
    console.print()


def _table(metrics):
    from rich import box
    from rich.table import Table

    from keeptree.reporting.quality import METRICS
    from keeptree.reporting.summary import signed

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("", no_wrap=True)
    for head in ("Ours", "Leaves", "Difference", "95 % interval"):
        table.add_column(head, justify="right", no_wrap=True)
    for key, (name, larger) in METRICS.items():
        row, way = metrics[key], "higher" if larger else "lower"
        if row["difference"]["value"] is None:
            table.add_row(f"{name} ({way} is better)", "-", "-", "-", "-")
            continue
        ours, leaves = (f"{row[who]['value']:.3f}" for who in ("ours", "leaves"))
        value, low, high = (signed(row["difference"][end]) for end in ("value", "low", "high"))
        table.add_row(f"{name} ({way} is better)", ours, leaves, value, f"{low} to {high}")
    return table


def _methods_table(rows):
    """Every method beside the others, the best of each measure in bold."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    best = {
        key: choose((round(row[key], 3) for row in rows if row[key] is not None), default=None)
        for key, choose in (("auc", max), ("brier", min), ("log_loss", min))
    }
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("", no_wrap=True)
    for head in ("AUC", "Brier", "Log-loss", "Distinct scores"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        cells = []
        for key, value in best.items():
            text = "" if row[key] is None else f"{row[key]:.3f}"
            style = "bold" if text and round(row[key], 3) == value else ""
            cells.append(Text(text, style=style))
        table.add_row(row["name"], *cells, str(row["distinct"]))
    return table
