"""Growing on any data, in waves: search the tests of many nodes, divide their rows, repeat.

A wave is a whole level while no value is missing. Missing values multiply entries from level to
level, so the nodes that wait are divided into waves of limited size, the deepest first.
"""

from typing import NamedTuple

import numpy as np

from keeptree.learners.grow_options import SMALL, table_of_terms
from keeptree.learners.shape import Shape

ENTRIES_PER_WAVE = 4  # times the number of rows


class Wave(NamedTuple):
    """Nodes to be grown and their entries (kernel file ``grow_search`` says what entries are)."""

    node: np.ndarray
    depth: np.ndarray
    start: np.ndarray
    size: np.ndarray
    known_rows: np.ndarray  # entries with a value, nodes x numeric columns
    row: np.ndarray
    weight: np.ndarray
    sorted_entry: np.ndarray

    @property
    def entries(self):
        """What the kernels take first."""
        return self[2:]

    def divided(self, limit):
        """The first nodes and the last ones with at most ``limit`` entries (but at least one)."""
        first = np.searchsorted(self.start, self.start[-1] + self.size[-1] - limit)
        first = min(first, len(self.node) - 1)
        if first == 0:
            return [self]
        at = self.start[first]
        nodes = [array[:first] for array in self[:5]]
        left = Wave(*nodes, self.row[:at], self.weight[:at], self.sorted_entry[:, :at])
        nodes = [array[first:] for array in self[:5]]
        right = Wave(*nodes, self.row[at:], self.weight[at:], self.sorted_entry[:, at:])
        return [left, right._replace(start=right.start - at)]


class MixedGrower:
    """Grows one tree; see :func:`keeptree.learners.grow.grow`.

    Parameters
    ----------
    columns : array of shape (d, n)
        Nominal columns hold codes; NaN is missing.
    label, weight : arrays of shape (n,)
        Class codes and weights.
    n_categories : array of shape (d,)
        0 for a numeric column.
    averaged : array of shape (d,), bool
        Columns that enter the mean gain.
    n_classes : int
        Number of classes.
    options : GrowOptions
        How to grow.
    """

    def __init__(self, columns, label, weight, n_categories, averaged, n_classes, options):
        from keeptree._compiled.grow_search import code_cells

        numeric = n_categories == 0
        self.label, self.weight = label, weight
        self.n_categories, self.averaged = n_categories, averaged
        self.n_classes, self.options = n_classes, options
        self.slot = np.where(numeric, np.cumsum(numeric), np.cumsum(~numeric)) - 1
        self.value = columns if numeric.all() else np.ascontiguousarray(columns[numeric])
        self.cell = np.empty((np.count_nonzero(~numeric), len(label)), dtype=np.int32)
        code_cells(columns, np.flatnonzero(~numeric), label, n_classes, self.cell)
        self.table = table_of_terms(len(label))
        # What is known of the nodes that were grown, wave by wave, and of all nodes.
        self.tests = []
        self.counts = [np.bincount(label, weight, minlength=n_classes)[None, :]]
        self.n_nodes, self.n_mapped = 1, 0
        self.maps = []

    def grow(self):
        """Return the Shape of the tree."""
        waiting = [] if self._is_leaf(self.counts[0]) else [self._root()]
        limit = ENTRIES_PER_WAVE * len(self.label)
        while waiting:
            *others, wave = waiting.pop().divided(limit)
            waiting += others
            following = self._divide(wave, *self._search(wave))
            if following is not None:
                waiting.append(following)
        return self._shape()

    def _root(self):
        n = len(self.label)
        order = np.argsort(self.value, axis=1, kind="stable").astype(np.int32)  # NaN come last
        return Wave(
            node=np.zeros(1, dtype=np.int64),
            depth=np.zeros(1, dtype=np.int64),
            start=np.zeros(1, dtype=np.int64),
            size=np.array([n]),
            known_rows=np.count_nonzero(~np.isnan(self.value), axis=1)[None].astype(np.int32),
            row=np.arange(n, dtype=np.int32),
            weight=self.weight,
            sorted_entry=order,
        )

    def _is_leaf(self, counts):
        """J48 does not split a node that is too light or of one class."""
        total = counts.sum()
        light = 2 * self.options.min_leaf - total > SMALL
        return light or abs(total - counts.max()) < SMALL or self.options.deepest == 0

    def _search(self, wave):
        """Tests, thresholds and subsets of the nodes, as the kernel ``search_nodes`` has them."""
        from keeptree._compiled.grow_search import search_nodes

        options = self.options
        test = np.empty((4, len(wave.node)), dtype=np.int64)
        threshold = np.empty(len(wave.node))
        width = self.n_categories.max() if options.nominal_test == "subsets" else 0
        subsets = np.empty((len(wave.node), width), dtype=np.int32)
        search_nodes(
            *wave.entries,
            self.label,
            self.value,
            self.cell,
            self.slot,
            self.n_categories,
            self.averaged,
            self.n_classes,
            float(options.min_leaf),
            options.criterion_code,
            options.mdl,
            options.nominal_code,
            self.table,
            test,
            threshold,
            subsets,
        )
        return test, threshold, subsets

    def _divide(self, wave, test, threshold, subsets):
        """Give the tested nodes their children; returns the wave of those to be grown, or None."""
        from keeptree._compiled.grow_divide import assign_branches, divide_entries

        chosen, _, branches, width = test
        first, category_start = np.cumsum(branches) - branches, np.cumsum(width) - width
        n_branches = branches.sum()
        category_child = np.empty(width.sum(), dtype=np.int32)
        counts, share = np.zeros((n_branches, self.n_classes)), np.zeros(n_branches)
        size, to = np.zeros((2, n_branches), dtype=np.int64)
        unknown = np.zeros(len(chosen), dtype=np.int64)
        branch = np.empty(len(wave.row), dtype=np.int32)
        n_entries = assign_branches(
            *wave.entries,
            self.label,
            self.cell,
            self.slot,
            test,
            subsets,
            self.options.nominal_code,
            float(self.options.min_leaf),
            wave.depth + 1 < self.options.deepest,
            first,
            category_start,
            category_child,
            branch,
            unknown,
            counts,
            share,
            size,
            to,
        )
        mapped = np.where(width > 0, self.n_mapped + category_start, -1)
        self.tests.append((wave.node, chosen, threshold, self.n_nodes + first, branches, mapped))
        self.counts.append(counts)
        self.maps.append(category_child)
        self.n_nodes += n_branches
        self.n_mapped += len(category_child)
        if n_entries == 0:
            return None
        row, weight = np.empty(n_entries, dtype=np.int32), np.empty(n_entries)
        sorted_entry = np.empty((len(self.value), n_entries), dtype=np.int32)
        known = np.zeros((n_branches, len(self.value)), dtype=np.int32)
        divide_entries(
            *wave.entries,
            first,
            branches,
            branch,
            unknown,
            share,
            to,
            row,
            weight,
            sorted_entry,
            known,
        )
        grows = np.flatnonzero(to >= 0)
        node = self.n_nodes - n_branches + grows
        depth = np.repeat(wave.depth + 1, branches)[grows]
        return Wave(node, depth, to[grows], size[grows], known[grows], row, weight, sorted_entry)

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
