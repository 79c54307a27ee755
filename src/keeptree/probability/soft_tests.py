"""Soft tests of a kept tree: a row is divided among the children instead of sent to one."""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from keeptree._compiled.soft import Tests, average_leaves, share_nodes
from keeptree.probability.normal_scores import normal_scores
from keeptree.savable import expect, expect_array, saved_part
from keeptree.tree import LEAF, NOMINAL, NUMERIC
from keeptree.tree.routing import ranges


@saved_part
@dataclass(frozen=True, eq=False)
class SoftTests:
    """Soft tests, with nodes in postorder: children before their parent, the root last.

    A row belongs to the first child of the test ``x <= t`` by the share
    1 / (1 + exp(slope (x - t) / spread)), where ``spread`` is the standard deviation of x in the
    training sample, or its local value near t. A threshold that equals a value of the sample is
    moved halfway to the next value. Tests on constants and nominal tests stay hard. A test with a
    negative spread divides every row as if its value were missing.
    """

    columns: np.ndarray
    slot: np.ndarray
    kind: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    child_start: np.ndarray
    child: np.ndarray
    missing: np.ndarray
    table_start: np.ndarray
    table: np.ndarray
    single: bool
    spread: np.ndarray
    node: np.ndarray

    def average(self, X, slope, values, out):
        """Fill ``out`` with the values of the leaves, weighted by the share of each row in them."""
        average_leaves(X, self.arrays, self.steep(slope), values, out)

    def shares(self, X, slope, down):
        """Share of each row in each node, of shape (n_nodes, n).

        If ``down``, the share of the row that reaches the node; otherwise the share that the
        parent's test alone assigns to the node, whether or not the row reaches that test.
        """
        shares = np.zeros((len(self.kind), len(X)))
        share_nodes(X, self.arrays, self.steep(slope), down, shares)
        return shares

    @property
    def parent(self):
        """Position of each node's parent; for the root, its own position."""
        parent = np.full(len(self.kind), len(self.kind) - 1)
        parent[self.child] = np.repeat(np.arange(len(self.kind)), np.diff(self.child_start))
        return parent

    @cached_property
    def arrays(self):
        """What the compiled functions read."""
        return Tests(*(getattr(self, name) for name in Tests._fields))

    def steep(self, slope):
        """Slope of each test per unit of its attribute. Do not change it.

        It is 0 where the test is hard, and negative where the test divides all rows.
        """
        if slope not in self._steep:
            with np.errstate(divide="ignore", over="ignore"):
                steep = slope / self.spread
            steep = np.where(np.isfinite(steep), steep, 0.0)
            self._steep[slope] = np.where(self.spread < 0, -1.0, steep)
        return self._steep[slope]

    @cached_property
    def _steep(self):
        return {}  # by slope, so that scoring one row does not repeat the division


SCALES = ("deviation", "score")


def soft_tests(sample, inner=None, scale="deviation"):
    """Return the soft tests of a sample's tree with the spreads of the sample.

    Parameters
    ----------
    sample : Sample
        The training sample.
    inner : ndarray of shape (n_nodes,), optional
        Whether the test of each node is used; other nodes count as leaves. If a node is used, so
        must be all its ancestors. Default: all tests.
    scale : {"deviation", "score"}
        Spread of a test: the standard deviation of its column, or units of the column per normal
        score at its threshold. Both agree for a normal column; the second adapts to skewed columns.
    """
    columns = sample.observed
    spread = np.where(columns.low < columns.high, columns.deviation, 0.0)
    tests = _arrange_tests(sample.tree, spread, inner)
    tests = replace(tests, threshold=_gap_centres(tests, sample))
    return tests if scale == "deviation" else replace(tests, spread=_local_spread(tests, sample))


def hard_tests(tree):
    """Tests of a tree that send every row to a single child."""
    return _arrange_tests(tree, np.zeros(tree.n_features), None)


def check_tests(tests, tree):
    """Raise a ValueError if tests read from a file are not those of the tree."""
    expect(isinstance(tests, SoftTests), "it has no soft tests")
    n = len(tests.node)
    expect_array(tests.spread, "spread", np.float64, (n,))
    expect_array(tests.node, "node", np.int32, (n,))
    expect(((tests.node >= 0) & (tests.node < tree.n_nodes)).all(), "a test is not in the tree")
    expect_array(tests.kind, "kind", np.int8, (n,))
    inner = np.zeros(tree.n_nodes, dtype=bool)
    inner[tests.node] = tests.kind != LEAF
    inner &= tree.kind != LEAF
    expected = _arrange_tests(tree, np.zeros(tree.n_features), inner)
    for field in fields(SoftTests):
        have, want = getattr(tests, field.name), getattr(expected, field.name)
        if field.name == "threshold":
            soft = tests.spread > 0
            expect_array(have, "threshold", np.float64, (n,), finite=False)
            expect(np.isfinite(have[soft]).all(), "a threshold is not a number")
            have, want = have[~soft], want[~soft]
        if field.name != "spread":
            same = type(have) is type(want) and np.array_equal(have, want, equal_nan=True)
            same &= getattr(have, "dtype", None) == getattr(want, "dtype", None)
            expect(same, f"{field.name} does not match the tree")


