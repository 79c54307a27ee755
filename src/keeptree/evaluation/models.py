"""The models that ``keeptree compare`` compares, by name."""

from pathlib import Path

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from keeptree.choice import one_of
from keeptree.learners.nbtree import NBTreeClassifier
from keeptree.probability.methods import METHODS, make_method, methods_of


def make_models(names=None, X=None):
    """Return unfitted models, all based on C4.5 trees except the forest.

    Parameters
    ----------
    names : list of str, optional
        Names in ``MODELS``; by default ``DEFAULT``.
    X : data frame, optional
        Data, whose nominal columns are encoded for the forest.

    Returns
    -------
    models : dict of str to estimator
        Unfitted models by name.

    Examples
    --------
    >>> make_models(["laplace"])
    {'laplace': SmoothedTreeClassifier()}
    """
    names = DEFAULT if names is None else names
    for name in names:
        if name not in MODELS and Path(name).suffix == ".json":
            raise ValueError(
                f"{name} is a file, not the name of a method; to compare saved models, give each "
                "one as --model FILE instead."
            )
    models = {name: _make(one_of(MODELS, name, "model")) for name in names}
    if "forest" in models:
        models["forest"] = give_codes(models["forest"], X)
    return models


def give_codes(model, X):
    """Return a model that encodes nominal columns, if X has any.

    Parameters
    ----------
    model : estimator
        Model for numeric data.
    X : data frame or array
        Training data.

    Returns
    -------
    model : estimator
        Pipeline, or the same model if there is nothing to encode.
    """
    if not any(str(kind) in ("category", "object") for kind in getattr(X, "dtypes", ())):
        return model
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    nominal = make_column_selector(dtype_include=["category", "object"])
    return make_pipeline(make_column_transformer((codes, nominal), remainder="passthrough"), model)


_OTHERS = {
    "nbtree": NBTreeClassifier,
    "forest": lambda: RandomForestClassifier(random_state=0),
}
MODELS = (*METHODS, *_OTHERS)
DEFAULT = (*methods_of("compare"), "forest")


def _make(name):
    return _OTHERS[name]() if name in _OTHERS else make_method(name)
