"""Print the results of a report in the terminal or as JSON."""

from keeptree.reporting.quality import SHOWN_METRICS
from keeptree.reporting.summary import signed
from keeptree.terminal import make_table, open_console
from keeptree.text import plural

_FIGURES = (
    "schema",
    "title",
    "model",
    "method",
    "summary",
    "n_test",
    "decisions",
    "by_rule",
    "check",
    "about",
    "page",
)


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
    """Print the summary, the table and the path of the page.

    Parameters
    ----------
    data : dict
        From :func:`keeptree.report`.
    console : rich.console.Console, optional
        Output console; standard output by default.
    """
    console = console or open_console()
    from rich.text import Text

    console.print()
    console.print(Text(data["title"], style="bold"))
    console.print()
    headlines = tuple(fact["headline"] for fact in data["facts"])
    for sentence in data["summary"]:
        told = Text(sentence)
        told.highlight_words(filter(sentence.startswith, headlines), "bold")
        console.print(told)
    console.print()
    if data["quality"]:
        console.print(_table(data["quality"]["metrics"]))
        console.print()
        resamples = data["quality"]["resamples"]
        note = (
            f"Measured on {plural(data['n_test'], 'case')} the tree had not seen; 95% intervals "
            f"from {resamples:,} bootstrap resamples. Higher is better for AUC, lower for the "
            "Brier score and log-loss."
        )
        console.print(Text(note, style="dim"))
        console.print()
    if data["methods"]:
        console.print(_methods_table(data["methods"]))
        console.print()
        console.print(Text("All methods use the same tree and the same cases.", style="dim"))
        console.print()
    # Soft wrap, so that the path can be copied.
    console.print(Text(f"Page: {data['page']}"), soft_wrap=True)
    console.print(Text("Open it in a browser; it works offline."))
    console.print()


def _table(metrics):
    rows = []
    for key, (name, _) in SHOWN_METRICS.items():
        row, cells = metrics[key], ["-"] * 4
        if row["difference"]["value"] is not None:
            ours, leaves = (f"{row[who]['value']:.3f}" for who in ("ours", "leaves"))
            difference = row["difference"]
            cells = [ours, leaves, signed(difference["value"]), "-"]
            if difference["low"] is not None:
                cells[-1] = f"{signed(difference['low'])} to {signed(difference['high'])}"
        rows.append([name, *cells])
    return make_table(["", "Our estimate", "The tree's own", "Difference", "95% interval"], rows)


def _methods_table(rows):
    """Table of all methods, with the best value of each measure in bold."""
    best = {
        key: choose((round(row[key], 3) for row in rows if row[key] is not None), default=None)
        for key, choose in (("auc", max), ("brier", min), ("log_loss", min))
    }
    body = []
    for row in rows:
        cells = []
        for key, value in best.items():
            text = "" if row[key] is None else f"{row[key]:.3f}"
            cells.append((text, "bold" if text and round(row[key], 3) == value else ""))
        body.append([row["name"], *cells, str(row["distinct"])])
    return make_table(["", "AUC", "Brier", "Log-loss", "Distinct scores"], body)
