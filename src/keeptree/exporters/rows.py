"""Rows that exercise every test of a tree, encoded and as a table of raw values."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from keeptree.data.columns import AS_MISSING
from keeptree.exporters.plain import read_columns
from keeptree.tree import ERROR, LEAF, NOMINAL, NUMERIC, OBLIQUE

_MOST_NUMBERS = 20_000_000  # a table of very many columns has fewer rows
_UNSEEN = 'never seen; "--é"'
_SPECIAL = 0.2  # share of values, beside those of the path, that are replaced by odd ones
_REPAIRS = 20  # times a row may be moved towards the path to an oblique test
_CLOSER = 4  # steps of a weighted sum towards a number


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table to be scored.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        As the tree reads them: category codes, NaN where missing.
    names : tuple of str
        Names of the columns.
    categories : tuple
        Labels of each nominal column, None for a numeric one.
    unseen : dict of int to tuple
        Column -> positions of the rows that hold a label which the tree does not know, and it.
    """

    X: np.ndarray
    names: tuple
    categories: tuple
    unseen: dict

    def __len__(self):
        return len(self.X)

    def column(self, feature):
        """Raw values of a column: floats or labels, None where missing."""
        values, labels = self.X[:, feature].tolist(), self.categories[feature]
        if labels is None:
            return [None if math.isnan(value) else value for value in values]
        raw = [None if math.isnan(value) else labels[int(value)] for value in values]
        rows, label = self.unseen.get(feature, ((), None))
        for row in rows:
            raw[row] = label
        return raw

    @cached_property
    def columns(self):
        """All columns: name -> raw values."""
        return {name: self.column(f) for f, name in enumerate(self.names)}


