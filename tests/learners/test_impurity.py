"""Textbook criteria and subsets of categories, compared with all possible tests."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from keeptree.learners import C45Classifier

IMPURITY = {
    "information-gain": lambda p: -(p[p > 0] * np.log2(p[p > 0])).sum(),
    "gini": lambda p: 1 - (p**2).sum(),
    "misclassification": lambda p: 1 - p.max(),
}


def gain(y, left, criterion, n_classes):
    """Return the decrease in impurity per case if the cases ``left`` are split off."""

    def weighed(part):
        share = np.bincount(part, minlength=n_classes) / max(len(part), 1)
        return len(part) * IMPURITY[criterion](share) if len(part) else 0.0

    return (weighed(y) - weighed(y[left]) - weighed(y[~left])) / len(y)


def stump(criterion, X, y, **more):
    options = {"pruning": "none", "collapse": False, "max_depth": 1, "mdl_correction": False}
    return C45Classifier(criterion, **options, min_samples_leaf=1, **more).fit(X, y).tree_


@pytest.mark.parametrize("criterion", IMPURITY)
@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_of_a_numeric_test_is_the_best_possible(criterion, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 30, 60).astype(float)
    y = np.digitize(x + rng.normal(0, 6, 60), [10, 20])
    tree = stump(criterion, x[:, None], y)
    least = 2  # J48's rule: a tenth of the mean size of the three classes
    cuts = [t for t in np.unique(x)[:-1] if min((x <= t).sum(), (x > t).sum()) >= least]
    best = max(gain(y, x <= t, criterion, 3) for t in cuts)
    assert gain(y, x <= tree.threshold[0], criterion, 3) == pytest.approx(best, abs=1e-6)


def subsets(n):
    return (
        set(rest)
        for size in range(1, n)
        for rest in combinations(range(1, n), size)  # the first category stays on the other side
    )


def chosen(tree, n):
    """Return the categories that go to the second child."""
    return set(np.flatnonzero(tree.category_child[:n] == tree.children(0)[1]).tolist())


@pytest.mark.parametrize("criterion", IMPURITY)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_the_subset_of_few_categories_is_the_best_possible(criterion, n_classes, seed):
    rng = np.random.default_rng(seed)
    n = 7
    codes = rng.integers(0, n, 150)
    shares = rng.dirichlet(np.full(n_classes, 0.4), n)
    y = np.array([rng.choice(n_classes, p=shares[k]) for k in codes])
    X = pd.DataFrame({"a": pd.Categorical(codes, categories=range(n))})
    tree = stump(criterion, X, y, subset_splits=True)
    best = max(gain(y, ~np.isin(codes, list(right)), criterion, n_classes) for right in subsets(n))
    found = gain(y, ~np.isin(codes, list(chosen(tree, n))), criterion, n_classes)
    assert found == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("criterion", IMPURITY)
def test_the_subset_of_many_categories_is_the_best_among_orders_by_class_share(criterion):
    rng = np.random.default_rng(0)
    n, n_classes = 14, 3
    codes = rng.integers(0, n, 400)
    shares = rng.dirichlet(np.full(n_classes, 0.5), n)
    y = np.array([rng.choice(n_classes, p=shares[k]) for k in codes])
    X = pd.DataFrame({"a": pd.Categorical(codes, categories=range(n + 1))})
    tree = stump(criterion, X, y, subset_splits=True)
    found = gain(y, ~np.isin(codes, list(chosen(tree, n))), criterion, n_classes)
    gains = []
    for c in range(n_classes):
        order = np.argsort([(y[codes == k] == c).mean() for k in range(n)], kind="stable")
        gains += [gain(y, np.isin(codes, order[:i]), criterion, n_classes) for i in range(1, n)]
    assert found == pytest.approx(max(gains), abs=1e-6)
    heavier = tree.children(0)[np.argmax(tree.weight[tree.children(0)])]
    assert tree.category_child[n] == heavier, "a category without cases joins the heavier branch"


def test_misclassification_rejects_a_test_that_saves_no_error_immediately():
    # Both sides keep the majority class: no error is saved, though one side is purer.
    x = np.repeat([0.0, 1.0], [40, 60])
    y = np.concatenate([np.repeat([0, 1], [40, 0]), np.repeat([0, 1], [40, 20])])
    assert stump("misclassification", x[:, None], y).n_leaves == 1
    assert stump("gini", x[:, None], y).n_leaves == 2


def test_misclassification_handles_missing_values_and_weights():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    X[::11, 2] = np.nan
    model = C45Classifier("misclassification").fit(X, y, sample_weight=weight)
    assert model.score(X, y) > 0.9
