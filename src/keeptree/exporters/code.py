"""Data, comments and checks that the exports to programming languages share."""

import base64
import json
import math
import subprocess

import numpy as np

from keeptree.exporters.check import Answers
from keeptree.exporters.nested_ifs import comment_text
from keeptree.exporters.plain import plain_dict
from keeptree.text import plural
from keeptree.tree import SHARE

_TIMEOUT = 600  # seconds for a target to score the rows of a check


def code_data(subject):
    """Return the plain dict of a subject; its column names must be unique.

    Beside the parts of :func:`~keeptree.exporters.plain.plain_dict` it has ``shares`` (whether a
    missing value may be shared among children), ``finite`` (whether infinite values are refused,
    as models do) and ``answer`` (the name of the function beside predict: "probability" or, of a
    ranking, "score").
    """
    data = plain_dict(subject.tree, subject.model)
    names = [column["name"] for column in data["columns"]]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"Two columns that the tree tests are called {twice!r}, but exported code reads "
            "columns by name; rename one of them."
        )
    tree = data["tree"]
    tested = [at is not None for at in tree["attribute"]]
    data["shares"] = any(
        rule == SHARE and inner for rule, inner in zip(tree["missing"], tested, strict=True)
    )
    data["finite"] = subject.model is not None
    data["answer"] = "score" if data["model"]["kind"] == "rank" else "probability"
    return data


def text_arrays(value):
    """Return dicts and lists with float32 arrays as base64, little-endian."""
    if isinstance(value, dict):
        return {key: text_arrays(part) for key, part in value.items()}
    if isinstance(value, list):
        return [text_arrays(part) for part in value]
    if isinstance(value, np.ndarray):
        return base64.b64encode(np.ascontiguousarray(value, dtype="<f4").tobytes()).decode()
    return value


def kinds_of(model):
    """Return the kinds of a model and of its experts."""
    return [model["kind"], *(kind for part in model.get("experts", ()) for kind in kinds_of(part))]


def header(subject, data, call, show=str, whole_rows=True):
    """Return the lines of the comment at the top of a file.

    Parameters
    ----------
    subject : Subject
        What is exported.
    data : dict
        From :func:`code_data`.
    call : list of str
        How to call the functions, in the language of the export.
    show : callable
        Returns a label as a user of the export writes it.
    whole_rows : bool
        Whether a row as an array has all columns of the training table, or only those it reads.
    """
    lines = [subject.origin + ".", ""]
    model = "the class proportions of its leaves" if subject.model is None else subject.kind
    leaves = plural(subject.tree.n_leaves, "leaf", "leaves")
    gives = {"score": "scores", "probability": "probabilities"}[data["answer"]]
    lines += [f"A decision tree with {leaves}; its {gives} are from {model}.", *call, ""]
    lines += ["Columns, each after its position in an array (others are not read):"]
    for at, column in enumerate(data["columns"]):
        labels = column["categories"]
        kind = "number"
        if labels is not None:
            kind = f"one of {comment_text(', '.join(map(show, labels)))}"
        position = column["column"] if whole_rows else at
        lines.append(f"  {position}  {comment_text(column['name'])}: {kind}")
    if not data["columns"]:
        lines.append("  none: the tree tests nothing")
    classes = comment_text(", ".join(map(show, data["classes"])), 80)
    lines += [f"Classes: {classes}"]
    rows = data["model"].get("rows")
    if rows:
        lines += ["", f"{plural(rows, 'landmark')} in this file are rows of the training sample, "]
        lines[-1] += "or means of some."
    return lines


def rows_text(data, rows):
    """Return the rows of the check as JSON ``[names, rows]``; infinity is ``{"inf": 1}``."""
    columns = [rows.column(column["column"]) for column in data["columns"]]
    table = list(zip(*columns, strict=True)) if columns else [()] * len(rows)
    names = [column["name"] for column in data["columns"]]
    return json.dumps([names, [[_finite(value) for value in row] for row in table]])


def run_program(command, text, **options):
    """Run a program that prints JSON ``[label, leaf, probability]`` for each row.

    Labels are positions of classes. If the program fails, its last line becomes a ValueError.
    """
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, encoding="utf-8", timeout=_TIMEOUT,
        **options,
    )  # fmt: skip
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ValueError(f"The exported code does not run, so nothing was written: {last[:300]}")
    label, leaf, probability = zip(*json.loads(done.stdout), strict=True)
    return Answers(np.array(label), np.array(leaf), np.array(probability, dtype=np.float64))


def _finite(value):
    if isinstance(value, float) and math.isinf(value):
        return {"inf": 1 if value > 0 else -1}
    return value
