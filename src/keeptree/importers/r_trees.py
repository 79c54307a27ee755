"""Read rpart and partykit trees written by ``keeptree.R``."""

from functools import partial

import numpy as np

from keeptree.importers.sketch import Sketch, just_below
from keeptree.tree import ERROR

_SURROGATES = (
    "R decides rows with missing values by surrogate splits, or stops at an inner node; a Tree "
    "supports neither and rejects such rows unless you choose missing='majority'."
)
_RANDOM = (
    "partykit sends missing values to a random child; the Tree refuses them unless you choose "
    "missing='majority'."
)


def read_document(document):
    """Return the Sketch of a document written by ``keeptree_write`` in R."""
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
    if document["kind"] not in ("rpart", "partykit"):
        raise ValueError(f"{document['kind']!r:.50} is neither rpart nor partykit.")
    read = _party_node
    if document["kind"] == "rpart":
        majority = int(document["options"]["usesurrogate"]) == 2
        read = partial(_rpart_node, size=_sizes(nodes), majority=majority)
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
    tests = [node for node, below in enumerate(sketch.children) if below]
    if any(sketch.missing[node] == ERROR for node in tests):
        sketch.lost.append(_SURROGATES if document["kind"] == "rpart" else _RANDOM)
    return sketch


def _sizes(nodes):
    """Return the training rows of each node; older scripts wrote only class counts."""
    return {number: source.get("n", sum(source["counts"])) for number, source in nodes.items()}


def _rpart_node(sketch, node, source, number, size, majority):
    """Set the test of rpart's node ``number``.

    Where a test has no surrogate splits, rpart sends a missing value to the larger child (the left
    one if both are equal), unless ``usesurrogate`` is below 2.
    """
    feature = sketch.names.index(source["column"])
    below = [2 * number, 2 * number + 1]  # rpart's left and right child
    larger = int(size[below[1]] > size[below[0]])
    decided = majority and int(source["surrogates"]) == 0
    if "threshold" in source:
        order = [0, 1] if source["less_left"] else [1, 0]
        missing = order.index(larger) if decided else ERROR
        children = sketch.numeric(node, feature, just_below(source["threshold"]), missing)
        return children, [below[k] for k in order]
    # 1 goes left and 3 goes right; 2 did not occur in this node and counts as missing.
    sides = source["sides"]
    if len(sides) != len(sketch.categories[feature]):
        raise ValueError(
            f"A test of {source['column']!r} has a different number of levels than its column."
        )
    if not decided:
        _tell_unseen(sketch, node, feature, sides)
    branch_of = [{1: 0, 3: 1}.get(int(side), larger) for side in sides]
    missing = larger if decided else ERROR
    return sketch.nominal(node, feature, branch_of, missing, width=2), below


def _tell_unseen(sketch, node, feature, sides):
    """Record levels that can reach a test but did not occur there in training."""
    labels = zip(sketch.categories[feature], sides, strict=True)
    reachable = sketch.reachable(node, feature)
    unseen = [label for label, side in labels if side == 2 and label in reachable]
    if unseen:
        listed = ", ".join(map(repr, unseen[:3])) + (", ..." if len(unseen) > 3 else "")
        sketch.lost.append(
            f"A test of {sketch.names[feature]!r} never saw {listed} in training, which R treats "
            f"as missing there and decides by surrogate splits; the Tree sends such rows to the "
            "larger child."
        )


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
