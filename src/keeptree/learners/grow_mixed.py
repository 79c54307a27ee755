"""Grow trees on any data in waves of nodes.

Without missing values, a wave is a whole level of the tree. Missing values multiply the entries
from level to level, so the waiting nodes are divided into waves of limited size, and the deepest
are grown first.
"""

from typing import NamedTuple

import numpy as np

from keeptree._compiled.entries import Entries
from keeptree._compiled.grow_divide import Branches, assign_branches, divide_entries
from keeptree._compiled.grow_search import Nodes, SearchOptions, Tests, search_nodes
from keeptree._compiled.j48 import SMALL, SUBSETS
from keeptree._compiled.shape import Shape
from keeptree.learners.columns import encode_columns, sort_entries
from keeptree.learners.grow_options import table_of_terms

ENTRIES_PER_WAVE = 4  # limit of entries in a wave, as a multiple of the number of rows


class Wave(NamedTuple):
    """Nodes to grow: their numbers and depths, and their entries."""

    node: np.ndarray
    depth: np.ndarray
    nodes: Nodes
    entries: Entries

    def divided(self, limit):
        """Split off the last nodes with at most ``limit`` entries, but at least one node."""
        start, size = self.nodes.start, self.nodes.size
        first = np.searchsorted(start, start[-1] + size[-1] - limit)
        first = min(first, len(start) - 1)
        if first == 0:
            return [self]
        return [self._part(slice(first)), self._part(slice(first, None))]

    def _part(self, some):
        nodes = Nodes(*(array[some] for array in self.nodes))
        return self._replace(node=self.node[some], depth=self.depth[some], nodes=nodes)


class MixedGrower:
    """Grows one tree; see :func:`keeptree.learners.grow.grow`.

    Parameters
    ----------
    columns : array of shape (d, n)
        Nominal columns hold codes; NaN is missing.
    label, weight : arrays of shape (n,)
        Class codes and weights.
    n_categories : array of shape (d,)
        Number of categories of each column; 0 for a numeric column.
    averaged : array of shape (d,), bool
        Columns that enter the mean gain.
    n_classes : int
        Number of classes.
    options : GrowOptions
        Options for growing.
    """

    def __init__(self, columns, label, weight, n_categories, averaged, n_classes, options):
        self.columns = encode_columns(columns, label, n_categories, n_classes)
        self.weight, self.deepest = weight, options.deepest
        self.options = SearchOptions(
            n_classes=n_classes,
            min_leaf=float(options.min_leaf),
            criterion=options.criterion_code,
            nominal=options.nominal_code,
            mdl=bool(options.mdl),
            averaged=averaged,
            table=table_of_terms(len(label)),
        )
        # One entry per wave; nodes are numbered across the waves.
        self.tests = []
        self.counts = [np.bincount(label, weight, minlength=n_classes)[None, :]]
        self.n_nodes, self.n_mapped = 1, 0
        self.maps = []

    def grow(self):
        """Return the Shape of the tree."""
        waiting = [] if self._is_leaf(self.counts[0]) else [self._root()]
        limit = ENTRIES_PER_WAVE * len(self.weight)
        while waiting:
            *others, wave = waiting.pop().divided(limit)
            waiting += others
            following = self._divide(wave, self._search(wave))
            if following is not None:
                waiting.append(following)
        return self._shape()

    def _root(self):
        entries, known = sort_entries(self.columns.value, self.weight)
        zero = np.zeros(1, dtype=np.int64)
        return Wave(zero, zero, Nodes(zero, np.array([len(self.weight)]), known), entries)

    def _is_leaf(self, counts):
        """Return a mask of the nodes that J48 does not split: too small or of one class."""
        total = counts.sum()
        light = 2 * self.options.min_leaf - total > SMALL
        return light or abs(total - counts.max()) < SMALL or self.deepest == 0

    def _search(self, wave):
        """Return the best tests of the nodes of a wave."""
        n = len(wave.node)
        width = self.columns.n_categories.max() if self.options.nominal == SUBSETS else 0
        tests = Tests(
            *np.empty((4, n), dtype=np.int64),
            threshold=np.empty(n),
            subset_of=np.empty((n, width), dtype=np.int32),
        )
        search_nodes(wave.nodes, wave.entries, self.columns, self.options, tests)
        return tests

    def _divide(self, wave, tests):
        """Create the children of the split nodes; return the next wave, or None."""
        branches = self._branches(tests, len(wave.entries.row))
        deeper = wave.depth + 1 < self.deepest
        n_entries = assign_branches(
            wave.nodes, wave.entries, self.columns, self.options, tests, deeper, branches
        )
        first_node = self.n_nodes
        self._add(wave.node, tests, branches)
        if n_entries == 0:
            return None
        *fields, known = divide_entries(
            wave.nodes, wave.entries, tests.n_branches, branches, n_entries
        )
        grows = np.flatnonzero(branches.to >= 0)
        depth = np.repeat(wave.depth + 1, tests.n_branches)[grows]
        nodes = Nodes(branches.to[grows], branches.size[grows], known[grows])
        return Wave(first_node + grows, depth, nodes, Entries(*fields))

    def _branches(self, tests, n_entries):
        """Allocate the arrays of the branches of the tests."""
        number = tests.n_branches.sum()
        size, to = np.zeros((2, number), dtype=np.int64)
        return Branches(
            first=np.cumsum(tests.n_branches) - tests.n_branches,
            category_start=np.cumsum(tests.n_categories) - tests.n_categories,
            category_child=np.empty(tests.n_categories.sum(), dtype=np.int32),
            n_unknown=np.zeros(len(tests.column), dtype=np.int64),
            branch=np.empty(n_entries, dtype=np.int32),
            counts=np.zeros((number, self.options.n_classes)),
            share=np.zeros(number),
            size=size,
            to=to,
        )

    def _add(self, node, tests, branches):
        """Record the tests of nodes and the class weights of their children."""
        mapped = np.where(tests.n_categories > 0, self.n_mapped + branches.category_start, -1)
        first_child = self.n_nodes + branches.first
        self.tests.append(
            (node, tests.column, tests.threshold, first_child, tests.n_branches, mapped)
        )
        self.counts.append(branches.counts)
        self.maps.append(branches.category_child)
        self.n_nodes += len(branches.counts)
        self.n_mapped += len(branches.category_child)

    def _shape(self):
        n = self.n_nodes
        empty = np.empty(0, dtype=np.int64)
        parts = zip(*self.tests, strict=True) if self.tests else [[empty]] * 6
        node, *tests = (np.concatenate(part) for part in parts)
        filled = []
        defaults = ((-1, np.int32), (np.nan, float), (0, np.int32), (0, np.int32), (-1, np.int32))
        for test, (default, dtype) in zip(tests, defaults, strict=True):
            array = np.full(n, default, dtype=dtype)
            array[node] = test
            filled.append(array)
        return Shape(
            *filled,
            category_child=np.concatenate([*self.maps, np.empty(0, dtype=np.int32)]),
            missing=np.full(n, -1, dtype=np.int32),
            counts=np.concatenate(self.counts),
        )
