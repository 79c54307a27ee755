"""The training sample, encoded once for a tree."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from keeptree.data.columns import REFUSED
from keeptree.data.copies import find_copies
from keeptree.data.observed import observe
from keeptree.tree import Tree


@dataclass(frozen=True, eq=False)
class Sample:
    """Encoded training rows with classes and weights; statistics are computed on demand.

    Parameters
    ----------
    tree : Tree
        Tree that defines the encoding.
    X : ndarray of shape (n, n_features)
        Rows encoded by ``tree.encode``, finite or missing.
    y : ndarray of shape (n,), optional
        Positions in ``tree.classes``.
    weight : ndarray of shape (n,), optional
        Nonnegative weights; by default 1.
    columns : tuple of ndarray, optional
        Minimum, maximum, mean and standard deviation of the columns, if already known.
    more : "tree", "all" or sequence of str or int, default="tree"
        Columns that estimates may read besides those that the tree tests, by name or position.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True)
    >>> sample = Sample(kt.C45Classifier().fit(X, y).tree_, X, y)
    >>> sample.observed.low
    array([4.3, 2. , 1. , 0.1])
    >>> sample.take([0, 50, 100]).y
    array([0, 1, 2])
    """

    tree: Tree
    X: np.ndarray
    y: np.ndarray | None = None
    weight: np.ndarray | None = None
    columns: tuple | None = None
    more: str | tuple = "tree"

    def __post_init__(self):
        if self.weight is None:
            object.__setattr__(self, "weight", np.ones(len(self.X)))

    def __len__(self):
        return len(self.X)

    @cached_property
    def observed(self):
        """The range, mean and spread of the columns, and the categories seen."""
        return observe(self.X, self.tree, self.weight, self.columns)

    @cached_property
    def copies(self):
        """Case of each row; copies of a row belong to the same case."""
        return find_copies(self.X, self.y)

    @cached_property
    def present(self):
        """The rows with a positive weight."""
        rows = self.weight > 0
        return self if rows.all() else self.take(rows)

    @cached_property
    def class_weight(self):
        """Sum of the weights of each class."""
        return np.bincount(self.y, self.weight, minlength=len(self.tree.classes))

    @cached_property
    def class_share(self):
        """Share of each class in the total weight, at most 1 despite rounding."""
        return self.class_weight / self.class_weight.sum()

    @cached_property
    def _distinct(self):
        return {}

    def distinct(self, feature):
        """Return the sorted distinct values of a column, ignoring rows with zero weight."""
        if feature not in self._distinct:
            values = self.X[self.weight > 0, feature]
            self._distinct[feature] = np.unique(values[~np.isnan(values)])
        return self._distinct[feature]

    @cached_property
    def lifted(self):
        """The sample with an extra column for each weighted sum that the tree tests."""
        if not self.tree.has_oblique:
            return self
        lifted = self.tree.lifted, self.tree.lift(self.X)
        return Sample(*lifted, self.y, self.weight, more=self.more)

    def take(self, rows):
        """Return a subset of the rows, given by a mask, a slice or positions."""
        part = self.X[rows], self.y[rows], self.weight[rows]
        return Sample(self.tree, *part, more=self.more)

    def reading(self, more):
        """Return the same sample for estimates that may read other columns, too."""
        return self if more == self.more else replace(self, more=more)

    def read_by(self, tree):
        """Return the same rows encoded for another tree, or None if its categories differ.

        Both trees must have the same classes.
        """
        if self.tree.feature_names != tree.feature_names:
            return None
        X = _recode(self.X, self.tree, tree)
        return None if X is None else Sample(tree, X, self.y, self.weight, more=self.more)


def stratified_part(labels, most):
    """Return about ``most`` rows, stratified by class and spread evenly over the sample."""
    if len(labels) <= most:
        return np.arange(len(labels))
    order = np.argsort(labels, kind="stable")
    return np.sort(order[np.linspace(0, len(order) - 1, most).round().astype(np.int64)])


def _recode(X, known, wanted):
    """Return the category codes of one tree as those of another; None if a category has no code.

    A category that the other tree does not know is treated as this tree treats unseen ones.
    """
    if known.categories == wanted.categories and (known.unknown == wanted.unknown).all():
        return X
    if len(known.categories) != len(wanted.categories):
        return None
    X = X.copy()
    for f, (old, new) in enumerate(zip(known.categories, wanted.categories, strict=True)):
        if old is None and new is None:
            continue
        if old is None or new is None:
            return None
        rest, unseen = int(known.unknown[f]), int(wanted.unknown[f])
        position = {label: code for code, label in enumerate(new) if code != unseen}
        names = [None if code == rest else label for code, label in enumerate(old)]
        if not set(position) <= set(names):
            return None  # unseen rows of the first tree may have a label of the second
        used = np.unique(X[~np.isnan(X[:, f]), f]).astype(np.int64)
        if unseen == REFUSED and not all(names[code] in position for code in used.tolist()):
            return None
        other = unseen if unseen >= 0 else np.nan
        codes = np.array([*(position.get(name, other) for name in names), np.nan])
        X[:, f] = codes[np.where(np.isnan(X[:, f]), len(old), X[:, f]).astype(np.int64)]
    return X
