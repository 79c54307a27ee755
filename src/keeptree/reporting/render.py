"""From the dict of :mod:`keeptree.reporting.collect` to one self-contained HTML page."""

import base64
import hashlib
import json
import re
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from keeptree.reporting.charts import (
    class_sample,
    distance_chart,
    line_sample,
    reliability_chart,
    roc_chart,
    small_roc,
    strip,
)
from keeptree.reporting.curve_chart import curve_chart, point_sample
from keeptree.reporting.quality import METRICS
from keeptree.reporting.summary import signed, verdict
from keeptree.reporting.tree_chart import fold, outline_bar, tree_drawing
from keeptree.reporting.words import (
    case_distance,
    class_text,
    distance_text,
    estimate_text,
    rows_text,
)
from keeptree.text import count_text, in_hundred, plain_number, plural, shorten, shorten_title

SCRIPTS = (
    "numbers.js",
    "tree.js",
    "nearest.js",
    "probability.js",
    "words.js",
    "state.js",
    "judge.js",
    "outline.js",
    "cases.js",
    "result.js",
    "save.js",
    "page.js",
)
_LABEL_WIDTH, _LABEL_SIZE = 640, 16  # where a label of the outline is cut
_FALSE_ALARMS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # columns of the table below the ROC curves
_LISTED = 25


def render(data):
    """Return the page as HTML text: no request to the network, one script of its own.

    Parameters
    ----------
    data : dict
        From :func:`keeptree.reporting.collect.collect`.

    Returns
    -------
    html : str
    """
    css, script = _read("page.css"), page_script()
    selected = None if data["selected"] is None else data["cases"][data["selected"]]
    way = _way(data, selected)
    shown = fold(data["tree"]["nodes"], way)
    return (
        _environment(data)
        .get_template("page.html.j2")
        .render(
            data=data,
            css=css,
            csp=_policy(css, script),
            script=script,
            json=to_script(page_data(data)),
            metrics=METRICS,
            selected=selected,
            start=_start(data, selected),
            way=way,
            legend=_legend(data["classes"]),
            others=_others(data["classes"]),
            lists_cases=bool(data["cases"] and data["attributes"]),
            listed=_listed(data["cases"]),
            case_columns=_case_columns(data),
            drawing=tree_drawing(data["tree"], data["classes"], way),
            outline=outline_items(shown),
            shown_nodes=len(shown),
            in_parts=any("." in count_text(node["cases"]) for node in data["tree"]["nodes"]),
            hidden_leaves=len(shown) < len(data["tree"]["nodes"]),
            first_curves=_first_curves(data),
            false_alarms=_FALSE_ALARMS,
            distance_charts=_distance_charts(data["distance"]),
            first_curve=_shown_first(data["distance"] and data["distance"]["by_class"], data),
            held=rows_text(data),
        )
    )


