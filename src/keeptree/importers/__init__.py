"""From a fitted model, a file or a text to a :class:`keeptree.Tree`: one file per format."""

from importlib import import_module
from os import PathLike

from scipy.sparse import issparse

from keeptree.importers.counting import count_table, finish, set_missing
from keeptree.importers.files import open_source
from keeptree.importers.known import read_known
from keeptree.importers.steps import run_steps
from keeptree.tree import Tree

# Qualified class name -> file and function that read it. Names, not classes: nothing foreign is
# imported to find out that it is not needed. Subclasses are found through their bases.
_IMPORTERS = {
    "sklearn.tree._classes.DecisionTreeClassifier": "scikit_learn:classifier_tree",
    "sklearn.tree._classes.DecisionTreeRegressor": "scikit_learn:regressor_tree",
    "sklearn.ensemble._forest.BaseForest": "members:forest_tree",
    "sklearn.ensemble._bagging.BaseBagging": "members:bagged_tree",
    "sklearn.ensemble._gb.BaseGradientBoosting": "members:boosted_member",
    "imodels.rule_list.fast_frugal_tree.FastFrugalTreeClassifier": "imodels:frugal_tree",
    "imodels.rule_list.greedy_rule_list.GreedyRuleListClassifier": "imodels:rule_list",
    "imodels.tree.c45_tree.c45_tree.C45TreeClassifier": "imodels:c45_tree",
    "imodels.tree.c45_tree.c45_tree.HSC45TreeClassifier": "imodels:shrunk_c45_tree",
    "imodels.tree.cart_ccp.DecisionTreeCCPClassifier": "imodels:wrapped_tree",
    "imodels.tree.hierarchical_shrinkage.HSTree": "imodels:shrunk_tree",
    "imodels.tree.optimal_tree.fast_small_tree.FastSmallTreeClassifier": "imodels:optimal_tree",
    "imodels.tree.tao.TaoTree": "imodels:tao_tree",
    "catboost.core.CatBoost": "catboost:live_model",
    "lightgbm.basic.Booster": "lightgbm:live_model",
    "lightgbm.sklearn.LGBMModel": "lightgbm:live_model",
    "onnx.onnx_ml_pb2.ModelProto": "onnx:live_model",
    "pyspark.ml.base.Model": "spark:live_model",
    "xgboost.core.Booster": "xgboost:live_model",
    "xgboost.sklearn.XGBModel": "xgboost:live_model",
}
# Those that pick one of several trees.
_ENSEMBLES = (
    "c50", "c50_text", "catboost", "imodels", "lightgbm", "members", "onnx", "pmml", "spark",
    "xgboost",
)  # fmt: skip
# Texts whose names, categories and classes are checked against the data.
_CHECKED = ("c50_text:read_text", "j48:read_text", "written:read_written")
# What a damaged file makes an importer raise.
_DAMAGE = (KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError)
_KINDS = (
    "a fitted tree, forest or pipeline of scikit-learn, a model of imodels, XGBoost, LightGBM, "
    "CatBoost, Spark ML or ONNX, a KeepTree estimator, a Tree, or the path or text of a tree"
)


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


