"""NBTree (Kohavi 1996): a decision tree with naive Bayes in its leaves."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from keeptree._compiled.bayes_answer import Reached, answer_rows
from keeptree.annotations import Floats, RandomState
from keeptree.data.table import count_categories
from keeptree.learners.base import CATEGORICAL_FEATURES, ClassTreeLearner
from keeptree.learners.grow_bayes import (
    BayesOptions,
    BayesTreeGrower,
    check_models,
    pack_models,
    sort_model_classes,
)
from keeptree.learners.shape import list_kept


class NBTreeClassifier(ClassTreeLearner):
    """Naive Bayes tree: a decision tree with naive Bayes classifiers in its leaves.

    The candidate test of each column is found as in C4.5 (one branch per declared category; the
    threshold with the largest gain). A node takes the test for which naive Bayes models fitted in
    the branches make the fewest cross-validated errors, if these are at least 5% fewer than the
    errors of naive Bayes in the node itself. Numeric columns are discretised again in every node,
    by minimum description length (Fayyad and Irani 1993). The tree is that of ``NBTree`` in Weka
    3.6, with the same folds and tests.

    Parameters
    ----------
    n_folds : int, default=5
        Number of folds of the cross-validation. If a branch has fewer rows than folds (or, for a
        numeric test, as many), all of its cases count as errors. At least two branches must be
        larger.
    min_samples_split : int, default=30
        Minimum weight of a node that is split.
    min_error_reduction : float in [0, 1], default=0.05
        Minimum relative reduction of the node's errors by a test.
    max_depth : int, optional
        Maximum depth of the tree. Not in Weka.
    categorical_features : None, "from_dtype", or array-like of bool, int or str
        Further nominal columns, as a mask, indices or names, with the sorted values seen in
        ``fit`` as categories. In a data frame, columns with pandas' categorical or polars' Enum
        dtype are always nominal with their declared categories, and columns with text or polars'
        Categorical are nominal with the values seen.
    random_state : int, RandomState instance or None, default=1
        Seed of the shuffles before rows are assigned to folds. An int seeds Java's random number
        generator; 1 is Weka's. None draws a new seed in every ``fit``.

    Attributes
    ----------
    tree_ : Tree
        The tests and the class weights of every node. The decision of this tree is the majority
        class of a leaf; that of the classifier comes from naive Bayes.
    classes_ : array of shape (n_classes,)
        Sorted labels, in the order of the columns of ``predict_proba``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Column names, if X has names that are all strings.

    Notes
    -----
    ``predict`` and ``predict_proba`` use naive Bayes in the leaf that the row reaches: the product
    of the class share and of the shares of the row's bins in the class, with one case added to
    each. Missing cells are left out of the product. A missing value at a test sends a part of the
    case down every branch, as in C4.5. The leaf of a category without cases uses the naive Bayes
    model of its parent. ``tree_`` is the segmentation alone: classifiers that keep it decide by the
    majority of the leaves.

    With one class, constant columns or empty columns, the tree is a single leaf. Rows with zero
    weight are ignored. In ``predict``, categories that were not declared in ``fit`` are treated as
    missing. The tree is not pruned.

    As in Weka, the tree depends on the order of the rows. The errors of a node are counted over
    folds of consecutive rows, and the search for a test leaves the rows sorted by the last numeric
    column; the branches of a test are shuffled and stratified. In a sample with copies, such as a
    bootstrap sample, the copies of a row then share a fold in the node but not in the branches.
    This makes tests look better than they are and leads to larger trees that rank worse. Where two
    cuts of a column have equal entropy, Weka's choice depends on rounding; here the lower one is
    taken, so single rows of a leaf may get a different probability than in Weka.

    References
    ----------
    Kohavi, Scaling up the accuracy of naive-Bayes classifiers: a decision-tree hybrid, KDD 1996.

    Fayyad and Irani, Multi-interval discretization of continuous-valued attributes for
    classification learning, IJCAI 1993.

    Examples
    --------
    >>> import keeptree as kt
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_wine(return_X_y=True)
    >>> model = kt.NBTreeClassifier(random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).round(3)
    array([[1., 0., 0.]])
    >>> print(f"{cross_val_score(model, X, y).mean():.2f}")
    0.94
    """

    saved_fields = ("_models",)
    _parameter_constraints = {
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "min_samples_split": [Interval(Integral, 2, None, closed="left")],
        "min_error_reduction": [Interval(Real, 0, 1, closed="both")],
        "max_depth": [None, Interval(Integral, 0, None, closed="left")],
        "categorical_features": CATEGORICAL_FEATURES,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_folds: int = 5,
        *,
        min_samples_split: int = 30,
        min_error_reduction: float = 0.05,
        max_depth: int | None = None,
        categorical_features: ArrayLike | None = None,
        random_state: RandomState = 1,
    ) -> None:
        self.n_folds = n_folds
        self.min_samples_split = min_samples_split
        self.min_error_reduction = min_error_reduction
        self.max_depth = max_depth
        self.categorical_features = categorical_features
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: D102 - inherited
        super().fit(X, y, sample_weight)
        self._models = sort_model_classes(self._models, self.tree_.declared)
        return self

    def predict_encoded(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the result of ``predict`` for encoded rows."""
        return self.classes_[self.scores_encoded(rows).argmax(axis=1)]

    def scores_encoded(self, rows: NDArray[Any]) -> Floats:
        """Return the probabilities of encoded rows, classes in the order of ``classes_``."""
        reached = self.tree_.route_shares(rows)
        nominal = np.array([labels is not None for labels in self.tree_.categories])
        probability = np.empty((len(rows), len(self.classes_)))
        indices = reached.indptr.astype(np.int64), reached.indices.astype(np.int64)
        answer_rows(rows, Reached(*indices, reached.data), nominal, self._models, probability)
        return probability

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return the logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Rows; NaN or None is missing.

        Returns
        -------
        log_probability : array of shape (n, n_classes)
            Columns in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        check_models(self._models, self.tree_)

    def _grow(self, X, label, weight, categories):
        n_categories = count_categories(categories)
        weight = np.ones(len(X)) if weight is None else weight
        options = BayesOptions(
            n_folds=self.n_folds,
            seed=_draw_seed(self.random_state),
            min_weight=self.min_samples_split,
            min_reduction=self.min_error_reduction,
            max_depth=self.max_depth,
        )
        shape, models = BayesTreeGrower(
            X, label, weight, n_categories, len(self.classes_), options
        ).grow()
        self._models = pack_models(models, list_kept(shape), n_categories)
        return {"shape": shape}


def _draw_seed(random_state):
    """Return the seed for Java's random number generator: an int as it is, else a drawn one."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
