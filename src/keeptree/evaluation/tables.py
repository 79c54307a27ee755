"""Comparisons and learning curves as text, Markdown and JSON."""

import math

from keeptree.text import clean, plural

SURE = {True: "▲", False: "▼", None: " "}
_STYLE = {"▲": "bold green", "▼": "bold red", " ": "dim"}


def means_table(comparison):
    """Return the cells of the table of means.

    Returns
    -------
    head : list of str
        ``Model`` and the metrics, with an arrow that points to the better side.
    rows : list of (str, list of (str, bool))
        Name of the model; mean and whether it is the best in the digits shown, for each metric.
    """
    mean = {(e["model"], e["metric"]): e["mean"] for e in comparison.means()}
    best = {}
    for name in comparison.numbers():
        metric, values = comparison.metrics[name], (mean[m, name] for m in comparison.models)
        shown = [round(v, metric.decimals) for v in values if v is not None and math.isfinite(v)]
        best[name] = (max if metric.larger else min)(shown, default=None)

    def cell(model, name):
        value, decimals = mean[model, name], comparison.metrics[name].decimals
        is_best = value is not None and round(value, decimals) == best[name]
        return number(value, decimals), is_best

    return _cells(comparison, comparison.models, cell)


def differences_table(comparison):
    """Return the cells of the compact table of differences, each with a mark if it is clear."""
    found = {(e["model"], e["metric"]): e for e in comparison.differences()}

    def cell(model, name):
        entry = found[model, name]
        return signed(entry["mean"], comparison.metrics[name].decimals), SURE[entry["better"]]

    others = [model for model in comparison.models if model != comparison.baseline]
    return _cells(comparison, others, cell)


def heading(comparison):
    """Return one line about the data, the protocol and the splits."""
    cases = plural(comparison.n_cases, "case")
    classes = plural(len(comparison.labels), "class", "classes")
    return f"{cases}, {classes}, {comparison.protocol}, {plural(comparison.n_splits, 'split')}"


def notes(comparison):
    """Return the lines below the tables."""
    lines = [
        "* best in its column; ↑ larger is better, ↓ smaller.",
        f"▲ better, ▼ worse than {clean(comparison.baseline)}: the 95% interval of the paired "
        "difference, corrected for overlapping training parts, excludes 0.",
    ]
    if comparison.n_splits == 1:
        lines[1:] = ["A single split allows no paired tests; use repeated-holdout for them."]
    elif len(comparison.models) == 1:
        del lines[1]
    return lines + troubles(comparison)


def troubles(comparison):
    """Return lines about infinite values, and fits that failed or raised warnings."""
    lines = [
        f"{clean(entry['model'])}: {metric_label(comparison, entry['metric'])} is infinite on "
        f"{entry['n_infinite']} of {plural(entry['n'], 'split')}, and so is its mean."
        for entry in comparison.means()
        if entry["n_infinite"]
    ]
    return lines + fit_troubles(comparison, lambda failure: f"split {failure['split']}")


def fit_troubles(result, place):
    """Return lines about fits that failed or raised warnings; ``place`` names where one failed."""
    lines = []
    if result.failures:
        first = result.failures[0]
        fits = plural(len(result.failures), "fit")
        lines.append(
            f"{fits} failed and left no value; the first was "
            f"{clean(first['model'])} on {place(first)}: {clean(first['error'])}"
        )
    for entry in result.warnings:
        fits = plural(entry["fits"], "fit")
        lines.append(f"{clean(entry['model'])} warned on {fits}: {clean(entry['message'])}")
    return lines


def terminal_tables(comparison):
    """Yield the tables of means and of differences for a terminal.

    Yields
    ------
    title : str
        Title of the table.
    head : list of str
        Column titles.
    rows : list of list
        Name of the model, then the text and rich style of each figure.
    """
    head, rows = means_table(comparison)
    yield (
        heading(comparison),
        head,
        [
            [name, *((f"{text} {'*' * best:1}", "bold" if best else "") for text, best in cells)]
            for name, cells in rows
        ],
    )
    head, rows = differences_table(comparison)
    if rows and comparison.n_splits > 1:
        yield (
            f"Difference from {clean(comparison.baseline)}",
            head,
            [
                [name, *((f"{text} {mark}", _STYLE[mark]) for text, mark in cells)]
                for name, cells in rows
            ],
        )


def comparison_text(comparison):
    """Return the tables as plain text."""
    lines = []
    for title, head, rows in terminal_tables(comparison):
        body = [[name, *(text for text, _ in cells)] for name, *cells in rows]
        lines += [title, "", *aligned([head, *body]), ""]
    return "\n".join([*lines, *notes(comparison)])


