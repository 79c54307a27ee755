"""Geometric ranking: order cases by their distance to the decision boundary (Alvarez 2005)."""

from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from keeptree.annotations import Floats
from keeptree.geometry.boundary import Boundary
from keeptree.geometry.metric import Metric
from keeptree.probability.base import KeptTreeModel, binary_or_all, class_code
from keeptree.probability.smoothing import smoothed_nodes

# Leaf probabilities closer than this are ties, so that rounding does not affect the ranking.
_SAME = 1e-12
LEAST = np.finfo(np.float64).tiny  # smallest absolute score, for cases on the boundary
MOST = 1e150  # largest absolute score; larger distances count as this


class GeometricRankClassifier(KeptTreeModel):
    """Rank the cases of a kept tree by their distance to its decision boundary.

    The geometric score of a case is its distance to the boundary of a class, positive inside the
    class and negative outside (Alvarez and Bernard 2005). The global ranking orders all cases by
    this score. The local ranking first orders the leaves by their smoothed probability, and then
    the cases in leaves of equal probability by the score. Scores are not probabilities;
    ``decision_function`` returns them.

    Parameters
    ----------
    estimator : estimator, Tree or None
        A fitted tree or a :class:`~keeptree.Tree` is kept as it is; an unfitted learner is cloned
        and fitted; None means :class:`~keeptree.C45Classifier`.
    scope : {"global", "local"}, default="global"
        Whether to rank all cases together or leaf by leaf.
    metric : {"standard", "minmax"} or Metric, default="standard"
        How distances are measured.
    grid : "observed", dict or None, default="observed"
        Which numbers are possible. ``"observed"``: those with the precision seen in the training
        sample (whole numbers stay whole). A dict: multiples of your own steps. None: all numbers,
        so that distances end at the thresholds, as in the papers. See :class:`~keeptree.Boundary`.
    boundary : {"class", "whole"}, default="class"
        With several classes: the distance to the boundary of each class (2007), or to any decision
        boundary, regardless of the classes it separates (2005). With two classes both are the same.
    smoothing : {"laplace", "m-estimate", "shrinkage", "leaves"}, default="laplace"
        How the local ranking orders the leaves.
    m, strength : see :class:`~keeptree.SmoothedTreeClassifier`
        Options of the smoothing.
    n_jobs : int or None, default=None
        Number of threads for scoring.

    Attributes
    ----------
    tree_ : Tree
        The kept tree.
    boundary_ : Boundary
        Decision boundary of the tree.
    classes_ : ndarray
        Class labels.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray
        Names of the columns, if X has them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import keeptree as kt
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(X, y)
    >>> rank = kt.GeometricRankClassifier(clf).fit(X, y)
    >>> rank.decision_function(X[:3]).round(2)
    array([ 0.42, -0.57, -0.92])
    """

    saved_fields = ("boundary_",)
    _parameter_constraints = {
        **KeptTreeModel._parameter_constraints,
        "scope": [StrOptions({"global", "local"})],
        "metric": [StrOptions({"standard", "minmax"}), Metric],
        "grid": [StrOptions({"observed"}), dict, None],
        "boundary": [StrOptions({"class", "whole"})],
        "smoothing": [StrOptions({"leaves", "laplace", "m-estimate", "shrinkage"})],
        "m": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "strength": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        scope: Literal["global", "local"] = "global",
        *,
        metric: Literal["standard", "minmax"] | Metric = "standard",
        grid: Literal["observed"] | dict[Any, float] | None = "observed",
        boundary: Literal["class", "whole"] = "class",
        smoothing: Literal["leaves", "laplace", "m-estimate", "shrinkage"] = "laplace",
        m: float | Literal["auto"] = "auto",
        strength: float = 10.0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.scope = scope
        self.metric = metric
        self.grid = grid
        self.boundary = boundary
        self.smoothing = smoothing
        self.m = m
        self.strength = strength
        self.n_jobs = n_jobs

    def _learn(self, sample):
        self.boundary_ = Boundary(self.tree_, self.metric, grid=self.grid).fit_sample(sample)
        self._derive()

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        self.boundary_.check_tree(self.tree_)
        if self.boundary_.grid_ is None:  # models saved by older versions measure to the thresholds
            self.grid = None
        self._derive()

    def _derive(self):
        """Derive the smoothed leaves, and how far the score may move a case from its leaf."""
        options = {"m": self.m, "strength": self.strength}
        self._leaf_probability = smoothed_nodes(self.tree_, self.smoothing, **options)
        self._half_gap = _half_gaps(self._leaf_probability)

    @property
    def local_order(self) -> tuple[Floats, Floats]:
        """Probability of each node, and how far the score may move a case from it."""
        return self._leaf_probability, self._half_gap

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the score of each case: the larger, the more clearly it belongs to the class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to rank.

        Returns
        -------
        score : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, one score, for ``classes_[1]``; with more, one per class. It is
            positive where the tree assigns the class (local: where the smoothed probability of the
            leaf exceeds one half).
        """
        check_is_fitted(self)
        return binary_or_all(self._map(X, self._scores, (len(self.classes_),)))

    def rank_score(self, X: ArrayLike, positive: Any) -> Floats:
        """Return the score of each case for a chosen positive class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to rank.
        positive : label
            One of ``classes_``.

        Returns
        -------
        score : ndarray of shape (n_samples,)
            Scores; larger values rank first.
        """
        check_is_fitted(self)
        code = class_code(positive, self.tree_.classes)
        return self._map(X, self._scores, (len(self.classes_),))[:, code]

    def _scores(self, X, out):
        out[:] = geometric = self._geometric_scores(X)
        if self.scope == "global":
            return
        # The score moves a case by less than half a gap, so the order of the leaves stays the same.
        p = self.tree_.leaf_average(X, self._leaf_probability)
        half_gap = self.tree_.leaf_average(X, self._half_gap, normalise=False)
        bounded = geometric / (1 + np.abs(geometric))
        out[:] = p - 0.5 + half_gap * bounded

    def _geometric_scores(self, X):
        # A class without a region is infinitely far away; clipped scores can still be averaged.
        score = np.clip(-self.boundary_.class_distances(X), -MOST, MOST)
        unsigned = np.flatnonzero((score == 0).any(axis=1) | np.isnan(X).any(axis=1))
        if len(unsigned):
            # On the boundary, or with a missing value, the tree's decision gives the sign.
            own = (np.arange(len(unsigned)), self.tree_.decide(X[unsigned]))
            near = np.minimum(score[unsigned], -LEAST)
            near[own] = np.maximum(score[unsigned][own], LEAST)
            score[unsigned] = near
        if self.boundary == "whole" and len(self.classes_) > 2:
            score = np.sign(score) * np.abs(score).min(axis=1, keepdims=True)
        return score


def _half_gaps(probability):
    """Return just under half the gap between each probability and the nearest other one."""
    gaps = np.empty_like(probability)
    for c in range(probability.shape[1]):
        values, inverse = np.unique(probability[:, c], return_inverse=True)
        first = np.concatenate([[True], np.diff(values) > _SAME])
        group = np.cumsum(first) - 1
        distinct = values[first]
        steps = np.concatenate([[1.0], np.diff(distinct), [1.0]])
        gaps[:, c] = 0.49 * np.minimum(steps[:-1], steps[1:])[group][inverse]
    return gaps
