"""Render the dict of :mod:`keeptree.reporting.collect` as a self-contained HTML page."""

import json
import re
from functools import cache

from keeptree.explanation.story_text import CAVEAT, rule_note
from keeptree.exporters.javascript import read_script
from keeptree.progress import step
from keeptree.reporting import charts, plot
from keeptree.reporting.assets import compact, content_policy, make_environment, read_asset
from keeptree.reporting.bars import push_bar, risk_meter
from keeptree.reporting.outline import (
    MAX_NODES,
    fold,
    open_nodes,
    outline_bar,
    outline_items,
    path_to,
)
from keeptree.reporting.quality import SHOWN_METRICS
from keeptree.reporting.summary import list_missed, signed, tell_ranking, tell_rule, verdict
from keeptree.reporting.svg import class_sample
from keeptree.reporting.tree_chart import tree_drawing
from keeptree.reporting.words import (
    disagreeing,
    estimate_text,
    interval_text,
    list_note,
    push_text,
    push_ways,
    rows_text,
    short_labels,
    untested_text,
)
from keeptree.text import (
    between_text,
    class_text,
    count_text,
    in_hundred,
    plain_number,
    plural,
    shorten,
    shorten_title,
)

STYLES = ("base", "facts", "cases", "answer", "controls", "charts", "tree", "print")
# Scripts shared with the JavaScript export.
_SHARED = {"tree", "probability", "confdtree", "boxes", "distance", "separator"}
SCRIPTS = (
    "numbers",
    "tree",
    "nearest",
    "probability",
    "confdtree",
    "boxes",
    "distance",
    "separator",
    "interval",
    "contributions",
    "words",
    "state",
    "judge",
    "view",
    "csv",
    "score",
    "dom",
    "outline",
    "drawing",
    "cases",
    "answer",
    "controls",
    "save",
    "page",
)
_LABEL_WIDTH, _BRIEF_WIDTH, _LABEL_SIZE = 640, 190, 16  # maximum length of labels
# The rest is computed in the page.
_CASE = ("id", "decision", "p", "check", "distance", "truth", "values", "unseen", "between")
_NODE = ("id", "parent", "name", "relation", "cases", "counts", "class", "errors", "leaves")
_PAGE_PADDING = 64  # pixels on either side of a wide page
_SCROLLBAR = 20  # pixels; media queries include it, the page does not


@step("Writing the page")
def render(data):
    """Return the page as HTML, which makes no network requests.

    Parameters
    ----------
    data : dict
        From :func:`keeptree.reporting.collect.collect`.

    Returns
    -------
    html : str
    """
    nodes, classes = data["tree"]["nodes"], data["classes"]
    selected = None if data["selected"] is None else data["cases"][data["selected"]]
    path = path_to(selected["leaf"], nodes) if selected else set()
    tests = shown_tests(data)
    drawing = tree_drawing(data["tree"], classes, path, tests)
    css, script = page_style(drawing), page_script() if data["computes"] else ""
    return (
        _environment()
        .get_template("page/page.html.j2")
        .render(
            data=data,
            css=css,
            csp=content_policy(css, script),
            script=script,
            json=to_script(page_data(data)) if data["computes"] else "",
            selected=selected,
            path=path,
            tests=tests,
            drawing=drawing,
            outline=outline_items(fold(nodes, path, MAX_NODES if data["computes"] else len(nodes))),
            missed=list_missed({"decisions": data["by_rule"] or data["decisions"]})
            if data["decisions"]
            else [],
            ranking=tell_ranking(data),
        )
    )


def page_style(drawing):
    """Return the combined style sheet; the tree drawing is shown where it fits."""
    text = "\n".join(read_asset(f"css/{name}.css") for name in STYLES)
    if drawing is not None:
        most = drawing_room(drawing) - 1
        text += (
            f"@media (max-width: {most}px) {{ .views, .drawing, .for-drawing {{ display: none; }}\n"
            ".outline.second { display: block; } }\n"
            f"@media screen and (max-width: {most}px) {{ .no-room {{ display: inline; }} }}\n"
        )
    return compact(text)


def drawing_room(drawing):
    """Return the smallest width of a window, in pixels, that shows a drawing of the tree."""
    return int(re.search(r' width="(\d+)', drawing)[1]) + 2 * _PAGE_PADDING + _SCROLLBAR + 1


