"""Base classes of the tree learners."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.utils import assert_all_finite
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from keeptree.annotations import Floats
from keeptree.data.arrow import from_arrow
from keeptree.data.labels import name_classes, sorting_order, target_name
from keeptree.data.table import column_names, has_nominal, read_table, validate_numbers
from keeptree.data.target import read_target
from keeptree.learners.shape import shape_to_tree
from keeptree.savable import Savable, expect, expect_class_names, expect_names
from keeptree.tree import ShowsTree, Tree

# Constraint of the parameter that all learners share.
CATEGORICAL_FEATURES = [None, StrOptions({"from_dtype"}), "array-like"]


class TreeLearner(ShowsTree, Savable, BaseEstimator):
    """Base of the estimators that grow a ``tree_``.

    A subclass has ``categorical_features`` among its parameters and supplies

    - ``_read_target(y)``, which returns (classes or None, codes or values),
    - ``_grow(X, target, weight, categories)``, which returns arguments of :func:`shape_to_tree`: a
      shape and, for a regression tree, the mean and variance of its nodes,
    - ``predict_encoded(rows)``, which returns the predictions for encoded rows.
    """

    saved_fields = ("tree_", "n_features_in_", "feature_names_in_")

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Numbers and categories. NaN and None are missing; infinite values raise an error.
        y : array-like of shape (n,)
            Classes (a categorical y keeps its declared labels and their order), or finite numbers
            for a regressor.
        sample_weight : array-like of shape (n,), optional
            Nonnegative weights; rows with zero weight are ignored.

        Returns
        -------
        self
            The fitted learner, with ``tree_``.
        """
        self.validate_parameters()
        X, y = from_arrow(X), from_arrow(y)
        names = column_names(X)
        X, categories = self._read_training_table(X)
        classes, target = self._read_target(y)
        check_consistent_length(X, target)
        grown = self._grow(*drop_absent(X, target, sample_weight), categories)
        self.tree_ = shape_to_tree(
            **grown,
            n_features=X.shape[1],
            classes=classes,
            feature_names=names,
            categories=categories,
            source={"model": type(self).__name__},
        )
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the prediction for each row: a class label, or a number for a regressor.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Rows; NaN or None is missing.

        Returns
        -------
        y : array of shape (n,)
            Predicted classes or numbers.
        """
        return self.predict_encoded(self.encode(X))

    def apply(self, X: ArrayLike) -> NDArray[Any]:
        """Return the leaf of each row, as a node number of ``tree_``.

        A row whose missing value is shared among several leaves gets the one with the largest
        share.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Rows; NaN or None is missing.

        Returns
        -------
        leaf : array of shape (n,)
            Node numbers of the leaves.
        """
        return self.tree_.route(self.encode(X))

    def encode(self, X: ArrayLike) -> Floats:
        """Encode X for ``tree_``: categories as codes, NaN for missing values.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Rows; infinite values raise an error.

        Returns
        -------
        rows : array of shape (n, d)
            float64 matrix for the methods that take encoded rows.
        """
        check_is_fitted(self)
        X = from_arrow(X)
        if not self.tree_.has_nominal:
            return validate_numbers(self, X, "allow-nan", reset=False)
        validate_data(self, X, reset=False, skip_check_array=True)
        matrix = self.tree_.encode(X)
        assert_all_finite(matrix, allow_nan=True, input_name="X")
        return matrix

    def get_depth(self) -> int:
        """Return the number of tests on the longest path."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def check_loaded(self) -> None:
        """Check the content of a file and derive the other attributes; subclasses extend this."""
        expect(isinstance(self.tree_, Tree), "it has no tree")
        expect(
            self.n_features_in_ == self.tree_.n_features,
            "its tree has a different number of columns",
        )
        regression = self.tree_.classes is None
        expect(
            regression == is_regressor(self),
            "its tree is of another kind (classification or regression)",
        )
        expect_names(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _read_training_table(self, X):
        """Return the matrix and categories of a training table, with scikit-learn's checks."""
        if has_nominal(X, self.categorical_features):
            validate_data(self, X, skip_check_array=True)
            return read_table(X, self.categorical_features)
        X = validate_numbers(self, X, "allow-nan")
        return X, (None,) * X.shape[1]


class ClassTreeLearner(ClassifierMixin, TreeLearner):
    """Base of the learners of classification trees.

    A subclass supplies ``scores_encoded(rows)``, which returns the class probabilities of encoded
    rows.
    """

    saved_fields = ("class_names_",)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the class probabilities of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Rows; NaN or None is missing.

        Returns
        -------
        probability : array of shape (n, n_classes)
            Columns in the order of ``classes_``.
        """
        return self.scores_encoded(self.encode(X))

    def _read_target(self, y):
        classes, codes = read_target(y)
        self.classes_ = classes[sorting_order(classes)]
        self.class_names_ = name_classes(self.classes_, target_name(y))
        return classes, codes

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        self.classes_ = self.tree_.classes
        expect_class_names(self)


def drop_absent(X, y, sample_weight):
    """Return the rows with positive weight, and their weights (None if all are 1)."""
    if sample_weight is None:
        return X, y, None
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    present = weight > 0
    if not present.any():
        raise ValueError("Every sample weight is zero; at least one must be positive.")
    if not present.all():
        X, y, weight = X[present], y[present], weight[present]
    return X, y, None if (weight == 1).all() else weight
