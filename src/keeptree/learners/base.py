"""What the learners share: reading tables and weights, and what any tree can tell of itself."""

import numpy as np
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from keeptree.checks import check_names, require
from keeptree.learners.nominal import has_nominal, read_table
from keeptree.learners.target import sort_classes
from keeptree.tree import Tree


class TreeLearner(BaseEstimator):
    """Base of the estimators that grow a ``tree_``; one has ``categorical_features``."""

    _saved = ("tree_", "n_features_in_", "feature_names_in_")

    def apply(self, X):
        """Return the leaf (node number in ``tree_``) of each row, of the heaviest branch if shared.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Rows.

        Returns
        -------
        leaf : array of shape (n,)
        """
        X = self._read_rows(X)
        return self.tree_._route(X)

    def get_depth(self):
        """Return the number of tests on the longest path."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self):
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def _restore(self):
        """Check what was read from a file and derive the rest; a subclass adds its own."""
        require(isinstance(self.tree_, Tree), "it has no tree")
        require(self.n_features_in_ == self.tree_.n_features, "its tree has other columns")
        regression = self.tree_.classes is None
        require(regression == is_regressor(self), "its tree is of another kind")
        check_names(self)
        if not regression:
            self.classes_, self._columns = sort_classes(self.tree_.classes)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _in_order(self, values):
        """Columns of the tree's classes in the order of ``classes_``."""
        return values if self._columns is None else values[:, self._columns]

    def _read_training_table(self, X):
        """(matrix, categories) of a training table; checks what scikit-learn checks."""
        if has_nominal(X, self.categorical_features):
            validate_data(self, X, skip_check_array=True)
            return read_table(X, self.categorical_features)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        return X, (None,) * X.shape[1]

    def _read_rows(self, X):
        """Encoded matrix of rows: nominal codes, NaN where missing, nothing infinite."""
        check_is_fitted(self)
        if not self.tree_.has_nominal:
            return validate_data(
                self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan"
            )
        validate_data(self, X, reset=False, skip_check_array=True)
        matrix = self.tree_.encode(X)
        assert_all_finite(matrix, allow_nan=True, input_name="X")
        return matrix


def drop_absent(X, y, sample_weight):
    """Rows with weight, and their weights (None for ones)."""
    if sample_weight is None:
        return X, y, None
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    present = weight > 0
    if not present.any():
        raise ValueError("Every sample weight is zero; at least one row must have weight.")
    if not present.all():
        X, y, weight = X[present], y[present], weight[present]
    return X, y, None if (weight == 1).all() else weight
