"""Distance-based kernel probabilities (Alvarez, Bernard and Deffuant 2007)."""

from itertools import pairwise
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from keeptree.annotations import Floats
from keeptree.geometry.boundary import Boundary
from keeptree.geometry.metric import Metric
from keeptree.probability.base import class_code
from keeptree.probability.density import KERNELS, choose_bandwidth, kernel_tables
from keeptree.probability.distance_curves import DistanceCurves
from keeptree.probability.plane import KernelPlanes, Projector, fit_planes
from keeptree.probability.probabilistic import ProbabilityModel
from keeptree.probability.smoothing import smoothed_nodes
from keeptree.savable import expect, expect_array

# Fractions of the range that bandwidth="cv" tries.
_FRACTIONS = np.array([0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3])


class DistanceKernelClassifier(ProbabilityModel):
    """Class probabilities from the distance to the kept tree's decision boundary.

    The method uses a single feature: the algebraic distance h_c of a case to the boundary of class
    c, negative inside the class. The probability of c is the share of class c among the training
    cases, weighted by a kernel of their difference in h_c. With several classes, each is estimated
    against the rest, and the estimates are normalised.

    With ``features="distance+separator"``, suggested in the paper's outlook, a second feature gives
    the position of the case along the boundary, and the kernel estimate is two-dimensional.

    Parameters
    ----------
    estimator : estimator, Tree or None
        A fitted tree or a :class:`~keeptree.Tree` is kept as it is; an unfitted learner is cloned
        and fitted; None means :class:`~keeptree.C45Classifier`.
    scope : {"global", "separator", "leaf"}, default="global"
        Which training cases are compared with a case: all; those that project on the same
        separator, the test of the tree that defines the nearest piece of the boundary; or those
        of the same leaf, which the paper advises against.
    metric : {"standard", "minmax"} or Metric, default="standard"
        How distances are measured.
    grid : "observed", dict or None, default="observed"
        Which numbers are possible. ``"observed"``: those with the precision seen in the training
        sample (whole numbers stay whole). A dict: multiples of your own steps. None: all numbers,
        so that distances end at the thresholds, as in the papers. See :class:`~keeptree.Boundary`.
    bandwidth : float or "cv", default=0.1
        Width of the kernel. ``"cv"`` chooses the fraction of the range with the lowest
        leave-one-out log-loss. A Gaussian narrower than 1/65536 of the range raises an error.
    bandwidth_unit : {"range", "distance"}, default="range"
        Whether ``bandwidth`` is a fraction of the range of h_c over the training sample, or a
        distance in the metric.
    kernel : {"gaussian", "epanechnikov", "triangular", "uniform"}, default="gaussian"
        The bandwidth is the standard deviation of the Gaussian and the half width of the others;
        ``"uniform"`` is the Parzen window.
    features : {"distance", "distance+separator"}, default="distance"
        ``"distance"`` is the paper's method. ``"distance+separator"`` adds the position of the
        projection on the boundary, along the direction in which the class differs most from the
        others there; it needs ``kernel="gaussian"`` and uses the same ``bandwidth`` and unit.
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
    boundary_ : Boundary
        Decision boundary of the tree.
    classes_ : ndarray
        Class labels.
    bandwidth_ : ndarray of shape (n_classes,)
        Width of the kernel for each class, as a distance; NaN for a class without an estimate.
    curves_ : DistanceCurves, KernelPlanes or None
        Class shares against the features; None if the tree predicts one class only.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray
        Names of the columns, if X has them.

    Notes
    -----
    A class that no leaf predicts has no boundary, so its prior is used. A tree that predicts only
    one class has no boundary at all, so Laplace-smoothed leaves are used. A separator or leaf
    without training cases falls back on all of them. Far from all cases, the nearest ones determine
    the estimate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import keeptree as kt
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(X, y)
    >>> model = kt.DistanceKernelClassifier(clf).fit(X, y)
    >>> model.predict_proba(X[:2]).round(3)
    array([[0.144, 0.856],
           [0.756, 0.244]])

    The position along the boundary changes the estimate:

    >>> plane = kt.DistanceKernelClassifier(clf, features="distance+separator").fit(X, y)
    >>> plane.predict_proba(X[:2]).round(3)
    array([[0.988, 0.012],
           [0.971, 0.029]])
    """

    saved_fields = ("boundary_", "bandwidth_", "curves_")
    _parameter_constraints = {
        **ProbabilityModel._parameter_constraints,
        "scope": [StrOptions({"global", "separator", "leaf"})],
        "metric": [StrOptions({"standard", "minmax"}), Metric],
        "grid": [StrOptions({"observed"}), dict, None],
        "bandwidth": [StrOptions({"cv"}), Interval(Real, 0, None, closed="neither")],
        "bandwidth_unit": [StrOptions({"range", "distance"})],
        "kernel": [StrOptions(set(KERNELS))],
        "features": [StrOptions({"distance", "distance+separator"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        scope: Literal["global", "separator", "leaf"] = "global",
        *,
        metric: Literal["standard", "minmax"] | Metric = "standard",
        grid: Literal["observed"] | dict[Any, float] | None = "observed",
        bandwidth: float | Literal["cv"] = 0.1,
        bandwidth_unit: Literal["range", "distance"] = "range",
        kernel: Literal["gaussian", "epanechnikov", "triangular", "uniform"] = "gaussian",
        features: Literal["distance", "distance+separator"] = "distance",
        decide: Literal["tree", "probability", "cost"] = "tree",
        costs: ArrayLike | dict[Any, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.scope = scope
        self.metric = metric
        self.grid = grid
        self.bandwidth = bandwidth
        self.bandwidth_unit = bandwidth_unit
        self.kernel = kernel
        self.features = features
        self.decide = decide
        self.costs = costs
        self.n_jobs = n_jobs

    def curve(self, distance: ArrayLike, label: Any) -> Floats:
        """Return the share of a class against the distance to its boundary.

        This is the curve of the paper's Figure 1: the class against the rest, among all training
        cases. With two classes and the global scope it is the probability; with more classes, the
        probabilities are the normalised shares.

        Parameters
        ----------
        distance : array-like of shape (n,)
            Algebraic distances to the boundary of the class, negative inside, as in
            :meth:`Boundary.signed_distance`; infinite ones give the limit.
        label : label
            The class.

        Returns
        -------
        share : ndarray of shape (n,)
            Share of the class, between 0 and 1.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> import keeptree as kt
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = kt.DistanceKernelClassifier().fit(X, y)
        >>> model.curve([-0.5, 0.0, 0.5], label=1).round(3)
        array([0.898, 0.705, 0.368])
        """
        check_is_fitted(self)
        distance = np.asarray(distance, dtype=float)
        if distance.ndim != 1:
            raise ValueError(
                f"distance has {distance.ndim} dimensions; give one distance per case."
            )
        if self.features != "distance":
            raise ValueError(
                'With features="distance+separator" the share does not depend on the distance '
                "alone; use predict_proba."
            )
        c = class_code(label, self.tree_.classes)
        if self.curves_ is None or c not in self.boundary_.region_classes_:
            raise ValueError(
                f"Class {label!r} has no boundary in this tree, hence no curve; use predict_proba."
            )
        return self.curves_.share(distance, c)

    def _validate_params(self):
        super()._validate_params()
        if self.features != "distance" and self.kernel != "gaussian":
            raise ValueError(
                f'features="distance+separator" needs kernel="gaussian", got {self.kernel!r}.'
            )

    def _learn(self, sample):
        n_classes = len(self.classes_)
        self.boundary_ = Boundary(self.tree_, self.metric, grid=self.grid).fit_sample(sample)
        self.bandwidth_, self.curves_ = np.full(n_classes, np.nan), None
        estimated = self.boundary_.region_classes_
        if len(estimated) < 2:
            return
        if n_classes == 2:
            # With two classes h_1 = -h_0, so one estimate is one minus the other.
            estimated = estimated[:1]
        present = sample.present
        h = self.boundary_.algebraic_distance(present.X)
        curve, cases, starts = self._group(present.X)
        h, y, weight = h[cases], present.y[cases], present.weight[cases]
        # Each column of h has its own curve.
        h = np.asfortranarray(h[:, estimated], dtype=float)
        in_class = (weight * (y == estimated[:, None])).T
        if self.features == "distance":
            width, tables = self._estimate_curves(h, in_class, weight, starts)
            self.curves_ = DistanceCurves(tables, estimated, curve, sample.class_share)
        else:
            places = Projector.of(self.boundary_).places(present.X)[cases]
            width, planes = self._estimate_planes(h, places, in_class, weight, starts)
            self.curves_ = KernelPlanes(
                **planes, estimated=estimated, group=curve, prior=sample.class_share
            )
        self.bandwidth_[estimated if n_classes > 2 else slice(None)] = width

    def _estimate_curves(self, h, in_class, weight, starts):
        """Return the bandwidth of each class, and the curves."""
        width = [
            self._choose_width(h[:, j], in_class[:, j], weight, starts) for j in range(h.shape[1])
        ]
        column = np.reshape(width, (-1, 1))
        return width, kernel_tables(h, in_class, weight, starts, column, self.kernel)

    def _estimate_planes(self, h, places, in_class, weight, starts):
        """Return the bandwidth of each class, and the planes."""
        groups = [np.arange(first, end) for first, end in pairwise(starts)]
        chosen = self.bandwidth == "cv"
        fractions = _FRACTIONS if chosen else [self.bandwidth]
        unit = "range" if chosen else self.bandwidth_unit
        planes, width = fit_planes(h, places, in_class, weight, groups, fractions, unit)
        return width, planes

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        self.boundary_.check_tree(self.tree_)
        if self.boundary_.grid_ is None:  # models saved by older versions measure to the thresholds
            self.grid = None
        n_classes = len(self.classes_)
        expect_array(self.bandwidth_, "bandwidth_", np.float64, (n_classes,), finite=False)
        if self.curves_ is None:
            return
        if self.features == "distance":
            expect(isinstance(self.curves_, DistanceCurves), "it has no curves")
            self.curves_.check(self.tree_)
        else:
            expect(isinstance(self.curves_, KernelPlanes), "it has no planes")
            self.curves_.check(self.tree_, Projector.of(self.boundary_).columns)

    def _group(self, X):
        """Return the curve of each node, the cases of all curves, and the first case of each curve.

        Curve 0 is that of all cases; those of the groups follow.
        """
        curve = np.zeros(self.tree_.n_nodes + 1, dtype=np.int64)
        if self.scope == "global":
            return curve, slice(None), np.array([0, len(X)])
        node = self._group_node(X)
        groups, sizes = np.unique(node, return_counts=True)
        curve[groups] = np.arange(1, len(groups) + 1)
        curve[-1] = 0  # index -1: a row without a separator
        starts = np.concatenate([[0], np.cumsum([len(X), *sizes])])
        return curve, np.concatenate([np.arange(len(X)), np.argsort(node, kind="stable")]), starts

    def _group_node(self, X):
        """Return the node that defines the group of each row: its separator (or -1) or leaf."""
        if self.scope == "global":
            return None
        if self.scope == "leaf":
            return self.tree_.route(X)
        return self.boundary_.nearest_separators(X)[1]

    def _choose_width(self, h, in_class, weight, starts):
        """Return the bandwidth of one class as a distance."""
        spread = float(np.ptp(h)) or 1.0
        if self.bandwidth != "cv":
            return self.bandwidth * (1.0 if self.bandwidth_unit == "distance" else spread)
        # If there are groups, scoring uses only their curves.
        used = starts[min(1, len(starts) - 2) :]
        return choose_bandwidth(h, in_class, weight, used, _FRACTIONS * spread, self.kernel)

    def _probability(self, X, out):
        if self.curves_ is None:
            leaves = smoothed_nodes(self.tree_, "laplace")
            out[:] = self.tree_.leaf_average(self._check_finite(X), leaves)
            return
        node, h = self._group_node(X), self.boundary_.algebraic_distance(X)
        if self.features == "distance":
            self.curves_.classify(h, node, out)
        else:
            self.curves_.classify(h, Projector.of(self.boundary_).places(X), node, out)
