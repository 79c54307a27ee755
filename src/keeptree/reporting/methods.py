"""Compare several methods for one kept tree on the same held-out cases."""

from collections.abc import Mapping

import numpy as np

from keeptree.probability.base import KeptTreeModel
from keeptree.probability.methods import METHODS, make_method, methods_of
from keeptree.progress import step
from keeptree.reporting.quality import roc_points, single_metrics
from keeptree.reporting.tree_data import fingerprint
from keeptree.text import clean
from keeptree.tree import Tree


def make_methods(where, tree):
    """Return the unfitted methods to compare with the recommended one, by name.

    The methods of the ``"report"`` are cheap. The ``"demo"`` has every kind of method; some refit
    the tree on folds to choose a strength.
    """
    return {name: make_method(name, tree) for name in methods_of(where)}


def check_same_tree(others, tree):
    """Raise a ValueError unless all models keep this tree."""
    if not isinstance(others, Mapping):
        raise ValueError(
            f"others is {type(others).__name__}, but must be a dict of names to fitted KeepTree "
            'classifiers; give for example {"Laplace": model}.'
        )
    expected = fingerprint(tree)
    for name, other in others.items():
        if not isinstance(getattr(other, "tree_", None), Tree):
            raise ValueError(
                f"others[{name!r}] is a {type(other).__name__}, not a fitted KeepTree classifier; "
                f"give one that keeps the model's tree, fitted on the training sample."
            )
        if fingerprint(other.tree_) != expected:
            raise ValueError(
                f"others[{name!r}] has a different tree from the model; give all of them the same "
                "fitted tree."
            )


@step("Measuring the other methods")
def measure_methods(held, name, others, positive):
    """Evaluate every method on the same cases.

    Parameters
    ----------
    held : HeldOut
        The cases, with the probabilities of the model and of the tree's own leaves.
    name : str
        Name of the reported model.
    others : dict of str to fitted classifier
        Classifiers of the same tree; those without probabilities only rank.
    positive : int
        With two classes, the one whose ranking is measured.

    Returns
    -------
    rows : list of dict
        The leaves first, ours last: ``name``, ``auc``, ``brier`` and ``log_loss`` (None for a
        ranking), ``distinct``, the number of different scores, and with two classes ``roc``.
    """
    truth = held.truth
    rows = [_row(METHODS["leaves"].name, held.leaves, truth, positive)]
    for key, other in others.items():
        row = _row(clean(key), _score(other, held), truth, positive)
        ranks_only = not hasattr(other, "predict_proba")
        rows.append(row | {"brier": None, "log_loss": None} if ranks_only else row)
    return [*rows, _row(f"ours ({name})", held.ours, truth, positive)]


def _score(other, held):
    """Probabilities or scores of each class."""
    if isinstance(other, KeptTreeModel):
        return other.scores_encoded(held.rows)
    return other.predict_proba(held.X)


def _row(name, scores, truth, positive):
    two = scores.shape[1] == 2 and 0 < (truth == positive).sum() < len(truth)
    return {
        "name": name,
        **single_metrics(scores, truth, positive),
        "distinct": len(np.unique(scores.round(12), axis=0)),
        "roc": roc_points(scores[:, positive], truth == positive) if two else None,
    }