def sample_rows(subject, n, seed=0):
    """Return rows that reach every test of a tree, on its threshold and one ulp beside it.

    Each row follows the path to a test; there it holds the threshold, its neighbours in float64
    and float32, the numbers where rounding to float32 changes sides, or each category. The weighted
    sum of an oblique test is brought as close to these numbers as its columns allow. Other values
    come from the range that the model has observed. Missing values, unseen categories and, for a
    bare tree, infinite numbers (not in weighted sums) are mixed in wherever the tree has a rule for
    them.

    Parameters
    ----------
    subject : Subject
        What is exported.
    n : int
        Number of rows.
    seed : int
        Of the random numbers.

    Returns
    -------
    rows : Rows
    """
    tree, rng = subject.tree, np.random.default_rng(seed)
    n = max(1, min(n, _MOST_NUMBERS // tree.n_features))
    columns = [_Column(subject, f) for f in range(tree.n_features)]
    X = np.column_stack([column.draw(rng, n) for column in columns])
    tests = np.flatnonzero(tree.kind != LEAF)
    _follow_paths(tree, columns, X, rng, tests)
    unseen = {}
    for f in read_columns(tree, subject.model):
        odd = np.flatnonzero(rng.random(n) < _SPECIAL / max(1, len(tests)) ** 0.5)
        X[odd, f] = rng.choice(columns[f].odd, len(odd)) if columns[f].odd else X[odd, f]
        if columns[f].unseen is not None:
            rows = np.flatnonzero(rng.random(n) < _SPECIAL / 4)
            X[rows, f] = np.nan if tree.unknown[f] < 0 else tree.unknown[f]
            unseen[f] = (rows.tolist(), columns[f].unseen)
    return Rows(X, subject.names, tree.categories, unseen)


def beside(threshold):
    """Return a threshold, its float64 and float32 neighbours, and where float32 rounding switches.

    Examples
    --------
    >>> len(beside(0.1)), 0.1 in beside(0.1)
    (12, True)
    """
    with np.errstate(over="ignore"):
        single = np.float32(threshold)
        singles = [np.nextafter(single, np.float32(side)) for side in (-np.inf, np.inf)]
    singles = [float(x) for x in (singles[0], single, singles[1]) if np.isfinite(x)]
    middles = [(a + b) / 2 for a, b in pairwise(singles)]
    with np.errstate(over="ignore"):
        around = [float(np.nextafter(threshold, side)) for side in (-np.inf, np.inf)]
    turning = [float(np.nextafter(m, side)) for m in middles for side in (-np.inf, np.inf)]
    numbers = dict.fromkeys([threshold, *around, *singles, *middles, *turning])
    return [x for x in numbers if np.isfinite(x)]


class _Column:
    """The values that a column of the sampled rows can take."""

    def __init__(self, subject, feature):
        tree, model = subject.tree, subject.model
        summed = np.zeros(tree.n_nodes, dtype=bool)
        for node in np.flatnonzero(tree.kind == OBLIQUE).tolist():
            summed[node] = feature in dict(tree.terms(node))
        tests = ((tree.kind != LEAF) & (tree.feature == feature)) | summed
        self.labels = tree.categories[feature]
        self.threshold = np.empty(0)
        if self.labels is None:
            weight = [dict(tree.terms(node)).get(feature, 1.0) for node in np.flatnonzero(tests)]
            self.threshold = np.unique(tree.threshold[tests] / np.array(weight))
        self.low, self.high = _range(model, feature, self.threshold)
        ruled = (tree.missing[tests] != ERROR).all()
        self.odd = [np.nan] if ruled else []
        self.unseen = None
        if self.labels is None:
            self.odd += [] if model is not None or summed.any() else [-np.inf, np.inf]
            # Opposite sums that overflow would be missing values in Python alone.
            self.odd += [1e30, -1e30] if summed.any() else [1e300, -1e300]
            self.odd += [0.0, -0.0, 5e-324, -1e-40]
        elif tree.unknown[feature] >= 0 or (ruled and _as_missing(tree, feature)):
            self.unseen = _unseen_label(self.labels)

    def draw(self, rng, n):
        """Random values of the column."""
        if self.labels is not None:
            return rng.integers(len(self.labels), size=n).astype(np.float64)
        return self.between(rng, -np.inf, np.inf, n)

    def between(self, rng, low, high, n=1):
        """Random numbers above ``low`` and at most ``high``, within the range if possible."""
        low, high = max(low, min(self.low, high)), min(high, max(self.high, low))
        values = low + (1.0 - rng.random(n)) * (high - low)
        return np.where(np.isfinite(values), values, high if np.isfinite(high) else low)


def _range(model, feature, threshold):
    """Return the range seen in training; for a bare tree, slightly more than that of its tests."""
    if model is not None:
        return float(model.observed_.low[feature]), float(model.observed_.high[feature])
    if len(threshold) == 0:
        return 0.0, 1.0
    with np.errstate(over="ignore"):
        room = float(np.ptp(threshold)) or abs(float(threshold[0])) or 1.0
    room = room if np.isfinite(room) else 0.0
    return float(threshold[0]) - room, float(threshold[-1]) + room


def _as_missing(tree, feature):
    return tree.unknown[feature] == AS_MISSING


def _unseen_label(labels):
    """Return an unseen label of the same type; None if there is none."""
    if all(isinstance(label, str) for label in labels):
        return _UNSEEN
    if all(type(label) in (int, float) for label in labels):
        return type(labels[0])(max(labels) + 1)
    return None


def _follow_paths(tree, columns, X, rng, tests):
    """Send the rows to the tests in turn, each with a value that exercises its test."""
    tried = [
        (int(node), value)
        for node in rng.permutation(tests)
        for value in rng.permutation(_values_to_try(tree, node))
    ]
    for row in range(len(X)) if tried else ():
        node, value = tried[row % len(tried)]
        _set_path(tree, columns, X, row, node, rng)
        if tree.kind[node] == OBLIQUE:
            _set_sum(tree, X, row, node, value, rng)
        else:
            X[row, tree.feature[node]] = value


def _values_to_try(tree, node):
    if tree.kind[node] == NOMINAL:
        return np.arange(len(tree.categories[tree.feature[node]]), dtype=np.float64)
    return beside(float(tree.threshold[node]))


def _set_path(tree, columns, X, row, node, rng):
    """Set the values of a row so that it follows the path to a node."""
    limits, chosen = {}, {}
    path = tree.path(node)
    for above, below in pairwise(path):
        f = int(tree.feature[above])
        if tree.kind[above] == OBLIQUE:
            continue
        if tree.kind[above] == NUMERIC:
            low, high = limits.get(f, (-np.inf, np.inf))
            at = float(tree.threshold[above])
            goes_left = below == tree.children(above)[0]
            limits[f] = (low, min(high, at)) if goes_left else (max(low, at), high)
        else:
            taken = np.flatnonzero(tree.category_children(above) == below)
            chosen[f] = np.intersect1d(taken, chosen[f]) if f in chosen else taken
    for f, (low, high) in limits.items():
        if low < high:
            X[row, f] = columns[f].between(rng, low, high)[0]
    for f, codes in chosen.items():
        if len(codes):
            X[row, f] = rng.choice(codes)
    if tree.has_oblique:
        _repair_path(tree, X, row, path, rng)


def _repair_path(tree, X, row, path, rng):
    """Move weighted sums to the sides that a path takes, one after the other, a few times."""
    sides = [
        (node, bool(child == tree.children(node)[0]))
        for node, child in pairwise(path)
        if tree.kind[node] == OBLIQUE
    ]
    for attempt in range(_REPAIRS):
        values = tree.lift(X[row : row + 1])[0, tree.lifted.feature]
        wrong = [
            (k, is_left) for k, is_left in sides if is_left != (values[k] <= tree.threshold[k])
        ]
        if not wrong:
            return
        node, is_left = wrong[attempt % len(wrong)]
        at, (_, weight) = float(tree.threshold[node]), tree.terms(node)[0]
        away = rng.exponential(max(abs(at), abs(weight)) / 10 or 1.0)
        _set_sum(tree, X, row, node, at - away if is_left else at + away, rng)


def _set_sum(tree, X, row, node, value, rng):
    """Change one column so that the weighted sum of a test is as close to a value as it can be."""
    f, weight = tree.terms(node)[rng.integers(len(tree.terms(node)))]
    at = tree.lifted.feature[node]
    for _ in range(_CLOSER):
        gap = value - tree.lift(X[row : row + 1])[0, at]
        moved = X[row, f] + gap / weight
        if gap == 0 or not np.isfinite(moved):
            return
        X[row, f] = moved
