"""Base of the post-hoc classifiers: find the tree, read X and y, predict as the tree does."""

import warnings
from copy import deepcopy
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from keeptree.annotations import Floats
from keeptree.blocks import map_rows
from keeptree.data.arrow import from_arrow
from keeptree.data.labels import label_codes, name_classes, plain, recode, target_name
from keeptree.data.notation import check_notations, with_days
from keeptree.data.observed import Observed
from keeptree.data.reference import Reference, describe_columns
from keeptree.data.sample import Sample
from keeptree.data.table import comparable_names, take_rows, validate_numbers
from keeptree.data.target import read_target
from keeptree.geometry.rows import check_finite
from keeptree.importers import check_decides_by_tests, keep_with_steps, unwrap
from keeptree.importers.counting import count_rows
from keeptree.importers.steps import read_rows
from keeptree.probability.estimator import (
    allows_missing,
    check_columns,
    fit_learner,
    is_kept,
    reads_any_column,
    unfitted_learner,
)
from keeptree.probability.row_scorer import RowScorer
from keeptree.progress import step
from keeptree.savable import Savable, expect, expect_class_names, expect_names
from keeptree.tree import ShowsTree, Tree, names_differ

# Smallest weight relative to the largest, below which squares of weights vanish.
_LEAST_WEIGHT = 1e-100


