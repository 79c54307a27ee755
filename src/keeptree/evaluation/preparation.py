"""Check the arguments of a comparison and build its experiment."""

import warnings
from collections.abc import Mapping

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv

from keeptree.choice import one_of
from keeptree.data.arrow import from_arrow
from keeptree.data.labels import plain
from keeptree.data.target import read_target
from keeptree.evaluation.experiment import Experiment, Parts
from keeptree.evaluation.metrics import find_metrics
from keeptree.evaluation.protocols import make_protocol
from keeptree.probability.smoothing import SmoothedTreeClassifier
from keeptree.tree import Tree


def prepare_experiment(models, X, y, *, protocol, n_splits, metrics, positive, random_state):
    """Return the :class:`~keeptree.evaluation.experiment.Experiment` of a comparison.

    The parameters are those of :func:`~keeptree.evaluation.compare`.
    """
    models, metrics = _name_models(models), find_metrics(metrics)
    _warn_of_frozen(models)
    X = from_arrow(X)
    y, labels = read_classes(y, positive)
    parts = _split_parts(protocol, n_splits, random_state, X, y)
    return Experiment(models, X, y, labels, parts, metrics)


def read_classes(y, positive=None):
    """Return labels as an array, and the classes; of two classes, the positive one is last."""
    classes, codes = read_target(y)
    y, labels = classes[codes], np.unique(classes[codes])
    if len(labels) < 2:
        raise ValueError(
            f"All cases belong to the class {plain(labels[0])!r}; give cases of two or more "
            "classes."
        )
    if positive is None:
        return y, labels
    names = [plain(label) for label in labels]
    positive = one_of(names, plain(positive), "class")
    if len(labels) > 2:
        raise ValueError(f"There are {len(labels)} classes; positive applies only to two classes.")
    return y, labels[::-1] if positive == names[0] else labels


def _name_models(models):
    """Return the models as a dict; models in a list are named after their class."""
    if not isinstance(models, Mapping):
        names = [type(model).__name__ for model in models]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ValueError(
                f"Several models are of the class {min(repeated)}; give a dict of names to models "
                f"instead."
            )
        models = dict(zip(names, models, strict=True))
    if not models:
        raise ValueError("There is no model to compare; give a dict of names to models.")
    return {name: _wrap_tree(model) for name, model in models.items()}


def _wrap_tree(model):
    """Return a classifier that predicts the leaf proportions of a Tree; other models unchanged."""
    return SmoothedTreeClassifier(model, smoothing="leaves") if isinstance(model, Tree) else model


def _warn_of_frozen(models):
    """Warn about frozen models, which are not refitted on the training sets."""
    frozen = [repr(name) for name, model in models.items() if _is_frozen(model)]
    if frozen:
        words = ("model", "keeps") if len(frozen) == 1 else ("models", "keep")
        warnings.warn(
            f"The {words[0]} {', '.join(frozen)} {words[1]} a frozen tree, which is not grown "
            f"again for each split: if the cases include those it was grown on, it is tested on "
            f"cases it "
            "has seen and its figures are too good; compare the unfitted learner, or give unseen "
            "cases.",
            stacklevel=4,
        )


def _is_frozen(model):
    """Return whether a model, or one of its parameters, is a tree that is never refitted."""
    parts = [model, *model.get_params().values()] if hasattr(model, "get_params") else [model]
    return any(isinstance(part, Tree | FrozenEstimator) for part in parts)


def _split_parts(protocol, n_splits, random_state, X, y):
    """Return the splits of a protocol, given by name or as scikit-learn's ``cv``."""
    if isinstance(protocol, str):
        splitter = make_protocol(protocol, n_splits, random_state)
    elif n_splits is not None:
        raise ValueError("n_splits applies to protocols given by name; set it in the splitter.")
    else:
        splitter = check_cv(protocol, y, classifier=True)
    labels, counts = np.unique(y, return_counts=True)
    try:
        return Parts.from_pairs(splitter.split(X, y))
    except ValueError as error:
        if counts.min() > 1 or "member" not in str(error):
            raise
        raise ValueError(
            f"The class {plain(labels[counts.argmin()])!r} has 1 member, which cannot be in both "
            f"the training and the test part; merge the class with another or remove it."
        ) from error
