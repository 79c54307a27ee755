"""Metrics: how the distance between two cases is measured."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from keeptree.choice import did_you_mean
from keeptree.data.observed import column_spread
from keeptree.savable import Savable, expect, expect_array
from keeptree.tree import Tree


class Metric(Savable, BaseEstimator):
    """Euclidean distance over scaled attributes.

    A numeric attribute contributes its difference divided by its scale, a nominal attribute the
    cost of changing one category into another; both are multiplied by the attribute's own cost. A
    missing value contributes nothing.

    Parameters
    ----------
    kind : {"standard", "minmax"}, default="standard"
        Scale of a numeric attribute: its standard deviation or its range in the training sample.
        A constant attribute has scale 1.
    scales : array-like of shape (n_features,) or dict, optional
        Your own scales, in the units of the data; a dict sets some of them by name or position.
    costs : array-like of shape (n_features,) or dict, optional
        Factor that multiplies a change of each attribute. Default: 1.
    nominal : {"overlap", "value-difference"} or dict, default="overlap"
        Cost of changing one category into another. ``"overlap"``: 1. ``"value-difference"``: the
        difference between the class proportions of the two categories, which needs ``y`` [1]_. A
        dict: your own cost matrices (from row to column, with a zero diagonal), keyed by name or
        position of the attribute; other attributes cost 1.

    Attributes
    ----------
    scale_, center_ : ndarray of shape (n_features,)
        Scale and centre of each numeric attribute; 1 and 0 for a nominal attribute.
    factor_ : ndarray of shape (n_features,)
        Factor that multiplies a difference: cost divided by scale.
    category_costs_ : list
        Matrix of costs for each nominal attribute that the tree tests, None for all other columns.
        (The matrix of an untested identifier might not fit into memory.)

    References
    ----------
    .. [1] Stanfill and Waltz, Toward memory-based reasoning, Communications of the ACM 29, 1986.

    Examples
    --------
    >>> import numpy as np
    >>> from keeptree import Metric, Tree
    >>> stump = Tree(
    ...     kind=[1, 0, 0], feature=[0, -1, -1], threshold=[2.5, np.nan, np.nan],
    ...     child_start=[0, 2, 2, 2], child=[1, 2], missing=[-2, -2, -2],
    ...     counts=[[5, 4], [5, 0], [0, 4]], classes=["no", "yes"], n_features=2,
    ...     feature_names=["age", "income"])
    >>> X = np.array([[1.0, 100.0], [3.0, 500.0]])
    >>> Metric("minmax", costs={"income": 2}).fit(X, stump).factor_
    array([0.5  , 0.005])
    """

    saved_fields = ("center_", "scale_", "factor_", "category_costs_")

    def __init__(
        self,
        kind: str = "standard",
        scales: Any = None,
        costs: Any = None,
        nominal: str = "overlap",
    ) -> None:
        self.kind = kind
        self.scales = scales
        self.costs = costs
        self.nominal = nominal

    def fit(
        self,
        X: ArrayLike,
        tree: Tree,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Measure the scale of each attribute on a training sample.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Matrix returned by ``tree.encode``.
        tree : Tree
            Tree that provides the names and categories of the attributes.
        y : array-like of shape (n,), optional
            Classes, for ``nominal="value-difference"``.
        sample_weight : array-like of shape (n,), optional
            Weight of each row.

        Returns
        -------
        self : Metric
            The fitted metric.
        """
        return self.fit_spread(column_spread(X, sample_weight), tree, X, y, sample_weight)

    def fit_spread(
        self,
        columns: Any,
        tree: Tree,
        X: NDArray[Any] | None = None,
        y: NDArray[Any] | None = None,
        sample_weight: NDArray[Any] | None = None,
    ) -> Self:
        """Fit the metric, given the spread of the columns; X is used only for value differences."""
        if self.kind not in _SPREADS:
            raise ValueError(
                f"kind={self.kind!r} is not a metric; choose one of {sorted(_SPREADS)}, or give "
                "your own scales."
            )
        self.center_, self.scale_ = _SPREADS[self.kind](*columns)
        for f, labels in enumerate(tree.categories):
            if labels is not None:
                self.center_[f], self.scale_[f] = 0.0, 1.0
        _override(self.scale_, self.scales, tree, "scales")
        costs = np.ones(tree.n_features)
        _override(costs, self.costs, tree, "costs")
        self.factor_ = costs / self.scale_
        _require_positive(self.factor_, "costs divided by scales", tree)
        matrices = self._matrices(X, tree, y, sample_weight)
        self.category_costs_ = [
            None if matrix is None else matrix * cost
            for matrix, cost in zip(matrices, costs, strict=True)
        ]
        return self

    def check_parameters(self) -> None:
        """Raise a ValueError if a parameter read from a file is not allowed."""
        kind, nominal = isinstance(self.kind, str), isinstance(self.nominal, str)
        expect(
            kind and self.kind in _SPREADS, f"the kind {self.kind!r:.50} of its metric is unknown"
        )
        known = nominal and self.nominal in ("overlap", "value-difference")
        expect(known or isinstance(self.nominal, Mapping), "nominal is not known")

    def check_tree(self, tree: Tree) -> None:
        """Raise a ValueError if the content of a file does not fit the tree."""
        for name in ("center_", "scale_", "factor_"):
            expect_array(getattr(self, name), name, np.float64, (tree.n_features,))
        _require_positive(self.factor_, "factor_", tree)
        tested = tree.tested
        costs = self.category_costs_
        expect(isinstance(costs, list) and len(costs) == tree.n_features, "costs do not fit")
        for f, labels in enumerate(tree.categories):
            if labels is None or f not in tested:
                expect(costs[f] is None, f"column {f} has costs of categories")
            else:
                expect_array(costs[f], "category_costs_", np.float64, (len(labels),) * 2)
                expect((costs[f] >= 0).all(), "a category has a negative cost")

    def _matrices(self, X, tree, y, sample_weight):
        nominal = [f for f, labels in enumerate(tree.categories) if labels is not None]
        tested = np.intersect1d(nominal, tree.tested).astype(int).tolist()
        matrices = [None] * tree.n_features
        if isinstance(self.nominal, Mapping):
            for key, matrix in self.nominal.items():
                f = column_number(tree, key, "nominal")
                if f not in nominal:
                    raise ValueError(
                        f"nominal has a matrix for {tree.feature_name(f)!r}, which is numeric; "
                        "use scales or costs for it."
                    )
                matrix = _own_matrix(matrix, len(tree.categories[f]), tree.feature_name(f))
                matrices[f] = matrix if f in tested else None
        elif self.nominal == "value-difference":
            if nominal and (X is None or y is None):
                raise ValueError(
                    'nominal="value-difference" compares class proportions and needs y; pass y '
                    "to fit."
                )
            for f in tested:
                n = len(tree.categories[f])
                matrices[f] = _value_difference(X[:, f], y, sample_weight, n)
        elif not isinstance(self.nominal, str) or self.nominal != "overlap":
            raise ValueError(
                f"nominal={self.nominal!r} is not known; choose 'overlap', 'value-difference' or a "
                "dict of cost matrices."
            )
        for f in tested:
            if matrices[f] is None:
                matrices[f] = _overlap(len(tree.categories[f]))
        return matrices


