"""A ridge-logistic model of how clearly a case passes each test of the kept tree."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from keeptree._compiled.soft import add_margins, logits_to_shares
from keeptree.annotations import Floats
from keeptree.data.sample import stratified_part
from keeptree.probability.further_tests import grow_rules, is_large, split_quantiles
from keeptree.probability.leaf_splits import LeafSplits
from keeptree.probability.margin_tests import PARTS, MarginTests
from keeptree.probability.refits import RefittedModel, held_out_loss, lift_folds
from keeptree.probability.soft_tests import SCALES, SoftTests, check_tests
from keeptree.progress import step
from keeptree.savable import expect, expect_array, expect_number, saved_part
from keeptree.tree import LEAF, NUMERIC

PENALTIES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # tried by C="cv"
_DEFAULT_C = 0.03
_JUDGES = 3  # folds that decide whether rules are used
_MOST_TRIED = 5  # penalties tried with rules
_WEAK = 0.2  # penalties above are approached from stronger ones
ON_FOLDS = 1e-3  # tolerance where settings and weights are chosen
_MOST_NUMBERS = 30_000_000  # size limit of the feature matrix; more rows are reduced to a part


@saved_part
@dataclass(frozen=True, eq=False)
class MarginExpert:
    """Scores of the nodes of ``tests``; the logit of a row is their sum weighted by its shares.

    ``side`` is weighted by the share that each test alone gives the node, at two slopes; ``reach``
    by the share that reaches the node; ``path`` holds the sums of ``reach`` down to each node.
    ``centre`` is the mean over the training sample of what each test adds. The last axis has one
    logit for two classes, otherwise one per class. ``splits`` are further tests, stored as splits
    of leaves, or None. Contributions count them with the tree's test of the same column
    whose threshold is nearest, or by column if the tree does not test it.
    """

    tests: SoftTests
    C: float
    side: np.ndarray
    reach: np.ndarray
    path: np.ndarray
    centre: np.ndarray
    intercept: np.ndarray
    splits: LeafSplits | None = None  # older files have none

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        if self.splits is not None:
            expect(isinstance(self.splits, LeafSplits), "its splits are damaged")
            self.splits.check(tree)
        check_tests(self.tests, tree if self.splits is None else self.splits.divide(tree))
        expect_number(self.C, "C")
        n_classes, n = len(tree.classes), len(self.tests.node)
        width = 1 if n_classes == 2 else n_classes
        expect_array(self.intercept, "intercept", np.float64, (width,))
        expect_array(self.side, "side", np.float64, (len(PARTS) - 1, n, width))
        for name in ("reach", "path", "centre"):
            expect_array(getattr(self, name), name, np.float64, (n, width))

    def logit(self, X, out=None):
        """Logits of encoded rows: shape (n, 1) for two classes, else (n, n_classes)."""
        out = np.empty((len(X), len(self.intercept))) if out is None else out
        out[:] = self.intercept
        steep = self.tests.steep(PARTS[1][0])
        add_margins(X, self.tests.arrays, steep, self.side, self.path, out)
        return out

    def probability(self, X, out):
        """Fill ``out`` with the probabilities of encoded rows."""
        logits_to_shares(self.logit(X), out)

    def asked(self, tree):
        """Return what contributions are counted by: the tree's tests, then columns it has none for.

        Returns
        -------
        asked : Asked
        """
        at = np.flatnonzero(self.tests.kind != LEAF)
        node = self.tests.node[at].copy()
        if self.splits is not None and self.splits.beside:
            node[node == tree.n_nodes] = 0  # the root
        column = self.tests.columns[self.tests.column[at]]
        own = np.isin(node, np.flatnonzero(tree.kind != LEAF))
        for k in np.flatnonzero(~own):
            same = np.flatnonzero((tree.kind == NUMERIC) & (tree.feature == column[k]))
            gap = np.abs(tree.threshold[same] - self.tests.threshold[at[k]])
            node[k] = same[np.argmin(gap)] if len(same) else tree.n_nodes + column[k]
        node, first, place = np.unique(node, return_index=True, return_inverse=True)
        return Asked(np.where(node < tree.n_nodes, node, -1), column[first], place)

    def contributions(self, X, tree):
        """Return what each ``asked`` part adds relative to ``centre``: (n, n_tests, n_logits)."""
        tests = self.tests
        added = np.zeros((len(tests.kind), len(X), len(self.intercept)))
        for part, scores in zip(PARTS, (*self.side, self.reach), strict=True):
            np.add.at(added, tests.parent, tests.shares(X, *part)[:, :, None] * scores[:, None])
        added -= self.centre[:, None]
        asked = self.asked(tree)
        total = np.zeros((len(asked.node), *added.shape[1:]))
        np.add.at(total, asked.place, added[tests.kind != LEAF])
        return total.transpose(1, 0, 2)


class Asked(NamedTuple):
    """What the contributions of a margin expert are counted by.

    ``node`` holds the sorted numbers of the tree's tests, and then -1 for each column that the tree
    does not test. ``column`` holds the column of each. ``place`` is the position in ``node`` that
    each soft test belongs to.
    """

    node: np.ndarray
    column: np.ndarray
    place: np.ndarray


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each test adds to the logit of each row, relative to the mean training case.

    Attributes
    ----------
    node : ndarray of shape (n_tests,)
        Nodes of the tree whose tests are used.
    value : ndarray of shape (n, n_tests) or (n, n_tests, n_classes)
        Added to the logit of ``classes_[1]`` with two classes, otherwise to that of each class.
    intercept : float or ndarray of shape (n_classes,)
        Logit of the mean training case: ``intercept + value.sum(axis=1)`` is ``decision_function``.
    """

    node: np.ndarray
    value: np.ndarray
    intercept: np.ndarray


