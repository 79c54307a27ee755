"""Compute the class counts of a tree from rows of data."""

import warnings
from dataclasses import replace

import numpy as np

from keeptree.data.columns import read_nominal
from keeptree.data.labels import plain, recode
from keeptree.data.table import column_names
from keeptree.data.target import read_target
from keeptree.importers.known import did_you_mean, match_label
from keeptree.tree import ERROR, LEAF, SHARE
from keeptree.tree.signature import recounted

MISSING_RULES = ("majority", "share", "error")


def finish(sketch, X=None, y=None, missing=None):
    """Return the Tree of a Sketch.

    Parameters
    ----------
    sketch : Sketch
        Result of an importer.
    X, y : table and labels, optional
        Rows to count. Without them, the source must have class counts or a class in each leaf.
    missing : {"majority", "share", "error"}, optional
        Rule for missing values at tests where the source has none that a Tree supports.
    """
    if X is None and sketch.uncounted:
        sketch.lost.append(sketch.uncounted)
    for sentence in sketch.lost:
        warnings.warn(sentence, stacklevel=3)
    if sketch.values:
        if X is not None:
            raise ValueError(
                "X and y are for class counts, but this is a regression tree; leave them out."
            )
        return set_missing(sketch.tree(), missing)
    if X is None:
        if sketch.classes is None or not (sketch.has_counts or sketch.has_labels):
            raise ValueError(
                "This tree has no class counts; give rows to count: kt.keep(source, X, y), or on "
                "the command line --data and --target."
            )
        return set_missing(sketch.tree(), missing)
    classes = [plain(label) for label in read_target(y)[0]]
    if sketch.classes is None:
        sketch.classes = classes
    sketch.classes = [match_label(label, classes) for label in sketch.classes]
    X = _columns_of(sketch, X)
    tree, given = sketch.tree(), sketch.has_labels
    return count_table(tree, X, y, missing, keep_labels=given)


def count_table(tree, X, y, missing=None, keep_labels=True):
    """Return the tree with the class counts of the rows of X and y."""
    classes, codes = read_target(y)
    codes = recode(codes, classes, tree.classes)
    rows = tree.encode(X)
    if len(rows) != len(codes):
        raise ValueError(f"X has {len(rows)} rows, but y has {len(codes)} labels.")
    counted = count_rows(tree, rows, codes, missing=missing, keep_labels=keep_labels)
    counted = replace(counted, source={**tree.source, "counts": f"{len(rows)} rows of data"})
    is_same = keep_labels and np.array_equal(counted.missing, tree.missing)
    return recounted(counted, tree) if is_same else counted


def count_rows(tree, rows, codes, weight=None, missing=None, keep_labels=True):
    """Return the tree with the class counts of encoded rows.

    Parameters
    ----------
    tree : Tree
        Tree whose counts are replaced.
    rows, codes : ndarray
        Encoded rows, and positions of their classes.
    weight : ndarray, optional
        Weights of the rows.
    missing : str, optional
        As for :func:`finish`.
    keep_labels : bool
        Whether nodes keep their classes; otherwise the largest count decides.
    """
    weight = np.ones(len(rows)) if weight is None else weight
    complete = ~np.isnan(rows[:, tree.tested]).any(axis=1)
    # Count the rows without missing values first, because they determine the weights of the
    # children.
    tree = _with_counts(tree, rows[complete], codes[complete], weight[complete], keep_labels)
    tree = set_missing(tree, missing)
    return tree if complete.all() else _with_counts(tree, rows, codes, weight, keep_labels)


def set_missing(tree, rule):
    """Return the tree with ``rule`` at the tests without a rule for missing values."""
    if rule is None:
        return tree
    if rule not in MISSING_RULES:
        raise ValueError(f"missing must be one of {', '.join(MISSING_RULES)}, not {rule!r:.50}.")
    open_tests = np.flatnonzero((tree.kind != LEAF) & (tree.missing == ERROR))
    if rule == "error" or not len(open_tests):
        return tree
    if tree.weight[0] == 0:
        raise ValueError(
            f"missing={rule!r} uses class counts, which this tree does not have; give rows "
            "to count as X and y."
        )
    chosen = tree.missing.copy()
    for node in open_tests:
        children = tree.children(node)
        heaviest = children[np.argmax(tree.weight[children])]
        chosen[node] = SHARE if rule == "share" else heaviest
    return replace(tree, missing=chosen)


def node_counts(tree, rows, codes, weight=None):
    """Return the class counts of encoded rows in every node: shape (n_nodes, n_classes)."""
    counts = np.zeros((tree.n_nodes, len(tree.classes)))
    if len(rows):
        shares = tree.route_shares(rows).tocoo()
        data = shares.data if weight is None else shares.data * weight[shares.row]
        np.add.at(counts, (shares.col, codes[shares.row]), data)
    for nodes in tree.levels[:0:-1]:
        np.add.at(counts, tree.parent[nodes], counts[nodes])
    return counts


def _with_counts(tree, rows, codes, weight, keep_labels):
    counted = replace(tree, counts=node_counts(tree, rows, codes, weight))
    if keep_labels:
        return counted
    return replace(counted, label=counted.filled_counts.argmax(axis=1).astype(np.int32))


def _columns_of(sketch, X):
    """Return the columns of the source from X, with the categories as X spells them."""
    names = column_names(X)
    if names is None or sketch.names is None:
        return X
    absent = [name for name in sketch.names if name not in names]
    if absent:
        guess = did_you_mean(absent[0], names) or "."
        raise ValueError(f"X has no column {absent[0]!r:.80}, which the tree needs{guess}")
    X = X[list(sketch.names)]
    if sketch.categories is not None:
        sketch.categories = tuple(
            labels if labels is None else _as_spelt(labels, X[name])
            for name, labels in zip(sketch.names, sketch.categories, strict=True)
        )
    return X


def _as_spelt(labels, column):
    data = read_nominal(column)[0]
    return tuple(match_label(label, data) for label in labels)
