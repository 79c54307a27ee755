"""Convert fitted models, files and text to a :class:`keeptree.Tree`; one module per format."""

from importlib import import_module
from os import PathLike
from typing import Any, Literal

from numpy.typing import ArrayLike

from keeptree.importers.counting import count_table, finish, set_missing
from keeptree.importers.files import open_source
from keeptree.importers.known import read_known
from keeptree.importers.steps import run_steps
from keeptree.tree import Tree

# Qualified class name -> module and function that read it. Names instead of classes avoid importing
# other libraries. Subclasses are found through their base classes.
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
    "obliquetree._pywrap.BaseTree": "oblique:obliquetree_model",
    "onnx.onnx_ml_pb2.ModelProto": "onnx:live_model",
    "pyspark.ml.base.Model": "spark:live_model",
    "treeple.tree._classes.ExtraObliqueDecisionTreeClassifier": "oblique:treeple_classifier",
    "treeple.tree._classes.ObliqueDecisionTreeClassifier": "oblique:treeple_classifier",
    "treeple.tree._classes.PatchObliqueDecisionTreeClassifier": "oblique:treeple_classifier",
    "xgboost.core.Booster": "xgboost:live_model",
    "xgboost.sklearn.XGBModel": "xgboost:live_model",
}
# Importers that choose one of several trees.
_ENSEMBLES = (
    "c50", "c50_text", "catboost", "imodels", "lightgbm", "members", "onnx", "pmml", "spark",
    "xgboost",
)  # fmt: skip
# Text formats whose names, categories and classes are checked against the data.
_CHECKED = ("c50_text:read_text", "j48:read_text", "written:read_written")
# Exceptions that importers raise for damaged files.
_DAMAGE = (KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError)
_KINDS = (
    "a fitted tree, forest or pipeline of scikit-learn, a model of imodels, XGBoost, LightGBM, "
    "CatBoost, obliquetree, treeple, Spark ML or ONNX, a KeepTree estimator, a Tree, or the path "
    "or text of a tree"
)


def _best_estimator(search):
    if not hasattr(search, "best_estimator_"):
        raise ValueError("The search has no best estimator; fit it with refit=True.")
    return search.best_estimator_


# Qualified name of a wrapper class -> function that returns the wrapped model.
_WRAPPERS = {
    "sklearn.frozen._frozen.FrozenEstimator": lambda model: model.estimator,
    "sklearn.model_selection._search.BaseSearchCV": _best_estimator,
}
_PIPELINE = "sklearn.pipeline.Pipeline"


def keep(
    source: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    tree: int | None = None,
    missing: Literal["majority", "share", "error"] | None = None,
    fold: bool = True,
) -> Tree:
    """Convert a decision tree from any supported source to a :class:`~keeptree.Tree`.

    The source is never changed.

    Parameters
    ----------
    source : fitted estimator, Tree, path, text or bytes
        A scikit-learn ``DecisionTreeClassifier``, ``ExtraTreeClassifier``,
        ``DecisionTreeRegressor`` or ``ExtraTreeRegressor``, one inside a ``FrozenEstimator``, a
        search such as ``GridSearchCV`` or at the end of a ``Pipeline``; a forest or bagging
        ensemble, a model of imodels, XGBoost, LightGBM, CatBoost, Spark ML or ONNX; an oblique
        tree of obliquetree or treeple; any estimator with a KeepTree ``tree_``; a ``Tree``; the
        path or content of a file from one of these tools, PMML, R (written by our script), C5.0 or
        Weka's J48; the path of a folder saved by Spark ML; or a tree as text in the format of
        :meth:`keeptree.Tree.to_text`.
    X, y : table of shape (n, n_features) and labels of shape (n,), optional
        Rows to count in every node; these counts replace those of the source. Required if the
        source has no class counts. Names and categories of a text are checked against them.
    tree : int, optional
        Index of the tree in an ensemble, from 0.
    missing : {"majority", "share", "error"}, optional
        Rule for missing values at tests where the source has none, or none that a Tree supports:
        send them to the largest child, split them among the children by weight, or raise an
        error (the default).
    fold : bool, default=True
        Whether to fold the steps of a pipeline into the tests of its tree, so that the Tree takes
        raw columns: numbers before scaling, categories before encoding. A step that cannot be
        folded raises a ValueError. If False, the Tree takes the transformed columns.

    Returns
    -------
    tree : Tree
        Sends every row to the same leaf as the model. A raw row that a pipeline rejects, for
        example because of an unknown category, is accepted if the tree does not test that value.
        A warning tells what could not be converted, and ``source["lost"]`` records it.

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
        raise ValueError("Counting needs both X and y, but only one of them was given; give both.")
    found = _find(source, X, y, tree)
    steps = unwrap(source)[1] if fold else []
    if not steps:
        return _complete(found, X, y, missing)
    rows = None if X is None else run_steps(X, steps)
    inside = _complete(found, rows, y, missing)
    folded = _fold()(inside, steps, X).tree
    return folded if X is None else count_table(folded, X, y, missing)


def _complete(found, X, y, missing):
    """Return a Tree with the given counts and rule for missing values."""
    if isinstance(found, Tree):
        if X is not None:
            return count_table(found, X, y, missing)
        return set_missing(found, missing)
    return finish(found, X, y, missing)


def _fold():
    from keeptree.importers.folding import fold  # only pipelines need it

    return fold


def keep_with_steps(model, X=None):
    """Return the tree of a model and the fitted steps that come before it.

    A pipeline is folded if possible: the tree then takes raw rows and no steps are left. The steps
    before a KeepTree classifier remain, because it was fitted to transformed columns.

    Parameters
    ----------
    model : fitted estimator or Tree
        Source for :func:`keep`.
    X : array-like or data frame, optional
        Raw training rows. If a leaf occurs several times in the folded tree, they determine how its
        counts are divided.

    Returns
    -------
    tree : Tree
        The kept tree.
    steps : list of fitted transformers
        Steps that could not be folded; usually empty.
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
    """Return the Tree of a source, or a Sketch if it may need counts or classes from data."""
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
    """Read the content of a file or text; errors name the file."""
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
        raise ValueError(
            f"tree={tree!r:.50} chooses a tree of an ensemble, but this is a single tree; leave it "
            "out."
        )


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
            # A KeepTree classifier around a pipeline contains its steps.
            return model, transformers + getattr(model, "preprocessing_", [])


def check_decides_by_tests(model):
    """Raise a ValueError if a model does not decide by the leaves of its tree."""
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
    """Describe a model in an error message, with its module because class names can clash."""
    if isinstance(model, type):
        return f"the class {model.__name__} itself, which is not a fitted model"
    module = type(model).__module__.split(".")[0]
    return f"a {type(model).__name__}" + (f" of {module}" if module != "builtins" else "")


def _check_fitted(model):
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
