"""The models that ``keeptree compare`` compares, by name."""

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import keeptree as kt
from keeptree.evaluation.choice import one_of


def make_models(names=None, X=None):
    """Return unfitted models, all of them on C4.5 trees but the forest.

    Parameters
    ----------
    names : list of str, optional
        Names in :data:`MODELS`; default :data:`DEFAULT`.
    X : data frame, optional
        The data; with nominal columns the forest is given their codes.

    Returns
    -------
    models : dict of str to estimator

    Examples
    --------
    >>> make_models(["laplace"])
    {'laplace': SmoothedTreeClassifier()}
    """
    names = DEFAULT if names is None else names
    models = {name: MODELS[one_of(MODELS, name, "model")]() for name in names}
    if "forest" in models and _has_nominal(X):
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        nominal = make_column_selector(dtype_include=["category", "object"])
        encode = make_column_transformer((codes, nominal), remainder="passthrough")
        models["forest"] = make_pipeline(encode, models["forest"])
    return models


MODELS = {
    "raw": lambda: kt.SmoothedTreeClassifier(smoothing="raw"),
    "laplace": lambda: kt.SmoothedTreeClassifier(),
    "m-estimate": lambda: kt.SmoothedTreeClassifier(smoothing="m-estimate"),
    "shrinkage": lambda: kt.SmoothedTreeClassifier(smoothing="shrinkage"),
    "rank": lambda: kt.GeometricRankClassifier(scope="local"),
    "kernel": lambda: kt.DistanceKernelClassifier(),
    "separator-kernel": lambda: kt.DistanceKernelClassifier(scope="separator"),
    "confdtree": lambda: kt.ConfDTreeClassifier(),
    "soft": lambda: kt.SoftTreeClassifier(),
    "margin": lambda: kt.MarginTreeClassifier(),
    "kept": lambda: kt.KeptTreeClassifier(),
    "nbtree": lambda: kt.NBTreeClassifier(),
    "forest": lambda: RandomForestClassifier(random_state=0),
}
DEFAULT = ("raw", "laplace", "shrinkage", "kernel", "confdtree", "soft", "margin", "kept", "forest")


def _has_nominal(X):
    return any(str(kind) in ("category", "object") for kind in getattr(X, "dtypes", ()))
