"""The ``estimator`` parameter of a classifier: a tree to keep, or a learner that grows one."""

from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from keeptree.data.table import comparable_names
from keeptree.learners.c45 import C45Classifier
from keeptree.tree import ERROR, LEAF, Tree, names_differ


def is_kept(model):
    """Return whether the model is a Tree or already fitted, so that it is kept as it is."""
    if isinstance(model, Tree):
        return True
    if model is None:
        return False
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def unfitted_learner(model):
    """Return an unfitted copy of the learner, or None for a Tree, which has none."""
    if isinstance(model, Tree):
        return None
    if model is None:
        return C45Classifier()
    # Cloning a FrozenEstimator keeps it fitted; the learner is the estimator inside.
    return clone(model.estimator if type(model).__name__ == "FrozenEstimator" else model)


def fit_learner(learner, X, y, sample_weight):
    """Fit a learner, or a pipeline that ends in one, with or without weights."""
    if sample_weight is None:
        return learner.fit(X, y)
    steps = getattr(_inside(learner), "steps", None)
    name = f"{steps[-1][0]}__sample_weight" if steps else "sample_weight"
    return learner.fit(X, y, **{name: sample_weight})


def reads_any_column(estimator):
    """Return whether X may hold text, which a pipeline's first step or a nominal tree reads."""
    inside = _inside(estimator)
    if isinstance(inside, Tree):
        return inside.has_nominal
    if inside is None or hasattr(inside, "steps"):
        return True
    return get_tags(inside).input_tags.categorical


def allows_missing(estimator):
    """Return whether the estimator has a rule for missing values."""
    if isinstance(estimator, Tree):
        return bool((estimator.missing[estimator.kind != LEAF] != ERROR).all())
    return get_tags(unfitted_learner(None) if estimator is None else estimator).input_tags.allow_nan


def check_columns(X, model, named=()):
    """Raise an error unless X has the columns of the kept model, with the same names and order.

    ``named`` is the parameter ``columns``. The advice to leave a column out would not help someone
    who asks for it.
    """
    names = comparable_names(model.select(X) if isinstance(model, Tree) else X)
    source = model.feature_names if isinstance(model, Tree) else None
    expected = getattr(model, "feature_names_in_", source)
    if names is None or expected is None or tuple(expected) == names:
        return
    asked = () if isinstance(named, str) else (str(name) for name in named if isinstance(name, str))
    for name in asked:
        if name in names and name not in expected:
            raise ValueError(
                f"columns names {name!r}, which the tree was not fitted on; fit the tree with this "
                "column, too, before you keep it (text in a pipeline with an encoder), or leave it "
                "out of columns and X."
            )
    raise ValueError(names_differ(names, tuple(expected)))


def check_learner(learner, X):
    """Raise a ValueError that names a nominal column of X if the learner takes only numbers.

    Parameters
    ----------
    learner : estimator, Tree or None
        Learner that grows the tree; a kept tree is not checked.
    X : pandas.DataFrame
        The attributes, nominal ones categorical.
    """
    nominal = [name for name, dtype in X.dtypes.items() if dtype == "category"]
    if not nominal or not isinstance(learner, BaseEstimator):
        return
    if not get_tags(learner).input_tags.categorical:
        raise ValueError(
            f"{type(learner).__name__} takes only numbers, but {nominal[0]!r} is nominal; grow "
            "the tree with C4.5 (--learner c45), drop such columns, or encode them in a "
            "scikit-learn pipeline (see the tutorial docs/start/pipeline.md)."
        )


def _inside(model):
    """Return the estimator inside a search or a FrozenEstimator, else the model."""
    return getattr(model, "estimator", model)