def comparison_markdown(comparison):
    """Return all figures as Markdown tables: means with deviations, differences with tests."""
    lines = [f"{heading(comparison)}.", "", "## Means ± standard deviations over the splits", ""]
    head, rows = means_table(comparison)
    spread = {(e["model"], e["metric"]): e["sd"] for e in comparison.means()}
    body = []
    for model, (name, cells) in zip(comparison.models, rows, strict=True):
        texts = []
        for metric, (text, best) in zip(comparison.numbers(), cells, strict=True):
            sd = spread[model, metric]
            decimals = comparison.metrics[metric].decimals
            text = f"**{text}**" if best else text
            texts.append(text if sd is None else f"{text} ± {number(sd, decimals)}")
        body.append([name, *texts])
    lines += markdown_table(head, body)
    differences = comparison.differences()
    if differences and comparison.n_splits > 1:
        lines += ["", f"## Paired differences to {_escape(clean(comparison.baseline))}", ""]
        lines += markdown_table(
            ["Metric", "Model", "Mean", "sd", "95% interval", "p corrected t", "p t", "p Wilcoxon",
             "Splits"],
            [_difference_row(comparison, entry) for entry in differences if entry["n"]],
        )  # fmt: skip
        lines += ["", _EXPLAINED]
    for line in troubles(comparison):
        lines += ["", _escape(line)]
    return "\n".join(lines) + "\n"


_EXPLAINED = (
    "The tests are one-sided: a small p means that the model is better than the baseline, a p "
    "near 1 that it is worse. The interval and the corrected t-test (Nadeau and Bengio 2003) "
    "allow for overlapping training parts; the plain t-test and the Wilcoxon test do not and are "
    "overconfident. **Bold**: the interval excludes 0."
)


def comparison_dict(comparison):
    """Return all results as JSON values; infinite ones are null, see ``n_infinite``."""
    metrics = comparison.metrics.items()
    return {
        "protocol": comparison.protocol,
        "n_cases": comparison.n_cases,
        "n_splits": comparison.n_splits,
        "classes": comparison.labels,
        "models": comparison.models,
        "baseline": comparison.baseline,
        "metrics": {name: {"label": m.label or name, "larger": m.larger} for name, m in metrics},
        "means": finite(comparison.means()),
        "differences": finite(comparison.differences()),
        "failures": comparison.failures,
        "warnings": comparison.warnings,
        "rows": finite(comparison.rows),
    }


def number(value, decimals):
    """Format a figure for a table; a dash if it is missing."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.{decimals}f}"


def signed(value, decimals):
    """Format a difference for a table, with its sign; a dash if it is missing."""
    if value is None or not math.isfinite(value):
        return number(value, decimals)
    text = f"{value:+.{decimals}f}"
    return text.replace("-", "+") if float(text) == 0 else text


def p_text(value):
    """Format a p-value for a table; a dash if it is missing."""
    if value is None:
        return "-"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"


def _difference_row(comparison, entry):
    decimals = comparison.metrics[entry["metric"]].decimals
    mean = signed(entry["mean"], decimals)
    interval = "-"
    if entry["low"] is not None:
        interval = f"{signed(entry['low'], decimals)} to {signed(entry['high'], decimals)}"
    return [
        metric_label(comparison, entry["metric"]),
        clean(entry["model"]),
        mean if entry["better"] is None else f"**{mean}**",
        number(entry["sd"], decimals),
        interval,
        *(p_text(entry[key]) for key in ("p_corrected", "p_t", "p_wilcoxon")),
        str(entry["n"]),
    ]


def _cells(comparison, models, cell):
    """Return the header and rows of a table with one cell per model and metric."""
    names = comparison.numbers()
    head = ["Model", *(metric_heading(comparison, name) for name in names)]
    return head, [(clean(model), [cell(model, name) for name in names]) for model in models]


def metric_label(result, name):
    """Return the label of a metric of a comparison or a learning curve."""
    return result.metrics[name].label or name


def metric_heading(result, name):
    """Return the label of a metric with an arrow that points to the better side."""
    return f"{metric_label(result, name)} {'↑' if result.metrics[name].larger else '↓'}"


def aligned(rows):
    """Return rows as aligned lines: the first column to the left, numbers to the right."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            row[0].ljust(widths[0]),
            *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return lines


def markdown_table(head, rows):
    """Return the lines of a Markdown table; all columns but the first are right-aligned."""
    marks = ["---", *["---:"] * (len(head) - 1)]
    cells = [[_escape(cell) for cell in row] for row in (head, *rows)]
    return [f"| {' | '.join(row)} |" for row in (cells[0], marks, *cells[1:])]


def _escape(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def finite(value):
    """Return a value with all infinite numbers and NaN replaced by None, at any depth."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
