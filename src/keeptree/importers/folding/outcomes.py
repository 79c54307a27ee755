"""Find where each test of a tree sends the values of its raw column.

A test on numbers becomes :class:`Runs`, the line of raw numbers divided at edges that are found by
bisection over the floats. A test on categories becomes a :class:`Table`. Their targets are nodes of
the original tree.
"""

from dataclasses import dataclass

import numpy as np

from keeptree.data.columns import encode_nominal
from keeptree.data.labels import label_kind
from keeptree.importers.folding.derived import accepted_pieces, run
from keeptree.importers.folding.floats import LARGEST, from_keys, last_alike, to_keys
from keeptree.importers.folding.transformers import CannotFoldError
from keeptree.tree import ERROR, NOMINAL

# Number of floats examined on each side of an edge, if a step is monotone only up to rounding.
_NEAR = 2048


@dataclass(frozen=True)
class Runs:
    """Targets of the numbers of a column; run r ends with ``last[r]``.

    ``vacant`` marks runs that training data hardly ever reach, because a step is undefined there or
    because the run is only a few floats wide. ``missing`` is the target of missing values: a node,
    SHARE or ERROR.
    """

    last: np.ndarray
    target: np.ndarray
    vacant: np.ndarray
    missing: int

    def within(self, low, high):
        """Return (last, target, vacant) of the runs in the interval (low, high]."""
        first = np.searchsorted(self.last, low, side="right")
        end = np.searchsorted(self.last, high) + 1
        last = np.minimum(self.last[first:end], high)
        return list(zip(last, self.target[first:end], self.vacant[first:end], strict=True))


@dataclass(frozen=True)
class Table:
    """Targets of the categories of a column, of unknown ones and of missing values."""

    target: np.ndarray
    unknown: int
    missing: int


def follow(tree, nodes, values, refused):
    """Return the child to which each node sends a value of its column, or SHARE or ERROR."""
    targets = np.empty(len(nodes), dtype=np.int64)
    nominal = tree.kind[nodes] == NOMINAL
    for node in np.unique(nodes[nominal]):
        rows = np.flatnonzero(nodes == node)
        codes = encode_nominal(values[rows], tree.categories[tree.feature[node]])
        known = ~np.isnan(codes)
        targets[rows] = tree.missing[node]
        targets[rows[known]] = tree.category_children(node)[codes[known].astype(np.int64)]
    rows, at = np.flatnonzero(~nominal), nodes[~nominal]
    with np.errstate(over="ignore"):
        numbers = values[rows].astype(np.float64).astype(tree.compare_dtype).astype(np.float64)
    above = ~(numbers <= tree.threshold[at])
    targets[rows] = np.where(
        np.isnan(numbers), tree.missing[at], tree.child[tree.child_start[at] + above]
    )
    targets[refused] = ERROR
    return targets


def find_runs(tree, columns, nodes):
    """Return the Runs of each numeric test.

    Parameters
    ----------
    tree : Tree
        Tree that follows the steps.
    columns : sequence of Derived
        Columns of the tree as functions of raw columns.
    nodes : ndarray of int
        Tests whose raw columns hold numbers.

    Returns
    -------
    runs : dict of int to Runs
        Node -> its runs.
    """
    used, where = np.unique(tree.feature[nodes], return_inverse=True)
    columns = [columns[f] for f in used]
    of_piece, low, high = accepted_pieces(columns, range(len(columns)))
    start = np.searchsorted(of_piece, np.arange(len(columns) + 1))
    at_low, at_high = run(columns, of_piece, low), run(columns, of_piece, high)
    at_missing = run(columns, np.arange(len(columns)), np.full(len(columns), np.nan))

    # The arrays have one entry per test and piece of its column.
    piece = np.concatenate([np.arange(start[k], start[k + 1]) for k in where])
    node = np.repeat(nodes, np.diff(start)[where])
    first = follow(tree, node, at_low[0][piece], at_low[1][piece])
    last = follow(tree, node, at_high[0][piece], at_high[1][piece])
    undefined = np.isnan(at_low[0][piece]) & np.isnan(at_high[0][piece])
    split = np.flatnonzero(first != last)
    edges = _find_edges(
        tree, columns, of_piece[piece[split]], node[split], low[piece[split]], high[piece[split]]
    )
    missing = follow(tree, nodes, at_missing[0][where], at_missing[1][where])
    found = {}
    bounds = np.concatenate([[0], np.cumsum(np.diff(start)[where])])
    inside = dict(zip(split.tolist(), edges, strict=True))
    for k, its_node in enumerate(nodes.tolist()):
        parts = []
        for entry in range(bounds[k], bounds[k + 1]):
            for end, target, vacant in inside.get(entry, ()):
                parts.append((end, target, vacant))
            parts.append((high[piece[entry]], last[entry], undefined[entry]))
        found[its_node] = _join(parts, missing[k], tree.children(its_node)[0])
    return found


