"""Checks that the arrays of a Tree form a tree, on construction and on load."""

from functools import partial

import numpy as np

from keeptree.data.labels import is_missing, plain
from keeptree.data.table import count_categories
from keeptree.savable import expect
from keeptree.tree.kinds import LEAF, NOMINAL, NUMERIC, OBLIQUE, SHARE

_TOLERANCE = 1e-6  # relative tolerance for sums of counts, because fractional cases are rounded

_expect = partial(expect, of="tree")


def check_tree(tree):
    """Raise a ValueError if the arrays of ``tree`` do not form a tree."""
    _check_shapes(tree)
    _check_structure(tree)
    _check_tests(tree)
    _check_terms(tree)
    _check_categories(tree)
    _check_missing(tree)
    _check_counts(tree)


def _none_missing(labels):
    return not any(is_missing(label) for label in labels)


def _distinct(labels):
    try:
        return len({plain(label) for label in labels}) == len(labels)
    except TypeError:  # an unhashable label, such as a list or a dictionary
        return False


def _check_shapes(tree):
    n = len(tree.kind)
    _expect(n > 0, "it has no nodes")
    for name in ("kind", "feature", "threshold", "missing"):
        _expect(getattr(tree, name).shape == (n,), f"{name} must hold one number for each node")
    pointers = (
        ("child_start", "child"),
        ("category_start", "category_child"),
        ("term_start", "term_feature"),
    )
    for name, pointed in pointers:
        start, targets = getattr(tree, name), getattr(tree, pointed)
        _expect(start.shape == (n + 1,), f"{name} must hold one number more than there are nodes")
        _expect(targets is not None and targets.ndim == 1, f"{pointed} must be a list")
        ordered = start[0] == 0 and start[-1] == len(targets) and (np.diff(start) >= 0).all()
        _expect(ordered, f"{name} must increase from 0 to the length of {pointed}")
    columns = 1 if tree.classes is None else len(tree.classes)
    if tree.classes is not None:
        _expect(tree.classes.ndim == 1 and columns > 0, "classes must be a list of labels")
        _expect(_none_missing(tree.classes), "a class has no label (None or NaN)")
        _expect(_distinct(tree.classes), "two classes have the same label, or a label is a list")
        permuted = np.array_equal(np.sort(tree.declared), np.arange(columns))
        _expect(permuted, "declared must hold the position of every class once")
    _expect(tree.counts.shape == (n, columns), f"counts must have shape ({n}, {columns})")
    names = tree.feature_names
    _expect(names is None or len(names) == tree.n_features, "feature_names must name every column")
    _expect(len(tree.categories) == tree.n_features, "categories must have an entry per column")
    _expect(
        tree.compare_dtype in ("float64", "float32"), "compare_dtype must be float64 or float32"
    )


def _check_structure(tree):
    n = len(tree.kind)
    _expect(
        np.isin(tree.kind, (LEAF, NUMERIC, NOMINAL, OBLIQUE)).all(),
        "kind must be 0 (leaf), 1 (numeric), 2 (nominal) or 3 (oblique)",
    )
    in_range = ((tree.child >= 1) & (tree.child < n)).all()
    _expect(in_range, "a child is not a node of the tree")
    once = len(tree.child) == n - 1 and len(np.unique(tree.child)) == n - 1
    _expect(once, "every node but the root must be the child of exactly one node")
    width = np.diff(tree.child_start)
    _expect((width[tree.kind == LEAF] == 0).all(), "a leaf has children")
    _expect((width[tree.kind == NUMERIC] == 2).all(), "a numeric test needs exactly two children")
    _expect((width[tree.kind == OBLIQUE] == 2).all(), "an oblique test needs exactly two children")
    _expect((width[tree.kind == NOMINAL] >= 1).all(), "a nominal test needs at least one child")
    # Each node has one parent, so nodes that the root does not reach form a cycle.
    _expect(_reached(tree) == n, "some nodes form a cycle that the root does not reach")


def _reached(tree):
    level, count = np.array([0]), 1
    while len(level):
        level = np.concatenate(
            [tree.child[tree.child_start[i] : tree.child_start[i + 1]] for i in level]
        )
        count += len(level)
    return count


def _check_tests(tree):
    inner = (tree.kind == NUMERIC) | (tree.kind == NOMINAL)
    feature = tree.feature[inner]
    in_range = ((feature >= 0) & (feature < tree.n_features)).all()
    _expect(in_range, "a test uses a column that does not exist")
    of_none = (tree.feature[~inner] == -1).all()
    _expect(of_none, "the feature of a leaf or an oblique test must be -1")
    compares = (tree.kind == NUMERIC) | (tree.kind == OBLIQUE)
    _expect(np.isfinite(tree.threshold[compares]).all(), "a threshold is not a finite number")
    _expect(
        np.isnan(tree.threshold[~compares]).all(),
        "only a numeric or an oblique test has a threshold",
    )
    nominal = np.array([labels is not None for labels in tree.categories])
    fits = (nominal[feature] == (tree.kind[inner] == NOMINAL)).all()
    _expect(fits, "a numeric test needs a numeric column, and a nominal test a nominal column")


