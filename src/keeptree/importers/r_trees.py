"""Trees of R's rpart and partykit, as ``keeptree.R`` writes them."""

import numpy as np

from keeptree.importers.sketch import Sketch, just_below
from keeptree.tree import ERROR

_SURROGATES = (
    "R decides rows with missing values by surrogate splits, or stops at an inner node; a Tree "
    "holds neither, so that such rows are refused unless missing='majority' is chosen."
)
_RANDOM = (
    "partykit sends missing values to a random child; a Tree refuses them unless "
    "missing='majority' is chosen."
)


def read_document(document):
    """Return the Sketch of a document that ``keeptree_write`` in R wrote."""
    columns, classes = document["columns"], document["classes"]
    sketch = Sketch(
        tuple(column["name"] for column in columns),
        tuple(None if c["levels"] is None else tuple(c["levels"]) for c in columns),
        classes=list(classes),
        source={
            "model": document["kind"],
            "library": f"R {document['kind']} {document['version']}",
            "counts": "the R object",
        },
    )
    nodes = {int(node["id"]): node for node in document["nodes"]}
    if len(nodes) != len(document["nodes"]):
        raise ValueError("Two nodes have the same number.")
    read = {"rpart": _rpart_node, "partykit": _party_node}.get(document["kind"])
    if read is None:
        raise ValueError(f"{document['kind']!r:.50} is neither rpart nor partykit.")
    stack = [(0, 1)]
    while stack:
        node, number = stack.pop()
        source = nodes.pop(number)
        if "column" in source:
            stack += zip(*read(sketch, node, source, number), strict=True)
            continue
        sketch.counts[node] = np.array(source["counts"], dtype=np.float64)
        if sketch.counts[node].shape != (len(classes),):
            raise ValueError(f"A leaf does not have the counts of {len(classes)} classes.")
        if "label" in source:
            sketch.label[node] = int(source["label"])
    if len(sketch.kind) > 1:
        sketch.lost.append(_SURROGATES if document["kind"] == "rpart" else _RANDOM)
    return sketch


def _rpart_node(sketch, node, source, number):
    feature = sketch.names.index(source["column"])
    below = [2 * number, 2 * number + 1]  # rpart's left and right child
    if "threshold" in source:
        children = sketch.numeric(node, feature, just_below(source["threshold"]), ERROR)
        return children, below if source["less_left"] else below[::-1]
    # 1 goes left, 3 right; 2 was not seen in this node, and is missing to rpart.
    sides = source["sides"]
    labels = sketch.categories[feature]
    if len(sides) != len(labels):
        raise ValueError(f"A test of {source['column']!r} has another number of levels.")
    unseen = [label for label, side in zip(labels, sides, strict=True) if side == 2]
    unseen = [label for label in unseen if label in sketch.reachable(node, feature)]
    if unseen:
        listed = ", ".join(map(repr, unseen[:3]))
        sketch.lost.append(
            f"A test of {source['column']!r} never saw {listed}, which R takes for missing there; "
            "the Tree sends such rows right."
        )
    children = sketch.nominal(node, feature, [int(side != 1) for side in sides], ERROR, width=2)
    return children, below


def _party_node(sketch, node, source, number):
    feature, kids = sketch.names.index(source["column"]), source["kids"]
    if "threshold" in source:
        if len(source["threshold"]) != 1:
            raise ValueError("A test has several breaks; a Tree divides numbers in two.")
        value = source["threshold"][0]
        threshold = value if source["right_closed"] else just_below(value)
        order = [k - 1 for k in source.get("index", [1, 2])]
        return sketch.numeric(node, feature, threshold, ERROR), [kids[k] for k in order]
    sides = source["sides"]
    if "index" in source:
        sides = [source["index"][side - 1] for side in sides]
    if 0 in sides:
        sketch.lost.append(
            f"A test of {source['column']!r} has levels that no training row had; the Tree sends "
            "such rows to the first branch."
        )
    branch_of = [max(side - 1, 0) for side in sides]
    return sketch.nominal(node, feature, branch_of, ERROR, width=len(kids)), kids
