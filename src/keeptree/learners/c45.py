"""C4.5, identical to Weka's J48."""

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from keeptree.annotations import Floats
from keeptree.data.table import count_categories
from keeptree.learners.base import CATEGORICAL_FEATURES, ClassTreeLearner
from keeptree.learners.folds import pruning_fold
from keeptree.learners.grow import grow, snap_thresholds
from keeptree.learners.grow_options import CRITERIA, GrowOptions
from keeptree.learners.prune import (
    collapse_shape,
    prune_errors,
    prune_pessimistic,
    prune_reduced,
)
from keeptree.learners.shape import label_shape
from keeptree.learners.weakest_link import limit_leaves

WEKA_36_TOLERANCE = 1e-6


class C45Classifier(ClassTreeLearner):
    """C4.5 decision tree, identical to Weka's J48 (3.8 and later).

    Nominal attributes are split into one branch per declared category. A case with a missing value
    is sent down every branch in fractions, in growing, pruning and prediction.

    Parameters
    ----------
    criterion : {"gain-ratio", "information-gain", "gini", "misclassification"}
        Split criterion. ``"gain-ratio"``, the default, is C4.5: it chooses the threshold of a
        numeric attribute by information gain, and the attribute by gain ratio among those with at
        least average gain. ``"information-gain"`` (ID3) chooses the attribute by the gain itself.
        ``"gini"`` (CART) uses the decrease of the Gini index instead of the gain, and ignores
        ``mdl_correction``, which is in bits. ``"misclassification"`` uses the decrease of the
        training errors, which is 0 for many useful tests, so trees stay small. Everything else
        stays as in C4.5.
    pruning : {"error-based", "reduced-error", "pessimistic", "none"}, default="error-based"
        ``"error-based"`` is the pruning of C4.5 (Weka's default). ``"reduced-error"`` is Weka's
        ``-R``: the last of ``n_folds`` stratified folds prunes what the others grew.
        ``"pessimistic"`` adds half an error per leaf and replaces a node by a leaf where this does
        not increase the sum. ``"none"`` is Weka's ``-U``, which still collapses (see ``collapse``).
    confidence_factor : float in (0, 1], default=0.25
        Confidence factor of error-based pruning. Smaller values prune more; above 0.5 the training
        errors themselves are compared. Weka's ``-C``, in single precision as in Weka.
    subtree_raising : bool, default=True
        Whether error-based pruning may replace a node by its largest branch. False is Weka's
        ``-S``.
    n_folds : int, default=3
        Number of folds of reduced-error pruning. Weka's ``-N``.
    collapse : bool, default=True
        Remove splits that save no training error before pruning; not with reduced-error pruning.
        False is Weka's ``-O``.
    min_samples_leaf : int, default=2
        Minimum weight that at least two branches of a split must have. Weka's ``-M``.
    binary_splits : bool, default=False
        Split nominal attributes into one category against the rest. Weka's ``-B``.
    subset_splits : bool, default=False
        Split nominal attributes into two sets of categories with the largest gain. With two
        classes, categories are ordered by the share of the second class; the best cut of this order
        is the best of all divisions (Breiman et al. 1984, section 4.2.2). With more classes, all
        divisions of up to 10 categories are tried. More than 10 categories are ordered by the share
        of each class in turn, and the best of these cuts is taken, which need not be the best
        division. A category without cases in the node joins the heavier branch. Not in Weka.
    max_depth : int, optional
        Maximum depth of the tree. Not in Weka.
    max_leaf_nodes : int, optional
        Maximum number of leaves. After pruning, the subtrees that save the fewest training errors
        per leaf become leaves until this number is reached (weakest-link pruning). Not in Weka.
    laplace : bool, default=False
        Whether ``predict_proba`` adds one case of every class to a leaf; ``predict`` is unchanged.
        Weka's ``-A``.
    categorical_features : None, "from_dtype", or array-like of bool, int or str
        Further nominal columns, as a mask, indices or names, with the sorted values seen in
        ``fit`` as categories. In a data frame, columns with pandas' categorical or polars' Enum
        dtype are always nominal with their declared categories, and columns with text or polars'
        Categorical are nominal with the values seen.
    mdl_correction : bool, default=True
        Subtract the cost of choosing a threshold, log2(candidates) / weight, from a numeric
        attribute's gain. False is Weka's ``-J``.
    snap_thresholds : bool, "exact" or "tolerant", default=True
        Lower each threshold from the midpoint to the next value of the training set. False is
        Weka's ``-doNotMakeSplitPointActualValue``. ``"exact"`` compares as Weka 3.8 and later;
        ``"tolerant"`` as Weka 3.6, whose threshold depends on the order of the rows if values lie
        within 1e-6 of one another. True is ``"exact"``, but ``"tolerant"`` for reduced-error
        pruning, which only Weka 3.6 has.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree.
    classes_ : array of shape (n_classes,)
        Sorted labels, in the order of the columns of ``predict_proba``. ``tree_.declared`` holds
        the order in which a categorical ``y`` declares them, which Weka uses.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Column names, if X has names that are all strings.

    Notes
    -----
    With one class, constant columns or empty columns, nothing can be split and the tree ends in a
    leaf. Rows with zero weight are ignored. In ``predict``, categories that were not declared in
    ``fit`` are treated as missing.

    ``predict_proba`` mixes the class shares of the leaves that a row with missing values reaches,
    and ``predict`` returns the class of the largest mixed share.

    Ties go to the first class, in the declared order if ``y`` is categorical.

    The gain of an attribute is computed on the rows with a value and multiplied by their share
    of the weight. (Some textbook solutions omit the factor and use the entropy of all rows, which
    gives 0.8813 - 0.551 = 0.3303 for an attribute that is missing in one of ten rows.)

    With ``snap_thresholds="tolerant"`` values up to 1e-6 above a threshold are sent to the left
    while the tree is grown and pruned, as in Weka 3.6; ``tree_`` itself compares exactly, so an
    unseen value within 1e-6 above a threshold may go to the other side than in Weka 3.6.

    References
    ----------
    Quinlan, C4.5: Programs for Machine Learning, 1993; Witten, Frank and Hall, Data Mining, 2011.

    Examples
    --------
    >>> import keeptree as kt
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = kt.C45Classifier().fit(X, y)
    >>> print(model.tree_.to_text())
    petal width (cm) <= 0.6: 0 (50)
    petal width (cm) > 0.6
      petal width (cm) <= 1.7
        petal length (cm) <= 4.9: 1 (48/1 of 2)
        petal length (cm) > 4.9
          petal width (cm) <= 1.5: 2 (3)
          petal width (cm) > 1.5: 1 (3/1 of 2)
      petal width (cm) > 1.7: 2 (46/1 of 1)
    """

    _parameter_constraints = {
        "criterion": [StrOptions(set(CRITERIA))],
        "pruning": [StrOptions({"error-based", "reduced-error", "pessimistic", "none"})],
        "confidence_factor": [Interval(Real, 0, 1, closed="right")],
        "subtree_raising": ["boolean"],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "collapse": ["boolean"],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "binary_splits": ["boolean"],
        "subset_splits": ["boolean"],
        "max_depth": [None, Interval(Integral, 0, None, closed="left")],
        "max_leaf_nodes": [None, Interval(Integral, 1, None, closed="left")],
        "laplace": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
        "mdl_correction": ["boolean"],
        "snap_thresholds": ["boolean", StrOptions({"exact", "tolerant"})],
    }

    def __init__(
        self,
        criterion: Literal[
            "gain-ratio", "information-gain", "gini", "misclassification"
        ] = "gain-ratio",
        *,
        pruning: Literal["error-based", "reduced-error", "pessimistic", "none"] = "error-based",
        confidence_factor: float = 0.25,
        subtree_raising: bool = True,
        n_folds: int = 3,
        collapse: bool = True,
        min_samples_leaf: int = 2,
        binary_splits: bool = False,
        subset_splits: bool = False,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        laplace: bool = False,
        categorical_features: ArrayLike | None = None,
        mdl_correction: bool = True,
        snap_thresholds: bool | Literal["exact", "tolerant"] = True,
    ) -> None:
        self.criterion = criterion
        self.pruning = pruning
        self.confidence_factor = confidence_factor
        self.subtree_raising = subtree_raising
        self.n_folds = n_folds
        self.collapse = collapse
        self.min_samples_leaf = min_samples_leaf
        self.binary_splits = binary_splits
        self.subset_splits = subset_splits
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.laplace = laplace
        self.categorical_features = categorical_features
        self.mdl_correction = mdl_correction
        self.snap_thresholds = snap_thresholds

    def predict_encoded(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the result of ``predict`` for encoded rows."""
        return self.tree_.classes[self.tree_.decide(rows)]

    def scores_encoded(self, rows: NDArray[Any]) -> Floats:
        """Return the class shares of encoded rows, classes in the order of ``classes_``."""
        if self.laplace:
            return self.tree_.route_shares(rows) @ _laplace_shares(self.tree_)
        return self.tree_.mix_proportions(rows)

    def _grow(self, X, label, weight, categories):
        self._check_splits()
        shape = _PRUNED_GROWTH[self.pruning](self, X, label, weight, categories)
        if self.max_leaf_nodes is not None:
            limit_leaves(shape, self.max_leaf_nodes)
        return {"shape": shape}

    def _check_splits(self):
        if self.binary_splits and self.subset_splits:
            raise ValueError("binary_splits and subset_splits cannot both be True; choose one.")

    def _grow_unpruned(self, X, label, weight, categories, n_all):
        nominal_test = "one-against-rest" if self.binary_splits else "multiway"
        options = GrowOptions(
            criterion=self.criterion,
            nominal_test="subsets" if self.subset_splits else nominal_test,
            min_leaf=self.min_samples_leaf,
            max_depth=self.max_depth,
            mdl=self.mdl_correction,
        )
        n_categories = count_categories(categories)
        return grow(X, label, weight, n_categories, len(self.classes_), options, n_all)

    @property
    def _tolerance(self):
        """Return how far a value may exceed a threshold and still go left."""
        wanted = self.snap_thresholds
        if wanted is True:
            wanted = "tolerant" if self.pruning == "reduced-error" else "exact"
        return WEKA_36_TOLERANCE if wanted == "tolerant" else 0.0

    def _snap(self, shape, X):
        if self.snap_thresholds:
            snap_thresholds(shape, X, tolerant=self._tolerance > 0)


def _laplace_shares(tree):
    """Return Laplace-smoothed class shares of each node; empty nodes use their parent's."""
    source = np.arange(tree.n_nodes)
    while (empty := (tree.weight[source] == 0) & (source > 0)).any():
        source[empty] = tree.parent[source[empty]]
    counts = tree.counts[source] + 1
    return counts / counts.sum(axis=1, keepdims=True)


def _grow_whole(model, X, label, weight, categories):
    """Grow a tree on all rows and collapse it, before any pruning."""
    shape = model._grow_unpruned(X, label, weight, categories, len(X))
    model._snap(shape, X)
    if model.collapse:
        collapse_shape(shape)
    return shape


def _error_based(model, X, label, weight, categories):
    shape = _grow_whole(model, X, label, weight, categories)
    weight = np.ones(len(X)) if weight is None else weight
    options = (model.confidence_factor, model.subtree_raising, model._tolerance)
    prune_errors(shape, X, label, weight, *options)
    return shape


def _pessimistic(model, X, label, weight, categories):
    shape = _grow_whole(model, X, label, weight, categories)
    prune_pessimistic(shape, label_shape(shape))
    return shape


def _reduced_error(model, X, label, weight, categories):
    if len(X) < model.n_folds:
        raise ValueError(
            f"{len(X)} rows cannot be divided into n_folds={model.n_folds} folds; use fewer folds."
        )
    growing, held_out = pruning_fold(label, model.n_folds)
    part = None if weight is None else weight[growing]
    shape = model._grow_unpruned(X[growing], label[growing], part, categories, len(X))
    model._snap(shape, X)
    part = np.ones(len(held_out)) if weight is None else weight[held_out]
    prune_reduced(shape, X[held_out], label[held_out], part, label_shape(shape), model._tolerance)
    return shape


_PRUNED_GROWTH = {
    "error-based": _error_based,
    "reduced-error": _reduced_error,
    "pessimistic": _pessimistic,
    "none": _grow_whole,
}