def _check_terms(tree):
    """Check that oblique tests, and no other nodes, have weighted columns."""
    width, feature, weight = np.diff(tree.term_start), tree.term_feature, tree.term_weight
    _expect((width[tree.kind != OBLIQUE] == 0).all(), "only an oblique test has weights")
    _expect((width[tree.kind == OBLIQUE] >= 1).all(), "an oblique test has no weights")
    sound = weight is not None and weight.shape == feature.shape
    _expect(sound, "term_weight must hold one number for each term")
    in_range = ((feature >= 0) & (feature < tree.n_features)).all()
    _expect(in_range, "an oblique test uses a column that does not exist")
    _expect(
        np.isfinite(weight).all() and (weight != 0).all(),
        "the weights of an oblique test must be finite and not zero",
    )
    if tree.compare_dtype == "float32":
        with np.errstate(over="ignore"):
            exact = (weight.astype(np.float32) == weight).all()
        _expect(exact, "a weight does not fit compare_dtype float32")
    nominal = np.array([labels is not None for labels in tree.categories])
    _expect(not nominal[feature].any(), "an oblique test cannot use a column with categories")
    node = np.repeat(np.arange(len(tree.kind)), width)
    once = len(np.unique(np.stack([node, feature]), axis=1).T) == len(feature)
    _expect(once, "an oblique test uses a column twice")


def _check_categories(tree):
    for labels in tree.categories:
        if labels is not None:
            sound = len(labels) > 0 and _none_missing(labels) and _distinct(labels)
            _expect(sound, "the categories of a column must be distinct, and none may be missing")
    _check_unknown(tree)
    width = np.diff(tree.category_start)
    _expect((width[tree.kind != NOMINAL] == 0).all(), "only a nominal test has categories")
    nominal = np.flatnonzero(tree.kind == NOMINAL)
    sizes = np.array(count_categories(tree.categories))
    fits = (width[nominal] == sizes[tree.feature[nominal]]).all()
    _expect(fits, "a nominal test must name a child for every category")
    parent = np.full(len(tree.kind), -1)
    parent[tree.child] = np.repeat(np.arange(len(tree.kind)), np.diff(tree.child_start))
    chosen = tree.category_child
    own = ((chosen >= 0) & (chosen < len(tree.kind))).all() and np.array_equal(
        parent[chosen], np.repeat(np.arange(len(tree.kind)), width)
    )
    _expect(own, "a nominal test must send its categories to its own children")
    # A child may also exist for missing values alone.
    follows = tree.missing[nominal]
    reached = np.union1d(chosen, follows[follows >= 0])
    shared = nominal[follows == SHARE]
    ranges = [tree.child[tree.child_start[i] : tree.child_start[i + 1]] for i in shared]
    reached = np.union1d(reached, np.concatenate([[], *ranges]))
    every = np.isin(tree.child[np.isin(parent[tree.child], nominal)], reached).all()
    _expect(every, "a nominal test must send its categories to its own children")


def _check_unknown(tree):
    _expect(tree.unknown.shape == (tree.n_features,), "unknown must hold one number per column")
    sizes = np.array(count_categories(tree.categories))
    known = ((tree.unknown >= -2) & (tree.unknown < np.maximum(sizes, 0))).all()
    _expect(known, "unknown must be the code of a category, -1 (as missing) or -2 (error)")


def _check_missing(tree):
    _expect((tree.missing >= -2).all(), "missing must be a child, -1 (share) or -2 (error)")
    goes = np.flatnonzero(tree.missing >= 0)
    own = [
        tree.missing[i] in tree.child[tree.child_start[i] : tree.child_start[i + 1]] for i in goes
    ]
    _expect(all(own), "a missing value must go to a child of its node")


def _check_counts(tree):
    counts = tree.counts
    _expect(
        np.isfinite(counts).all() and (counts >= 0).all(), "counts must be finite and not negative"
    )
    with np.errstate(over="ignore"):
        weight = counts.sum(axis=1, keepdims=True)
    _expect(np.isfinite(weight).all(), "the counts of a node are too large to be added")
    total = np.zeros_like(counts)
    parent = np.repeat(np.arange(len(counts)), np.diff(tree.child_start))
    np.add.at(total, parent, counts[tree.child])
    inner = tree.kind != LEAF
    slack = _TOLERANCE * np.maximum(weight, 1)[inner]
    adds_up = (np.abs(total - counts)[inner] <= slack).all()
    _expect(adds_up, "the counts of a node must be the sum of its children's")
    if tree.classes is None:
        for name in ("mean", "variance"):
            values = getattr(tree, name)
            _expect(values is not None and values.shape == (len(counts),), f"{name} is missing")
        _expect(np.isfinite(tree.mean).all(), "mean must be finite")
        negative = (tree.variance < 0) | np.isposinf(tree.variance)
        _expect(not negative.any(), "variance must be finite and not negative, or NaN")
        return
    _expect(tree.label is not None and tree.label.shape == (len(counts),), "label is missing")
    in_range = ((tree.label >= 0) & (tree.label < counts.shape[1])).all()
    _expect(in_range, "label must hold positions in classes")