def keep(source, X=None, y=None, *, tree=None, missing=None, fold=True):
    """Return a tree from anywhere as a :class:`~keeptree.Tree`; the source is only read.

    Parameters
    ----------
    source : fitted estimator, Tree, path, text or bytes
        A scikit-learn ``DecisionTreeClassifier``, ``ExtraTreeClassifier``,
        ``DecisionTreeRegressor`` or ``ExtraTreeRegressor``, one inside a ``FrozenEstimator``, a
        search such as ``GridSearchCV`` or at the end of a ``Pipeline``; a forest or bagging
        ensemble, a model of imodels, XGBoost, LightGBM, CatBoost, Spark ML or ONNX; any estimator
        that has one of our trees as ``tree_``; a ``Tree``; the path or content of a file of one of
        these tools, of PMML, R (by our script), C5.0 or Weka's J48, or the path of a folder in
        which Spark ML saved a model; or a tree as text, as :meth:`keeptree.Tree.to_text` prints it.
    X, y : table of shape (n, n_features) and labels of shape (n,), optional
        Rows whose classes are counted in every node; their counts replace those of the source.
        Needed where the source has no class counts. Names and categories in a text are checked
        against them.
    tree : int, optional
        Which tree of an ensemble, counted from 0.
    missing : {"majority", "share", "error"}, optional
        What happens to a missing value at tests for which the source has no rule, or one that a
        Tree cannot hold: it goes to the heaviest child, is shared among the children by weight,
        or is an error (the default).
    fold : bool, default=True
        Whether the steps of a pipeline are folded into the tests of its tree, so that the Tree
        takes the raw columns: numbers before they are scaled, categories before they are encoded.
        A step for which that is not possible is a ValueError that names it. False: the Tree takes
        the transformed columns.

    Returns
    -------
    tree : Tree
        It sends every row to the leaf to which the model sends it. A raw row that a pipeline
        refuses, for example because of an unknown category, may be answered if the tree does not
        ask for that value. A warning names what the source has lost, and ``source["lost"]`` keeps
        it.

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

    A tree on paper, with the counts of the data:

    >>> text = '''
    ... petal length (cm) <= 2.5: 0
    ... petal length (cm) > 2.5
    ...   petal width (cm) < 1.8: 1
    ...   petal width (cm) >= 1.8: 2
    ... '''
    >>> print(kt.keep(text, X, y).to_text())
    petal length (cm) <= 2.5: 0 (50)
    petal length (cm) > 2.5
      petal width (cm) < 1.8: 1 (54/5 of 2)
      petal width (cm) >= 1.8: 2 (46/1 of 1)

    A pipeline, in its raw columns:

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> pipeline = make_pipeline(StandardScaler(), clf).fit(X, y)
    >>> print(kt.keep(pipeline).to_text())
    petal width (cm) <= 0.8: 0 (50)
    petal width (cm) > 0.8
      petal width (cm) <= 1.75: 1 (54/5 of 2)
      petal width (cm) > 1.75: 2 (46/1 of 1)
    """
    if (X is None) != (y is None):
        raise ValueError("Counting needs both X and y; only one of them was given.")
    found = _find(source, X, y, tree)
    steps = unwrap(source)[1] if fold else []
    if not steps:
        return _complete(found, X, y, missing)
    rows = None if X is None else run_steps(X, steps)
    inside = _complete(found, rows.toarray() if issparse(rows) else rows, y, missing)
    folded = _fold()(inside, steps, X).tree
    return folded if X is None else count_table(folded, X, y, missing)


def _complete(found, X, y, missing):
    """The Tree that was found, with counts and a rule for missing values where they are given."""
    if isinstance(found, Tree):
        if X is not None:
            return count_table(found, X, y, missing)
        return set_missing(found, missing)
    return finish(found, X, y, missing)


def _fold():
    from keeptree.importers.folding import fold  # only a pipeline needs it

    return fold


def keep_with_steps(model, X=None):
    """Return the tree of a model, and the fitted steps that rows must pass before it.

    A pipeline is folded if it can be: then the tree takes raw rows, and no steps are left. One of
    our classifiers behind the steps of a pipeline has learned from transformed columns, so that
    these steps stay.

    Parameters
    ----------
    model : fitted estimator or Tree
        What :func:`keep` takes.
    X : array-like or data frame, optional
        Raw training rows, to count those of leaves that stand in several places.

    Returns
    -------
    tree : Tree
    steps : list of fitted transformers
    """
    if isinstance(model, Tree):
        return model, []
    inner, steps = unwrap(model)
    tree = keep(inner, fold=False)
    if not steps or hasattr(inner, "preprocessing_"):
        return tree, steps
    from keeptree.importers.folding import CannotFoldError

    try:
        return _fold()(tree, steps, X).tree, []
    except CannotFoldError:
        return tree, steps


def _find(source, X, y, tree):
    """The Tree of a source, or a Sketch if counts or classes may have to come from data."""
    if isinstance(source, Tree):
        return source
    if isinstance(source, str | bytes | PathLike):
        return _read(open_source(source), X, y, tree)
    inner, _ = unwrap(source)
    if type(inner).__module__.startswith("keeptree."):
        _check_fitted(inner)
    if isinstance(getattr(inner, "tree_", None), Tree):
        return inner.tree_
    address = _lookup(inner, _IMPORTERS)
    if address is None:
        raise TypeError(f"Cannot keep {_describe(inner)}: expected {_KINDS}.")
    return _call(address, inner, tree)


def _read(opened, X, y, tree):
    """What a file or a text holds; an error names the file."""
    try:
        if opened.importer in _CHECKED:
            known = None if X is None else read_known(X, y)
            return _call(opened.importer, opened.content, tree, known=known)
        return _call(opened.importer, opened.content, tree)
    except _DAMAGE as error:
        raise ValueError(
            f"{opened.name or 'The text'} is damaged, or not a tree as expected "
            f"({type(error).__name__}: {error!s:.100})."
        ) from error
    except ValueError as error:
        if opened.name is None:
            raise
        raise ValueError(f"{opened.name}: {error}") from error


def _call(address, source, tree, **known):
    if address.split(":")[0] in _ENSEMBLES:
        return _function(address)(source, tree=tree, **known)
    _check_single(tree)
    return _function(address)(source, **known)


def _check_single(tree):
    if tree not in (None, 0):
        raise ValueError(f"tree={tree!r:.50} chooses from an ensemble, but this is a single tree.")


def _function(address):
    module, function = address.split(":")
    return getattr(import_module(f"keeptree.importers.{module}"), function)


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
