"""Random trees and rows: numeric and nominal, with empty boxes, ties and missing values."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from keeptree import Tree


class _Grower:
    """Grows a random tree test by test; shapes and thresholds do not depend on data."""

    def __init__(self, rng, categories, missing, values):
        self.rng, self.categories, self.missing, self.values = rng, categories, missing, values
        self.kind, self.feature, self.threshold, self.children = [0], [-1], [np.nan], [[]]
        self.category_child, self.goes = [[]], [-2]

    def split(self, node):
        f = int(self.rng.integers(len(self.categories)))
        labels = self.categories[f]
        width = 2 if labels is None else int(self.rng.integers(2, len(labels) + 1))
        first = len(self.kind)
        self.children[node] = list(range(first, first + width))
        self.feature[node], self.kind[node] = f, 1 if labels is None else 2
        if labels is None:
            self.threshold[node] = float(self.rng.choice(self.values))
        else:
            rest = self.rng.integers(width, size=len(labels) - width)
            chosen = self.rng.permutation(np.concatenate([np.arange(width), rest]))
            self.category_child[node] = (first + chosen).tolist()
        choice = self.missing if self.missing != "mixed" else self.rng.choice(["child", "share"])
        self.goes[node] = {"error": -2, "share": -1}.get(choice, int(self.rng.integers(width)))
        if self.goes[node] >= 0:
            self.goes[node] += first
        for _ in range(width):
            self.kind.append(0)
            self.feature.append(-1)
            self.threshold.append(np.nan)
            self.children.append([])
            self.category_child.append([])
            self.goes.append(-2)


def random_tree(
    seed,
    n_leaves=20,
    n_classes=2,
    n_features=4,
    n_nominal=0,
    missing="error",
    compare_dtype="float64",
    grid=None,
    chain=False,
):
    """Return a Tree with at least ``n_leaves`` leaves (the last ``n_nominal`` columns are nominal).

    Thresholds come from ``grid`` if it is given, so that rows can lie on them and boxes can be
    empty, and otherwise from 40 normal deviates. Labels are random, not the most frequent class.
    """
    rng = np.random.default_rng(seed)
    categories = [None] * (n_features - n_nominal)
    categories += [tuple("abcdefg"[: rng.integers(2, 8)]) for _ in range(n_nominal)]
    values = rng.normal(size=40).round(6) if grid is None else np.asarray(grid, dtype=float)
    grower, leaves = _Grower(rng, categories, missing, values), [0]
    while len(leaves) < n_leaves:
        node = leaves.pop(-1 if chain else int(rng.integers(len(leaves))))
        grower.split(node)
        leaves += grower.children[node]
    n = len(grower.kind)
    counts = np.zeros((n, n_classes))
    for node in reversed(range(n)):
        below = grower.children[node]
        counts[node] = counts[below].sum(axis=0) if below else rng.integers(0, 9, n_classes) + 1
    return Tree(
        kind=np.array(grower.kind),
        feature=np.array(grower.feature),
        threshold=np.array(grower.threshold),
        child_start=np.cumsum([0, *map(len, grower.children)]),
        child=np.array([c for below in grower.children for c in below], dtype=int),
        category_start=np.cumsum([0, *map(len, grower.category_child)]),
        category_child=np.array([c for below in grower.category_child for c in below], dtype=int),
        missing=np.array(grower.goes),
        counts=counts,
        label=rng.integers(n_classes, size=n),
        classes=np.arange(n_classes) * 10,
        n_features=n_features,
        categories=categories,
        compare_dtype=compare_dtype,
    )


def random_oblique_tree(seed, share=0.7, **options):
    """Return a tree of ``random_tree`` in which a share of the numeric tests becomes oblique.

    Sums have one to three terms; some repeat the weights of another test, so that regions lie
    between parallel hyperplanes, or are empty.
    """
    tree, rng = random_tree(seed, **options), np.random.default_rng(seed + 1)
    numeric = [f for f, labels in enumerate(tree.categories) if labels is None]
    kind, feature, terms, known = tree.kind.copy(), tree.feature.copy(), [()] * tree.n_nodes, []
    for node in np.flatnonzero((tree.kind == 1) & (rng.random(tree.n_nodes) < share)):
        columns = rng.permutation(numeric)[: rng.integers(1, 4)]
        weights = rng.choice([rng.normal(size=len(columns)).astype(np.float32), 1 - columns % 3])
        pairs = [(f, w) for f, w in zip(columns.tolist(), weights.tolist(), strict=True) if w]
        known += [tuple(pairs)] if pairs else []
        if known:
            terms[node] = known[rng.integers(len(known))] if rng.random() < 0.2 else known[-1]
            kind[node], feature[node] = 3, -1
    return replace(
        tree,
        kind=kind,
        feature=feature,
        term_start=np.cumsum([0, *map(len, terms)]),
        term_feature=np.array([f for pairs in terms for f, _ in pairs], dtype=int),
        term_weight=np.array([w for pairs in terms for _, w in pairs], dtype=float),
    )


def random_rows(tree, seed, n=50, missing=0.0, on_threshold=0.3):
    """Return encoded rows for ``tree``; a share of the numbers lies exactly on a threshold."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, tree.n_features)) * 1.5
    used = tree.threshold[tree.kind == 1]
    if len(used):
        X = np.where(rng.random(X.shape) < on_threshold, rng.choice(used, X.shape), X)
    for f, labels in enumerate(tree.categories):
        if labels is not None:
            X[:, f] = rng.integers(len(labels), size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X


def decode(tree, X):
    """Return encoded rows in their original form: labels in nominal columns, None if missing."""
    if not tree.has_nominal:
        return X
    rows = X.astype(object)
    for f, labels in enumerate(tree.categories):
        if labels is not None:
            rows[:, f] = [None if np.isnan(v) else labels[int(v)] for v in X[:, f]]
    return rows


@st.composite
def oblique_trees(draw, max_leaves=20, max_classes=4, nominal=True, missing=("error",)):
    """Return random trees in which some tests are oblique."""
    n_features = draw(st.integers(1, 5))
    return random_oblique_tree(
        seed=draw(st.integers(0, 2**32 - 1)),
        n_leaves=draw(st.integers(2, max_leaves)),
        n_classes=draw(st.integers(1, max_classes)),
        n_features=n_features,
        n_nominal=draw(st.integers(0, n_features - 1)) if nominal else 0,
        missing=draw(st.sampled_from(missing)),
        compare_dtype=draw(st.sampled_from(["float64", "float32"])),
        grid=draw(st.sampled_from([None, [0.0, 1.0, 2.0], np.arange(-10, 11) / 10])),
    )


@st.composite
def trees(draw, max_leaves=60, max_classes=6, nominal=True, missing=("error",)):
    """Return random trees; a coarse grid of thresholds makes empty boxes and ties likely."""
    n_features = draw(st.integers(1, 5))
    return random_tree(
        seed=draw(st.integers(0, 2**32 - 1)),
        n_leaves=draw(st.integers(1, max_leaves)),
        n_classes=draw(st.integers(1, max_classes)),
        n_features=n_features,
        n_nominal=draw(st.integers(0, n_features)) if nominal else 0,
        missing=draw(st.sampled_from(missing)),
        compare_dtype=draw(st.sampled_from(["float64", "float32"])),
        grid=draw(st.sampled_from([None, [0.0, 1.0, 2.0], np.arange(-10, 11) / 10])),
    )
