"""A classifier of how clearly a case passes each test of the kept tree."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from keeptree.annotations import Floats
from keeptree.probability.margin_choice import PENALTIES, choose_margin
from keeptree.probability.margin_expert import MarginExpert, fit_margin
from keeptree.probability.refits import RefittedModel, lift_folds
from keeptree.savable import expect


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
        sample; in a large sample, the first three folds choose. A ``Tree`` has no learner; its C is
        0.03.
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
        chosen, _ = choose_margin(lift_folds(folds), penalties)
        self.expert_ = fit_margin(sample.lifted, chosen)

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
