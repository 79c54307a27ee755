"""Data and trees shared by the tests of the post-hoc classifiers."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier


@pytest.fixture(scope="session")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="session")
def iris():
    """Return iris with some labels flipped, so that distances and classes sometimes disagree."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    flipped = rng.random(len(y)) < 0.15
    return X, np.where(flipped, rng.integers(3, size=len(y)), y)


@pytest.fixture(scope="session")
def cancer_tree(cancer):
    return DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(*cancer)


@pytest.fixture(scope="session")
def iris_tree(iris):
    return DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(*iris)
