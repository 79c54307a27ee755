"""Grow an NBTree, whose tests are chosen by the cross-validated errors of naive Bayes."""

from typing import NamedTuple

import numpy as np

from keeptree._compiled.bayes_answer import Models
from keeptree._compiled.entries import Entries
from keeptree._compiled.j48 import SMALL
from keeptree._compiled.naive_bayes import (
    Bayes,
    branch_errors,
    divide_by_branch,
    fit_bayes,
    node_errors,
    reorder_entries,
)
from keeptree._compiled.shape import Shape
from keeptree._compiled.weka_order import sort_column
from keeptree.data.table import count_categories
from keeptree.learners.columns import encode_columns, sort_entries
from keeptree.learners.grow import grow
from keeptree.learners.grow_options import GrowOptions, table_of_terms
from keeptree.savable import expect, expect_array, expect_starts, saved_part
from keeptree.tree import LEAF

LEAST_BRANCH = 2  # least weight of two branches of a test, as in C4.5
# Weka sorts the rows of a node once for the test and once for its threshold. This changes the order
# of ties.
SORTS = 2


class BayesOptions(NamedTuple):
    """Conditions for splitting a node."""

    n_folds: int = 5
    seed: int = 1
    min_weight: float = 30
    min_reduction: float = 0.05
    max_depth: int | None = None


class Cases(NamedTuple):
    """Entries of a node, and the number of known values in each numeric column."""

    entries: Entries
    known: np.ndarray

    @property
    def row(self):
        """Row of each entry."""
        return self.entries.row

    @property
    def weight(self):
        """Weight of each entry."""
        return self.entries.weight


class Split(NamedTuple):
    """A test: the branch of each entry (-1 if its value is missing) and the branches' shares."""

    feature: int
    threshold: float
    branch: np.ndarray
    share: np.ndarray


saved_part(Models)


def check_models(models, tree):
    """Raise a ValueError if naive Bayes models read from a file do not fit the tree."""
    expect(isinstance(models, Models), "it has no naive Bayes models")
    n_classes = len(tree.classes)
    expect_array(models.prior, "prior", np.float64, (None, n_classes))
    expect_array(models.cuts, "cuts", np.float64, (None,))
    expect_array(models.cells, "cells", np.float64, (None, n_classes))
    expect_starts(models.cut_start, "cut_start", len(models.cuts))
    expect_starts(models.cell_start, "cell_start", len(models.cells))
    n_models = len(models.prior)
    expect_array(models.model_of, "model_of", np.int64, (tree.n_nodes,))
    expect((models.model_of < n_models).all(), "a node refers to a model that does not exist")
    expect((models.model_of[tree.kind == LEAF] >= 0).all(), "a leaf has no model")
    columns = n_models * tree.n_features
    lengths = len(models.cut_start) == len(models.cell_start) == columns + 1
    expect(lengths, "every model must have an entry for each column")
    n_cells, n_cuts = np.diff(models.cell_start), np.diff(models.cut_start)
    n_categories = np.tile(count_categories(tree.categories), n_models)
    bins = np.where(n_categories > 0, n_categories, n_cuts + 1)
    expect(((n_cells < 2) | (n_cells >= bins)).all(), "a column of a model has too few cells")