def _arrange_tests(tree, spread, inner):
    kind = tree.kind if inner is None else np.where(inner, tree.kind, LEAF).astype(np.int8)
    node, slot = _postorder(tree, kind)
    place = np.zeros(tree.n_nodes, dtype=np.int32)
    place[node] = np.arange(len(node))
    feature = np.where(kind == LEAF, -1, tree.feature)[node]
    columns, column = np.unique(feature, return_inverse=True)
    column = column - np.count_nonzero(columns < 0)
    width = np.where(kind[node] == LEAF, 0, np.diff(tree.child_start)[node])
    tables = [_category_table(tree, i).ravel() for i in node[kind[node] == NOMINAL]]
    table_width = np.zeros(len(node), dtype=np.int64)
    table_width[kind[node] == NOMINAL] = [len(table) for table in tables]
    return SoftTests(
        columns=columns[columns >= 0].astype(np.int64),
        slot=slot,
        kind=kind[node],
        column=column.astype(np.int32),
        threshold=tree.threshold[node],
        child_start=_starts(width),
        child=place[tree.child[ranges(tree.child_start[node], width)]],
        missing=_missing_shares(tree)[node],
        table_start=_starts(table_width),
        table=np.concatenate([np.empty(0), *tables]),
        single=tree.compare_dtype == "float32",
        spread=np.where(kind[node] == NUMERIC, spread[feature], 0.0),
        node=node,
    )


def _gap_centres(tests, sample):
    """Thresholds of the soft tests, moved to the middle of the gap between two sample values.

    C4.5 uses the largest value below the gap as its threshold, but a case with that value should
    not be divided equally between both sides. A threshold between two values of the sample is not
    moved.
    """
    threshold = tests.threshold.copy()
    for j, feature in enumerate(tests.columns):
        at = np.flatnonzero((tests.column == j) & (tests.spread > 0))
        if len(at) == 0:
            continue
        values = np.append(sample.distinct(feature), np.nan)
        place = np.searchsorted(values[:-1], threshold[at])
        at, place = at[values[place] == threshold[at]], place[values[place] == threshold[at]]
        half = (values[place + 1] - values[place]) / 2
        threshold[at] += np.where(np.isnan(half), 0.0, half)
    return threshold


def _local_spread(tests, sample):
    """Spread of each soft test by the normal scores of its column."""
    spread = tests.spread.copy()
    for j, feature in enumerate(tests.columns):
        at = np.flatnonzero((tests.column == j) & (tests.spread > 0))
        if len(at):
            scores = normal_scores(sample, feature)
            spread[at] = scores.local_spread(tests.threshold[at], spread[at[0]])
    return spread


def _postorder(tree, kind):
    """Nodes in postorder, and where each writes its result.

    The j-th child of a node writes j positions after the node itself; they are free again by then.
    """
    width = np.diff(tree.child_start)
    rank = np.zeros(tree.n_nodes, dtype=np.int32)  # among the children of its parent
    rank[tree.child] = ranges(np.zeros_like(width), width)
    slot = np.zeros(tree.n_nodes, dtype=np.int32)
    reached = np.ones(tree.n_nodes, dtype=bool)
    for nodes in tree.levels[1:]:
        above = tree.parent[nodes]
        slot[nodes] = slot[above] + rank[nodes]
        reached[nodes] = reached[above] & (kind[above] != LEAF)
    size = reached.astype(np.int64)
    for nodes in tree.levels[:0:-1]:
        np.add.at(size, tree.parent[nodes], size[nodes])
    first = tree.preorder[reached[tree.preorder]]
    # In preorder a node comes after its ancestors, in postorder after its descendants.
    place = np.arange(len(first)) - tree.depth[first] + size[first] - 1
    node = np.empty_like(first)
    node[place] = first
    return node, slot[node]


def _starts(widths):
    return np.append(0, np.cumsum(widths)).astype(np.int32)


def _missing_shares(tree):
    """Share of the first child of each test where the value is missing.

    A test without a rule for missing values divides them; the tree itself rejects such a row if it
    reaches that test.
    """
    share = np.zeros(tree.n_nodes)
    tests = np.flatnonzero(tree.kind != LEAF)
    first = tree.child[tree.child_start[tests]]
    goes = tree.missing[tests]
    share[tests] = np.where(goes >= 0, goes == first, tree.shares[first])
    return share


def _category_table(tree, node):
    """Share of each child of a nominal test: one row per category and one for missing values."""
    children = tree.children(node)
    taken = tree.category_children(node)
    goes = tree.missing[node]
    missing = children == goes if goes >= 0 else tree.shares[children]
    return np.vstack([taken[:, None] == children, missing]).astype(np.float64)
