"""Read the output of C5.0 and R's ``summary`` of a C5.0 tree."""

import re

from keeptree.importers.line import Leaf, Line, OutlineError
from keeptree.importers.members import choose_tree
from keeptree.importers.outline import build, single_leaf
from keeptree.tree import NUMERIC, SHARE

_TREE = re.compile(r"^Decision tree:[ \t]*\n", re.MULTILINE)
_END = re.compile(r"^(Evaluation on |-----  Trial |\*\*\* |Time: )", re.MULTILINE)
_SUBTREE = re.compile(r"^SubTree \[(?P<name>S\d+)\]\s*$")
_INDENT = re.compile(r"(:\.\.\.|:   |    )*")
_LEAF = re.compile(
    r"(?P<label>.+) \((?P<weight>[\d.]+(?:e[+-]?\d+)?)(?:/(?P<errors>[\d.]+(?:e[+-]?\d+)?))?\)$"
)
_TEST = re.compile(r"(?P<name>.+?) (?P<sign><=|>|=|in) (?P<value>.+)$")
_FUZZY = re.compile(r" (<=|>=) \S+ \([^)]*\)$")


def read_text(text, *, known=None, tree=None):
    """Return the Sketch of the tree in C5.0's output.

    Parameters
    ----------
    text : str
        Output of C5.0; text around the tree is skipped.
    known : Known, optional
        Labels of the data. C5.0 prints only how many cases of a leaf belong to other classes, so
        counts of three or more classes require data.
    tree : int, optional
        Number of the boosting trial.
    """
    starts = [found.end() for found in _TREE.finditer(text)]
    if not starts:
        what = "a set of rules" if re.search(r"^Rules:", text, re.MULTILINE) else "no tree"
        raise ValueError(f"C5.0's output holds {what}; expected 'Decision tree:' and the tree.")
    start = starts[choose_tree(tree, len(starts), "this output")]
    end = _END.search(text, start)
    if end is None:
        raise ValueError("The text ends before 'Evaluation on'; it may have been cut off.")
    lines = _join(text[start : end.start()], text[:start].count("\n") + 1)
    if len(lines) == 1 and lines[0][1].startswith(" "):
        number, raw = lines[0]
        sketch = single_leaf(_leaf(number, raw.strip(), 1), known)
    else:
        sketch = build([_line(*line) for line in _splice(lines)], known, missing=SHARE)
    sketch.compare_dtype = "float32"
    sketch.source.update(model="C5.0 output", library="C5.0")
    if NUMERIC in sketch.kind:
        sketch.lost.append(
            "C5.0 prints thresholds with few digits, so rows very close to a threshold may reach "
            "another leaf than in C5.0; its .tree file has all digits."
        )
    return sketch


def _join(body, first):
    """Join category lists that continue over several lines; return numbered lines."""
    lines, opened = [], False
    for number, raw in enumerate(body.split("\n"), start=first):
        raw = raw.rstrip()
        if opened:
            lines[-1] = (lines[-1][0], lines[-1][1] + raw.lstrip(": "))
        elif raw.strip():
            lines.append((number, raw))
        if lines:
            last = lines[-1][1]
            opened = " in {" in last and "}" not in last[last.index(" in {") :]
    return lines


def _splice(lines):
    """Return ``(number, depth, text)`` of the lines, with separately printed subtrees in place."""
    parts = {"": []}
    name = ""
    for number, raw in lines:
        title = _SUBTREE.match(raw)
        if title is not None:
            name = title["name"]
            parts[name] = []
            continue
        indent = _INDENT.match(raw)[0]
        parts[name].append((number, len(indent) // 4, raw[len(indent) :]))
    done, stack = [], [(0, line) for line in reversed(parts.pop(""))]
    while stack:
        below, (number, depth, text) = stack.pop()
        reference = re.search(r": \[(S\d+)\]$", text)
        if reference is not None:
            if reference[1] not in parts:
                raise OutlineError(number, 1, f"there is no SubTree [{reference[1]}]")
            inside = parts.pop(reference[1])
            stack += [(below + depth + 1, line) for line in reversed(inside)]
            text = text[: reference.start() + 1]
        done.append((number, below + depth, text))
    return done


def _line(number, depth, text):
    condition, leaf = text, None
    if text.endswith(":"):
        condition = text[:-1]
    else:
        # The class follows the last colon that ends a complete condition.
        condition, sign, ending = text.rpartition(": ")
        if sign:
            leaf = _leaf(number, ending, 4 * depth + len(condition) + 3)
    test = _TEST.match(condition)
    if test is None or _FUZZY.search(condition):
        what = "fuzzy thresholds are unsupported" if test else "expected a test such as `age <= 45`"
        raise OutlineError(number, 4 * depth + 1, what)
    value, sign = test["value"], test["sign"]
    if sign == "in" and not (value.startswith("{") and value.endswith("}")):
        raise OutlineError(
            number, 4 * depth + test.start("value") + 1,
            "a range of ordered categories names only its ends; give C5.0's .tree file instead",
        )  # fmt: skip
    if sign == "in":
        value = tuple(value[1:-1].split(","))
    elif sign == "=":
        value, sign = (value,), "in"
    else:
        value = _number(number, depth, value)
    return Line(
        number=number,
        indent=4 * depth,
        text=condition,
        name=test["name"],
        sign=sign,
        value=value,
        columns=(4 * depth + 1, 4 * depth + test.start("value") + 1),
        leaf=leaf,
    )


def _number(number, depth, text):
    try:
        return float(text)
    except ValueError:
        raise OutlineError(number, 4 * depth + 1, f"`{text:.40}` is not a threshold") from None


def _leaf(number, text, column):
    found = _LEAF.match(text)
    if found is None:
        raise OutlineError(number, column, "expected a class and its cases such as `no (3)`")
    errors = found["errors"]
    return Leaf(
        label=found["label"],
        column=column,
        weight=float(found["weight"]),
        errors=None if errors is None else float(errors),
    )
