"""The recommended classifier: the kept tree decides, three experts estimate the probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions

from keeptree.data.labels import plain
from keeptree.data.sample import stratified_part
from keeptree.probability.case_spread import MOST_PROBES, CaseSpread, measure_spread
from keeptree.probability.expectation import Scored
from keeptree.probability.kernel_expert import KernelExpert, fit_kernel, unseen
from keeptree.probability.margin_choice import choose_margin, fit_on_fold
from keeptree.probability.margin_expert import MarginExpert, fit_margin
from keeptree.probability.more_columns import check_more
from keeptree.probability.pool import (
    Pool,
    fit_pool,
    make_coherent,
    smoothed_prior,
)
from keeptree.probability.refits import Fold, RefittedModel, folds_reading, lift_folds
from keeptree.probability.similar_trees import wants_similar_trees
from keeptree.probability.soft import SoftExpert, choose_soft, fit_soft
from keeptree.progress import step
from keeptree.savable import expect

EXPERTS = ("soft", "margin", "kernel")
_LEAST_MEMBERS = 4  # minimum cases per class for fitting the experts on half of the sample
_MOST_HALVES = 8000  # maximum rows in both halves together
_UNFITTED = (0.1, 0.4, 0.55)  # weights without refits; docs/guide/kept.md explains them


class KeptTreeClassifier(RefittedModel):
    """Case-by-case probabilities for a kept tree; the recommended method.

    Three experts score a case, by default through the attributes that the tree tests. ``soft`` lets
    a case near a threshold count for both sides; in a small sample, it averages the tree with
    similar trees, whose thresholds are random. ``margin`` is a logistic model of how clearly a case
    passes each test. ``kernel`` compares the case with similar training cases. The pooled
    probability is proportional to the product of the experts' probabilities, each raised to the
    power of its weight. The weights are fitted out of fold.

    Parameters
    ----------
    estimator : estimator, Tree or None
        A fitted tree or a :class:`~keeptree.Tree` is kept as it is; an unfitted learner is cloned
        and fitted; None means :class:`~keeptree.C45Classifier`.
    coherent : bool, default=False
        Whether the tree's class must be the most probable one in every row. The ranking gets worse,
        because the experts are usually right where they disagree with the tree.
    columns : {"tree", "all"} or array-like of str or int, default="tree"
        Columns that the probabilities may depend on. ``"tree"``: only those that the tree tests.
        ``"all"``: all columns of X, which helps where the tree misses an attribute that matters. A
        list names columns to use besides the tree's own. The decisions depend on the tree alone.
        After a pipeline step that cannot be folded, these are the transformed columns.
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
    weights_ : dict
        Weight of each expert: ``"soft"``, ``"margin"``, ``"kernel"``.
    soft_, margin_, kernel_ : SoftExpert, MarginExpert, KernelExpert
        The experts; ``soft_.strength``, ``soft_.shrinkage``, ``margin_.C`` and
        ``kernel_.bandwidth`` are the chosen settings.
    pool_ : Pool
        The weights and the prior.
    spread_ : CaseSpread or None
        How much the estimates vary over the refits, for :meth:`predict_interval`; None without
        refits.
    read_columns : ndarray
        Positions of the columns that the model reads.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray
        Names of the columns, if X has them.

    Notes
    -----
    Strengths and weights are chosen with trees that the same learner grows on five folds of the
    training sample; the kept tree does not change. A :class:`~keeptree.Tree` has no learner, so
    its strengths and weights are defaults. Only the learner itself can be random.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import keeptree as kt
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(X[:400], y[:400])
    >>> model = kt.KeptTreeClassifier(clf).fit(X[:400], y[:400])
    >>> bool((model.predict(X) == clf.predict(X)).all())
    True
    >>> sorted(model.weights_)
    ['kernel', 'margin', 'soft']
    >>> from sklearn.metrics import log_loss
    >>> new, true = X[400:], y[400:]
    >>> log_loss(true, model.predict_proba(new)) < log_loss(true, clf.predict_proba(new)) / 3
    True
    """

    _parameter_constraints = {
        **RefittedModel._parameter_constraints,
        "coherent": ["boolean"],
        "columns": [StrOptions({"tree", "all"}), "array-like"],
    }
    saved_fields = ("soft_", "margin_", "kernel_", "pool_", "spread_")

    def __init__(
        self,
        estimator: Any = None,
        coherent: bool = False,
        *,
        columns: Literal["tree", "all"] | Sequence[str | int] = "tree",
        cv: Any = None,
        decide: Literal["tree", "probability", "cost"] = "tree",
        costs: ArrayLike | dict[Any, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.coherent = coherent
        self.columns = columns
        self.cv = cv
        self.decide = decide
        self.costs = costs
        self.n_jobs = n_jobs

    @property
    def weights_(self) -> dict[str, float]:
        """Weight of each expert in the pool, by name."""
        return dict(zip(self.pool_.names, self.pool_.weights.tolist(), strict=True))

    @property
    def saved_parameters(self) -> dict[str, Any]:
        """Parameters of a saved model, with the names of columns as a list."""
        given = self.columns
        columns = given if isinstance(given, str) else [plain(column) for column in given]
        return {**super().saved_parameters, "columns": columns}

    @property
    def read_columns(self) -> NDArray[Any]:  # noqa: D102 - inherited
        read = self.soft_.tests.columns, self.margin_.tests.columns, self.kernel_.space.feature
        columns = np.unique(np.concatenate([self.tree_.tested, *read]))
        return columns[columns < self.tree_.n_features]  # sums of an oblique tree come after them

    def contributions(self, X: ArrayLike) -> "KeptContributions":
        """Return what each expert and each test of the tree adds to the log-odds.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to explain.

        Returns
        -------
        parts : KeptContributions
        """
        return self.contributions_encoded(self.encode(X))

    def contributions_encoded(self, rows: NDArray[Any]) -> "KeptContributions":
        """:meth:`contributions` for rows that :meth:`encode` returned."""
        names = (*EXPERTS, "coherent") if self.coherent else EXPERTS
        start = _log_odds(self.pool_.start.sum(axis=0))
        value = self._map_encoded(rows, self._push, (len(names), len(self.classes_)))
        asked = self.margin_.asked(self.tree_.lifted)
        shape = len(asked.node), len(self.margin_.intercept)
        pushed = self._map_encoded(rows, self._push_tests, shape) * self.weights_["margin"]
        column = np.where(asked.column < self.tree_.n_features, asked.column, -1)
        value, pushed = _log_odds(value), _log_odds(pushed)
        return KeptContributions(names, start, value, asked.node, column, pushed)

    def _refits(self):
        return True

    def _learn(self, sample, folds):
        more = check_more(self.columns, self.tree_)
        sample, folds = sample.lifted.reading(more), folds_reading(lift_folds(folds), more)
        prior = smoothed_prior(sample.y, sample.weight, len(self.tree_.classes))
        strengths, (margins, tried) = choose_soft(folds), choose_margin(folds)
        if folds is None and more != "tree":  # the tree has no tests of other columns
            margins = margins._replace(further="quantiles")
        similar = wants_similar_trees(sample.tree, sample if folds is None else folds[0].train)
        soft = (*strengths, similar)
        self.soft_ = fit_soft(sample, *soft)
        self.margin_ = fit_margin(sample, margins)
        self.kernel_ = fit_kernel(sample)
        chosen = soft, margins, self.kernel_.settings
        self.spread_ = None
        refitted, folds = folds is not None, folds or _halves(sample)
        if not refitted:
            self.pool_ = Pool(EXPERTS, _unfitted_weights(self.kernel_, sample, prior), prior)
        if folds is None:
            return None
        probes = None
        # Refitted oblique trees test other weighted sums; without new trees there is no spread.
        if refitted and self._grows_trees() and not self.tree_.has_oblique:
            probes = sample.present.take(stratified_part(sample.present.y, MOST_PROBES))
        opinions, y, weight, probed = _unseen(_on_folds(folds, chosen, tried), folds, probes)
        if refitted:
            self.pool_ = fit_pool(EXPERTS, opinions, y, weight, prior)
        if probed is not None:
            refits = np.stack([self._pool(opinion) for opinion in probed])
            self.spread_ = measure_spread(self.tree_, self.tree_.route(probes.X), refits)
        return self._pool_unseen(sample, folds, opinions, refitted)

    def _pool_unseen(self, sample, folds, opinions, refitted):
        """Return the cases of all folds with their pooled out-of-fold probabilities."""
        rows = np.concatenate([fold.rows for fold in folds])
        p = self._pool(opinions)
        if self.coherent:
            make_coherent(p, self.tree_.decide(sample.X[rows]))
        return Scored(sample.X[rows], sample.y[rows], p, refitted)

    def _pool(self, opinions):
        """Pool the experts' probabilities, of shape (n_experts, n, n_classes)."""
        p = np.empty(opinions.shape[1:])
        self.pool_.probability(opinions, p)
        return p

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        for name, kind in zip(EXPERTS, (SoftExpert, MarginExpert, KernelExpert), strict=True):
            expert = getattr(self, f"{name}_")
            expect(isinstance(expert, kind), f"it has no {name} expert")
            expert.check(self.tree_.lifted)
        expect(isinstance(self.pool_, Pool), "it has no pool")
        self.pool_.check(EXPERTS, self.tree_)
        spread = getattr(self, "spread_", None)  # older files have none
        if spread is not None:
            expect(isinstance(spread, CaseSpread), "its spread is damaged")
            spread.check(self.tree_)

    @property
    def _knows_cases(self):
        return getattr(self, "spread_", None) is not None

    def _case_intervals(self, rows, p, confidence):
        similar = self._map_encoded(rows, self.kernel_.similar_cases, ())
        return self.spread_.intervals(p, self.tree_.route(rows), similar, confidence)

    def _probability(self, X, out):
        self._check_rows(X)
        names, pool = self.pool_.used
        pool.probability(self._opinions(X, names), out)
        if self.coherent:
            make_coherent(out, self.tree_.decide(X))

    def _opinions(self, X, names=EXPERTS):
        experts = [getattr(self, f"{name}_") for name in names]
        return _ask(experts, self.tree_.lift(X), len(self.classes_))

    def _push(self, X, out):
        """What each expert adds to the start of the pool, and what coherence adds to them."""
        self._check_rows(X)
        logits = self.pool_.logits(self._opinions(X))
        out[:, : len(EXPERTS)] = (logits - self.pool_.start[:, None]).transpose(1, 0, 2)
        if self.coherent:
            p = np.empty((len(X), len(self.classes_)))
            self._probability(X, p)
            out[:, -1] = np.log(p) - logits.sum(axis=0)

    def _push_tests(self, X, out):
        out[:] = self.margin_.contributions(self.tree_.lift(X), self.tree_.lifted)


