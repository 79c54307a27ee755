"""From a fitted model to a :class:`keeptree.Tree`: one file per foreign format."""

from importlib import import_module

from keeptree.tree import Tree

# Qualified class name -> file and function that read it. Names, not classes: nothing foreign is
# imported to find out that it is not needed. Subclasses are found through their bases.
_IMPORTERS = {
    "sklearn.tree._classes.DecisionTreeClassifier": "scikit_learn:classifier_tree",
    "sklearn.tree._classes.DecisionTreeRegressor": "scikit_learn:regressor_tree",
}


def _best_estimator(search):
    if not hasattr(search, "best_estimator_"):
        raise ValueError("The search has no best estimator; give it refit=True.")
    return search.best_estimator_


# Qualified name of a class around a model -> how to see the model inside.
_WRAPPERS = {
    "sklearn.frozen._frozen.FrozenEstimator": lambda model: model.estimator,
    "sklearn.model_selection._search.BaseSearchCV": _best_estimator,
}
_PIPELINE = "sklearn.pipeline.Pipeline"


def keep(model):
    """Return a fitted tree model as a :class:`~keeptree.Tree`; the model is only read.

    Parameters
    ----------
    model : fitted estimator or Tree
        A scikit-learn ``DecisionTreeClassifier``, ``ExtraTreeClassifier``,
        ``DecisionTreeRegressor`` or ``ExtraTreeRegressor``, one inside a ``FrozenEstimator``, a
        search such as ``GridSearchCV`` or at the end of a ``Pipeline`` (then the Tree speaks of
        the transformed columns), any estimator that has one of our trees as ``tree_``, or a
        ``Tree``, which passes through.

    Returns
    -------
    tree : Tree
        It sends every row to the leaf to which the model sends it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> tree = kt.keep(clf)
    >>> tree
    Tree(3 leaves, depth 2, 3 classes, 4 features, from DecisionTreeClassifier)
    >>> bool((tree.apply(X) == clf.apply(X)).all())
    True
    """
    if isinstance(model, Tree):
        return model
    inner, _ = unwrap(model)
    if type(inner).__module__.startswith("keeptree."):
        _check_fitted(inner)
    if isinstance(getattr(inner, "tree_", None), Tree):
        return inner.tree_
    address = _lookup(inner, _IMPORTERS)
    if address is None:
        raise TypeError(
            f"Cannot keep {_describe(inner)}: expected a fitted DecisionTreeClassifier, "
            "ExtraTreeClassifier, DecisionTreeRegressor or ExtraTreeRegressor of scikit-learn, one "
            "inside a FrozenEstimator, search or Pipeline, a keeptree estimator, or a Tree."
        )
    module, function = address.split(":")
    return getattr(import_module(f"keeptree.importers.{module}"), function)(inner)


def unwrap(model):
    """Return the model inside wrappers and pipelines, and the fitted transformers before it."""
    transformers = []
    while True:
        look_inside = _lookup(model, _WRAPPERS)
        if look_inside is not None:
            _check_fitted(model)
            model = look_inside(model)
        elif _lookup(model, {_PIPELINE: True}):
            _check_fitted(model)
            if len(model.steps) > 1:
                transformers.append(model[:-1])
            model = model.steps[-1][1]
        else:
            # One of our classifiers around a pipeline has its steps.
            return model, transformers + getattr(model, "preprocessing_", [])


def check_decides_by_tests(model):
    """Raise a ValueError if an unwrapped model decides otherwise than the leaves of its tree."""
    if type(model).__name__ == "NBTreeClassifier":
        raise ValueError(
            "An NBTreeClassifier decides by naive Bayes inside its leaves, not by its tests alone; "
            "give kt.keep(model), the tree of its tests, instead."
        )


def _lookup(model, registry):
    for base in type(model).__mro__:
        found = registry.get(f"{base.__module__}.{base.__qualname__}")
        if found is not None:
            return found
    return None


def _describe(model):
    """What a model is, for an error: two of our users' models are called Tree."""
    if isinstance(model, type):
        return f"the class {model.__name__}, which is not fitted"
    module = type(model).__module__.split(".")[0]
    return f"a {type(model).__name__}" + (f" of {module}" if module != "builtins" else "")


def _check_fitted(model):
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