def fit_margin(sample, C=_DEFAULT_C, scale=SCALES[0], further=None, tolerance=1e-6):
    """Fit the logistic model on the tests of a sample's tree.

    ``scale`` is that of :func:`~keeptree.probability.soft_tests.soft_tests`. ``further`` names the
    further tests: "rules", "quantiles" or None. ``tolerance`` is that of ``RidgeLogistic.fit``.

    Returns
    -------
    expert : MarginExpert
    """
    asked = MarginTests(sample, _FURTHER[further](sample), scale)
    tests, nodes = asked.tests, asked.nodes
    widths = [len(node) for node in nodes]
    rows = stratified_part(sample.y, _MOST_NUMBERS // (sum(widths) + 1))
    problem = asked.logistic(sample.take(rows), C)
    for stronger in (C / 100, C / 10) if C > _WEAK else ():
        problem.fit(stronger, 1e-2)  # a weak penalty takes fewer steps from these solutions
    linear = problem.fit(C, tolerance)
    ends = np.cumsum(widths)[:-1]
    scores = np.zeros((len(PARTS), len(tests.kind), len(linear.intercept)))
    centre = np.zeros_like(scores[0])
    parts = np.split(linear.coef, ends), np.split(problem.mean, ends)
    for part, (node, coef, mean) in enumerate(zip(nodes, *parts, strict=True)):
        scores[part, node] = coef
        np.add.at(centre, tests.parent[node], mean[:, None] * coef)
    path = scores[-1].copy()
    for i in range(len(path) - 2, -1, -1):
        path[i] += path[tests.parent[i]]
    side, reach = scores[:-1], scores[-1]
    return MarginExpert(tests, float(C), side, reach, path, centre, linear.intercept, asked.splits)


_FURTHER = {None: lambda sample: None, "quantiles": split_quantiles, "rules": grow_rules}


@step("Choosing the strength of the margins")
def choose_margin(folds, penalties=PENALTIES):
    """Return the settings (C, scale, further tests) with the lowest out-of-fold log-loss.

    A single C is not changed. A small sample uses quantiles, a large one may use rules. Without
    folds the other settings are the defaults.
    """
    if folds is None:
        return penalties[0] if len(penalties) == 1 else _DEFAULT_C, SCALES[0], None
    losses, tried = {}, penalties
    has_rules = is_large(folds[0].train) and (folds[0].tree.kind == NUMERIC).any()
    further = None if has_rules else "quantiles"
    splits = [_FURTHER[further](fold.train) for fold in folds]
    for scale in SCALES:
        found = _losses(folds, splits, tried, scale)
        losses |= {(C, scale): loss for C, loss in zip(tried, found.T, strict=True)}
        best = penalties.index(tried[int(np.argmin(found.sum(axis=0)))])
        tried = penalties[max(best - 1, 0) : best + 2]  # the other scale needs a similar C
    C, scale = min(losses, key=lambda setting: losses[setting].sum())
    rules = [grow_rules(fold.train) for fold in folds[:_JUDGES]]
    if any(rule is None for rule in rules):
        return C, scale, further
    tried = penalties[: penalties.index(C) + 1]  # more tests need at least this penalty
    found = _losses(folds[:_JUDGES], rules, tried[-_MOST_TRIED:], scale).sum(axis=0)
    if found.min() < losses[C, scale][:_JUDGES].sum():
        return tried[-_MOST_TRIED:][int(np.argmin(found))], scale, "rules"
    return C, scale, further


def _losses(folds, splits, penalties, scale):
    """Return the held-out log-loss of each fold for each C, with further tests of each fold."""
    pairs = zip(folds, splits, strict=True)
    return np.array([_fold_losses(fold, split, penalties, scale) for fold, split in pairs])


def _fold_losses(fold, splits, penalties, scale):
    asked = MarginTests(fold.train, splits, scale)
    problem = asked.logistic(fold.train, max(penalties))
    held, p = asked.features(fold.test.X), np.empty((len(fold.rows), len(fold.tree.classes)))
    losses = np.empty(len(penalties))
    for j, C in enumerate(penalties):
        linear = problem.fit(C, ON_FOLDS)
        logits_to_shares(held @ linear.coef + linear.intercept, p)
        losses[j] = held_out_loss(p, fold.test.y, fold.test.weight)
    return losses


class MarginTreeClassifier(RefittedModel):
    """A ridge-logistic model on the kept tree's own tests.

    The features are how clearly a case passes each test of the tree, whether or not the case
    reaches that test, and how much of the case reaches each side when the tests are soft. The
    logistic model shows which tests raised or lowered the probability of a case.

    Parameters
    ----------
    estimator : estimator, Tree or None
        A fitted tree or a :class:`~keeptree.Tree` is kept as it is; an unfitted learner is cloned
        and fitted; None means :class:`~keeptree.C45Classifier`.
    C : float or "cv", default="cv"
        Inverse strength of the ridge penalty on the standardised features. ``"cv"`` chooses it by
        the out-of-fold log-loss of trees that the same learner grows on five folds of the training
        sample. A ``Tree`` has no learner; its C is 0.03.
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
    C_ : float
        Inverse strength of the penalty that was used.
    expert_ : MarginExpert
        The scores of the tests.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray
        Names of the columns, if X has them.

    Notes
    -----
    Tests of nodes with fewer than ten training cases are not used, and a tree with more than 200
    tests uses those of its heaviest nodes. With ``C="cv"`` the refitted trees also choose whether a
    test is measured in standard deviations of its attribute or in normal scores, which depend only
    on the order of the values. Further tests use attributes that the tree tests: in a small sample
    they compare each attribute with five of its quantiles; if the folds have at least 4000 rows,
    the refitted trees choose whether to use rules, the paths of small boosted trees.
    :meth:`contributions` counts further tests with the tree's nearest test of the same attribute.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import keeptree as kt
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(X, y)
    >>> model = kt.MarginTreeClassifier(clf).fit(X, y)
    >>> parts = model.contributions(X[:1])
    >>> bool(abs(parts.intercept + parts.value.sum() - model.decision_function(X[:1])[0]) < 1e-9)
    True
    """

    _parameter_constraints = {
        **RefittedModel._parameter_constraints,
        "C": [StrOptions({"cv"}), Interval(Real, 0, None, closed="neither")],
    }
    saved_fields = ("expert_",)

    def __init__(
        self,
        estimator: Any = None,
        C: float | Literal["cv"] = "cv",
        *,
        cv: Any = None,
        decide: Literal["tree", "probability", "cost"] = "tree",
        costs: ArrayLike | dict[Any, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.C = C
        self.cv = cv
        self.decide = decide
        self.costs = costs
        self.n_jobs = n_jobs

    @property
    def C_(self) -> float:  # noqa: N802 - scikit-learn's name
        """Inverse strength of the penalty."""
        return self.expert_.C

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the logits.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        logit : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes the logit of ``classes_[1]``.
        """
        check_is_fitted(self)
        return _shown(self._map(X, self._logit, self.expert_.intercept.shape))

    def contributions(self, X: ArrayLike) -> Contributions:
        """Return what each test adds to the logit of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to explain.

        Returns
        -------
        parts : Contributions
            ``parts.intercept + parts.value.sum(axis=1)`` is :meth:`decision_function`.
        """
        return self.contributions_encoded(self.encode(X))

    def contributions_encoded(self, rows: NDArray[Any]) -> Contributions:
        """:meth:`contributions` for rows that :meth:`encode` returned."""
        expert = self.expert_
        node = expert.asked(self.tree_.lifted).node

        def fill(rows, out):
            self._check_rows(rows)
            out[:] = expert.contributions(self.tree_.lift(rows), self.tree_.lifted)

        value = self._map_encoded(rows, fill, (len(node), len(expert.intercept)))
        mean = expert.intercept + expert.centre.sum(axis=0)
        return Contributions(node, _shown(value), _shown(mean[None])[0])

    def _refits(self):
        return self.C == "cv"

    def _learn(self, sample, folds):
        penalties = PENALTIES if self.C == "cv" else (float(self.C),)
        chosen = choose_margin(lift_folds(folds), penalties)
        self.expert_ = fit_margin(sample.lifted, *chosen)

    def _logit(self, X, out):
        self._check_rows(X)
        self.expert_.logit(self.tree_.lift(X), out)

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        expect(isinstance(self.expert_, MarginExpert), "it has no margins")
        self.expert_.check(self.tree_.lifted)

    def _probability(self, X, out):
        self._check_rows(X)
        self.expert_.probability(self.tree_.lift(X), out)


def _shown(logits):
    """Return the logits of all classes, or of the second of two classes."""
    return logits[..., 0] if logits.shape[-1] == 1 else logits
