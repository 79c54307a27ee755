"""The kept tree with soft tests: near a threshold a case belongs to both sides."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from keeptree.data.sample import stratified_part
from keeptree.probability.leaf_splits import LeafSplits, with_hard_tests
from keeptree.probability.refits import RefittedModel, held_out_loss, lift_folds
from keeptree.probability.similar_trees import grow_similar_trees
from keeptree.probability.soft_tests import SoftTests, check_tests, hard_tests, soft_tests
from keeptree.progress import step
from keeptree.savable import expect, expect_number, expect_probabilities, saved_part

STRENGTHS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 1.0)  # tried by strength="cv"
SHRINKAGES = (1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0)  # tried by shrinkage="cv"
_DEFAULT_STRENGTH = 0.2
_DEFAULT_SHRINKAGE = 10.0
_MOST_VISITS = 50_000_000  # nodes times held-out rows; more rows are reduced to a stratified part
# The logistic function 1 / (1 + exp(-1.702 z)) is within 0.01 of the normal distribution function.
_NORMAL = 1.702


@saved_part
@dataclass(frozen=True, eq=False)
class SoftExpert:
    """Soft tests and the probabilities of their nodes, in the order of the tree's classes.

    ``splits`` holds the similar trees beside the kept tree, with hard tests, or is None.
    """

    tests: SoftTests
    strength: float
    shrinkage: float
    values: np.ndarray
    splits: LeafSplits | None = None  # older files have none

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        if self.splits is not None:
            expect(isinstance(self.splits, LeafSplits), "its splits are damaged")
            expect(self.splits.beside, "its splits are not beside the tree")
            self.splits.check(tree)
        check_tests(self.tests, tree if self.splits is None else self.splits.divide(tree))
        expect_number(self.strength, "strength")
        expect_number(self.shrinkage, "shrinkage")
        shape = (len(self.tests.node), len(tree.classes))
        expect_probabilities(self.values, "values", shape)

    def probability(self, X, out):
        """Fill ``out`` with the probabilities of encoded rows."""
        if out.shape[1] != 2:
            self.tests.average(X, slope_of(self.strength), self.values, out)
            return
        second = np.empty((len(X), 1))
        self.tests.average(X, slope_of(self.strength), self.values[:, 1:], second)
        out[:, 1] = second[:, 0]
        np.subtract(1.0, out[:, 1], out=out[:, 0])


def fit_soft(sample, strength=_DEFAULT_STRENGTH, shrinkage=_DEFAULT_SHRINKAGE, similar=False):
    """Soften the tests of a sample's tree by the spread of its columns.

    Parameters
    ----------
    sample : Sample
        The training sample.
    strength, shrinkage : float
        As for :class:`SoftTreeClassifier`.
    similar : bool
        Whether to average the sample's tree with similar trees.

    Returns
    -------
    expert : SoftExpert
    """
    tests = soft_tests(sample) if strength > 0 else hard_tests(sample.tree)
    values, splits = _leaf_values(sample.tree, shrinkage), None
    grown = grow_similar_trees(sample) if similar else None
    if grown is not None:
        splits, others = grown
        tests = with_hard_tests(tests, splits, sample.tree)
        values = np.concatenate([values, values[:1], others])  # the root of the tree has moved
    return SoftExpert(tests, float(strength), float(shrinkage), values[tests.node], splits)


def soft_grid(sample, rows, strengths=STRENGTHS, shrinkages=SHRINKAGES):
    """Probabilities of ``rows`` for all pairs of strengths: shape (n, K, strengths, shrinkages)."""
    tree = sample.tree
    tests, hard, n_classes = soft_tests(sample), hard_tests(tree), len(tree.classes)
    values = np.stack([_leaf_values(tree, shrinkage) for shrinkage in shrinkages], axis=2)
    values = np.ascontiguousarray(values.reshape(tree.n_nodes, -1)[tests.node])
    p = np.empty((len(rows), n_classes, len(strengths), len(shrinkages)))
    out = np.empty((len(rows), values.shape[1]))
    for j, strength in enumerate(strengths):
        (tests if strength > 0 else hard).average(rows, slope_of(strength), values, out)
        p[:, :, j] = out.reshape(len(rows), n_classes, -1)
    return p


@step("Choosing how soft the tests are")
def choose_soft(folds, strengths=STRENGTHS, shrinkages=SHRINKAGES):
    """The pair (strength, shrinkage) with the lowest out-of-fold log-loss; defaults without folds.

    A single candidate is returned as it is.
    """
    if folds is None:
        return (
            strengths[0] if len(strengths) == 1 else _DEFAULT_STRENGTH,
            shrinkages[0] if len(shrinkages) == 1 else _DEFAULT_SHRINKAGE,
        )
    losses = np.zeros((len(strengths), len(shrinkages)))
    for fold in folds:
        test = fold.test.take(stratified_part(fold.test.y, _MOST_VISITS // fold.tree.n_nodes))
        p = soft_grid(fold.train, test.X, strengths, shrinkages)
        losses += held_out_loss(p, test.y, test.weight)
    best = np.unravel_index(np.argmin(losses), losses.shape)
    return strengths[best[0]], shrinkages[best[1]]


class SoftTreeClassifier(RefittedModel):
    """The kept tree with soft tests and shrunk leaves.

    A case near a threshold belongs to both sides of the test, with shares that depend on how near
    it is. Shares are multiplied along each path, and the probability is the average over the
    leaves, weighted by the share of the case in each.

    Parameters
    ----------
    estimator : estimator, Tree or None
        A fitted tree or a :class:`~keeptree.Tree` is kept as it is; an unfitted learner is cloned
        and fitted; None means :class:`~keeptree.C45Classifier`.
    strength : float or "cv", default="cv"
        Width of the soft zone around a threshold, in standard deviations of the attribute; at 0
        the tests are hard. ``"cv"`` chooses it by the out-of-fold log-loss of trees that the same
        learner grows on five folds of the training sample; a ``Tree`` has no learner and uses 0.2.
    shrinkage : float or "cv", default="cv"
        Number of pseudo-cases that each node takes over from its parent (the root: from equal class
        shares); 0 leaves the proportions unchanged. ``"cv"`` as above; 10 without a learner.
    cv : int, splitter, iterable or None, default=None
        Folds of the refits, in the form that scikit-learn's ``cross_validate`` takes; None means
        five stratified folds, with copies of a row in the same fold. Other rows that belong
        together should share a fold as well: ``cv=list(GroupKFold().split(X, y, patient))``.
    decide : {"tree", "probability", "cost"}, default="tree"
        Whether ``predict`` is the tree's decision, the most probable class, or the class with the
        lowest expected cost.
    costs : array-like of shape (n_classes, n_classes), dict or None, default=None
        For ``decide="cost"``: cost of a decision, by true class (row) and decided class
        (column), in the order of ``classes_``; or ``{true class: {decided class: cost}}``, where
        other errors cost 1 and correct decisions 0.
    n_jobs : int or None, default=None
        Number of threads for refitting and scoring.

    Attributes
    ----------
    tree_ : Tree
        The kept tree.
    classes_ : ndarray
        Class labels.
    strength_, shrinkage_ : float
        Values that were used.
    expert_ : SoftExpert
        Spreads and leaf values.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray
        Names of the columns, if X has them.

    Notes
    -----
    With ``strength=0`` and ``shrinkage=0`` the probabilities are those of the tree, bit for bit.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import keeptree as kt
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(X, y)
    >>> model = kt.SoftTreeClassifier(clf).fit(X, y)
    >>> len(set(clf.predict_proba(X)[:, 1])), len(set(model.predict_proba(X)[:, 1])) > 500
    (5, True)
    """

    _parameter_constraints = {
        **RefittedModel._parameter_constraints,
        "strength": [StrOptions({"cv"}), Interval(Real, 0, None, closed="left")],
        "shrinkage": [StrOptions({"cv"}), Interval(Real, 0, None, closed="left")],
    }
    saved_fields = ("expert_",)

    def __init__(
        self,
        estimator: Any = None,
        strength: float | Literal["cv"] = "cv",
        shrinkage: float | Literal["cv"] = "cv",
        *,
        cv: Any = None,
        decide: Literal["tree", "probability", "cost"] = "tree",
        costs: ArrayLike | dict[Any, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.strength = strength
        self.shrinkage = shrinkage
        self.cv = cv
        self.decide = decide
        self.costs = costs
        self.n_jobs = n_jobs

    @property
    def strength_(self) -> float:
        """Width of the soft zones."""
        return self.expert_.strength

    @property
    def shrinkage_(self) -> float:
        """Strength of the shrinkage of the leaves."""
        return self.expert_.shrinkage

    def _refits(self):
        return "cv" in (self.strength, self.shrinkage)

    def _learn(self, sample, folds):
        strengths = STRENGTHS if self.strength == "cv" else (float(self.strength),)
        shrinkages = SHRINKAGES if self.shrinkage == "cv" else (float(self.shrinkage),)
        chosen = choose_soft(lift_folds(folds), strengths, shrinkages)
        self.expert_ = fit_soft(sample.lifted, *chosen)

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        expect(isinstance(self.expert_, SoftExpert), "it has no soft tests")
        self.expert_.check(self.tree_.lifted)

    def _probability(self, X, out):
        self._check_rows(X)
        if self.strength_ == 0:
            out[:] = self.tree_.leaf_average(X, _leaf_values(self.tree_, self.shrinkage_))
        else:
            self.expert_.probability(self.tree_.lift(X), out)


def slope_of(strength):
    """Slope of the logistic curve that approximates a normal error of this strength."""
    return _NORMAL / strength if strength > 0 else np.inf


def _leaf_values(tree, shrinkage):
    """Probabilities of the nodes: m-estimates with the parent node as prior.

    Without shrinkage they equal the tree's own to the bit.
    """
    if shrinkage == 0:
        return tree.proportions
    values = tree.counts + 1
    values /= values.sum(axis=1, keepdims=True)
    for nodes in tree.levels[1:]:
        pseudo = tree.counts[nodes] + shrinkage * values[tree.parent[nodes]]
        values[nodes] = pseudo / pseudo.sum(axis=1, keepdims=True)
    return values