@dataclass(frozen=True, eq=False)
class KeptContributions:
    """Contributions to the probabilities of rows, in log-odds.

    Attributes
    ----------
    expert : tuple of str
        The experts; ``"coherent"`` is the step that raises the tree's class above the others.
    start : ndarray of shape () or (n_classes,)
        The log-odds if every expert returned the class shares of the training sample: the log-odds
        of these shares times the sum of the weights. ``start + value.sum(axis=1)`` is
        log p / (1 - p) of ``classes_[1]`` with two classes, otherwise the log-probability of each
        class minus the mean over the classes.
    value : ndarray of shape (n, n_experts) or (n, n_experts, n_classes)
        What each expert adds to ``start``; 0 if its weight is 0.
    node : ndarray of shape (n_tests,)
        Nodes of the tree whose tests the margin expert uses; -1 for a column that it uses although
        the tree does not test it.
    column : ndarray of shape (n_tests,)
        Column of each test; -1 for a weighted sum of columns.
    test : ndarray of shape (n, n_tests) or (n, n_tests, n_classes)
        What each test adds within the margin expert, relative to the mean training case.
    """

    expert: tuple
    start: np.ndarray
    value: np.ndarray
    node: np.ndarray
    column: np.ndarray
    test: np.ndarray


def _log_odds(value):
    """Log-odds of the second of two classes; with more classes, centred log-probabilities."""
    if value.shape[-1] == 1:
        return value[..., 0]
    if value.shape[-1] == 2:
        return value[..., 1] - value[..., 0]
    return value - value.mean(axis=-1, keepdims=True)


