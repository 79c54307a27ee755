"""Small models of every exported kind, fitted to ``Tree`` objects so that nothing is refitted."""

import warnings
from dataclasses import replace
from functools import cache, partial

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.probability.kernel_expert import GAUSSIAN
from tests.strategies import random_oblique_tree, random_rows


def mixed_table(n=300, seed=0):
    """Return numbers and categories, some of them missing, and three classes."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    colour, letter = rng.choice(["red", "green", "blue"], n), rng.choice(list("abcdefgh"), n)
    size, age = rng.normal(size=n).round(2), rng.integers(18, 90, n).astype(float)
    score = size + (colour == "red") + 0.03 * age + np.isin(letter, ["a", "c"])
    score += 0.5 * rng.normal(size=n)
    size[rng.random(n) < 0.1] = np.nan
    table = pd.DataFrame({"size": size, "age": age, "colour": colour, "letter": letter})
    for name in ("colour", "letter"):
        table[name] = table[name].astype("category")
    return table, np.digitize(score, [1.5, 3.0]).astype(str)


def numbers():
    """Return data with two classes and a learner that compares in float32."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y, DecisionTreeClassifier(max_leaf_nodes=10, min_samples_leaf=5, random_state=0)


def classes():
    """Return data with three classes and a float64 learner that shares missing values."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, y, kt.C45Classifier()


def missing():
    """Return data with missing values and a float32 learner that chooses a child for them."""
    X, y, learner = numbers()
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)
    return X, y, learner


def mixed():
    """Return data with categories and missing values, which the learner shares among branches."""
    return *mixed_table(), kt.C45Classifier()


def oblique(compare_dtype="float64"):
    """Return data and a tree with oblique, numeric and nominal tests that shares missing values."""
    options = {"n_classes": 3, "n_nominal": 1, "missing": "share", "compare_dtype": compare_dtype}
    tree = replace(random_oblique_tree(3, n_leaves=12, **options), feature_names=list("abcd"))
    X, rng = random_rows(tree, 0, n=300, missing=0.05), np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.15, rng.integers(0, 3, 300), tree.decide(X))
    return tree.decode(X), tree.classes[y], tree


def relabelled():
    """Return a tree that shares missing values, with other labels than the largest shares."""
    tree = kt.C45Classifier().fit(*mixed_table()).tree_
    return replace(tree, label=(tree.label + 1) % len(tree.classes))


DATA = {"numbers": numbers, "classes": classes, "missing": missing, "mixed": mixed}
OBLIQUE = {"oblique": oblique, "oblique in float32": partial(oblique, "float32")}


def costs_of(tree):
    """Return costs under which the cheapest class is often not the most probable one."""
    n = len(tree.classes)
    return (1.0 + 7.0 * np.arange(n)[:, None]) * (1 - np.eye(n))


MODELS = {
    "tree": lambda tree: None,
    "laplace": kt.SmoothedTreeClassifier,
    "probable": lambda tree: kt.SmoothedTreeClassifier(tree, "shrinkage", decide="probability"),
    "cheap": lambda tree: kt.SmoothedTreeClassifier(tree, decide="cost", costs=costs_of(tree)),
    "soft": kt.SoftTreeClassifier,
    "margin": kt.MarginTreeClassifier,
    "kept": kt.KeptTreeClassifier,
    "coherent": lambda tree: kt.KeptTreeClassifier(tree, coherent=True),
    "all columns": lambda tree: kt.KeptTreeClassifier(tree, columns="all"),
}

WEIGHTS = {
    "kernel only": [0, 0, 1.1],
    "no kernel": [0.3, 0.6, 0],
    "margin and kernel": [0, 0.4, 0.6],
    "Gaussian kernel": [0.1, 0.2, 0.8],  # as in files of older versions
}

PAPERS = {
    "confdtree": kt.ConfDTreeClassifier,
    "distance": kt.DistanceKernelClassifier,
    "distance by leaf": lambda tree: kt.DistanceKernelClassifier(tree, "leaf"),
    "separator": lambda tree: kt.DistanceKernelClassifier(tree, "separator"),
    "rank": kt.GeometricRankClassifier,
    "local rank": lambda tree: kt.GeometricRankClassifier(tree, "local", boundary="whole"),
}


@cache
def weighted(weights):
    """Return a model of numbers that averages similar trees, with other weights of the experts."""
    X, y, learner = numbers()
    model = kt.KeptTreeClassifier(learner).fit(X, y)
    model.pool_ = replace(model.pool_, weights=np.array(WEIGHTS[weights], dtype=float))
    if weights == "Gaussian kernel":
        model.kernel_ = as_gaussian(model.kernel_)
    return model


def as_gaussian(expert):
    """Return a kernel expert of the shape that older models have, with similar bandwidths."""
    scaled = expert.space.scaled(np.full(len(expert.space.feature), 8.0))
    return replace(expert, shape=GAUSSIAN, space=scaled, landmarks=8 * expert.landmarks)


@cache
def fitted(model, data):
    """Return the named model, fitted to the named data; ``"tree"`` means the tree alone."""
    X, y, learner = {**DATA, **OBLIQUE}[data]()
    tree = learner if isinstance(learner, kt.Tree) else kt.keep(learner.fit(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {**MODELS, **PAPERS}[model](tree)
        return tree if made is None else made.fit(X, y)
