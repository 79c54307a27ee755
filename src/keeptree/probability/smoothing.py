"""Smoothed leaf probabilities: Laplace, m-estimate, hierarchical shrinkage."""

import warnings
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from keeptree.probability.refits import RefittedModel, held_out_loss
from keeptree.savable import expect_probabilities
from keeptree.tree import Tree

# Strengths that strength="cv" tries.
_STRENGTHS = (0.1, 1.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0)
_DEFAULT_STRENGTH = 10.0


def leaves(tree, m, strength):
    """Return the class proportions of each node."""
    return tree.proportions


def laplace(tree, m, strength):
    """Return (k + 1) / (n + C) for k cases of a class among n in a node, with C classes."""
    return tree.filled_counts + 1


def m_estimate(tree, m, strength):
    """Return (k + m p) / (n + m) for a prior p; ``"auto"`` makes m p = 10 for the rarest class.

    Zadrozny and Elkan (2001) choose m so that m times the prior of the class of interest is 10.
    """
    prior = tree.proportions[0]
    m = 10 / prior[prior > 0].min() if m == "auto" else m
    return tree.filled_counts + m * prior


def shrinkage(tree, m, strength):
    """Return the probabilities of hierarchical shrinkage (Agarwal et al. 2022).

    From the root down, each change from a node to its child is divided by ``1 + strength /
    n(node)``.
    """
    shrunk = tree.proportions.copy()
    for nodes in tree.levels[1:]:
        up = tree.parent[nodes]
        step = tree.proportions[nodes] - tree.proportions[up]
        weight = tree.filled_counts[up].sum(axis=1, keepdims=True)
        shrunk[nodes] = shrunk[up] + step * weight / (weight + strength)
    return np.maximum(shrunk, 0)  # rounding can make tiny shares slightly negative


_SMOOTHINGS = {
    "leaves": leaves,
    "laplace": laplace,
    "m-estimate": m_estimate,
    "shrinkage": shrinkage,
}


def smoothed_nodes(tree, smoothing="laplace", m="auto", strength=_DEFAULT_STRENGTH):
    """Return smoothed class probabilities of every node, from the tree's own counts.

    Parameters
    ----------
    tree : Tree
        A classification tree.
    smoothing : {"leaves", "laplace", "m-estimate", "shrinkage"}
        Kind of smoothing.
    m : "auto" or float
        Parameter of the m-estimate.
    strength : float
        Strength of the shrinkage.

    Returns
    -------
    p : ndarray of shape (n_nodes, n_classes)
        Probabilities; columns in the order of ``tree.classes``.
    """
    p = _SMOOTHINGS[smoothing](tree, m, strength)
    return p / p.sum(axis=1, keepdims=True)


class SmoothedTreeClassifier(RefittedModel):
    """The kept tree with smoothed leaf probabilities.

    Smoothing moves the biased proportions of small leaves towards the prior. The probabilities
    stay constant over each leaf.

    Parameters
    ----------
    estimator : estimator, Tree or None
        A fitted tree or a :class:`~keeptree.Tree` is kept as it is; an unfitted learner is cloned
        and fitted; None means :class:`~keeptree.C45Classifier`.
    smoothing : {"laplace", "m-estimate", "shrinkage", "leaves"}, default="laplace"
        ``"laplace"`` is (k + 1) / (n + C). ``"m-estimate"`` is (k + m p) / (n + m) with the prior
        p. ``"shrinkage"`` pulls each node towards its ancestors (Agarwal et al. 2022). ``"leaves"``
        is the tree's own k / n.
    m : "auto" or float, default="auto"
        Weight of the prior in the m-estimate; ``"auto"`` makes m p = 10 for the rarest class
        (Zadrozny and Elkan 2001).
    strength : float or "cv", default=10.0
        Strength of the shrinkage. ``"cv"`` chooses it by the out-of-fold log-loss of trees that
        the same learner grows on five folds of the training sample.
    cv : int, splitter, iterable or None, default=None
        Folds of the refits, in the form that scikit-learn's ``cross_validate`` accepts. None means
        five stratified folds, with copies of a row in the same fold. If other rows belong together,
        such as those of one patient, give folds that keep them together:
        ``cv=list(GroupKFold().split(X, y, patient))``.
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
    classes_ : ndarray
        Class labels.
    strength_ : float
        Strength used by the shrinkage.
    node_probabilities_ : ndarray of shape (n_nodes, n_classes)
        Smoothed probabilities of every node; columns in the order of ``tree_.classes``.
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
    >>> model = kt.SmoothedTreeClassifier(clf).fit(X, y)
    >>> model.predict_proba(X[:1]).round(3)
    array([[0.474, 0.526]])
    """

    saved_fields = ("strength_", "node_probabilities_")
    _parameter_constraints = {
        **RefittedModel._parameter_constraints,
        "smoothing": [StrOptions(set(_SMOOTHINGS))],
        "m": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "strength": [StrOptions({"cv"}), Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        smoothing: Literal["leaves", "laplace", "m-estimate", "shrinkage"] = "laplace",
        *,
        m: float | Literal["auto"] = "auto",
        strength: float | Literal["cv"] = _DEFAULT_STRENGTH,
        cv: Any = None,
        decide: Literal["tree", "probability", "cost"] = "tree",
        costs: ArrayLike | dict[Any, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.smoothing = smoothing
        self.m = m
        self.strength = strength
        self.cv = cv
        self.decide = decide
        self.costs = costs
        self.n_jobs = n_jobs

    def _refits(self):
        return self.smoothing == "shrinkage" and self.strength == "cv"

    def _learn(self, sample, folds):
        """Choose the strength; everything else comes from the tree's own counts."""
        if folds is not None:
            self.strength_ = _choose_strength(folds)
        elif self._refits() and isinstance(self.estimator, Tree):
            warnings.warn(
                'strength="cv" needs trees refitted on folds, but a Tree has no learner; '
                f"{_DEFAULT_STRENGTH:g} is used.",
                UserWarning,
                stacklevel=3,
            )
            self.strength_ = _DEFAULT_STRENGTH
        else:
            self.strength_ = _DEFAULT_STRENGTH if self.strength == "cv" else float(self.strength)
        self.node_probabilities_ = smoothed_nodes(
            self.tree_, self.smoothing, m=self.m, strength=self.strength_
        )

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        shape = self.tree_.counts.shape
        expect_probabilities(self.node_probabilities_, "node_probabilities_", shape)

    def _probability(self, X, out):
        out[:] = self.tree_.leaf_average(self._check_finite(X), self.node_probabilities_)


def _choose_strength(folds):
    """Return the strength with the lowest out-of-fold log-loss."""
    losses = np.zeros(len(_STRENGTHS))
    for fold in folds:
        nodes = [smoothed_nodes(fold.tree, "shrinkage", strength=s) for s in _STRENGTHS]
        p = [fold.tree.leaf_average(fold.test.X, values) for values in nodes]
        losses += held_out_loss(np.stack(p, axis=2), fold.test.y, fold.test.weight)
    return _STRENGTHS[int(np.argmin(losses))]
