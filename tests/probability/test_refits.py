"""Out-of-fold refits do not change the tree, partition the cases, and accept small samples."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data.labels import label_codes
from keeptree.data.sample import Sample, stratified_part
from keeptree.probability.refits import held_out_loss, out_of_fold


def refit(estimator, tree, X, y, weight=None, **options):
    sample = Sample(tree, tree.encode(X), label_codes(y, tree.classes), weight)
    return out_of_fold(estimator, sample, X, y, weight is not None, **options)


CHOOSING = [
    kt.SoftTreeClassifier(DecisionTreeClassifier(max_depth=3, random_state=0)),
    kt.MarginTreeClassifier(DecisionTreeClassifier(max_depth=3, random_state=0)),
]


def test_every_row_is_held_out_once_and_the_tree_has_not_seen_it(cancer, cancer_tree):
    X, y = cancer
    before = pickle.dumps(cancer_tree)
    folds = refit(cancer_tree, kt.keep(cancer_tree), X, y)
    assert pickle.dumps(cancer_tree) == before
    assert len(folds) == 5
    np.testing.assert_array_equal(np.sort(np.concatenate([f.rows for f in folds])), np.arange(569))
    for fold in folds:
        others = np.setdiff1d(np.arange(len(y)), fold.rows)
        grown = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X[others], y[others])
        np.testing.assert_array_equal(fold.tree.apply(X), grown.apply(X))
        np.testing.assert_array_equal(fold.test.X, X[fold.rows])
        np.testing.assert_array_equal(fold.train.y, y[others])


def test_a_small_class_reduces_the_folds_and_a_single_case_prevents_them_with_a_warning(iris):
    X, y = iris
    learner = DecisionTreeClassifier(max_depth=3, random_state=0)
    for members, expected in ((3, 3), (2, 2)):
        rare = np.where(np.arange(len(y)) < members, 3, y)
        tree = kt.keep(DecisionTreeClassifier(max_depth=3).fit(X, rare))
        assert len(refit(learner, tree, X, rare)) == expected
    lone = np.where(np.arange(len(y)) == 0, 3, y)
    for model in CHOOSING:
        with pytest.warns(UserWarning, match="A class has a single case") as caught:
            p = model.fit(X, lone).predict_proba(X)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert np.isfinite(p).all()


def test_a_tree_without_its_learner_or_a_single_class_has_no_folds_and_no_warning(iris, iris_tree):
    X, y = iris
    tree = kt.keep(iris_tree)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert refit(tree, tree, X, y) is None
        ones = np.full(len(y), "a")
        for model in CHOOSING:
            np.testing.assert_array_equal(model.fit(X, ones).predict_proba(X), 1.0)


def test_a_pipeline_is_refitted_with_its_steps(iris):
    X, y = iris
    pipe = make_pipeline(PCA(), DecisionTreeClassifier(max_depth=3, random_state=0))
    for fold in refit(pipe.fit(X, y), kt.keep(pipe, fold=False), X, y):
        others = np.setdiff1d(np.arange(len(y)), fold.rows)
        axes = PCA().fit(X[others])
        np.testing.assert_array_equal(fold.test.X, axes.transform(X[fold.rows]))


def test_a_pipeline_that_can_be_folded_is_refitted_and_folded_again(iris):
    X, y = iris
    pipe = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3, random_state=0))
    for fold in refit(pipe.fit(X, y), kt.keep(pipe), X, y):
        np.testing.assert_array_equal(fold.test.X, X[fold.rows])
        others = np.setdiff1d(np.arange(len(y)), fold.rows)
        again = clone(pipe).fit(X[others], y[others])
        np.testing.assert_array_equal(fold.tree.predict(X), again.predict(X))


def test_the_classes_of_all_folds_are_those_of_the_kept_tree(iris):
    X, y = iris
    names = ["setosa", "virginica", "another", "versicolor"]
    declared = pd.Categorical.from_codes(y, names[:2] + names[3:]).set_categories(names)
    truth = np.asarray(declared)
    learner = kt.C45Classifier().fit(X, declared)
    plain = DecisionTreeClassifier(max_depth=3, random_state=0)
    for model in (learner, plain):
        for fold in refit(model, learner.tree_, X, declared):
            assert fold.tree.classes.tolist() == sorted(names)
            assert fold.tree.classes[fold.tree.declared].tolist() == names
            assert (fold.tree.predict(fold.test.X) == truth[fold.rows]).mean() > 0.5
            np.testing.assert_array_equal(fold.tree.classes[fold.test.y], truth[fold.rows])


def test_rows_of_weight_0_are_in_no_fold_and_weights_reach_the_learner(iris):
    X, y = iris
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    learner = DecisionTreeClassifier(max_depth=2, random_state=0)
    folds = refit(learner, kt.keep(learner.fit(X, y)), X, y, weight)
    rows = np.sort(np.concatenate([fold.rows for fold in folds]))
    np.testing.assert_array_equal(rows, np.flatnonzero(weight))
    for fold in folds:
        np.testing.assert_array_equal(fold.test.weight, weight[fold.rows])
        assert fold.tree.weight[0] == pytest.approx(fold.train.weight.sum())


def test_folds_of_a_large_sample_hold_out_a_stratified_part_but_grow_on_all_cases():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = (rng.random(3000) < 0.1).astype(int)
    learner = DecisionTreeClassifier(max_depth=2).fit(X, y)
    folds = refit(learner, kt.keep(learner), X, y, most=500)
    assert sum(len(fold.rows) for fold in folds) == 500
    held = np.concatenate([fold.test.y for fold in folds])
    assert held.mean() == pytest.approx(y.mean(), abs=0.005)
    assert all(fold.tree.weight[0] == 2400 for fold in folds)
    assert len(stratified_part(y, 10_000)) == 3000


def test_refits_do_not_depend_on_the_number_of_threads(cancer, cancer_tree):
    X, y = cancer
    one, two = (refit(cancer_tree, kt.keep(cancer_tree), X, y, n_jobs=n) for n in (1, 2))
    for a, b in zip(one, two, strict=True):
        assert a.tree.to_dict() == b.tree.to_dict()
        np.testing.assert_array_equal(a.rows, b.rows)


def test_the_loss_is_the_weighted_log_loss_of_each_setting():
    p = np.array([[[0.2, 0.5], [0.8, 0.5]], [[0.9, 0.0], [0.1, 1.0]]])
    loss = held_out_loss(p, np.array([1, 0]), np.array([1.0, 2.0]))
    np.testing.assert_allclose(
        loss, [-np.log(0.8) - 2 * np.log(0.9), -np.log(0.5) - 2 * np.log(1e-15)]
    )


def test_cv_accepts_what_scikit_learn_accepts(cancer, cancer_tree):
    X, y = cancer
    tree = kt.keep(cancer_tree)
    assert len(refit(cancer_tree, tree, X, y, cv=3)) == 3
    folds = refit(cancer_tree, tree, X, y, cv=KFold(4, shuffle=True, random_state=1))
    np.testing.assert_array_equal(np.sort(np.concatenate([f.rows for f in folds])), np.arange(569))
    half = ShuffleSplit(1, train_size=0.3, test_size=0.2, random_state=0)
    (fold,) = refit(cancer_tree, tree, X, y, cv=half)
    grow, hold = next(half.split(X))
    np.testing.assert_array_equal(fold.rows, np.sort(hold))
    np.testing.assert_array_equal(fold.train.y, y[np.sort(grow)])


def test_cv_leaves_out_cases_of_weight_0_and_folds_that_become_empty(cancer, cancer_tree):
    X, y = cancer
    tree, weight = kt.keep(cancer_tree), np.ones(len(y))
    weight[:200] = 0.0
    cv = [(np.arange(200, 569), np.arange(200)), (np.arange(400), np.arange(300, 569))]
    (fold,) = refit(cancer_tree, tree, X, y, weight, cv=cv)
    np.testing.assert_array_equal(fold.rows, np.arange(300, 569))
    assert len(fold.train.y) == 200
    with pytest.raises(ValueError, match="No fold of cv holds out a row"):
        refit(cancer_tree, tree, X, y, weight, cv=cv[:1])


def test_cv_accepts_masks_and_refuses_rows_that_do_not_exist(cancer, cancer_tree):
    X, y = cancer
    tree, hold = kt.keep(cancer_tree), np.arange(569) % 3 == 0
    (fold,) = refit(cancer_tree, tree, X, y, cv=[(~hold, hold)])
    np.testing.assert_array_equal(fold.rows, np.flatnonzero(hold))
    assert len(fold.train.y) == 569 - len(fold.rows)
    with pytest.raises(IndexError, match="out of bounds"):
        refit(cancer_tree, tree, X[:300], y[:300], cv=[(np.arange(200), np.arange(200, 569))])


def test_a_fold_does_not_hold_out_classes_that_it_was_not_trained_on(iris, iris_tree):
    X, y = iris
    tree = kt.keep(iris_tree)
    few = np.flatnonzero(y != 2)
    (fold,) = refit(iris_tree, tree, X, y, cv=[(few[::2], np.arange(1, 150, 2))])
    assert set(fold.test.y) == {0, 1}
    with pytest.raises(ValueError, match="whose class is in its training part"):
        refit(iris_tree, tree, X, y, cv=[(few, np.flatnonzero(y == 2))])


@pytest.mark.parametrize("kind", [kt.SoftTreeClassifier, kt.KeptTreeClassifier])
def test_copies_of_a_case_are_in_the_same_fold(kind):
    """Every case occurs five times, so with random folds a tree that memorises looks perfect."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2200, 4))
    y = (X[:, 0] + rng.normal(size=2200) > 0).astype(int)
    copies, new = np.repeat(np.arange(200), 5), slice(200, None)
    deep = DecisionTreeClassifier(random_state=0)
    folds = {
        "random": KFold(5, shuffle=True, random_state=0),
        "given": list(GroupKFold(5).split(X[copies], y[copies], copies)),
        "found": None,
    }
    loss = {}
    for name, cv in folds.items():
        model = kind(deep, cv=cv).fit(X[copies], y[copies])
        loss[name] = held_out_loss(model.predict_proba(X[new]), y[new], np.ones(2000))
    assert loss["given"] < 0.8 * loss["random"]
    assert loss["found"] < 0.8 * loss["random"]


@pytest.mark.parametrize("model", CHOOSING)
def test_weights_that_sum_to_one_give_one_warning(cancer, model):
    X, y = cancer
    with pytest.warns(UserWarning, match="The sample weights of 569 rows sum to 1") as caught:
        model.fit(X, y, np.full(569, 1 / 569))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y, np.full(569, 0.5))


def test_a_splitter_is_not_saved(cancer, cancer_tree, tmp_path):
    X, y = cancer
    for cv, saved in ((3, 3), (KFold(3), None)):
        model = kt.SoftTreeClassifier(cancer_tree, cv=cv).fit(X, y)
        kt.save(model, tmp_path / "model.json")
        again = kt.load(tmp_path / "model.json")
        assert again.cv == saved
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
