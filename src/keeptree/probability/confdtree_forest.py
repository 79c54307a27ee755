"""ConfDTree in a random forest: correct each tree, then average (Katz et al. 2012, sec. V)."""

import warnings
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from keeptree.annotations import Floats
from keeptree.data.arrow import from_arrow
from keeptree.data.labels import label_codes
from keeptree.data.sample import Sample
from keeptree.importers import keep
from keeptree.probability.base import read_weight
from keeptree.probability.confdtree import ConfDTreeClassifier
from keeptree.probability.costs import DecidesByCost, cheapest
from keeptree.probability.estimator import is_kept
from keeptree.savable import expect, expect_array, expect_names


class ConfDTreeForestClassifier(DecidesByCost, ClassifierMixin, BaseEstimator):
    """Random forest in which ConfDTree corrects each tree before the trees are averaged.

    Parameters
    ----------
    estimator : RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier or None
        A fitted forest is kept as it is; an unfitted one is cloned and fitted; None means
        ``RandomForestClassifier(random_state=0)``. Bagging is supported for scikit-learn's decision
        trees on all columns; for other learners, bag the corrected trees instead:
        ``BaggingClassifier(ConfDTreeClassifier(learner))``.
    correction : ConfDTreeClassifier or None
        Settings for each tree; its ``estimator`` is ignored. None means the paper's settings.
    decide : {"forest", "probability", "cost"}, default="forest"
        Whether ``predict`` is the forest's decision, the most probable class, or the class with the
        lowest expected cost.
    costs : array-like of shape (n_classes, n_classes), dict or None, default=None
        For ``decide="cost"``: cost of a decision, by true class (row) and decided class
        (column), in the order of ``classes_``; or ``{true class: {decided class: cost}}``, where
        other errors cost 1 and correct decisions 0.

    Attributes
    ----------
    forest_ : estimator
        The forest. A model loaded from a file has only ``trees_``; its decisions are those of the
        forest.
    trees_ : list of ConfDTreeClassifier
        Corrected trees of the forest. Their intervals come from the whole training sample, not from
        the bootstrap sample of each tree.
    votes_ : list of ndarray
        Leaf values of each tree of the forest.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import keeptree as kt
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> correction = kt.ConfDTreeClassifier(interval="normal")
    >>> model = kt.ConfDTreeForestClassifier(forest, correction).fit(X, y)
    >>> model.predict_proba(X[:2]).shape
    (2, 2)
    """

    saved_fields = ("classes_", "trees_", "votes_", "n_features_in_", "feature_names_in_")
    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "correction": [ConfDTreeClassifier, None],
        "decide": [StrOptions({"forest", "probability", "cost"})],
        "costs": ["array-like", dict, None],
    }

    def __init__(
        self,
        estimator: Any = None,
        correction: ConfDTreeClassifier | None = None,
        *,
        decide: Literal["forest", "probability", "cost"] = "forest",
        costs: ArrayLike | dict[Any, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.correction = correction
        self.decide = decide
        self.costs = costs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Keep the forest, or grow one, and learn the intervals of all its trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Sample on which the forest was grown.
        y : array-like of shape (n_samples,)
            True classes.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self.validate_parameters()
        self._check_costs()
        X, y = validate_data(
            self, from_arrow(X), from_arrow(y), dtype=np.float64, ensure_all_finite=self._finite()
        )
        check_classification_targets(y)
        weight = read_weight(sample_weight, X)
        self.forest_ = self.estimator
        if not is_kept(self.estimator):
            forest = self._learner()
            self.forest_ = clone(forest).fit(X, y, sample_weight)
        _check_members(self.forest_, X)
        self.classes_ = self.forest_.classes_
        _ = self.cost_matrix  # invalid costs raise an error before anything is learned
        # Keep the exact leaf values of each tree, because the forest decides by their mean.
        self.votes_ = [tree.tree_.value[:, 0, :].copy() for tree in self.forest_.estimators_]
        trees = [keep(tree) for tree in self.forest_.estimators_]
        whole = Sample(trees[0], trees[0].encode(X), label_codes(y, self.classes_), weight)
        # All trees read the same columns, so the spread of the columns is computed only once.
        samples = [replace(whole, tree=tree, columns=whole.observed.columns) for tree in trees]
        correction = ConfDTreeClassifier() if self.correction is None else self.correction
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No test of the tree can be checked")
            self.trees_ = [
                clone(correction).set_params(estimator=sample.tree).fit_sample(sample)
                for sample in samples
            ]
        if not any(tree.intervals_.takes_part.any() for tree in self.trees_):
            warnings.warn(
                "No test of any tree can be checked; the model returns the forest's own "
                "probabilities.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the mean of the corrected probabilities of the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Probabilities; columns in the order of ``classes_``.
        """
        X = self._check(X)
        return sum(tree.predict_proba_encoded(X) for tree in self.trees_) / len(self.trees_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row: the forest's decision, unless ``decide`` says otherwise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted classes.
        """
        if self.decide == "forest":
            check_is_fitted(self)
            X = self._check(X)
            leaves = [tree.tree_.route(X) for tree in self.trees_]
            votes = sum(vote[leaf] for vote, leaf in zip(self.votes_, leaves, strict=True))
            return self.classes_[(votes / len(leaves)).argmax(axis=1)]
        p, matrix = self.predict_proba(X), self.cost_matrix
        return self.classes_[p.argmax(axis=1) if matrix is None else cheapest(p, matrix)]

    def _check(self, X):
        check_is_fitted(self)
        return validate_data(
            self, from_arrow(X), dtype=np.float64, reset=False, ensure_all_finite=self._finite()
        )

    @property
    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters to save; the scikit-learn forest itself is not saved."""
        return {**super().saved_parameters, "estimator": None}

    def check_loaded(self) -> None:
        """Check the content of a file."""
        n_classes, width = len(self.classes_), self.n_features_in_
        expect(isinstance(self.classes_, np.ndarray), "it has no classes")
        expect(0 < len(self.trees_) == len(self.votes_), "it has no trees")
        expect_names(self)
        for tree, vote in zip(self.trees_, self.votes_, strict=True):
            fits = isinstance(tree, ConfDTreeClassifier) and tree.n_features_in_ == width
            expect(fits and not tree.tree_.has_nominal, "a tree has a different number of columns")
            expect(tree.classes_.tolist() == list(range(n_classes)), "a tree has other classes")
            expect_array(vote, "votes_", np.float64, tree.tree_.counts.shape)
        super().check_loaded()

    def _finite(self):
        return "allow-nan" if get_tags(self).input_tags.allow_nan else True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._learner()).input_tags.allow_nan
        return tags

    def _learner(self):
        if self.estimator is None:
            return RandomForestClassifier(random_state=0)
        return self.estimator


def _check_members(forest, X):
    """Raise a ValueError unless the members are scikit-learn's trees on all columns."""
    whole = np.arange(X.shape[1])
    for columns in getattr(forest, "estimators_features_", ()):
        if not np.array_equal(columns, whole):
            raise ValueError(
                "A tree of this ensemble reads only some of the columns; give max_features=1.0, so "
                "that every tree reads all columns."
            )
    member = forest.estimators_[0]
    if not hasattr(getattr(member, "tree_", None), "value"):
        raise ValueError(
            f"The members of this ensemble are {type(member).__name__}, not scikit-learn's "
            "decision trees; bag the corrected trees themselves: "
            "BaggingClassifier(ConfDTreeClassifier(learner))."
        )
