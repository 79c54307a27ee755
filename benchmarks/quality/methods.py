"""The kept trees, and all methods for their probabilities.

A method is a function ``(learner, tree, train) -> scores of rows``: ``learner`` is unfitted,
``tree`` the same learner fitted on ``train = (X, y)``. A method makes all its choices on ``train``.
``peers.py`` contains the models that they are compared with.
"""

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

LEARNERS = {
    "readable": lambda: DecisionTreeClassifier(max_leaf_nodes=30, random_state=0),
    "unpruned": lambda: DecisionTreeClassifier(random_state=0),
    "J48": lambda: kt.C45Classifier(),
}


def kept(model, **parameters):
    """Return the method of one of the library's classifiers."""

    def score(learner, tree, train):
        return model(tree, **parameters).fit(*train).predict_proba

    return score


def ranked(learner, tree, train):
    """Return the scores of local geometric ranking, which has no probabilities."""
    model = kt.GeometricRankClassifier(tree, scope="local").fit(*train)

    def score(X):
        values = model.decision_function(X)
        return np.column_stack([-values, values]) if values.ndim == 1 else values

    return score


def kept_pool(learner, tree, train):
    """Return KeptTreeClassifier without and with ``coherent``, from one fit."""
    model = kt.KeptTreeClassifier(tree).fit(*train)

    def coherent(X):
        return model.set_params(coherent=True).predict_proba(X)

    return {"kept": model.predict_proba, "kept, coherent": coherent}


def kept_without_learner(learner, tree, train):
    """Return KeptTreeClassifier around the tree alone, which cannot be refitted."""
    return kt.KeptTreeClassifier(kt.keep(tree)).fit(*train).predict_proba


def calibrated(method):
    """Return the method that calibrates one tree on out-of-fold probabilities of its learner."""

    def score(learner, tree, train):
        model = CalibratedClassifierCV(
            clone(learner), method=method, cv=_folds(train[1]), ensemble=False
        )
        return model.fit(*train).predict_proba

    return score


def venn_abers(learner, tree, train):
    """Return Venn-Abers on out-of-fold probabilities; several classes are one against the rest."""
    from venn_abers import VennAbers

    X, y = train
    unseen = cross_val_predict(clone(learner), X, y, cv=_folds(y), method="predict_proba")
    predictors = []
    for c in range(1 if unseen.shape[1] == 2 else 0, unseen.shape[1]):
        predictors.append((c, VennAbers()))
        p = unseen[:, c]
        predictors[-1][1].fit(np.column_stack([1 - p, p]), (y == tree.classes_[c]).astype(int))

    def score(rows):
        raw = tree.predict_proba(rows)
        out = np.empty_like(raw)
        for c, predictor in predictors:
            p = np.column_stack([1 - raw[:, c], raw[:, c]])
            out[:, c] = predictor.predict_proba(p)[0][:, 1]
        if raw.shape[1] == 2:
            out[:, 0] = 1 - out[:, 1]
        total = out.sum(axis=1, keepdims=True)
        return np.where(total > 0, out / np.where(total > 0, total, 1), 1 / out.shape[1])

    return score


METHODS = {
    "leaves": kept(kt.SmoothedTreeClassifier, smoothing="leaves"),
    "laplace": kept(kt.SmoothedTreeClassifier, smoothing="laplace"),
    "m-estimate": kept(kt.SmoothedTreeClassifier, smoothing="m-estimate"),
    "shrinkage-cv": kept(kt.SmoothedTreeClassifier, smoothing="shrinkage", strength="cv"),
    "sigmoid": calibrated("sigmoid"),
    "isotonic": calibrated("isotonic"),
    "temperature": calibrated("temperature"),
    "Venn-Abers": venn_abers,
    "confdtree": kept(kt.ConfDTreeClassifier),
    "kernel": kept(kt.DistanceKernelClassifier, scope="global"),
    "separator-kernel": kept(kt.DistanceKernelClassifier, scope="separator"),
    "position-kernel": kept(kt.DistanceKernelClassifier, features="distance+separator"),
    "local-rank": ranked,
    "soft": kept(kt.SoftTreeClassifier),
    "margin": kept(kt.MarginTreeClassifier),
    "kept": kept_pool,
    "kept-all": kept(kt.KeptTreeClassifier, columns="all"),
    "kept, no learner": kept_without_learner,
}
RANK_ONLY = ("local-rank",)
ON_LARGE = ("laplace", "shrinkage-cv", "soft", "margin", "kept", "kept-all", "kept, no learner")


def _folds(y):
    """Return five folds, or as many as the smallest class has cases."""
    smallest = np.unique(y, return_counts=True)[1].min()
    return StratifiedKFold(int(np.clip(smallest, 2, 5)), shuffle=True, random_state=0)