class KeptTreeModel(ShowsTree, Savable, ClassifierMixin, BaseEstimator):
    """Base of the post-hoc classifiers.

    A subclass has ``estimator`` and ``n_jobs`` among its parameters and supplies
    ``_learn(sample)``, which estimates from a :class:`~keeptree.data.sample.Sample`, and
    ``_scores(rows, out)``, which fills in a score for each class.
    """

    saved_fields = (
        "tree_",
        "observed_",
        "n_features_in_",
        "feature_names_in_",
        "class_names_",
        "notation_",
        "reference_",
    )
    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), Tree, None],
        "n_jobs": [Integral, None],
    }

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Keep the tree, or grow one if the estimator is not fitted, and learn from the sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Sample on which the tree was grown.
        y : array-like of shape (n_samples,)
            True classes; each must be a class of the tree.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        sample = self._prepare(X, y, sample_weight)
        self._remember(sample, self._learn(sample))
        return self

    def _prepare(self, X, y, sample_weight):
        """Check the sample, find or grow the tree, and return the sample encoded for it."""
        self.validate_parameters()
        X, y = from_arrow(X), from_arrow(y)
        table = self._check_sample(X, y)
        classes, codes = read_target(y)
        check_consistent_length(X, codes)
        weight = read_weight(sample_weight, X)
        self._resolve(X, y, sample_weight)
        table = self._take_columns(table)
        self.class_names_ = name_classes(self.classes_, target_name(y))
        self.notation_ = None  # the notation of numbers in a file, which fit_file sets
        rows = self._check_finite(self._read(X if self.preprocessing_ else table))
        codes = recode(codes, classes, self.tree_.classes)
        # A tree written by hand has no class counts, so they come from the sample.
        if self.tree_.weight[0] == 0:
            self.tree_ = count_rows(self.tree_, rows, codes, weight)
        sample = Sample(self.tree_, rows, codes, weight)
        self.observed_ = sample.observed
        return sample

    def _remember(self, sample, unseen):
        """Store aggregates of the sample, with which :func:`keeptree.audit` compares later data.

        ``unseen`` is what ``_learn`` returned: None, or a part of the sample in which each case was
        scored by a model fitted without it (:class:`~keeptree.probability.expectation.Scored`).
        """
        self.reference_ = describe_columns(sample)

    @property
    def read_columns(self) -> NDArray[Any]:
        """Positions of the columns that answers depend on: by default, those the tree tests."""
        return self.tree_.tested

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The kept tree's decision; with ``decide="probability"`` the most probable class, with
            ``decide="cost"`` the class with the lowest expected cost.
        """
        check_is_fitted(self)
        return self.tree_.classes[self._map(X, self._decide, (), np.int32)]

    def encode(self, X: ArrayLike) -> Floats:
        """Return X as the tree reads it: after the pipeline's steps, with categories as codes.

        ``tree_.route``, ``tree_.decide`` and similar methods take these rows, so that rows used
        several times are encoded only once.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows in the format of ``predict``.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_tree_features)
            Encoded rows in float64; missing values are NaN.
        """
        check_is_fitted(self)
        return self._check_finite(self._read(self._check_table(X)))

    def scorer(self) -> RowScorer:
        """Return a function that scores single rows, much faster than a table of one row.

        Returns
        -------
        scorer : RowScorer
            ``scorer(row)`` returns the ``label``, ``probability`` and ``leaf`` of a row, which is a
            dict by column name or a sequence in column order.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> import keeptree as kt
        >>> X, y = load_iris(return_X_y=True)
        >>> model = kt.SoftTreeClassifier(kt.C45Classifier()).fit(X, y)
        >>> score = model.scorer()
        >>> bool((score(X[70]).probability == model.predict_proba(X[70:71])[0]).all())
        True
        """
        check_is_fitted(self)
        if self.preprocessing_:
            raise ValueError(
                f"The tree of this {type(self).__name__} follows pipeline steps that read whole "
                f"tables; call predict_proba with a table of one row."
            )
        by_tree = getattr(self, "decide", "tree") == "tree"
        return RowScorer(self, self._scores, None if by_tree else self._decide)

    def predict_encoded(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the result of ``predict`` for rows that :meth:`encode` returned."""
        return self.tree_.classes[self._map_encoded(rows, self._decide, (), np.int32)]

    def scores_encoded(self, rows: NDArray[Any]) -> Floats:
        """Return the score of each class for encoded rows, in the order of ``tree_.classes``."""
        return self._map_encoded(rows, self._scores, (len(self.tree_.classes),))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = allows_missing(self.estimator)
        return tags

    @property
    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters to save; the tree replaces the estimator that it came from."""
        if getattr(self, "preprocessing_", None):
            raise ValueError(
                f"The tree of this {type(self).__name__} is the last step of a pipeline with a "
                f"step that cannot be folded into it, and steps cannot be saved as JSON; fit it to "
                "kt.keep(pipeline, fold=False) and transformed columns."
            )
        return {**self.get_params(deep=False), "estimator": getattr(self, "tree_", None)}

    def check_loaded(self) -> None:
        """Check the content of a file and derive the other attributes; subclasses extend this."""
        expect(isinstance(self.tree_, Tree) and self.tree_.classes is not None, "it has no tree")
        expect(
            self.n_features_in_ == self.tree_.n_features,
            "its tree has a different number of columns",
        )
        expect(isinstance(self.observed_, Observed), "its description of the columns is missing")
        self.observed_.check(self.tree_)
        expect_names(self)
        self.preprocessing_ = []
        self.classes_ = self.tree_.classes
        expect_class_names(self)
        check_notations(self)
        reference = getattr(self, "reference_", None)  # older files have none
        if reference is not None:
            expect(isinstance(reference, Reference), "its reference is damaged")
            reference.check(self.tree_)

    def _check_sample(self, X, y):
        """Check X and y as scikit-learn does; return X, converted if all columns are numeric."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        if isinstance(self.estimator, Tree):
            X = self.estimator.select(X)
        if reads_any_column(self.estimator):
            if getattr(X, "shape", None) and X.shape[0] == 0:
                raise ValueError("X has no rows; give at least one row of each class.")
            return validate_data(self, X, skip_check_array=True)
        if is_kept(self.estimator):
            check_columns(X, self.estimator, getattr(self, "columns", ()))
        finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        return validate_numbers(self, X, finite)

    def _resolve(self, X, y, sample_weight):
        """Set ``tree_``, ``classes_`` and the transformers that come before the tree."""
        model = self.estimator
        if is_kept(model):
            check_columns(X, model, getattr(self, "columns", ()))
        else:
            with step("Growing the tree"):
                model = fit_learner(unfitted_learner(model), X, y, sample_weight)
        self.tree_, transformers = keep_with_steps(model, X)
        if model is not self.estimator:
            warn_without_tests(self.tree_)
        if self.tree_.classes is None:
            raise ValueError(
                "The tree is a regression tree, which has no classes; keep a classification tree."
            )
        check_decides_by_tests(model if isinstance(model, Tree) else unwrap(model)[0])
        # A copy, so that refitting the pipeline does not change the kept steps.
        self.preprocessing_ = deepcopy(transformers)
        self.classes_ = self.tree_.classes

    def _take_columns(self, X):
        """Return the columns that the tree reads; a folded pipeline may have dropped some."""
        if self.preprocessing_ or self.n_features_in_ == self.tree_.n_features:
            return X
        selected = self.tree_.select(X)
        if selected.shape[1] == self.tree_.n_features and hasattr(self, "feature_names_in_"):
            self.n_features_in_ = self.tree_.n_features
            self.feature_names_in_ = np.array(self.tree_.feature_names, dtype=object)
        return selected

    def _read(self, X):
        """Encode X: apply the transformers of a pipeline, then take the tree's columns."""
        return read_rows(X, self.tree_, self.preprocessing_)

    def _check_finite(self, matrix):
        """Return the matrix; raise a ValueError for infinite values, but allow missing ones."""
        check_finite(matrix, self.tree_)
        return matrix

    def _check_rows(self, matrix):
        """Raise an error for infinite values, and for missing ones without a rule in the tree."""
        with np.errstate(over="ignore", invalid="ignore"):
            # A finite sum shows that all values are finite, and needs no temporary array.
            if np.isfinite(matrix.sum()):
                return
        self._check_finite(matrix)
        self.tree_.route(matrix[np.isnan(matrix).any(axis=1)])

    def _decide(self, rows, out):
        out[:] = self.tree_.decide(self._check_finite(rows))

    def _check_table(self, X):
        """Return X if it is a table with the columns of the training sample; raise otherwise."""
        X = from_arrow(X)
        if not hasattr(X, "shape"):
            mixed = self.preprocessing_ or self.tree_.has_nominal
            X = np.asarray(X, dtype=object if mixed else None)
        if len(X.shape) == 1:
            raise ValueError(
                "Reshape your data to a table: X is a single row or column of "
                f"{X.shape[0]} values; give a single row as X.iloc[[0]] of a data frame, or as "
                "x.reshape(1, -1) of an array."
            )
        if len(X.shape) != 2 or X.shape[0] == 0 or issparse(X):
            check_array(X)  # raises an error that gives the reason
        X = with_days(X, self)
        X = X if self.preprocessing_ else self.tree_.select(X)
        names, expected = comparable_names(X), getattr(self, "feature_names_in_", None)
        if names is not None and expected is not None and names != tuple(expected):
            raise ValueError(names_differ(names, tuple(expected)))
        validate_data(self, X, reset=False, skip_check_array=True)
        return X

    def _map(self, X, fill, shape, dtype=np.float64):
        """Call ``fill(rows, out)`` on blocks of encoded rows; each output row has ``shape``.

        X is read block by block, so that the memory needed to convert a frame or a float32 array
        does not grow with the number of rows. ``fill`` checks that its rows are finite.
        """
        X = self._check_table(X)
        if self.preprocessing_:
            return self._map_encoded(self._read(X), fill, shape, dtype)
        return self._map_encoded(X, fill, shape, dtype, self._read)

    def _map_encoded(self, X, fill, shape, dtype=np.float64, read=np.asarray):
        """Do the same as ``_map`` for rows that are already encoded, or that ``read`` encodes."""
        out = np.empty((X.shape[0], *shape), dtype=dtype)

        def block(start, stop):
            fill(read(take_rows(X, start, stop)), out[start:stop])

        try:
            map_rows(block, X.shape[0], n_jobs=self.n_jobs)
        except ValueError:
            # Repeat the error with the number of the row in X.
            self.tree_.route(self._check_finite(read(X)))
            raise
        return out


