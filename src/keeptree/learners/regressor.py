"""Regression trees with nominal attributes and missing values."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from keeptree._compiled.grow_squares import SquaresOptions
from keeptree.annotations import RandomState
from keeptree.data.table import count_categories
from keeptree.data.target import read_values
from keeptree.learners.base import CATEGORICAL_FEATURES, TreeLearner
from keeptree.learners.grow_options import depth_limit
from keeptree.learners.grow_squares import grow_squares, prune_squares


class TreeRegressor(RegressorMixin, TreeLearner):
    """Regression tree that minimises the squared error.

    A numeric column is cut at the midpoint between two neighbouring values; a nominal one is
    divided into two sets of categories. A case with a missing value is sent down both branches in
    fractions, in growing, pruning and prediction. On complete numeric data the tree is that of
    scikit-learn's ``DecisionTreeRegressor``, up to ties.

    Parameters
    ----------
    min_samples_leaf : int, default=5
        Minimum weight of a branch.
    min_samples_split : int, default=10
        Minimum weight of a node that is split.
    epsilon : float, default=0.0
        A node whose variance does not exceed this value is a leaf.
    max_depth : int, optional
        Maximum depth of the tree.
    validation_fraction : float in (0, 1), optional
        Share of the rows held out for reduced-error pruning: a node becomes a leaf if that does
        not increase their squared error. The tree keeps the means of the other rows. By default
        the tree is grown on all rows and not pruned.
    categorical_features : None, "from_dtype", or array-like of bool, int or str
        Further nominal columns, as a mask, indices or names, with the sorted values seen in
        ``fit`` as categories. In a data frame, columns with pandas' categorical or polars' Enum
        dtype are always nominal with their declared categories, and columns with text or polars'
        Categorical are nominal with the values seen.
    random_state : int, RandomState instance or None, default=None
        Seed for choosing the held-out rows; unused without ``validation_fraction``.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree, with the weight (in ``counts``), ``mean`` and ``variance`` of every node.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Column names, if X has names that are all strings.

    Notes
    -----
    The test of a node maximises ``|D| Var(D) - |L| Var(L) - |R| Var(R)``, where D are the
    cases of the node with a known value, and L and R those in its branches. Equal reductions
    (within 1e-10 of one another) go to the first column and the lowest cut. Categories are ordered
    by the mean of their targets, and the best cut of this order is the best of all divisions into
    two sets, unless one is too light for ``min_samples_leaf`` (Breiman et al. 1984, section 8.8). A
    category without cases in the node joins the heavier branch. A test without gain is accepted as
    long as the targets differ, because two tests together may gain where neither does alone.

    With equal targets, constant columns or empty columns, nothing can be split and the tree ends in
    a leaf. Rows with zero weight are ignored. In ``predict``, categories that were not declared in
    ``fit`` are treated as missing.

    References
    ----------
    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984.

    Examples
    --------
    >>> import keeptree as kt
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = kt.TreeRegressor(max_depth=2).fit(X, y)
    >>> print(model.tree_.to_text(precision=3))
    s5 <= -0.00376
      bmi <= 0.00619: 96.3 (171)
      bmi > 0.00619: 159.7 (47)
    s5 > -0.00376
      bmi <= 0.0148: 162.7 (116)
      bmi > 0.0148: 225.9 (108)
    """

    _parameter_constraints = {
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "min_samples_split": [Interval(Integral, 2, None, closed="left")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "max_depth": [None, Interval(Integral, 0, None, closed="left")],
        "validation_fraction": [None, Interval(Real, 0, 1, closed="neither")],
        "categorical_features": CATEGORICAL_FEATURES,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        min_samples_leaf: int = 5,
        *,
        min_samples_split: int = 10,
        epsilon: float = 0.0,
        max_depth: int | None = None,
        validation_fraction: float | None = None,
        categorical_features: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.validation_fraction = validation_fraction
        self.categorical_features = categorical_features
        self.random_state = random_state

    def predict_encoded(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the mean of each encoded row's leaf, mixed where a missing value is shared."""
        return self.tree_.route_shares(rows) @ self.tree_.mean

    def _read_target(self, y):
        return None, read_values(y)

    def _grow(self, X, y, weight, categories):
        grown = self._grow_squares(X, y, weight, count_categories(categories))
        return {"shape": grown.shape, "mean": grown.mean, "variance": grown.variance}

    def _grow_squares(self, X, y, weight, n_categories):
        options = SquaresOptions(
            min_leaf=float(self.min_samples_leaf),
            min_split=float(self.min_samples_split),
            epsilon=float(self.epsilon),
            max_depth=depth_limit(self.max_depth),
        )
        if self.validation_fraction is None:
            return grow_squares(X, y, weight, n_categories, options)
        order = check_random_state(self.random_state).permutation(len(y))
        n_held_out = int(np.ceil(self.validation_fraction * len(y)))
        if n_held_out == len(y):
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of n_samples={len(y)} leaves no "
                "row to grow the tree on."
            )
        held_out, growing = order[:n_held_out], order[n_held_out:]
        part = [None if weight is None else weight[rows] for rows in (growing, held_out)]
        grown = grow_squares(X[growing], y[growing], part[0], n_categories, options)
        prune_squares(grown, X[held_out], y[held_out], part[1])
        return grown