def page_script():
    """Return the modules of the page as one: their imports go, what they export is at hand."""
    parts = []
    for name in SCRIPTS:
        text = _read(f"js/{name}")
        text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
        parts.append(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n" + "\n".join(parts)


def page_data(data):
    """Return the part of the dict that the script reads."""
    keys = ("classes", "positive", "attributes", "whatif", "cases", "selected", "rows", "n_test")
    bins = data["quality"]["by_class"] if data["quality"] else []
    return {
        **{key: data[key] for key in keys},
        "nodes": data["tree"]["nodes"],
        "open": _open_nodes(data["tree"]["nodes"]),
        "distances": data["distances"],
        "no_model": data["no_model"],
        "bins": {str(item["class"]): item["ours"]["bins"] for item in bins},
    }


def _open_nodes(nodes):
    """Nodes that are open before one opens more; None where the whole tree is shown."""
    shown = fold(nodes)
    if len(shown) == len(nodes):
        return None
    return [node["id"] for node in shown if not node["folded"]]


def to_script(value):
    r"""Return JSON that cannot end the element it is in.

    Examples
    --------
    >>> print(to_script({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def outline_items(nodes):
    """Return the lines of the outline: nested lists as a flat list, however deep the tree is.

    Parameters
    ----------
    nodes : list of dict
        In preorder, as :func:`keeptree.reporting.tree_chart.fold` gives them.

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


def _environment(data):
    environment = Environment(
        loader=PackageLoader("keeptree", "reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=plain_number,
        count_of=count_text,
        plural=plural,
        percent=lambda share: f"{100 * share:.0f} %",
        signed=signed,
        distance=distance_text,
        case_distance=case_distance,
        class_text=class_text,
        cut=lambda text: shorten(text, _LABEL_WIDTH, _LABEL_SIZE),
        tooltip=shorten_title,
    )
    environment.globals.update(
        class_sample=class_sample,
        line_sample=line_sample,
        point_sample=point_sample,
        outline_bar=outline_bar,
        strip=strip,
        roc_chart=roc_chart,
        small_roc=small_roc,
        curve_charts=lambda curve: _curve_charts(curve, data),
        reliability_chart=reliability_chart,
        found_at=_found_at,
        judge=_judge,
        estimate=lambda p: estimate_text(p, data["classes"], data["positive"]),
        told=_told(data),
    )
    return environment


def _read(name):
    return files("keeptree.reporting").joinpath(name).read_text(encoding="utf-8")


def _policy(css, script):
    """The content security policy: nothing but this very style sheet and script."""
    style, code = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (css, script)
    )
    return (
        f"default-src 'none'; script-src 'sha256-{code}'; style-src 'sha256-{style}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _way(data, case):
    """Nodes a case passes; none where its values are not in the file."""
    if case is None:
        return frozenset()
    up = {node["id"]: node["parent"] for node in data["tree"]["nodes"]}
    node, way = case["leaf"], set()
    while node is not None:
        way.add(node)
        node = up[node]
    return frozenset(way)


def _start(data, case):
    """Values the controls begin with: those of the case shown, or typical ones."""
    if case is not None and case["values"] is not None:
        return case["values"]
    return [attribute["typical"] for attribute in data["attributes"]]


def _legend(classes):
    coloured = [item for item in classes if item["slot"]]
    return sorted(coloured, key=lambda item: item["slot"])


def _others(classes):
    return sum(item["slot"] == 0 for item in classes)


def _listed(cases):
    """The rows of the table before one asks for more."""
    chosen = [
        {**case, "at": at} for at, case in enumerate(cases) if case["near"] or case["opinion"]
    ]
    return chosen[:_LISTED]


def _case_columns(data):
    binary, positive = len(data["classes"]) == 2, data["classes"][data["positive"]]["label"]
    columns = [
        ("id", "Case", False),
        ("decision", "Tree", False),
        ("estimate", class_text(positive) if binary else "Estimate", True),
        ("distance", "Distance", True),
    ]
    if data["rows"]:
        columns.append(("change", "Changes if", False))
    return [*columns, ("truth", "Truth", False)] if data["decisions"] else columns


def _told(data):
    """What a cell of the table says of probabilities: with two classes the header names one."""
    if len(data["classes"]) == 2:
        return lambda p: in_hundred(p[data["positive"]])
    return lambda p: estimate_text(p, data["classes"], data["positive"])


def _first_curves(data):
    if data["tree"]["n_leaves"] == 1:
        return None  # there is nothing to rank by
    return _shown_first(data["quality"] and data["quality"]["by_class"], data)


def _shown_first(items, data):
    """The item of the class whose probability is told, else the first; None without any."""
    items = items or []
    of_class = (item for item in items if item["class"] == data["positive"])
    return next(of_class, None) or next(iter(items), None)


def _distance_charts(distance):
    """The chart for wide and for narrow screens."""
    return distance and (distance_chart(distance), distance_chart(distance, 380, 320))


def _curve_charts(curve, data):
    """The chart of probability against distance, for wide and for narrow screens."""
    c, labels = curve["class"], [class_text(item["label"]) for item in data["classes"]]
    names = (labels[1 - c] if len(labels) == 2 else "another", labels[c])
    here, case = None, None if data["selected"] is None else data["cases"][data["selected"]]
    if case and (case["decision"] == c or len(labels) == 2):  # else its distance is another's
        here = (case["distance"] if case["decision"] == c else -case["distance"], case["p"][c])
    return curve_chart(curve, names, here), curve_chart(curve, names, here, 380, 340)


def _judge(difference, larger):
    """What the interval of a difference allows to say, whichever way is better."""
    words = ("ours is better", "ours is worse")
    better, worse = words if larger else words[::-1]
    return verdict(difference, better, worse)


def _found_at(curve):
    """Share of positive cases found at each share of false alarms."""
    points = list(zip(curve["fpr"], curve["tpr"], strict=True))
    return [max(tpr for fpr, tpr in points if fpr <= limit) for limit in _FALSE_ALARMS]
