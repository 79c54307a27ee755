"""Read the text of a J48 tree, as printed by Weka and ``keeptree grow``."""

import re

from keeptree.importers.line import Leaf, Line, OutlineError
from keeptree.importers.outline import build, single_leaf
from keeptree.tree import SHARE

_TITLE = re.compile(r"^J48 (?:un)?pruned tree\s*\n-+\s*\n", re.MULTILINE)
_END = re.compile(r"^Number of Leaves\s*:\s*(\d+)\s*$", re.MULTILINE)
_LEAF = re.compile(r": (?P<label>[^:]*|.*) \((?P<weight>[\d.E+-]+)(?:/(?P<errors>[\d.E+-]+))?\)$")
_TEST = re.compile(r"(?P<name>.+?) (?P<sign><=|>|!=|=) (?P<value>.+)$")
_SIGNS = {"<=": "<=", ">": ">", "=": "in", "!=": "not in"}


def read_text(text, *, known=None):
    """Return the Sketch of a J48 tree, including unpruned trees and option ``-B``.

    Parameters
    ----------
    text : str
        Output of Weka; text before the tree and after its size is skipped.
    known : Known, optional
        Labels of the data. Weka prints only how many cases of a leaf belong to other classes, so
        counts of three or more classes require data.
    """
    title, end = _TITLE.search(text), _END.search(text)
    if title is None or end is None or end.start() < title.end():
        raise ValueError("The text ends before 'Number of Leaves'; it may have been cut off.")
    first = text[: title.end()].count("\n") + 1
    body = text[title.end() : end.start()].split("\n")
    lines = [(n, raw.rstrip()) for n, raw in enumerate(body, start=first) if raw.strip()]
    if len(lines) == 1 and lines[0][1].startswith(":"):
        sketch = single_leaf(_leaf(*lines[0], 0), known)
    else:
        sketch = build([_line(n, raw) for n, raw in lines], known, missing=SHARE)
    sketch.source.update(model="J48", library="Weka")
    if any(kind == 1 for kind in sketch.kind):
        sketch.lost.append(
            "J48 prints thresholds with six decimals, so rows very close to a threshold may reach "
            "another leaf than in Weka."
        )
    if known is None and not sketch.has_counts:
        sketch.lost.append(
            "Without class counts, missing values are shared evenly among the branches, not by "
            "weight as in Weka."
        )
    return sketch


def _line(number, raw):
    indent = len(re.match(r"(\|   )*", raw)[0])
    condition, leaf = raw[indent:], None
    ending = _LEAF.search(condition)
    if ending is not None:
        leaf = _leaf(number, raw, indent + ending.start())
        condition = condition[: ending.start()]
    test = _TEST.match(condition)
    if test is None:
        raise OutlineError(number, indent + 1, "expected a test such as `age <= 45`")
    sign, value = _SIGNS[test["sign"]], test["value"]
    return Line(
        number=number,
        indent=indent,
        text=condition,
        name=test["name"],
        sign=sign,
        value=(value,) if sign in ("in", "not in") else float(value),
        columns=(indent + 1, indent + test.start("value") + 1),
        leaf=leaf,
    )


def _leaf(number, raw, start):
    found = _LEAF.search(raw, start)
    if found is None:
        raise OutlineError(number, start + 1, "expected a class and its cases such as `: no (3.0)`")
    errors = found["errors"]
    return Leaf(
        label=found["label"],
        column=found.start("label") + 1,
        weight=float(found["weight"]),
        errors=None if errors is None else float(errors),
    )
