"""From the dict of :mod:`keeptree.reporting.collect` to one self-contained HTML page."""

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from keeptree.progress import step
from keeptree.reporting import charts, plot
from keeptree.reporting.outline import fold, open_nodes, outline_bar, outline_items, path_to
from keeptree.reporting.quality import SHOWN_METRICS
from keeptree.reporting.summary import signed, verdict
from keeptree.reporting.svg import class_sample
from keeptree.reporting.tree_chart import tree_drawing
from keeptree.reporting.words import (
    case_distance,
    class_text,
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


@step("Writing the page")
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
    css, script, nodes = _read("page.css"), page_script(), data["tree"]["nodes"]
    selected = None if data["selected"] is None else data["cases"][data["selected"]]
    path = path_to(selected["leaf"], nodes) if selected else set()
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            data=data,
            css=css,
            csp=_policy(css, script),
            script=script,
            json=to_script(page_data(data)),
            selected=selected,
            path=path,
            drawing=tree_drawing(data["tree"], data["classes"], path),
            outline=outline_items(fold(nodes, path)),
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
    keys = (
        "classes",
        "positive",
        "attributes",
        "whatif",
        "cases",
        "selected",
        "locked",
        "rows",
        "n_test",
    )
    bins = data["quality"]["by_class"] if data["quality"] else []
    return {
        **{key: data[key] for key in (*keys, "distances", "no_model")},
        "nodes": data["tree"]["nodes"],
        "open": open_nodes(data["tree"]["nodes"]),
        "bins": {str(item["class"]): item["ours"]["bins"] for item in bins},
    }


def to_script(value):
    r"""Return JSON that cannot end the element it is in.

    Examples
    --------
    >>> print(to_script({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
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
        count_of=count_text,
        plural=plural,
        percent=plot.percent,
        in_hundred=in_hundred,
        signed=signed,
        case_distance=case_distance,
        class_text=class_text,
        of_class=_of_class,
        cut=lambda text: shorten(text, _LABEL_WIDTH, _LABEL_SIZE),
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
        verdict=verdict,
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


def _of_class(items, c):
    """The item of a class, or the first where the class has none."""
    return next((item for item in items if item["class"] == c), items[0])


def _found_at(curve, limit):
    """Share of positive cases found at a share of false alarms."""
    points = zip(curve["fpr"], curve["tpr"], strict=True)
    return max(tpr for fpr, tpr in points if fpr <= limit)
