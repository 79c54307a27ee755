"""Properties derived from the arrays of a tree: its shape, class shares and rules."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from keeptree.annotations import Floats
from keeptree.tree.arrays import frozen
from keeptree.tree.kinds import LEAF, NOMINAL, SHARE
from keeptree.tree.routing import ranges


class Structure:
    """Base of :class:`~keeptree.Tree`: properties derived from its arrays and cached."""

    kind: np.ndarray
    feature: np.ndarray
    child_start: np.ndarray
    child: np.ndarray
    category_start: np.ndarray
    category_child: np.ndarray
    term_start: np.ndarray
    term_feature: np.ndarray
    term_weight: np.ndarray
    missing: np.ndarray
    counts: np.ndarray
    categories: tuple

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.kind)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.kind == LEAF))

    @property
    def max_depth(self) -> int:
        """Number of tests on the longest path."""
        return int(self.depth.max())

    @cached_property
    def parent(self) -> NDArray[Any]:
        """Parent of each node; -1 for the root."""
        parent = np.full(self.n_nodes, -1, dtype=np.int32)
        parent[self.child] = np.repeat(np.arange(self.n_nodes), np.diff(self.child_start))
        return frozen(parent)

    @cached_property
    def levels(self) -> tuple[NDArray[Any], ...]:
        """Nodes of each depth, from the root down."""
        levels = [np.array([0], dtype=np.int32)]
        while len(levels[-1]):
            first, width = self.child_start[levels[-1]], np.diff(self.child_start)[levels[-1]]
            levels.append(self.child[ranges(first, width)])
        return tuple(frozen(level) for level in levels[:-1])

    @cached_property
    def depth(self) -> NDArray[Any]:
        """Number of tests above each node."""
        depth = np.empty(self.n_nodes, dtype=np.int32)
        for level, nodes in enumerate(self.levels):
            depth[nodes] = level
        return frozen(depth)

    @cached_property
    def preorder(self) -> NDArray[Any]:
        """All nodes in preorder: each node before its children, and these in order."""
        size = np.ones(self.n_nodes, dtype=np.int64)
        for nodes in self.levels[:0:-1]:
            np.add.at(size, self.parent[nodes], size[nodes])
        before = np.cumsum(size[self.child]) - size[self.child]  # number of nodes before it
        offset = np.zeros(self.n_nodes, dtype=np.int64)
        offset[self.child] = before - before[self.child_start[self.parent[self.child]]]
        place = np.zeros(self.n_nodes, dtype=np.int64)
        for nodes in self.levels[1:]:
            place[nodes] = place[self.parent[nodes]] + 1 + offset[nodes]
        return frozen(np.argsort(place).astype(np.int32))

    @cached_property
    def weight(self) -> Floats:
        """Training weight of each node."""
        return frozen(self.counts.sum(axis=1))

    @property
    def has_nominal(self) -> bool:
        """Whether any column is nominal."""
        return any(labels is not None for labels in self.categories)

    @cached_property
    def has_oblique(self) -> bool:
        """Whether any test is on a weighted sum of columns."""
        return len(self.term_feature) > 0

    @cached_property
    def tested(self) -> NDArray[Any]:
        """Columns that the tests read, including those in weighted sums, in ascending order."""
        columns = np.concatenate([self.feature[self.feature >= 0], self.term_feature])
        return frozen(np.unique(columns))

    def terms(self, node: int) -> tuple[tuple[int, float], ...]:
        """Return the terms of an oblique test as pairs of a column and its weight."""
        span = slice(self.term_start[node], self.term_start[node + 1])
        return tuple(
            zip(self.term_feature[span].tolist(), self.term_weight[span].tolist(), strict=True)
        )

    def children(self, node: int) -> NDArray[Any]:
        """Return the children of a node, in order."""
        return self.child[self.child_start[node] : self.child_start[node + 1]]

    def category_children(self, node: int) -> NDArray[Any]:
        """Return the child of each category of a nominal test."""
        return self.category_child[self.category_start[node] : self.category_start[node + 1]]

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root to ``node``, both included."""
        path = [int(node)]
        while self.parent[path[-1]] >= 0:
            path.append(int(self.parent[path[-1]]))
        return path[::-1]

    @cached_property
    def proportions(self) -> Floats:
        """Class proportions of each node, or those of its parent if it has no training weight."""
        counts = self.filled_counts
        return frozen(counts / counts.sum(axis=1, keepdims=True))

    @cached_property
    def filled_counts(self) -> Floats:
        """``counts``, with the parent's counts where a node has no training weight."""
        counts = self.counts.copy()
        if self.weight[0] == 0:
            counts[0] = 1
        for nodes in self.levels[1:]:
            empty = nodes[self.weight[nodes] == 0]
            counts[empty] = counts[self.parent[empty]]
        return frozen(counts)

    @cached_property
    def shares(self) -> Floats:
        """Share of each node in its parent's weight, by which missing values are divided."""
        totals = np.zeros(self.n_nodes)
        np.add.at(totals, self.parent[1:], self.weight[1:])
        siblings = np.diff(self.child_start)[self.parent]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.where(
                totals[self.parent] > 0, self.weight / totals[self.parent], 1 / siblings
            )
        shares[0] = 1.0
        return frozen(shares)

    @cached_property
    def sharing_columns(self) -> NDArray[Any]:
        """Columns used by tests that share missing values among their children."""
        tests = (self.missing == SHARE) & (self.kind != LEAF)
        terms = np.repeat(tests, np.diff(self.term_start))
        columns = np.concatenate([self.feature[tests], self.term_feature[terms]])
        return frozen(np.unique(columns[columns >= 0]))

    @cached_property
    def sharing_path(self) -> NDArray[Any]:
        """Which of the ``sharing_columns`` a sharing test reads on the path to each node."""
        reads = np.zeros((self.n_nodes, len(self.sharing_columns)), dtype=bool)
        for node in np.flatnonzero((self.missing == SHARE) & (self.kind != LEAF)).tolist():
            columns = [f for f, _ in self.terms(node)] or [int(self.feature[node])]
            reads[node, np.searchsorted(self.sharing_columns, columns)] = True
        for nodes in self.levels[1:]:
            reads[nodes] |= reads[self.parent[nodes]]
        return frozen(reads)

    @cached_property
    def tests_categories(self) -> bool:
        """Whether any test is nominal."""
        return bool((self.kind == NOMINAL).any())

    @cached_property
    def missing_child(self) -> NDArray[Any]:
        """Child that a missing value follows: the heaviest child if the case is shared."""
        following = self.missing.copy()
        for node in np.flatnonzero((self.missing == SHARE) & (self.kind != LEAF)):
            children = self.children(node)
            following[node] = children[np.argmax(self.weight[children])]
        return frozen(following)

    def _paths(self, leaves):
        """Return a sparse (n_nodes, n_nodes) matrix whose rows mark the path to each given leaf."""
        paths = {leaf: self.path(leaf) for leaf in leaves.tolist()}
        lengths = [len(paths.get(node, ())) for node in range(self.n_nodes)]
        nodes = np.concatenate([paths[leaf] for leaf in sorted(paths)])
        start = np.concatenate([[0], np.cumsum(lengths)])
        return csr_matrix((np.ones(len(nodes)), nodes, start), shape=(self.n_nodes, self.n_nodes))