def _ask(experts, X, n_classes):
    """Probabilities of all experts: shape (n_experts, n, n_classes)."""
    opinions = np.empty((len(experts), len(X), n_classes))
    for expert, opinion in zip(experts, opinions, strict=True):
        expert.probability(X, opinion)
    return opinions


def _unfitted_weights(kernel, sample, prior):
    """Return the weights without refits; that of the kernel depends on how it does on its own.

    Without the case itself, the kernel expert scores a training case as if it were new. So the
    weight that it should have alone can be fitted, unlike those of the other experts.
    """
    p, y, weight = unseen(kernel, sample)
    alone = fit_pool(("kernel",), p[None], y, weight, prior)
    return np.array(_UNFITTED) * [1.0, 1.0, alone.weights[0]]


def _halves(sample):
    """Two folds that use the kept tree itself, for unknown learners; None with too few cases."""
    present = np.flatnonzero(sample.weight > 0)
    labels = sample.y[present]
    members = np.bincount(labels)
    members = members[members > 0]
    if len(members) < 2 or members.min() < _LEAST_MEMBERS:
        return None
    shown = present[stratified_part(labels, _MOST_HALVES)]
    first, second = (shown[np.argsort(sample.y[shown], kind="stable")][k::2] for k in (0, 1))
    halves = ((first, second), (second, first))
    return tuple(Fold(sample.take(a), sample.take(b), b) for a, b in halves)


def _on_folds(folds, chosen, tried):
    """Yield the experts of each fold, with the chosen settings; some margins are already fitted."""
    soft, margin, kernel = chosen
    for at, fold in enumerate(folds):
        known = at < len(tried)
        margins = tried[at] if known else fit_on_fold(fold.train, margin)
        yield fit_soft(fold.train, *soft), margins, fit_kernel(fold.train, kernel)


@step("Weighting the experts on folds")
def _unseen(experts, folds, probes):
    """Return the experts' out-of-fold probabilities and the classes and weights of the cases.

    The last value holds the probabilities of the probes by the experts of each fold, or None if
    there are no probes or the tree of a fold reads other columns.
    """
    parts, probed = [], []
    for own, fold in zip(experts, folds, strict=True):
        opinions = _ask(own, fold.test.X, len(fold.tree.classes))
        parts.append((opinions, fold.test.y, fold.test.weight))
        read = None if probes is None else probes.read_by(fold.tree)
        probed += [] if read is None else [_ask(own, read.X, len(fold.tree.classes))]
    opinions, *rest = zip(*parts, strict=True)
    rest = [np.concatenate(part) for part in rest]
    return np.concatenate(opinions, axis=1), *rest, probed if len(probed) == len(folds) else None
