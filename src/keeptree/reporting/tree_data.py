"""The kept tree as data for a page: its classes, its nodes as text, and a fingerprint."""

import numpy as np

from keeptree.data.labels import plain
from keeptree.explanation.unseen import name_unseen
from keeptree.explanation.wording import tell_number
from keeptree.notebook import class_slots
from keeptree.text import clean


def collect_classes(tree, names):
    """Return name, label, training cases and colour slot of each class, in the tree's order.

    Slots 1 to 6 are assigned by frequency; with more than six classes, the five commonest have
    their own slots and the rest share slot 0.
    """
    slots = class_slots(tree.counts[0])
    return [
        {"label": clean(name), "written": plain(value), "cases": float(cases), "slot": slot}
        for name, value, cases, slot in zip(
            names, tree.classes.tolist(), tree.counts[0], slots, strict=True
        )
    ]


def collect_tree(tree):
    """Return the nodes in preorder with their tests as text, and a fingerprint of the tree."""
    below, shown = _leaves_below(tree), name_unseen(tree)
    nodes = []
    for node in tree.preorder.tolist():
        up = int(tree.parent[node])
        label = int(tree.label[node])
        inner = tree.kind[node] != 0
        nodes.append(
            {
                "id": node,
                "parent": up if up >= 0 else None,
                "depth": int(tree.depth[node]),
                "name": clean(tree.branch(tree.children(node)[0]).name) if inner else None,
                **_relation(shown, up, node),
                "cases": float(tree.weight[node]),
                "counts": tree.counts[node].tolist(),
                "class": label,
                "errors": float(tree.weight[node] - tree.counts[node, label]),
                "leaves": int(below[node]),
            }
        )
    return {
        "nodes": nodes,
        "n_leaves": tree.n_leaves,
        "max_depth": tree.max_depth,
        "fingerprint": fingerprint(tree),
        "signatures": [
            {
                "by": clean(signature.by),
                "day": signature.day,
                "note": clean(signature.note) if signature.note else "",
                "of": signature.digest[:12],
                "this_tree": signature.digest == tree.digest,
            }
            for signature in tree.signatures
        ],
    }


def fingerprint(tree):
    """Return the first 12 digits of the tree's digest, which are enough for a reader."""
    return tree.digest[:12]


def _leaves_below(tree):
    below = (tree.kind == 0).astype(np.int64)
    for node in tree.preorder[::-1].tolist():
        if tree.parent[node] >= 0:
            below[tree.parent[node]] += below[node]
    return below


def _relation(tree, up, node):
    """Condition that leads to a node from its parent: rounded for display, and exact."""
    if up < 0:
        return {"relation": "", "relation_exact": ""}
    branch = tree.branch(node)
    if branch.is_numeric:
        relation = f"{branch.symbol} {tell_number(branch.threshold)}"
        exact = f"{clean(branch.name)} {branch.symbol} {branch.threshold!r}"
        return {"relation": relation, "relation_exact": exact}
    return {"relation": clean(branch.relation()), "relation_exact": clean(branch.text())}