def model_decides(data, p):
    """Return the class that a model which does not follow the tree decides; None if it follows it.

    ``p`` holds the probabilities of the case.
    """
    if data["decides"] == "tree":
        return None
    if data["decides"] == "probability":
        return p.index(max(p))
    expected = [
        sum(share * cost for share, cost in zip(p, column, strict=True))
        for column in zip(*data["costs"], strict=True)
    ]
    return expected.index(min(expected))


def page_script():
    """Combine the modules of the page, each in its own scope."""
    texts = (
        read_script(name) if name in _SHARED else read_asset(f"js/{name}.js") for name in SCRIPTS
    )
    return "\n" + compact("\n".join(_scope(text) for text in texts))


def page_data(data):
    """Return the part of the dict that the script reads."""
    keys = ("classes", "positive", "attributes", "whatif", "selected", "locked", "rows")
    bins = data["quality"]["by_class"] if data["quality"] else []
    return {
        **{key: data[key] for key in (*keys, "no_model", "columns", "decides", "costs")},
        "cases": [_brief_case(case) for case in data["cases"]],
        "nodes": [{key: node[key] for key in _NODE} for node in data["tree"]["nodes"]],
        "open": open_nodes(data["tree"]["nodes"]),
        "bins": {str(item["class"]): item["ours"]["bins"] for item in bins},
        "caveat": _caveat(data),
    }


def _caveat(data):
    """Caveat about a nearest change."""
    return " ".join([*rule_note(data["decides"]), CAVEAT])


def _brief_case(case):
    """Return the part of a case that the script reads."""
    distance = case["distance"]
    kept = {key: case[key] for key in _CASE}
    return {**kept, "distance": distance if distance is None else round(distance, 6)}


def shown_tests(data):
    """Return the tests of the selected case for the drawing: node -> text, nearest."""
    if not data["view"]:
        return {}
    return {step["node"]: (step["short"], step["near"]) for step in data["view"]["steps"]}


def to_script(value):
    r"""Return JSON that is safe inside a script element.

    Examples
    --------
    >>> print(to_script({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _environment():
    environment = make_environment("reporting")
    environment.filters.update(
        number=plain_number,
        count_of=count_text,
        plural=plural,
        percent=plot.percent,
        in_hundred=in_hundred,
        between=lambda ends: between_text(*ends),
        signed=signed,
        class_text=class_text,
        of_class=_of_class,
        cut=lambda text: shorten(text, _LABEL_WIDTH, _LABEL_SIZE),
        cut_short=lambda text: shorten(text, _BRIEF_WIDTH, _LABEL_SIZE),
        push_text=push_text,
        tooltip=shorten_title,
    )
    environment.globals.update(
        charts=charts,
        metrics=SHOWN_METRICS,
        class_sample=class_sample,
        line_sample=plot.line_sample,
        mark_sample=plot.mark_sample,
        outline_bar=outline_bar,
        estimate_text=estimate_text,
        found_at=_found_at,
        rows_text=rows_text,
        untested_text=untested_text,
        drawing_room=drawing_room,
        tell_rule=tell_rule,
        model_decides=model_decides,
        interval_text=interval_text,
        verdict=verdict,
        caveat=_caveat,
        disagreeing=disagreeing,
        list_note=list_note,
        push_bar=push_bar,
        push_ways=push_ways,
        risk_meter=risk_meter,
        short_labels=short_labels,
    )
    return environment


def _scope(module):
    """Wrap a module in an immediately called function that returns its exports."""
    body = re.sub(r"^import [^;]*;\n", "", module, flags=re.MULTILINE)
    names = ", ".join(
        re.findall(r"^export (?:async )?(?:function\*?|const) (\w+)", body, re.MULTILINE)
    )
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    return f"const {{ {names} }} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();\n"


def _of_class(items, c):
    """The item of a class, or the first item."""
    return next((item for item in items if item["class"] == c), items[0])


def _found_at(curve, limit):
    """Share of positive cases found at a share of false alarms."""
    points = zip(curve["fpr"], curve["tpr"], strict=True)
    return max(tpr for fpr, tpr in points if fpr <= limit)
