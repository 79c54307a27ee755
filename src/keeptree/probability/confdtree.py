"""ConfDTree: confidence intervals, alternative routes and certainty fines (Katz et al. 2012)."""

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from keeptree.probability.base import ProbabilityModel
from keeptree.probability.confdtree_statistics import (
    MINIMUM,
    ROUTE_WEIGHT,
    T_SCALE,
    characteristic_categories,
    check_learned,
    confidence_intervals,
    node_statistics,
    route_weights,
)
from keeptree.probability.confdtree_trace import trace_rows
from keeptree.probability.smoothing import leaf_average, smoothed_nodes
from keeptree.tree import ERROR, LEAF

_POSITIVE = Interval(Real, 0, None, closed="neither")
_LEVEL = Interval(Real, 0, 1, closed="neither")


class ConfDTreeClassifier(ProbabilityModel):
    """The kept tree's probabilities, corrected where a case is an outlier of its class.

    From its leaf a case goes back to the root. At each numeric test its value is compared with the
    confidence interval of the class it is assigned to, learned from the training cases in that
    node. Inside: nothing is done. Outside, but inside the interval of other classes: all children
    are followed and their predictions averaged (*alternative routes*). Outside all: the largest
    probability pays a tenth to the others (*certainty fine*). The defaults are the paper's.

    Parameters
    ----------
    estimator : estimator, Tree or None
        A fitted tree or a :class:`~keeptree.Tree` is kept as it is; an unfitted learner is cloned
        and fitted; None means :class:`~keeptree.C45Classifier`.
    interval : {"combined", "normal", "t"}, default="combined"
        ``"normal"``: mean ± z sd, in nodes that pass a test of normality. ``"t"``: mean ± t sd /
        sqrt(n), in all. ``"combined"``: normal where a node passes, t elsewhere.
    z_assigned, z_other : float, default=2.0 and 1.0
        Width of normal intervals, in standard deviations, for the assigned class and for others.
    level_assigned, level_other : float, default=0.995 and 0.9
        Confidence of t intervals for the assigned class and for others.
    m : float, default=5
        Least number of training cases for an interval.
    fine : float, default=0.1
        Part of the largest probability that a fine takes.
    minimum : {"every", "class", "node"}, default="every"
        Who needs m cases: every class present in the node, else it is not checked; each class for
        its own interval; or the node as a whole (the paper's Algorithm 1).
    t_for : {"mean", "individual", "prediction"}, default="mean"
        What t intervals are for: the mean of the class; an individual, mean ± t sd; or the next
        individual, mean ± t sd sqrt(1 + 1/n).
    tails : {2, 1}, default=2
        Whether the t quantile leaves out 1 - level in both tails together or in each.
    normal_by : {"node", "class"}, default="node"
        Whether normality is a matter of all classes of a node together or of each class.
    significance : float, default=0.05
        A class is taken for normal if the p-value of its Kolmogorov-Smirnov test is larger.
    fine_to : {"others", "all"}, default="others"
        Whether a fine is divided among the other classes of the node (the paper's example) or
        among all of them (its text).
    route_weight : {"sqrt", "linear", "count"}, default="sqrt"
        Weight of a child that has n cases of an alternative class among T: sqrt(n) n / T as in the
        paper, n n / T, or n. Summed over the alternative classes.
    smoothing : {"raw", "laplace", "shrinkage"}, default="raw"
        Leaf probabilities the method starts from, as in
        :class:`~keeptree.SmoothedTreeClassifier`.
    strength : float, default=10.0
        Of the shrinkage.
    nominal : bool, default=False
        Also check nominal tests: is the category among the most frequent of the class, which
        together reach the coverage of the interval?
    balance : bool, default=False
        Take the imbalance of the classes into account: cases count in inverse proportion to their
        class in the weights of routes and as receivers of fines, and the fine of a class is
        multiplied by its share times the number of classes.
    decide : {"tree", "probability"}, default="tree"
        Whether ``predict`` is the tree's decision or the most probable class.
    n_jobs : int or None, default=None
        Threads that score blocks of rows.

    Attributes
    ----------
    tree_ : Tree
        The kept tree.
    statistics_ : NodeStatistics
        Count, mean, sd and normality of the split attribute, per node and class.
    intervals_ : Intervals
        Bounds of the intervals and which nodes take part.
    classes_ : ndarray
        Class labels.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray
        Their names, if X had some.

    Notes
    -----
    The assigned class is the one with the largest probability after all changes further down
    (ties: the first). A class without an interval is never doubted and is no alternative. Below
    the first missing value of a path the method is off. Sample weights count as repeated cases.

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
    Leaf 3 says 0 0.015, 1 0.985.
    Node 1, worst concave points = 0: outside 0.002288 to 0.1441, usual for class 1 (normal)...
    Node 0, worst radius = 7.93: outside 9.417 to 17.34, usual for class 1 (normal)...
    Result: 0 0.202, 1 0.798.
    """

    saved_fields = ("statistics_", "intervals_")
    _parameter_constraints = {
        **ProbabilityModel._parameter_constraints,
        "interval": [StrOptions({"combined", "normal", "t"})],
        "z_assigned": [_POSITIVE],
        "z_other": [_POSITIVE],
        "level_assigned": [_LEVEL],
        "level_other": [_LEVEL],
        "m": [Interval(Real, 2, None, closed="left")],
        "fine": [Interval(Real, 0, 1, closed="both")],
        "minimum": [StrOptions(set(MINIMUM))],
        "t_for": [StrOptions(set(T_SCALE))],
        "tails": [Options(Integral, {1, 2})],
        "normal_by": [StrOptions({"node", "class"})],
        "significance": [Interval(Real, 0, 1, closed="both")],
        "fine_to": [StrOptions({"others", "all"})],
        "route_weight": [StrOptions(set(ROUTE_WEIGHT))],
        "smoothing": [StrOptions({"raw", "laplace", "shrinkage"})],
        "strength": [Interval(Real, 0, None, closed="left")],
        "nominal": ["boolean"],
        "balance": ["boolean"],
    }

    def __init__(
        self,
        estimator=None,
        interval="combined",
        *,
        z_assigned=2.0,
        z_other=1.0,
        level_assigned=0.995,
        level_other=0.9,
        m=5,
        fine=0.1,
        minimum="every",
        t_for="mean",
        tails=2,
        normal_by="node",
        significance=0.05,
        fine_to="others",
        route_weight="sqrt",
        smoothing="raw",
        strength=10.0,
        nominal=False,
        balance=False,
        decide="tree",
        n_jobs=None,
    ):
        self.estimator = estimator
        self.interval = interval
        self.z_assigned = z_assigned
        self.z_other = z_other
        self.level_assigned = level_assigned
        self.level_other = level_other
        self.m = m
        self.fine = fine
        self.minimum = minimum
        self.t_for = t_for
        self.tails = tails
        self.normal_by = normal_by
        self.significance = significance
        self.fine_to = fine_to
        self.route_weight = route_weight
        self.smoothing = smoothing
        self.strength = strength
        self.nominal = nominal
        self.balance = balance
        self.decide = decide
        self.n_jobs = n_jobs

    def affected(self, X, change=0.1):
        """Return which rows the method changed: some probability moved by ``change`` or more.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        change : float, default=0.1
            The paper's 10 %, of the whole: from 1 to 0.9, or from 0.6 to 0.5.

        Returns
        -------
        affected : ndarray of bool of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._map(X, lambda rows, out: self._affected(rows, change, out), (), bool)

    def trace(self, X):
        """Return what happened to each row, node by node from its leaf to the root.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows; for a look at single cases, not for a million.

        Returns
        -------
        traces : list of Trace
            As data; ``str(trace)`` or ``print`` gives plain English.
        """
        return trace_rows(self, self.encode(X))

    def _learn(self, sample):
        tested = None if self.interval == "t" else self.significance
        self.statistics_ = node_statistics(sample, tested)
        self.intervals_ = confidence_intervals(self.tree_, self.statistics_, self)
        self._derive()
        if not self.intervals_.takes_part.any():
            warnings.warn(
                f"No test of the tree can be checked with interval={self.interval!r}, "
                f"minimum={self.minimum!r} and m={self.m:g}; the probabilities are the tree's.",
                UserWarning,
                stacklevel=3,
            )

    def _derive(self):
        """What scoring needs, from the statistics and intervals."""
        tree = self.tree_
        self._program = self._make_program()
        self._strict = bool((tree.missing[tree.kind != LEAF] == ERROR).any())

    def check_loaded(self):  # noqa: D102 - inherited
        super().check_loaded()
        check_learned(self.tree_, self.statistics_, self.intervals_)
        self._derive()

    def _make_program(self):
        """The arrays that ``walk_rows`` reads, named and laid out as there."""
        tree, statistics, intervals = self.tree_, self.statistics_, self.intervals_
        n_classes = len(self.classes_)
        share = statistics.reached[0] / statistics.reached[0].sum()
        class_weight = fine_scale = np.ones(n_classes)
        if self.balance:
            with np.errstate(divide="ignore"):
                class_weight = np.where(share > 0, 1 / (n_classes * share), 0.0)
            fine_scale = n_classes * share
        # smoothed_nodes divides once more, which can cost the last bit of the tree's answer.
        raw = self.smoothing == "raw"
        self._leaf_value = (
            tree.proportions
            if raw
            else smoothed_nodes(tree, self.smoothing, strength=self.strength)
        )
        self._route_weight = route_weights(statistics, self, class_weight)
        self._characteristic = characteristic_categories(tree, statistics, intervals, self)
        bounds = [intervals.low[0], intervals.high[0], intervals.low[1], intervals.high[1]]
        program = (
            _steps(tree, intervals.takes_part),
            np.concatenate([tree.child, tree.category_child]).astype(np.int64),
            np.column_stack([tree.threshold, tree.shares]),
            self._leaf_value,
            np.stack([*bounds, self._route_weight, statistics.reached > 0], axis=-1),
            self._characteristic,
            np.stack([np.minimum(self.fine * fine_scale, 1.0), class_weight]),
        )
        scalars = (self.fine_to == "all", tree.compare_dtype == "float32", tree.max_depth + 1)
        return *(np.ascontiguousarray(array) for array in program), *scalars

    def _walk(self, X, out, record=None):
        """Fill ``out`` with the corrected probabilities; return each row's changes and visits."""
        from keeptree._compiled.confdtree import walk_rows

        tally = np.empty((2, len(X)), dtype=np.int64)
        record = np.empty((0, 2)) if record is None else record
        walk_rows(X, *self._program, out, tally, record)
        return tally

    def _plain(self, X, out):
        """Fill ``out`` with the leaf probabilities, before the method changes them."""
        out[:] = leaf_average(self.tree_, X, self._leaf_value)

    def _probability(self, X, out):
        self._check_finite(X)
        if self._strict and np.isnan(X).any():
            self.tree_.route(X)  # says which row has no value for a test without a rule
        changes, _ = self._walk(X, out)
        shared = self.tree_.shared_rows(X)
        same = shared[changes[shared] == 0]
        if len(same):
            # The same sums in the order of the tree's own: equal to the bit.
            out[same] = leaf_average(self.tree_, X[same], self._leaf_value)

    def _affected(self, X, change, out):
        corrected = self.predict_proba_encoded(X)
        plain = np.empty_like(corrected)
        self._plain(X, plain)
        # A tenth of 1 is a little less than 0.1 in floating point.
        out[:] = np.abs(corrected - plain).max(axis=1) >= change - 1e-9


def _steps(tree, takes_part):
    """What ``walk_rows`` asks of each node, in the order of its columns."""
    steps = np.zeros((tree.n_nodes + 1, 6), dtype=np.int64)
    steps[:-1, 0], steps[:-1, 1] = tree.kind, tree.feature
    steps[:, 2], steps[:, 3] = tree.child_start, len(tree.child) + tree.category_start
    steps[:-1, 4], steps[:-1, 5] = tree.missing, takes_part
    return steps
