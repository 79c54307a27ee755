"""The subject of an explanation: tree, metric and training statistics of a model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from keeptree.data.arrow import from_arrow
from keeptree.data.labels import class_names
from keeptree.data.notation import with_days
from keeptree.data.observed import Observed, observe
from keeptree.geometry.boundary import Boundary
from keeptree.geometry.metric import Metric, read_metric
from keeptree.geometry.rows import check_finite
from keeptree.importers import check_decides_by_tests, keep_with_steps, unwrap
from keeptree.importers.steps import read_rows
from keeptree.tree import Tree


@dataclass(frozen=True)
class Subject:
    """A model to explain, together with its tree, metric and training statistics.

    Parameters
    ----------
    inner : object
        Model without wrappers.
    tree : Tree
        The kept tree.
    transformers : list
        Fitted steps that convert the user's columns to the tree's columns.
    metric : Metric or None
        Fitted metric; None if the scale of the attributes is unknown.
    observed : Observed or None
        Statistics of the training or reference sample.
    """

    inner: object
    tree: Tree
    transformers: list
    metric: Metric | None
    observed: Observed | None

    def encode(self, X):
        """Return rows encoded for the tree, after the transformers of a pipeline."""
        X = X.toarray() if issparse(X) else from_arrow(X)
        encoded = read_rows(with_days(X, self.inner), self.tree, self.transformers)
        check_finite(encoded, self.tree)
        return encoded

    def probabilities(self, encoded):
        """Return the probabilities by the model, or by the tree if the model has none."""
        if self.has_own_probability:
            return self.inner.predict_proba_encoded(encoded)
        return self.tree.mix_proportions(encoded)

    @property
    def class_names(self):
        """Display names of the classes, in the order of ``tree.classes``."""
        return class_names(self.inner, self.tree.classes)

    @property
    def has_own_probability(self):
        """Whether the model's probabilities are not just the leaf proportions."""
        return hasattr(self.inner, "predict_proba_encoded")


def resolve(model, X=None, metric=None):
    """Return the Subject of a model.

    ``X`` is a reference sample for models that store no training statistics, and ``metric``
    replaces the model's own.
    """
    tree, transformers = keep_with_steps(model, X)
    if tree.classes is None:
        raise ValueError(
            "A regression tree has no classes, hence no decision to change; give a classification "
            "tree."
        )
    inner = model if isinstance(model, Tree) else unwrap(model)[0]
    check_decides_by_tests(inner)
    observed = getattr(inner, "observed_", None)
    bare = Subject(inner, tree, transformers, None, None)
    if X is not None:
        observed = observe(bare.encode(X), tree)
    metric = _resolve_metric(inner, tree, observed, metric)
    return Subject(inner, tree, transformers, metric, observed)


def boundary_of(model):
    """Return the boundary that measures the distances shown to users.

    These are distances to the nearest possible case with another decision.

    It uses the metric of the model's boundary, or else the standard metric, and the grid of the
    training sample. Models without training statistics raise a ValueError.
    """
    own = getattr(model, "boundary_", None)
    if own is not None and own.grid_ is not None:
        return own
    if not hasattr(model, "observed_"):
        raise ValueError(
            f"A {type(model).__name__} does not store the scale of its columns, so distances "
            f"cannot be measured; fit a KeepTree classifier around its tree."
        )
    subject = resolve(model)
    return Boundary.of_metric(subject.tree, subject.metric, subject.observed)


def read_given(tree, x, names=None):
    """Return a row, a dict or a table as a table, and whether it was a single row."""
    x = from_arrow(x)
    if isinstance(x, Mapping):
        names = names or tree.feature_names
        if names is None:
            raise ValueError("x is a dict, but the tree has no column names; give a list.")
        lacking = [name for name in names if name not in x]
        if lacking:
            raise ValueError(f"x has no value for {lacking[0]!r}; the columns are {list(names)}.")
        return [[x[name] for name in names]], True
    if getattr(x, "ndim", None) == 1 and hasattr(x, "index"):  # a row of a data frame
        if names is not None and [str(name) for name in x.index] == list(names):
            return [x.tolist()], True
        if names is not None and all(isinstance(name, str) for name in x.index):
            return read_given(tree, x.to_dict(), names)
        return [x.tolist()], True
    if hasattr(x, "columns"):
        return x, False
    rows = np.asarray(x, dtype=object) if isinstance(x, list | tuple) else np.asarray(x)
    if rows.ndim == 1:
        return [rows.tolist()], True
    return x, False


def _resolve_metric(inner, tree, observed, metric):
    if metric is None:
        own = getattr(getattr(inner, "boundary_", None), "metric_", None)
        if own is not None:
            return own
        metric = "standard"
    metric = read_metric(metric)
    if hasattr(metric, "factor_") and len(metric.factor_) == tree.n_features:
        return metric
    if observed is None:
        if np.ndim(metric.scales) != 1:
            return None
        nothing = np.zeros(tree.n_features)
        return clone(metric).fit_spread((nothing,) * 4, tree)
    return clone(metric).fit_spread(observed.columns, tree)
