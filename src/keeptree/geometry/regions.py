"""The regions of a kept tree: boxes of one class each, and the edges that lead to them.

A subtree whose leaves share a class is one region. Leaves that no representable number reaches are
not regions. All walks are iterative, so a chain of ten thousand tests does not exhaust the stack.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keeptree.geometry.boxes import ANYTHING, Boxes, Cuts, Side
from keeptree.tree import LEAF, refuse_oblique

_UNREACHABLE, _MIXED = -1, -2


class Edge(NamedTuple):
    """The narrowing of a box from a node to one of its children."""

    feature: int
    before: Side
    after: Side

    @property
    def lower(self):
        """Whether the edge raises the lower bound, rather than lowering the upper bound."""
        return self.after.lower != self.before.lower

    @property
    def bounds(self):
        """The new bound, and the bound that it replaces (infinite if there was none)."""
        if self.lower:
            return self.after.lower, self.before.lower
        return self.after.upper, self.before.upper


@dataclass(frozen=True)
class Regions:
    """Boxes of the regions, and the part of the tree above them."""

    boxes: Boxes
    children: dict  # reachable children of each node that is not a region
    edge: dict  # the Edge to each child; None if it does not narrow the box


def find_regions(tree, step=None):
    """Return the regions of a classification tree; with ``step``, those of the multiples."""
    refuse_oblique(tree, "have no boxes", "measure distances with kt.Boundary")
    cuts = Cuts(tree, step)
    label, found, children, edge = _common_labels(cuts), [], {}, {}
    for node, parent, box, outer in _walk(cuts, lambda node: label[node] == _MIXED):
        if label[node] == _UNREACHABLE:
            continue
        if parent >= 0:
            f = int(tree.feature[parent])
            children[parent].append(node)
            edge[node] = None if box is outer else Edge(f, outer.get(f, ANYTHING), box[f])
        if label[node] == _MIXED:
            children[node] = []
        else:
            found.append((node, label[node], box))
    return Regions(Boxes.pack(found), children, edge)


def _walk(cuts, goes_on):
    """Yield nodes in preorder with their parent, box and parent's box."""
    tree, stack = cuts.tree, [(0, -1, {})]
    while stack:
        node, parent, outer = stack.pop()
        box = outer
        if parent >= 0:
            f, side = int(tree.feature[parent]), cuts.side(outer, parent, node)
            if side is not outer.get(f):
                box = {**outer, f: side}
        yield node, parent, box, outer
        if tree.kind[node] != LEAF and goes_on(node):
            stack.extend((child, node, box) for child in tree.children(node)[::-1].tolist())


def _common_labels(cuts):
    """Return, for each node, the class shared by all reachable leaves below it, or a code."""
    tree = cuts.tree
    reached = np.zeros(tree.n_nodes, dtype=bool)
    # A test may narrow a box although only one of its children can be reached, because no number
    # lies in the gap. Such a node stays a test: its box differs from that of its only child.
    narrow = np.zeros(tree.n_nodes, dtype=bool)
    for node, parent, box, _ in _walk(cuts, lambda node: reached[node]):
        side = box.get(int(tree.feature[parent])) if parent >= 0 else None
        reached[node] = side is None or side.can_be_reached
        if not reached[node]:
            narrow[parent] |= not side.nominal and side.lower < side.upper
    label = np.full(tree.n_nodes, _UNREACHABLE, dtype=np.int64)
    for node in tree.preorder[::-1].tolist():
        if not reached[node]:
            continue
        if tree.kind[node] == LEAF:
            label[node] = tree.label[node]
            continue
        below = label[tree.children(node)]
        below = below[below != _UNREACHABLE]
        uniform = below[0] >= 0 and (below == below[0]).all() and not narrow[node]
        label[node] = below[0] if uniform else _MIXED
    return label
