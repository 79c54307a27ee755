"""ConfDTree: confidence intervals, alternative routes and certainty fines (Katz et al. 2012)."""

import warnings
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from keeptree.data.sample import Sample
from keeptree.probability.confdtree_missing import ChildProfiles, child_profiles
from keeptree.probability.confdtree_settings import read_settings
from keeptree.probability.confdtree_statistics import (
    check_learned,
    confidence_intervals,
    node_statistics,
)
from keeptree.probability.confdtree_trace import Trace, trace_rows
from keeptree.probability.confdtree_walk import make_walk
from keeptree.probability.probabilistic import ProbabilityModel
from keeptree.savable import expect
from keeptree.tree import LEAF

_POSITIVE = Interval(Real, 0, None, closed="neither")
_LEVEL = Interval(Real, 0, 1, closed="neither")


class ConfDTreeClassifier(ProbabilityModel):
    """Tree probabilities corrected for cases that are outliers of their class.

    The method walks from the leaf of a case back to the root. At each numeric test, it compares the
    value with the confidence interval of the assigned class, which is learned from the training
    cases of that node. If the value is inside, nothing changes. If it is outside, but inside the
    interval of another class, all children are followed and their predictions are averaged
    (*alternative routes*). If it is outside all intervals, a tenth of the largest probability moves
    to the other classes (*certainty fine*). The defaults are the paper's.

    Parameters
    ----------
    estimator : estimator, Tree or None
        A fitted tree or a :class:`~keeptree.Tree` is kept as it is; an unfitted learner is cloned
        and fitted; None means :class:`~keeptree.C45Classifier`.
    interval : {"combined", "normal", "t"}, default="combined"
        ``"normal"``: mean ± z sd, in nodes that pass a test of normality. ``"t"``: mean ± t sd /
        sqrt(n), in all nodes. ``"combined"``: normal where a node passes, t elsewhere.
    z_assigned, z_other : float, default=2.0 and 1.0
        Width of normal intervals, in standard deviations, for the assigned class and for others.
    level_assigned, level_other : float, default=0.995 and 0.9
        Confidence of t intervals for the assigned class and for others.
    m : float, default=5
        Minimum number of training cases for an interval.
    fine : float, default=0.1
        Fraction of the largest probability that a fine takes away.
    options : dict or None, default=None
        Alternative readings of the paper, and choices that it leaves open; see Notes.
    decide : {"tree", "probability", "cost"}, default="tree"
        Whether ``predict`` is the tree's decision, the most probable class, or the class with the
        lowest expected cost.
    costs : array-like of shape (n_classes, n_classes), dict or None, default=None
        For ``decide="cost"``: cost of a decision, by true class (row) and decided class
        (column), in the order of ``classes_``; or ``{true class: {decided class: cost}}``, where
        other errors cost 1 and correct decisions 0.
    n_jobs : int or None, default=None
        Number of threads for scoring.

    Attributes
    ----------
    tree_ : Tree
        The kept tree.
    statistics_ : NodeStatistics
        Count, mean, sd and normality of the tested attribute, per node and class.
    intervals_ : Intervals
        Bounds of the intervals, and which nodes are checked.
    walk_ : Walk
        Weights of the routes, and the probabilities before and after the method changes them.
    profiles_ : ChildProfiles or None
        Statistics of the cases of each node, if missing values are estimated from them.
    classes_ : ndarray
        Class labels.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray
        Names of the columns, if X has them.

    Notes
    -----
    The assigned class is the one with the largest probability after all changes further down; the
    first class wins ties. A class without an interval is never corrected and is not an alternative.
    The method is off below the first missing value on a path. Sample weights count as repeated
    cases.

    The ``options`` are, with the default first:

    ``minimum`` : "every", "class" or "node"
        What must have at least m cases: every class in the node, because otherwise the node is not
        checked; the class itself, for its own interval; or the node as a whole (the paper's
        Algorithm 1).
    ``t_for`` : "mean", "individual" or "prediction"
        What t intervals cover: the mean of the class; an individual, mean ± t sd; or the next
        individual, mean ± t sd sqrt(1 + 1/n).
    ``tails`` : 2 or 1
        Whether 1 - level is the probability of both tails together or of each tail.
    ``normal_by`` : "node" or "class"
        Whether normality is tested for all classes of a node together or for each class.
    ``significance`` : float, 0.05
        A class counts as normal if the p-value of its Kolmogorov-Smirnov test is larger.
    ``fine_to`` : "others" or "all"
        Whether a fine is divided among the other classes of the node (the paper's example) or
        among all of them (its text).
    ``route_weight`` : "sqrt", "linear" or "count"
        Weight of a child that has n cases of an alternative class among T: sqrt(n) n / T as in the
        paper, n n / T, or n. Summed over the alternative classes.
    ``smoothing`` : "leaves", "laplace" or "shrinkage"
        Leaf probabilities from which the method starts, as in
        :class:`~keeptree.SmoothedTreeClassifier`.
    ``strength`` : float, 10.0
        Strength of the shrinkage.
    ``nominal`` : bool, False
        Also check nominal tests: a category is inside if it is among the most frequent ones of the
        class that together reach the coverage of the interval.
    ``missing`` : "shares" or "others"
        How a case without a value for a test is divided among the children: as the tree does it,
        with the method off below, or by its other attributes. In the second case each child
        receives a copy of the case with the child's typical value. The copy is weighted by how well
        the other normally distributed attributes fit the child's training cases, and the method
        stays on.
    ``balance`` : bool, False
        Correct for class imbalance. In the weights of routes and in the division of fines, cases
        count in inverse proportion to the size of their class. The fine of a class is multiplied by
        its share and by the number of classes.

    References
    ----------
    Katz, Shabtai, Rokach and Ofek, "ConfDTree: improving decision trees using confidence
    intervals", ICDM 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import keeptree as kt
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> clf = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, y)
    >>> model = kt.ConfDTreeClassifier(clf).fit(X, y)
    >>> int(model.affected(X).sum())
    4
    >>> odd = X.iloc[[101]]
    >>> clf.predict_proba(odd).round(3)
    array([[0.015, 0.985]])
    >>> model.predict_proba(odd).round(3)
    array([[0.202, 0.798]])
    >>> print(model.trace(odd)[0])  # doctest: +ELLIPSIS
    Leaf 3: p(0) = 0.015, p(1) = 0.985.
    Node 1, worst concave points = 0: unusual for class 1, outside 0.002288 to 0.1441 (normal)...
    Node 0, worst radius = 7.93: unusual for class 1, outside 9.417 to 17.34 (normal)...
    Result: p(0) = 0.202, p(1) = 0.798.
    """

    saved_fields = ("statistics_", "intervals_", "profiles_")
    profiles_ = None  # absent from models saved by older versions
    _parameter_constraints = {
        **ProbabilityModel._parameter_constraints,
        "interval": [StrOptions({"combined", "normal", "t"})],
        "z_assigned": [_POSITIVE],
        "z_other": [_POSITIVE],
        "level_assigned": [_LEVEL],
        "level_other": [_LEVEL],
        "m": [Interval(Real, 2, None, closed="left")],
        "fine": [Interval(Real, 0, 1, closed="both")],
        "options": [dict, None],
    }

    def __init__(
        self,
        estimator: Any = None,
        interval: Literal["combined", "normal", "t"] = "combined",
        *,
        z_assigned: float = 2.0,
        z_other: float = 1.0,
        level_assigned: float = 0.995,
        level_other: float = 0.9,
        m: float = 5,
        fine: float = 0.1,
        options: dict[str, Any] | None = None,
        decide: Literal["tree", "probability", "cost"] = "tree",
        costs: ArrayLike | dict[Any, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.interval = interval
        self.z_assigned = z_assigned
        self.z_other = z_other
        self.level_assigned = level_assigned
        self.level_other = level_other
        self.m = m
        self.fine = fine
        self.options = options
        self.decide = decide
        self.costs = costs
        self.n_jobs = n_jobs

    def fit_sample(self, sample: Sample) -> Self:
        """Fit the model to a :class:`~keeptree.data.sample.Sample`, as ``fit`` does."""
        self.validate_parameters()
        self.tree_, self.classes_, self.preprocessing_ = sample.tree, sample.tree.classes, []
        self.observed_, self.n_features_in_ = sample.observed, sample.tree.n_features
        self._learn(sample)
        return self

    def affected(self, X: ArrayLike, change: float = 0.1) -> NDArray[np.bool_]:
        """Return which rows the method changed: some probability moved by ``change`` or more.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to score.
        change : float, default=0.1
            Least change of a probability. The default is the paper's 10 percentage points: from 1
            to 0.9, or from 0.6 to 0.5.

        Returns
        -------
        affected : ndarray of bool of shape (n_samples,)
            Whether the method changed each row.
        """
        check_is_fitted(self)
        return self._map(X, lambda rows, out: self._affected(rows, change, out), (), bool)

    def trace(self, X: ArrayLike) -> list[Trace]:
        """Return what happened to each row, node by node from its leaf to the root.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows. Tracing is slow: it is meant for single cases, not for large tables.

        Returns
        -------
        traces : list of Trace
            One trace per row; ``str(trace)`` or ``print`` gives plain English.
        """
        return self.trace_encoded(self.encode(X))

    def trace_encoded(self, rows: NDArray[Any]) -> list[Trace]:
        """Return the result of :meth:`trace` for rows that :meth:`encode` returned."""
        if len(self.estimated_rows(rows)):
            raise ValueError(
                "A trace follows one path, but a case with estimated missing values follows "
                "several; fill them in, or use options={'missing': 'shares'}."
            )
        return trace_rows(self, rows)

    def _validate_params(self):
        super()._validate_params()
        read_settings(self)

    def _learn(self, sample):
        settings = read_settings(self)
        tested = None if self.interval == "t" else settings.significance
        sample, tree = sample.lifted, self.tree_.lifted
        self.statistics_ = node_statistics(sample, tested)
        self.intervals_ = confidence_intervals(tree, self.statistics_, settings)
        self.walk_ = make_walk(tree, self.statistics_, self.intervals_, settings)
        self.profiles_ = None
        if settings.missing == "others":
            self.profiles_ = child_profiles(sample, settings.significance, self.m)
        if not self.intervals_.takes_part.any():
            warnings.warn(
                f"No test of the tree can be checked with interval={self.interval!r}, "
                f"minimum={settings.minimum!r} and m={self.m:g}; the model returns the tree's own "
                "probabilities.",
                UserWarning,
                stacklevel=3,
            )

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        tree = self.tree_.lifted
        check_learned(tree, self.statistics_, self.intervals_)
        if self.profiles_ is not None:
            expect(isinstance(self.profiles_, ChildProfiles), "its profiles are damaged")
            self.profiles_.check(tree)
        self.walk_ = make_walk(tree, self.statistics_, self.intervals_, read_settings(self))

    def _probability(self, X, out):
        unknown = self.estimated_rows(self._check_finite(X))
        rows = self.tree_.lift(X)
        if not len(unknown):
            self.walk_.probability(rows, out)
            return
        self.tree_.route(X[unknown])  # raises the error that names the row and the column
        copies, owner, weight = self.profiles_.spread_rows(self.tree_.lifted, rows[unknown])
        known = np.delete(np.arange(len(X)), unknown)
        rows = np.concatenate([rows[known], copies])
        p = np.empty((len(rows), out.shape[1]))
        self.walk_.probability(rows, p)
        out[known] = p[: len(known)]
        for c in range(out.shape[1]):
            own = p[len(known) :, c]
            out[unknown, c] = np.bincount(owner, weight * own, minlength=len(unknown))

    def estimated_rows(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Return the encoded rows that lack a tested value, if such values are estimated."""
        if self.profiles_ is None:
            return np.empty(0, dtype=np.int64)
        tree = self.tree_.lifted
        tested = np.unique(tree.feature[tree.kind != LEAF])
        return np.flatnonzero(np.isnan(self.tree_.lift(X)[:, tested]).any(axis=1))

    def _affected(self, X, change, out):
        p = np.empty((len(X), len(self.classes_)))
        self._probability(X, p)
        moved = np.abs(p - self.walk_.leaves(self.tree_.lift(X))).max(axis=1)
        # In floating point, a tenth of 1 may be slightly less than 0.1.
        out[:] = moved >= change - 1e-9