def read_metric(metric):
    """Return the metric of a name, or a given Metric; raise a ValueError for anything else."""
    if isinstance(metric, str):
        return Metric(metric)
    if isinstance(metric, Metric):
        return metric
    raise ValueError(
        f"metric={metric!r} is not a metric; give 'standard', 'minmax' or a keeptree.Metric."
    )


def column_number(tree, key, what):
    """Return the position of a column, given by name or position.

    ``what`` names the argument in the error message.
    """
    names = tree.feature_names or ()
    if isinstance(key, str) and key in names:
        return names.index(key)
    if isinstance(key, Integral) and not isinstance(key, bool) and 0 <= key < tree.n_features:
        return int(key)
    meant = did_you_mean(names, key)
    hint = f"; {meant}" if meant else "."
    raise ValueError(f"{what} names {key!r}, which is not a column of the tree{hint}")


def _standard(low, high, mean, deviation):
    # The mean of a constant column may differ from its value by rounding, so the value is used.
    return np.where(low < high, mean, low), _or_one(np.where(low < high, deviation, 0.0))


def _minmax(low, high, mean, deviation):
    return low / 2 + high / 2, _or_one(high - low)


_SPREADS = {"minmax": _minmax, "standard": _standard}


def _or_one(scale):
    """Return the scales, with 1 where a scale overflows or underflows."""
    return np.where((scale > 1e-300) & (scale < 1e300), scale, 1.0)


def _override(values, given, tree, what):
    """Check the numbers that the user gave and write them into ``values``."""
    if given is None:
        return
    if isinstance(given, Mapping):
        for key, value in given.items():
            values[column_number(tree, key, what)] = value
    else:
        given = np.asarray(given, dtype=np.float64)
        if given.shape != values.shape:
            raise ValueError(
                f"{what} has shape {given.shape}, but the tree has {len(values)} columns; give one "
                "number for each, or a dict."
            )
        values[:] = given
    _require_positive(values, what, tree)


def _require_positive(values, what, tree):
    bad = np.flatnonzero(~((values > 0) & np.isfinite(values)))
    if len(bad):
        raise ValueError(
            f"{what} is {values[bad[0]]} for {tree.feature_name(int(bad[0]))!r}, but must be a "
            "positive finite number; leave the attribute out of it or correct it."
        )


def _overlap(n):
    return 1.0 - np.eye(n)


def _own_matrix(matrix, n, name):
    matrix = np.array(matrix, dtype=np.float64)
    good = matrix.shape == (n, n) and np.isfinite(matrix).all() and (matrix >= 0).all()
    if not good or np.diag(matrix).any():
        raise ValueError(
            f"The cost matrix of {name!r} must be {n} x {n}, finite, not negative and zero on its "
            f"diagonal; got shape {matrix.shape}."
        )
    return matrix


def _value_difference(codes, y, sample_weight, n):
    """Return distances between the class proportions of categories (value differences).

    A category without cases gets the class proportions of the whole sample.
    """
    labels, classes = np.unique(np.asarray(y), return_inverse=True)
    weight = np.ones(len(classes)) if sample_weight is None else np.asarray(sample_weight)
    kept = ~np.isnan(codes)
    table = np.zeros((n, len(labels)))
    np.add.at(table, (codes[kept].astype(np.int64), classes[kept]), weight[kept])
    prior = np.bincount(classes, weights=weight, minlength=len(labels))
    table[table.sum(axis=1) == 0] = prior
    share = table / table.sum(axis=1, keepdims=True)
    return np.sqrt(((share[:, None, :] - share[None, :, :]) ** 2).sum(axis=2))