class BayesTreeGrower:
    """Grows a tree on encoded rows; :meth:`grow` returns its Shape and the model of each node.

    Parameters
    ----------
    X : array of shape (n, d), float64
        Nominal columns hold codes; NaN is missing. The order of the rows decides the folds.
    label : array of shape (n,), int64
        Class codes.
    weight : array of shape (n,)
        Weights.
    n_categories : sequence of d int
        Number of categories of each column; 0 for a numeric column.
    n_classes : int
        Number of classes, including those without rows.
    options : BayesOptions
        Conditions for splitting a node.
    """

    def __init__(self, X, label, weight, n_categories, n_classes, options):
        self.X, self.label, self.weight = X, label, weight
        self.n_categories = np.array(n_categories, dtype=np.int64)
        self.n_classes, self.options = n_classes, options
        columns = np.ascontiguousarray(X.T)
        self.columns = encode_columns(columns, label, self.n_categories, n_classes)
        self.bayes = Bayes(n_classes, options.n_folds, options.seed, table_of_terms(len(X)))

    def grow(self):
        """Return the shape, and the naive Bayes model of each node (None without cases)."""
        root = Cases(*sort_entries(self.columns.value, self.weight))
        nodes, mapping = [self._leaf(root)], []
        models = [None]
        pending = [(0, 0, root)]
        while pending:
            number, depth, entries = pending.pop()
            split, entries = self._choose(entries, nodes[number]["counts"], depth)
            parts = [] if split is None else self._divide(entries, split)
            if split is None or any(len(part.row) == 0 for part in parts):
                models[number] = self._fit(entries)
            if split is None:
                continue
            nodes[number].update(
                feature=split.feature,
                threshold=split.threshold,
                first_child=len(nodes),
                n_children=len(parts),
            )
            if self.n_categories[split.feature]:
                nodes[number]["category_start"] = sum(map(len, mapping))
                mapping.append(np.arange(len(parts), dtype=np.int32))
            for part in parts:
                if len(part.row):
                    pending.append((len(nodes), depth + 1, part))
                nodes.append(self._leaf(part))
                models.append(models[number] if len(part.row) == 0 else None)
        return _as_shape(nodes, mapping), models

    def _leaf(self, entries):
        counts = np.bincount(self.label[entries.row], entries.weight, minlength=self.n_classes)
        return {
            "feature": -1,
            "threshold": np.nan,
            "first_child": 0,
            "n_children": 0,
            "category_start": -1,
            "counts": counts,
        }

    def _choose(self, entries, counts, depth):
        """Return the test with the fewest naive Bayes errors, or None if no test is much better.

        Also returns the entries in the order in which the search leaves them, because later folds
        depend on it.
        """
        options = self.options
        deep = options.max_depth is not None and depth >= options.max_depth
        light = options.min_weight - counts.sum() > SMALL or len(entries.row) < options.n_folds
        if deep or light or counts.sum() - counts.max() < SMALL:
            return None, entries
        own = node_errors(self.columns, *entries, self.bayes)
        if own < SMALL:
            return None, entries
        best, fewest = None, own
        for f in range(len(self.n_categories)):
            numeric = self.n_categories[f] == 0
            if numeric:
                entries = self._sort(f, entries)
            split = self._split(f, entries)
            if split is None:
                continue
            errors, n_large = self._errors(entries, split, options.n_folds + numeric)
            if n_large >= 2 and fewest - errors > SMALL:
                best, fewest = f, errors
        if best is None or (own - fewest) / own < options.min_reduction:
            return None, entries
        return self._split(best, entries), entries

    def _errors(self, entries, split, least):
        fields, first, known = divide_by_branch(*entries, split.branch, split.share)
        return branch_errors(self.columns, Entries(*fields), first, known, self.bayes, least)

    def _sort(self, f, entries):
        order = np.empty(len(entries.row), dtype=np.int64)
        sort_column(self.X[entries.row, f], SORTS, order)
        return Cases(Entries(*reorder_entries(*entries, order)), entries.known)

    def _split(self, f, entries):
        """Return C4.5's test of a column, or None if it separates nothing; no gain is required."""
        column = self.X[entries.row, f]
        missing = np.isnan(column)
        threshold, n_branches = np.nan, self.n_categories[f]
        if n_branches == 0:
            threshold, n_branches = self._cut(column, entries), 2
            if np.isnan(threshold):
                return None
        side = column if np.isnan(threshold) else column > threshold
        branch = np.where(missing, -1, side).astype(np.int32)
        held = np.bincount(branch[~missing], entries.weight[~missing], minlength=n_branches)
        if np.count_nonzero(LEAST_BRANCH - held < SMALL) < 2:
            return None
        return Split(f, threshold, branch, held / held.sum())

    def _cut(self, column, entries):
        """Return C4.5's threshold of a numeric column, found by growing one test, or NaN."""
        options = GrowOptions(min_leaf=LEAST_BRANCH, max_depth=1)
        label = self.label[entries.row]
        whole = (entries.weight == 1).all()
        weight = None if whole else entries.weight
        stump = grow(column[:, None], label, weight, [0], self.n_classes, options)
        return stump.threshold[0]

    def _divide(self, entries, split):
        (row, weight, order), first, known = divide_by_branch(*entries, split.branch, split.share)
        return [
            Cases(Entries(row[a:b], weight[a:b], np.ascontiguousarray(order[:, a:b])), k[None])
            for a, b, k in zip(first[:-1], first[1:], known, strict=True)
        ]

    def _fit(self, entries):
        return fit_bayes(self.columns, *entries, self.bayes)


def pack_models(models, kept, n_categories):
    """Pack the models of the nodes ``kept`` into flat arrays; -1 for nodes without a model."""
    used = {id(models[node]): models[node] for node in kept if models[node] is not None}
    position = {key: k for k, key in enumerate(used)}
    cuts, n_bins, cells, prior = zip(*used.values(), strict=True)
    n_cuts = [np.where(np.array(n_categories) == 0, bins - 1, 0) for bins in n_bins]
    return Models(
        model_of=np.array([position.get(id(models[node]), -1) for node in kept]),
        cuts=np.concatenate(cuts),
        cut_start=_starts(n_cuts),
        cells=np.concatenate(cells),
        cell_start=_starts(n_bins),
        prior=np.array(prior),
    )


def sort_model_classes(models, declared):
    """Reorder models from declared to sorted classes."""
    order = np.argsort(declared)
    cells, prior = np.take(models.cells, order, axis=1), np.take(models.prior, order, axis=1)
    return models._replace(cells=cells, prior=prior)


def _starts(widths):
    return np.concatenate([[0], np.cumsum(np.concatenate(widths))])


def _as_shape(nodes, mapping):
    def column(name, dtype):
        return np.array([node[name] for node in nodes], dtype=dtype)

    return Shape(
        feature=column("feature", np.int32),
        threshold=column("threshold", np.float64),
        first_child=column("first_child", np.int32),
        n_children=column("n_children", np.int32),
        category_start=column("category_start", np.int32),
        category_child=np.concatenate([np.empty(0, dtype=np.int32), *mapping]),
        missing=np.full(len(nodes), -1, dtype=np.int32),
        counts=column("counts", np.float64),
    )
