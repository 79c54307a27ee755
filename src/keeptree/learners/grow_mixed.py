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
        from keeptree._kernels.grow_search import code_cells

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
        waiting = [self._root()] if not self._are_leaves(self.counts[0], 0)[0] else []
        limit = ENTRIES_PER_WAVE * len(self.label)
        while waiting:
            *others, wave = waiting.pop().divided(limit)
            waiting += others
            chosen, cut, subsets = self._search(wave)
            following = self._divide(wave, chosen, cut, subsets)
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

    def _are_leaves(self, counts, depth):
        """J48 does not split a node that is too light or of one class."""
        total = counts.sum(axis=1)
        light = 2 * self.options.min_leaf - total > SMALL
        pure = np.abs(total - counts.max(axis=1)) < SMALL
        return light | pure | (depth >= self.options.deepest)

    def _search(self, wave):
        """(column or -1, cut, subsets) of each node."""
        from keeptree._kernels.grow_search import search_nodes

        options = self.options
        chosen, cut = np.empty((2, len(wave.node)), dtype=np.int64)
        width = self.n_categories.max() if options.nominal_test == "subsets" else 0
        subsets = np.empty((len(chosen), width), dtype=np.int32)
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
            chosen,
            cut,
            subsets,
        )
        return chosen, cut, subsets

    def _divide(self, wave, chosen, cut, subsets):
        """Make the chosen tests nodes with children; returns the wave of those to be grown."""
        from keeptree._kernels.grow_divide import assign_branches, divide_entries

        branches, category_start, category_child = self._branches(chosen, cut, subsets)
        total, first = branches.sum(), np.cumsum(branches) - branches
        self._record(wave, chosen, cut, branches, category_start, category_child)
        counts, share = np.zeros((total, self.n_classes)), np.zeros(total)
        size, unknown = np.zeros(total, dtype=np.int64), np.zeros(len(chosen), dtype=np.int64)
        branch = np.empty(len(wave.row), dtype=np.int32)
        assign_branches(
            *wave.entries,
            self.label,
            self.cell,
            self.slot,
            chosen,
            cut,
            category_start,
            category_child,
            first,
            branches,
            branch,
            unknown,
            counts,
            share,
            size,
        )
        node = np.arange(self.n_nodes, self.n_nodes + total)
        depth = np.repeat(wave.depth, branches) + 1
        self.counts.append(counts)
        self.n_nodes += total
        grows = ~self._are_leaves(counts, depth)
        if not grows.any():
            return None
        ends = np.cumsum(size[grows])
        to = np.full(total, -1)
        to[grows] = ends - size[grows]
        row, weight = np.empty(ends[-1], dtype=np.int32), np.empty(ends[-1])
        sorted_entry = np.empty((len(self.value), ends[-1]), dtype=np.int32)
        known = np.zeros((total, len(self.value)), dtype=np.int32)
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
        return Wave(
            node[grows], depth[grows], to[grows], size[grows], known[grows], row, weight,
            sorted_entry,
        )  # fmt: skip

    def _branches(self, chosen, cut, subsets):
        """Number of branches of each node; where its categories start, and the branch of each."""
        branches = np.where(chosen >= 0, 2, 0)
        width = np.where(chosen >= 0, self.n_categories[chosen], 0)
        nominal = width > 0
        category_start = np.where(nominal, np.cumsum(width) - width, -1)
        code = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width)
        if self.options.nominal_test == "multiway":
            branches[nominal] = width[nominal]
        elif self.options.nominal_test == "one-against-rest":
            code = code != np.repeat(cut, width)
        else:
            code = subsets[np.repeat(np.arange(len(chosen)), width), code]
        return branches, category_start, code.astype(np.int32)

    def _record(self, wave, chosen, cut, branches, category_start, category_child):
        """Keep the tests of a wave for :meth:`_shape`."""
        threshold = np.full(len(chosen), np.nan)
        numeric = (chosen >= 0) & (category_start < 0)
        line, start = self.slot[chosen[numeric]], wave.start[numeric]
        at = start + cut[numeric]
        lower, upper = (
            self.value[line, wave.row[start + wave.sorted_entry[line, place]]]
            for place in (at - 1, at)
        )
        middle = (lower + upper) / 2
        threshold[numeric] = np.where(middle == upper, lower, middle)
        first = self.n_nodes + np.cumsum(branches) - branches
        mapped = np.where(category_start >= 0, self.n_mapped + category_start, -1)
        self.tests.append((wave.node, chosen, threshold, first, branches, mapped))
        self.maps.append(category_child)
        self.n_mapped += len(category_child)

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
