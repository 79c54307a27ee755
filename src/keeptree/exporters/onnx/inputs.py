"""The inputs of the graph, and the matrix of numbers and category codes that the tree reads."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from keeptree.data.columns import AS_MISSING, REFUSED
from keeptree.exporters.onnx.graph import Graph, Value

INPUTS = ("columns", "used", "matrix")
MATRIX = "X"  # name of the only input
_MARKERS = ("", "?", "NA", "missing", "(missing)")  # of a missing category, the first that is free


@dataclass(frozen=True)
class Cases:
    """The rows of a batch inside the graph.

    Parameters
    ----------
    graph : Graph
        Where they are.
    rows : Value
        Their number.
    raw : Value
        The columns that the tree tests, then its weighted sums, in the order of ``plain_dict``:
        float64, the codes of categories, NaN where a value is missing.
    compared : Value
        The same as the tree compares them: rounded to float32 if it does that.
    refused : Value or None
        Which rows have a category that the tree refuses.
    """

    graph: Graph
    rows: Value
    raw: Value
    compared: Value
    refused: Value | None


def read_cases(graph, subject, data, inputs):
    """Add the inputs to a graph.

    Parameters
    ----------
    graph : Graph
        Empty.
    subject : Subject
        What is exported.
    data : dict
        From ``plain_dict``.
    inputs : {"columns", "used", "matrix"}
        One input for every column of the tree, only for those that it tests, or one matrix.

    Returns
    -------
    cases : Cases
    """
    tree, used = subject.tree, data["columns"]
    wanted = [column["column"] for column in used] or [0]
    if inputs == "matrix":
        given = graph.input(MATRIX, np.float64, tree.n_features)
        raw, rows = given.take(wanted), given.rows()
    else:
        names = input_names(subject, used, inputs)
        given = {f: _input(graph, tree, f, name) for f, name in names.items()}
        rows = given[wanted[0]].rows()
        raw = graph.concat([_numbers(graph, tree, f, given[f]) for f in wanted])
    single = tree.compare_dtype == "float32"
    raw = graph.concat([raw, *(_sum(raw, part["terms"], single) for part in data["sums"])])
    compared = raw
    if single:
        compared = raw.rounded()
    refusing = [at for at, f in enumerate(wanted) if tree.unknown[f] == REFUSED]
    refusing = [at for at in refusing if tree.categories[wanted[at]] is not None]
    refused = None
    if refusing:
        refused = (raw.take(refusing) < 0.0).cast(np.int64).sum().flat() > 0
    return Cases(graph, rows, raw, compared, refused)


def input_names(subject, used, inputs):
    """Return the input name of each column; raise a ValueError if ONNX forbids it."""
    tree = subject.tree
    columns = range(tree.n_features)
    if inputs == "used":
        columns = sorted(column["column"] for column in used) or [0]
    names = {f: subject.names[f] for f in columns}
    advice = "rename the column" + ('; or give inputs="matrix"' if not tree.has_nominal else "")
    for f, name in names.items():
        if not name:
            raise ValueError(f"Column {f} has an empty name, which ONNX does not allow; {advice}.")
    name, times = Counter(names.values()).most_common(1)[0]
    if times > 1:
        raise ValueError(
            f"Two columns are called {name!r}, but inputs need unique names; {advice}."
        )
    return names


def missing_marker(labels):
    """The text that stands for a missing category: empty, unless that is a category itself.

    Examples
    --------
    >>> missing_marker(("red", "blue")), missing_marker(("", "blue"))
    ('', '?')
    """
    texts = {str(label) for label in labels}
    fitting = (marker for marker in _MARKERS if marker not in texts)
    return next(fitting, max(texts, key=len) + "?")


def category_texts(name, labels):
    """Return the categories as text; raise a ValueError if two have the same text."""
    texts = [str(label) for label in labels]
    text, times = Counter(texts).most_common(1)[0]
    if times > 1:
        raise ValueError(
            f"The column {name!r} has two categories that read {text!r} as text, which ONNX "
            "inputs are; give them different names."
        )
    return texts


def _sum(raw, terms, single):
    """Add a weighted sum in Python's order, which MatMul would not keep; ``single``: in float32."""
    total = None
    for at, weight in terms:
        value = raw.take([at])
        product = (value.cast(np.float32) if single else value) * weight
        total = product if total is None else total + product
    return total.cast(np.float64)


def _input(graph, tree, f, name):
    return graph.input(name, np.float64 if tree.categories[f] is None else object, 1)


def _numbers(graph, tree, f, given):
    """Return a column as numbers: category codes, NaN if missing, -1 if refused."""
    labels = tree.categories[f]
    if labels is None:
        return given
    texts, unknown = category_texts(tree.feature_name(f), labels), int(tree.unknown[f])
    # The code of an unseen label: that of another category, -1 if refused, NaN if missing.
    default = np.nan if unknown == AS_MISSING else float(max(unknown, -1))
    codes = graph.op(
        "LabelEncoder",
        given,
        dtype=np.float32,
        domain="ai.onnx.ml",
        keys_strings=[*texts, missing_marker(labels)],
        values_floats=[*map(float, range(len(texts))), float("nan")],
        default_float=default,
    )
    return codes.cast(np.float64)
