"""The library's methods side by side on one kept tree and one split, for the demonstration."""

import numpy as np
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from keeptree.probability.distance_kernel import DistanceKernelClassifier
from keeptree.probability.geometric_rank import GeometricRankClassifier
from keeptree.probability.kept import KeptTreeClassifier
from keeptree.probability.margin import MarginTreeClassifier
from keeptree.probability.smoothing import SmoothedTreeClassifier
from keeptree.probability.soft import SoftTreeClassifier


def measure_methods(tree, train, test, positive):
    """Fit every method on the same kept tree and measure it on the held-out cases.

    Parameters
    ----------
    tree : fitted estimator
        The tree to keep; where a method chooses a strength its learner is grown again on folds.
    train, test : tuple of (X, y)
        The cases to fit, and those held out.
    positive : label
        Of two classes the one that scores are for.

    Returns
    -------
    rows : list of dict
        ``name``, ``auc``, ``brier``, ``log_loss`` (None for a ranking) and ``distinct``, the
        number of different scores.
    """
    truth = np.asarray(test[1]) == positive
    return [
        _measure(name, model.fit(*train), test[0], truth, positive)
        for name, model in (
            ("the tree's own leaves", SmoothedTreeClassifier(tree, "raw")),
            ("Laplace", SmoothedTreeClassifier(tree, "laplace")),
            ("shrinkage", SmoothedTreeClassifier(tree, "shrinkage", strength="cv")),
            ("geometric ranking, local", GeometricRankClassifier(tree, "local")),
            ("distance kernel, separator", DistanceKernelClassifier(tree, "separator")),
            ("distance kernel, global", DistanceKernelClassifier(tree)),
            ("soft tests", SoftTreeClassifier(tree)),
            ("margins of the tests", MarginTreeClassifier(tree)),
            ("kept tree (recommended)", KeptTreeClassifier(tree)),
        )
    ]


def _measure(name, model, X, truth, positive):
    row = {"name": name, "brier": None, "log_loss": None}
    if hasattr(model, "predict_proba"):
        score = model.predict_proba(X)[:, list(model.classes_).index(positive)]
        row["brier"] = float(brier_score_loss(truth, score))
        row["log_loss"] = float(log_loss(truth, score, labels=[False, True]))
    else:
        score = model.decision_function(X) * (1 if model.classes_[1] == positive else -1)
    distinct = len(np.unique(np.round(score, 12)))
    return {**row, "auc": float(roc_auc_score(truth, score)), "distinct": distinct}
