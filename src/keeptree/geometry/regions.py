"""The regions of a kept tree: boxes of one class each, and what it costs to enter them.

Sub-trees whose leaves share a class are one region; leaves no representable number reaches are
none. Everything is iterative: a chain of ten thousand tests is a tree too.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keeptree.tree import LEAF, NUMERIC


class Edge(NamedTuple):
    """How the box of a node narrows on the way to a child."""

    feature: int
    lower: bool  # a lower bound instead of an upper one
    bound: float
    old: float  # the bound it replaces, infinite if there was none
    table: int  # where the costs of a nominal edge begin; -1 for a numeric one


@dataclass(frozen=True)
class Regions:
    """Boxes in preorder, in the form the projection kernel reads.

    Region r stands for the sub-tree at ``node[r]`` and has the class ``label[r]``; ``leaf[r]`` is
    that node if it is a leaf, else -1. Columns ``start[r]`` to ``start[r + 1]`` of ``nodes`` and
    ``bounds`` give its box by feature: feature, node of the lower bound, node of the upper bound,
    -1; and lower bound, upper bound, the smallest and the largest value inside, factor.

    A nominal coordinate has its number of categories in place of the first node and a table in
    place of the -1: for each category, and for a missing value after the last, it costs
    ``cost[table + code]`` to become ``category[table + code]``, the nearest allowed, which the
    test ``test[table + code]`` asks for.
    """

    node: np.ndarray
    label: np.ndarray
    leaf: np.ndarray
    start: np.ndarray
    nodes: np.ndarray
    bounds: np.ndarray
    cost: np.ndarray
    category: np.ndarray
    test: np.ndarray
    growth: np.ndarray  # of the squared cost over the table the edge replaces
    children: dict  # of each node that is not a region: the children that can be reached
    edge: dict  # the Edge to each child, None if it does not narrow the box


class Box:
    """The box of the node a walk stands on, with what is needed to step back."""

    def __init__(self, tree, factor, category_costs):
        self.tree, self.factor, self.category_costs = tree, factor, category_costs
        self.lower, self.upper = [-np.inf] * tree.n_features, [np.inf] * tree.n_features
        self.lower_node, self.upper_node = [-1] * tree.n_features, [-1] * tree.n_features
        self.allowed, self.table = [None] * tree.n_features, [-1] * tree.n_features
        self.depth_of = {}  # features tested on the path, with the number of tests
        self.trail = []

    def enter(self, node, child):
        """Go to a child of ``node``."""
        f = int(self.tree.feature[node])
        self.trail.append(
            (
                f,
                self.lower[f],
                self.upper[f],
                self.lower_node[f],
                self.upper_node[f],
                self.allowed[f],
                self.table[f],
            )
        )
        self.depth_of[f] = self.depth_of.get(f, 0) + 1
        if self.tree.kind[node] != NUMERIC:
            here = self.tree.category_children(node) == child
            self.allowed[f] = here if self.allowed[f] is None else here & self.allowed[f]
            return
        t = float(self.tree.threshold[node])
        if child == self.tree.children(node)[0]:
            if t < self.upper[f]:  # a test that repeats a bound has an empty side: it cuts nothing
                self.upper[f], self.upper_node[f] = t, node
        elif t > self.lower[f]:
            self.lower[f], self.lower_node[f] = t, node

    def leave(self):
        """Go back to where the last ``enter`` came from."""
        f, *before = self.trail.pop()
        (
            self.lower[f],
            self.upper[f],
            self.lower_node[f],
            self.upper_node[f],
            self.allowed[f],
            self.table[f],
        ) = before
        self.depth_of[f] -= 1
        if not self.depth_of[f]:
            del self.depth_of[f]

    def can_be_reached(self, f):
        """Whether some value the model can compare lies inside on coordinate f."""
        if self.allowed[f] is not None:
            return bool(self.allowed[f].any())
        smallest, largest = self.ends(f)
        return smallest <= largest and smallest < np.inf and largest > -np.inf

    def ends(self, f):
        """The smallest and the largest value inside on coordinate f, as the model compares."""
        dtype = np.dtype(self.tree.compare_dtype).type
        return _next_above(self.lower[f], dtype), _at_most(self.upper[f], dtype)


def find_regions(tree, factor, category_costs):
    """Regions of ``tree`` where coordinate f counts ``factor[f]`` or ``category_costs[f]``."""
    label = _common_labels(tree)
    box = Box(tree, factor, category_costs)
    build = _Builder(tree, box)

    def visit(node, parent):
        if label[node] == _UNREACHABLE:
            return False
        if parent >= 0:
            build.add_edge(parent, node)
        if label[node] >= 0:
            build.add_region(node, label[node])
            return False
        build.children[node] = []
        return True

    _walk(tree, box, visit)
    return build.finish()


_UNREACHABLE, _MIXED = -1, -2


def _walk(tree, box, visit):
    """Preorder; ``visit(node, parent)`` with the box of the node, True to go on below it."""
    stack = [(0, -1)]
    while stack:
        node, parent = stack.pop()
        if node < 0:
            box.leave()
            continue
        if parent >= 0:
            box.enter(parent, node)
            stack.append((-1, -1))
        if visit(node, parent) and tree.kind[node] != LEAF:
            stack.extend((child, node) for child in tree.children(node)[::-1].tolist())


def _common_labels(tree):
    """For each node the class that all leaves which can be reached share, or a code for none."""
    reached = np.zeros(tree.n_nodes, dtype=bool)
    # A test may leave no number between its threshold and the bound of its box, yet narrow the
    # box by that gap: such a node is not the same box as its only child, so it stays a test.
    narrow = np.zeros(tree.n_nodes, dtype=bool)
    box = Box(tree, None, None)

    def visit(node, parent):
        if parent >= 0:
            f = int(tree.feature[parent])
            if not box.can_be_reached(f):
                narrow[parent] |= box.allowed[f] is None and box.lower[f] < box.upper[f]
                return False
        reached[node] = True
        return True

    _walk(tree, box, visit)
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


class _Builder:
    """Collects edges, tables and boxes during a walk."""

    def __init__(self, tree, box):
        self.tree, self.box = tree, box
        self.children, self.edge = {}, {}
        self.node, self.label, self.start = [], [], [0]
        self.nodes, self.bounds = [], []
        self.tables, self.table_end = {}, 0

    def add_edge(self, parent, child):
        """Record the step from ``parent`` to ``child``: an Edge, or None if the box is the same."""
        box, f = self.box, int(self.tree.feature[parent])
        _, lower, upper, _, _, allowed, _ = box.trail[-1]
        edge = None
        if box.allowed[f] is not None:
            if not np.array_equal(box.allowed[f], allowed):
                edge = Edge(f, False, np.nan, np.nan, self._add_table(parent, child, f))
        elif box.upper[f] != upper:
            edge = Edge(f, False, box.upper[f], upper, -1)
        elif box.lower[f] != lower:
            edge = Edge(f, True, box.lower[f], lower, -1)
        self.children[parent].append(child)
        self.edge[child] = edge

    def _add_table(self, parent, child, f):
        matrix, inside = self.box.category_costs[f], np.flatnonzero(self.box.allowed[f])
        n = len(matrix)
        nobody = (np.zeros(n + 1), None, np.full(n + 1, -1), None)
        old_cost, _, old_test, _ = self.tables.get(self.box.table[f], nobody)
        cost = np.append(matrix[:, inside].min(axis=1), 0.0)
        category = inside[np.append(matrix[:, inside].argmin(axis=1), 0)]
        violated = np.append(self.tree.category_children(parent) != child, True)
        test = np.where(violated, parent, old_test)
        table, self.table_end = self.table_end, self.table_end + n + 1
        self.tables[table] = (cost, category, test, cost**2 - old_cost**2)
        self.box.table[f] = table
        return table

    def add_region(self, node, label):
        """Record the box the walk stands on."""
        box = self.box
        for f in sorted(box.depth_of):
            if box.allowed[f] is None:
                self.nodes.append((f, box.lower_node[f], box.upper_node[f], -1))
                self.bounds.append((box.lower[f], box.upper[f], *box.ends(f), box.factor[f]))
            elif box.table[f] >= 0:  # else every category may pass
                self.nodes.append((f, len(box.allowed[f]), -1, box.table[f]))
                self.bounds.append((np.nan,) * 5)
        self.node.append(node)
        self.label.append(label)
        self.start.append(len(self.nodes))

    def finish(self):
        """The Regions of everything recorded."""
        node = np.array(self.node, dtype=np.int64)
        parts = zip(*self.tables.values(), strict=True) if self.tables else ([()],) * 4
        cost, category, test, growth = (np.concatenate(list(part)) for part in parts)
        return Regions(
            node=node,
            label=np.array(self.label, dtype=np.int64),
            leaf=np.where(self.tree.kind[node] == LEAF, node, -1),
            start=np.array(self.start, dtype=np.int64),
            nodes=_by_column(self.nodes, 4, np.int64),
            bounds=_by_column(self.bounds, 5, np.float64),
            cost=cost.astype(np.float64),
            category=category.astype(np.int64),
            test=test.astype(np.int64),
            growth=growth.astype(np.float64),
            children=self.children,
            edge=self.edge,
        )


def _by_column(entries, width, dtype):
    """Entries as a matrix with a row for each of their ``width`` fields."""
    return np.ascontiguousarray(np.array(entries, dtype=dtype).reshape(-1, width).T)


def _next_above(bound, dtype):
    """The smallest number of ``dtype`` above ``bound``."""
    with np.errstate(over="ignore"):
        value = dtype(bound)
        # float(): NumPy would round the bound to float32 to compare it with a float32.
        return float(value if float(value) > bound else np.nextafter(value, dtype(np.inf)))


def _at_most(bound, dtype):
    """The largest number of ``dtype`` that is not above ``bound``."""
    with np.errstate(over="ignore"):
        value = dtype(bound)
        return float(value if float(value) <= bound else np.nextafter(value, dtype(-np.inf)))
