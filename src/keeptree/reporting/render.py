"""From the dict of :mod:`keeptree.reporting.collect` to one self-contained HTML page."""

import base64
import hashlib
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from keeptree.reporting.charts import class_sample, distance_chart, line_sample, roc_chart
from keeptree.reporting.quality import METRICS
from keeptree.reporting.tree_chart import outline_bar, tree_drawing
from keeptree.text import plain_number, shorten, shorten_title

# Method -> style of its line, in drawing order: ours solid and on top, the leaves broken.
LINES = {
    "raw": "raw",
    "laplace": "laplace",
    "kernel-separator": "separator",
    "kernel-global": "kernel",
}
_LABEL_WIDTH, _LABEL_SIZE = 640, 16  # where a label of the outline is cut
_FALSE_ALARMS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # columns of the table below the ROC curves


def render(data):
    """Return the page as HTML text: no script, no request to the network.

    Parameters
    ----------
    data : dict
        From :func:`keeptree.reporting.collect.collect`.

    Returns
    -------
    html : str
    """
    css = files("keeptree.reporting").joinpath("page.css").read_text(encoding="utf-8")
    classes = data["classes"]
    curves = [
        {**curve, "line": LINES[curve["key"]]} for curve in data["roc"] if curve["key"] in LINES
    ]
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            data=data,
            css=css,
            csp=_policy(css),
            metrics=METRICS,
            lines=LINES,
            drawing=tree_drawing(data["tree"], classes),
            outline=outline_items(data["tree"]["nodes"]),
            roc=roc_chart(sorted(curves, key=lambda curve: list(LINES).index(curve["key"]))),
            false_alarms=_FALSE_ALARMS,
            found={curve["key"]: _found_at(curve) for curve in data["roc"]},
            distance_charts=_distance_charts(data),
        )
    )


def outline_items(nodes):
    """Return the lines of the outline: nested lists as a flat list, however deep the tree is.

    Parameters
    ----------
    nodes : list of dict
        In preorder, as :func:`keeptree.reporting.collect.collect_tree` gives them.

    Returns
    -------
    items : list of dict
        ``node``, ``parent`` (a node or None), ``opens`` (whether a list starts before it),
        ``inner`` (whether one follows inside it) and ``closes`` (how many lists end after it).
    """
    by_id = {node["id"]: node for node in nodes}
    levels = [node["depth"] for node in nodes]
    items, before = [], levels[0]
    for node, after in zip(nodes, [*levels[1:], levels[0]], strict=True):
        depth = node["depth"]
        items.append(
            {
                "node": node,
                "parent": by_id.get(node["parent"]),
                "opens": depth > before,
                "inner": after > depth,
                "closes": max(depth - after, 0),
            }
        )
        before = depth
    return items


def _environment():
    environment = Environment(
        loader=PackageLoader("keeptree", "reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=plain_number,
        percent=lambda share: f"{100 * share:.0f} %",
        cut=lambda text: shorten(text, _LABEL_WIDTH, _LABEL_SIZE),
        tooltip=shorten_title,
        probability=_probability,
    )
    environment.globals.update(
        class_sample=class_sample, line_sample=line_sample, outline_bar=outline_bar
    )
    return environment


def _policy(css):
    """The content security policy: nothing but this very style sheet."""
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _distance_charts(data):
    """The distance chart for wide and for narrow screens, or None without a boundary."""
    if data["distance"] is None:
        return None
    sizes = {"wide": (860, 440), "narrow": (380, 420)}
    return {
        name: distance_chart(data["distance"], data["classes"], *size)
        for name, size in sizes.items()
    }


def _found_at(curve):
    """Share of positive cases found at each share of false alarms."""
    points = list(zip(curve["fpr"], curve["tpr"], strict=True))
    return [max(tpr for fpr, tpr in points if fpr <= limit) for limit in _FALSE_ALARMS]


def _probability(p):
    """A probability in three digits; an estimate is never said to be 0 or 1."""
    if p < 0.0005:
        return "< 0.001"
    return "> 0.999" if p > 0.9995 else f"{p:.3f}"