def read_weight(sample_weight, X):
    """Return the weights of the rows of X, by default 1; their sum must be positive."""
    weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    if not 0 < weight.sum() < np.inf:
        raise ValueError("The sample weights must have a positive, finite sum.")
    known = weight[weight > 0]
    if known.min() < known.max() * _LEAST_WEIGHT:
        raise ValueError(
            f"The sample weights range from {known.min():.3g} to {known.max():.3g}, a range too "
            f"wide for meaningful sums; set the smallest ones to 0."
        )
    return weight


class NoTestsWarning(UserWarning):
    """Warning that a tree that was grown has no tests."""


def warn_without_tests(tree):
    """Warn if a tree that was grown decides every case alike although there are several classes."""
    if tree.classes is None or len(tree.classes) < 2 or tree.n_leaves > 1:
        return
    label = plain(tree.classes[tree.label[0]])
    warnings.warn(
        f"The tree has no tests, so it decides {label!r} for every case; grow a larger one, such "
        "as kt.C45Classifier(pruning='none', collapse=False), or let the probabilities use all "
        "columns with kt.KeptTreeClassifier(columns='all').",
        NoTestsWarning,
        stacklevel=6,
    )


def binary_or_all(scores):
    """Return scores in scikit-learn's form: with two classes, only those of the second."""
    return scores[:, 1] if scores.shape[1] == 2 else scores


def class_code(label, classes):
    """Return the position of a class label; raise a ValueError if it is unknown."""
    return int(label_codes([label], classes)[0])
