"""Choose one tree of an ensemble, and read the members of scikit-learn's ensembles."""

import operator
from dataclasses import replace

import numpy as np

from keeptree.importers.scikit_learn import classifier_tree, regressor_tree


def choose_tree(tree, n_trees, what="this model"):
    """Return the index of the chosen tree; the error states how many trees there are.

    Examples
    --------
    >>> choose_tree(None, 1), choose_tree(-1, 5)
    (0, 4)
    >>> choose_tree(None, 9)
    Traceback (most recent call last):
    ...
    ValueError: This model has 9 trees; choose one with tree=0 to tree=8 (keeptree keep --number).
    """
    if n_trees < 1:
        raise ValueError(f"{_capital(what)} has no trees.")
    if tree is None:
        if n_trees > 1:
            raise ValueError(
                f"{_capital(what)} has {n_trees} trees; choose one with tree=0 to "
                f"tree={n_trees - 1} (keeptree keep --number)."
            )
        return 0
    try:
        number = operator.index(tree)
    except TypeError:
        raise TypeError(f"tree must be a number, not {tree!r:.50}.") from None
    if not -n_trees <= number < n_trees:
        raise ValueError(
            f"tree={number} does not exist: {what} has {n_trees} trees, tree=0 to "
            f"tree={n_trees - 1}."
        )
    return number % n_trees


def forest_tree(model, *, tree=None):
    """Return a tree of a random forest or extra trees, with the forest's classes and names."""
    _check_fitted(model)
    if getattr(model, "n_outputs_", 1) != 1:
        raise ValueError(
            f"The forest has {model.n_outputs_} outputs, but a kept tree has one; fit one forest "
            "for each output."
        )
    number = choose_tree(tree, len(model.estimators_), "this forest")
    return _member(model, model.estimators_[number], number)


def bagged_tree(model, *, tree=None):
    """Return a tree of a bagging ensemble, over all columns of the ensemble."""
    _check_fitted(model)
    number = choose_tree(tree, len(model.estimators_), "this ensemble")
    inner, columns = model.estimators_[number], np.asarray(model.estimators_features_[number])
    if type(inner).__name__ not in _TREES:
        raise TypeError(
            f"The members are of type {type(inner).__name__}, which is not a tree; keep an "
            "ensemble of trees."
        )
    return _member(model, inner, number, columns)


_TREES = (
    "DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor",
)  # fmt: skip


def _member(model, inner, number, columns=None):
    kept = classifier_tree(inner) if hasattr(model, "classes_") else regressor_tree(inner)
    feature = kept.feature
    if columns is not None:
        feature = np.where(kept.feature >= 0, columns[kept.feature], -1)
    changes = {}
    if kept.classes is not None:
        # A member predicts class indices, and its sample may lack some classes.
        codes = np.asarray(kept.classes, dtype=np.int64)
        counts = np.zeros((kept.n_nodes, len(model.classes_)))
        counts[:, codes] = kept.counts
        changes = {"classes": model.classes_, "counts": counts, "label": codes[kept.label]}
        changes["declared"] = None
    return replace(
        kept,
        feature=feature,
        n_features=model.n_features_in_,
        feature_names=getattr(model, "feature_names_in_", None),
        categories=None,
        unknown=None,
        source={
            **kept.source,
            "model": f"tree {number} of a {type(model).__name__}",
            "counts": "the bootstrap sample of this tree",
        },
        **changes,
    )


def boosted_member(model, *, tree=None):
    """Raise an error for scikit-learn's gradient boosting, whose trees are regression trees."""
    del tree
    raise ValueError(
        f"The trees of a {type(model).__name__} are regression trees of residuals, which have no "
        "class; keep a tree classifier."
    )


def _check_fitted(model):
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)


def _capital(text):
    return text[0].upper() + text[1:]
