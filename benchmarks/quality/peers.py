"""Models that a kept tree is compared with, none of them readable.

A peer is a function ``(train, seed) -> fitted model``, or several models by name, where ``train =
(X, y)`` and all columns are numbers. A peer makes all its choices on ``train``. Everything runs on
one thread.
"""

from itertools import product

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

FOREST = "forest"  # the upper end of the gap that methods close
CALIBRATED, TUNED = "forest, calibrated", "forest, tuned and calibrated"
ON_TREE = "{}, tree's attributes"
_TREES, _TUNING_TREES = 300, 50
_FEATURES, _LEAVES = ("sqrt", 0.5), (1, 5)  # settings that the tuned forest tries
_LEAST = 1e-3  # smallest out-of-bag probability before taking its logarithm


class CalibratedForest:
    """A forest calibrated by a logistic model of its out-of-bag log-probabilities."""

    def __init__(self, forest, y):
        self.forest, self.classes_ = forest, forest.classes_
        unseen = forest.oob_decision_function_
        known = ~np.isnan(unseen).any(axis=1)
        self.map = LogisticRegression(max_iter=1000).fit(_logs(unseen[known]), y[known])

    def predict_proba(self, X):
        p = np.zeros((len(X), len(self.classes_)))
        columns = np.searchsorted(self.classes_, self.map.classes_)
        p[:, columns] = self.map.predict_proba(_logs(self.forest.predict_proba(X)))
        return p


def forest(train, seed, trees=_TREES, **parameters):
    """Return an untuned random forest."""
    return RandomForestClassifier(trees, random_state=seed, n_jobs=1, **parameters).fit(*train)


def forests(train, seed):
    """Return an untuned forest, as it is and calibrated on its out-of-bag probabilities."""
    plain = forest(train, seed, oob_score=True)
    return {FOREST: plain, CALIBRATED: CalibratedForest(plain, train[1])}


def tuned_forest(train, seed):
    """Return a calibrated forest whose settings are chosen by out-of-bag log-loss."""
    grid = [
        {"max_features": tried, "min_samples_leaf": leaf}
        for tried, leaf in product(_FEATURES, _LEAVES)
    ]
    losses = [_out_of_bag_loss(train, seed, parameters) for parameters in grid]
    best = grid[int(np.argmin(losses))]
    return CalibratedForest(forest(train, seed, oob_score=True, **best), train[1])


class SortedClasses:
    """CatBoost with its classes in the order of the others, because it sorts "10" before "2"."""

    def __init__(self, model):
        self.model, self.order = model, np.argsort(model.classes_)
        self.classes_ = model.classes_[self.order]

    def predict_proba(self, X):
        return self.model.predict_proba(X)[:, self.order]


def catboost(train, seed):
    """Return CatBoost with its defaults."""
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False
    )
    return SortedClasses(model.fit(*train))


def lightgbm(train, seed):
    """Return LightGBM with its defaults."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbosity=-1).fit(*train)


def logistic(train, seed):
    """Return logistic regression on standardised columns."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(*train)


PEERS = {
    FOREST: forests,
    TUNED: tuned_forest,
    "CatBoost": catboost,
    "LightGBM": lightgbm,
    "logistic regression": logistic,
}
PEER_NAMES = (FOREST, CALIBRATED, *list(PEERS)[1:])
PEERS_ON_TREE = {
    ON_TREE.format(name): peer
    for name, peer in ((FOREST, forest), ("CatBoost", catboost), ("LightGBM", lightgbm))
}


def _out_of_bag_loss(train, seed, parameters):
    model = forest(train, seed, _TUNING_TREES, oob_score=True, **parameters)
    own = model.oob_decision_function_[
        np.arange(len(train[1])), np.searchsorted(model.classes_, train[1])
    ]
    return -np.log(np.maximum(own[~np.isnan(own)], _LEAST)).mean()


def _logs(p):
    """Return log-probabilities, or for two classes the log-odds."""
    logs = np.log(np.maximum(p, _LEAST))
    return logs[:, 1:] - logs[:, :1] if p.shape[1] == 2 else logs
