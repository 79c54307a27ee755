"""Class sets and intervals of awkward samples are valid or raise a clear error."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.probability.calibration import HELD_OUT, calibrate
from tests.probability.test_calibration import SEEDS, draw

LEVELS = (0.01, 0.5, 0.8, 0.9, 0.99, 0.999)
LEARNER = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0)


def check_nested(model, X):
    """Check that sets and intervals grow with their level, and contain the estimate."""
    sets = [model.predict_set(X, level) for level in LEVELS]
    for smaller, larger in pairwise(sets):
        assert (smaller <= larger).all()
    p = model.predict_proba(X)
    for kind in {"calibration", model.interval_kind}:
        ends = np.array([model.predict_interval(X, level, kind) for level in LEVELS])
        low, high = np.moveaxis(ends, -1, 0)
        assert ((low >= 0) & (low <= high) & (high <= 1)).all()
        assert (np.diff(low, axis=0) <= 1e-12).all()
        assert (np.diff(high, axis=0) >= -1e-12).all()
        assert ((low <= p) & (p <= high)).all()
    return sets


@settings(deadline=None)
@given(SEEDS, st.integers(1, 60), st.integers(1, 4))
def test_sets_and_intervals_grow_with_their_level(seed, n, n_classes):
    """This also holds if a class has one calibration case, or none."""
    rng = np.random.default_rng(seed)
    p, y = rng.dirichlet(np.ones(n_classes), n).round(1), rng.integers(0, n_classes, n)
    p /= p.sum(axis=1, keepdims=True)
    calibration = calibrate(p, y, HELD_OUT)
    new = rng.dirichlet(np.ones(n_classes), 20)
    sets = np.array([calibration.sets(new, level) for level in LEVELS])
    assert (sets[:-1] <= sets[1:]).all()
    ends = np.array([calibration.intervals(new, level) for level in LEVELS])
    assert (ends[..., 0] <= new).all()
    assert (new <= ends[..., 1]).all()
    assert (np.diff(ends[..., 0], axis=0) <= 1e-12).all()
    assert (np.diff(ends[..., 1], axis=0) >= -1e-12).all()
    # A class with too few cases for the level is in every set.
    for level, found in zip(LEVELS, sets, strict=True):
        few = calibration.cases < level / (1 - level) - 1e-9
        assert found[:, few].all()


@pytest.mark.parametrize("rare", [2, 3])
def test_a_class_with_two_or_three_cases_is_in_every_set(rare):
    X, y, _ = draw(300, 1)
    y[:rare] = 2
    model = kt.KeptTreeClassifier(LEARNER).fit(X, y)
    sets = check_nested(model, X[:50])
    assert sets[LEVELS.index(0.8)][:, 2].all()  # excluding it would need 0.8 / 0.2 = 4 cases


def test_a_class_with_a_single_case_needs_held_out_cases():
    X, y, _ = draw(300, 2)
    y[0] = 2
    with pytest.warns(UserWarning, match="single case"):
        model = kt.KeptTreeClassifier(LEARNER).fit(X, y)
    with pytest.raises(ValueError, match="two cases of each, calibrates itself"):
        model.predict_set(X)
    new, outcome, _ = draw(200, 3)
    # No calibration case is of the rare class, so the class is in every set.
    sets = check_nested(model.calibrate(new, outcome), X[:50])
    assert sets[0][:, 2].all()


def test_a_model_with_one_class_needs_calibration_and_is_certain():
    X, _, _ = draw(60, 4)
    y = np.full(60, "only")
    model = kt.KeptTreeClassifier(LEARNER).fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        model.predict_set(X)
    assert check_nested(model.calibrate(X, y), X)[3].all()


def test_sets_of_ten_classes_grow_with_their_level_and_are_small():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 10, 500)
    X = np.column_stack([y + 0.5 * rng.normal(size=500), rng.normal(size=500)])
    model = kt.KeptTreeClassifier(DecisionTreeClassifier(max_leaf_nodes=20, random_state=0))
    sets = check_nested(model.fit(X, y), X[:100])
    assert 1 < sets[LEVELS.index(0.9)].sum(axis=1).mean() < 5


@pytest.mark.parametrize("weighted", [False, True])
def test_sets_and_intervals_work_with_nominal_columns_missing_values_and_weights(weighted):
    rng = np.random.default_rng(6)
    number, colour = rng.normal(size=400), rng.choice(["red", "green", "blue"], 400)
    y = np.where(number + (colour == "red") + 0.5 * rng.normal(size=400) > 0, "yes", "no")
    X = pd.DataFrame({"number": number, "colour": colour})
    X.loc[::5, "number"] = np.nan
    weight = rng.integers(0, 3, 400) if weighted else None
    model = kt.KeptTreeClassifier(kt.C45Classifier()).fit(X, y, sample_weight=weight)
    check_nested(model, X)
    check_nested(model, X.assign(colour="unseen", number=np.nan))


@pytest.mark.parametrize("level", [0, 1, -0.5, 2, np.nan, "0.9", None, True])
def test_a_level_must_be_between_0_and_1(level):
    X, y, _ = draw(100, 7)
    model = kt.SmoothedTreeClassifier(LEARNER).fit(X, y).calibrate(X, y)
    with pytest.raises(ValueError, match=r"coverage=.* is not a share between 0 and 1"):
        model.predict_set(X, level)
    with pytest.raises(ValueError, match=r"confidence=.* is not a share between 0 and 1"):
        model.predict_interval(X, level)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
        (lambda X, y: (X, y[:5]), "inconsistent numbers of samples"),
        (lambda X, y: (X, y + 7), "does not know the labels"),
        (lambda X, y: (X, np.where(y == 1, np.nan, 0.0)), "NaN"),
        (lambda X, y: (X[:, :2], y), "2 features"),
    ],
)
def test_invalid_calibration_cases_are_refused_and_the_old_calibration_is_kept(change, sentence):
    X, y, _ = draw(100, 8)
    model = kt.SmoothedTreeClassifier(LEARNER).fit(X, y).calibrate(X, y)
    before = model.calibration_
    with pytest.raises(ValueError, match=sentence):
        model.calibrate(*change(X, y))
    assert model.calibration_ is before


@pytest.mark.parametrize("seed", range(4))
def test_cases_with_equal_probabilities_are_covered(seed):
    """With two-valued attributes, a stump has two probabilities, which differ between folds."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (3000, 3)).astype(float)
    y = (rng.random(3000) < 0.25 + 0.5 * X[:, 0]).astype(int)
    stump = DecisionTreeClassifier(max_depth=1)
    model = kt.KeptTreeClassifier(stump).fit(X[:600], y[:600])
    assert len(np.unique(model.predict_proba(X))) <= 8
    for level in np.arange(0.05, 1, 0.05):
        sets = model.predict_set(X[600:], level)
        for c in (0, 1):
            assert sets[y[600:] == c, c].mean() > level - 0.1


def test_a_ranking_has_no_sets_or_intervals():
    X, y, _ = draw(100, 9)
    model = kt.GeometricRankClassifier(LEARNER).fit(X, y)
    assert not hasattr(model, "predict_set")
    assert not hasattr(model, "predict_interval")