def _find_edges(tree, columns, which, nodes, low, high):
    """Return the runs between two numbers that a test sends to different children."""
    if not len(nodes):
        return []
    like = follow(tree, nodes, *run(columns, which, low))

    def is_like_low(x):
        return follow(tree, nodes, *run(columns, which, x)) == like

    edge = last_alike(low, high, is_like_low)
    found = [[(x, target, False)] for x, target in zip(edge, like.tolist(), strict=True)]
    for k in np.flatnonzero([columns[c].fuzzy for c in which]):
        found[k] = _look_around(tree, columns[which[k]], nodes[k], edge[k], low[k], high[k])
    return found


def _look_around(tree, column, node, edge, low, high):
    """Return the runs around an edge of a column that is monotone only up to rounding.

    Every float nearby is examined, and some farther away, where the result must be stable.
    """
    centre, first, last = to_keys(np.array([edge, low, high]))
    far = 2 ** np.arange(12, 60)
    keys = np.arange(max(first, centre - _NEAR + 1), min(last, centre + _NEAR) + 1)
    keys = np.concatenate([centre - far[::-1], keys, centre + far])
    keys = keys[(keys >= first) & (keys <= last)]
    keys = np.unique(np.concatenate([[first], keys, [last]]))
    x = from_keys(keys)
    goes = follow(tree, np.full(len(x), node), *run([column], np.zeros(len(x), dtype=np.int64), x))
    changes = np.flatnonzero(goes[1:] != goes[:-1])
    if (np.abs(keys[changes] - centre) > _NEAR // 2).any():
        step = type(column.links[-1].step).__name__
        raise CannotFoldError(
            f"Cannot fold a test after {step} into the tree: near {edge:.6g} its results are not "
            f"monotone; keep(pipeline, fold=False) gives the tree of the transformed columns."
        )
    return [(x[c], int(goes[c]), bool(k)) for k, c in enumerate(changes)]


def _join(parts, missing, otherwise):
    """Return runs with equal neighbours merged, and rejected runs merged with a neighbour."""
    last, target, vacant = [], [], []
    for end, goes, empty in parts:
        if goes == ERROR and target:
            goes, empty = target[-1], vacant[-1]
        if target and (goes == target[-1] or target[-1] == ERROR):
            last[-1], target[-1] = end, goes
            vacant[-1] = vacant[-1] and empty
        else:
            last, target, vacant = [*last, end], [*target, goes], [*vacant, empty]
    if not target:  # no number is accepted
        last, target, vacant = [LARGEST], [ERROR], [True]
    last[-1] = LARGEST
    target = [otherwise if goes == ERROR else goes for goes in target]
    return Runs(np.array(last), np.array(target), np.array(vacant, dtype=bool), int(missing))


def find_tables(tree, columns, nodes, labels):
    """Return the Table of each nominal test.

    Parameters
    ----------
    tree : Tree
        Tree that follows the steps.
    columns : sequence of Derived
        Columns of the tree as functions of raw columns.
    nodes : ndarray of int
        Tests whose raw columns hold categories.
    labels : dict of int to tuple
        Labels of each raw column.

    Returns
    -------
    tables : dict of int to Table
        Node -> its table.
    """
    tables = {}
    for f in np.unique(tree.feature[nodes]):
        values, refused = ask(columns[f], labels[columns[f].raw])
        for node in nodes[tree.feature[nodes] == f].tolist():
            goes = follow(tree, np.full(len(values), node), values, refused)
            tables[node] = Table(goes[:-2], int(goes[-2]), int(goes[-1]))
    return tables


def ask(column, labels):
    """Return the values of a column for its labels, an unknown label and a missing value."""
    values = np.empty(len(labels) + 2, dtype=object)
    values[:] = [*labels, unknown_label(labels), column.missing]
    return run([column], np.zeros(len(values), dtype=np.int64), values)


def unknown_label(labels):
    """Return a value of the same kind that is not among the labels."""
    if all(label_kind(label) == "numbers" for label in labels):
        return max(float(label) for label in labels) + 1.0
    return "".join(sorted({str(label) for label in labels})) + "?"
