"""Class sets contain the true class as often as stated; intervals match isotonic regression."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.evaluation.significance import accuracy_interval
from keeptree.probability.calibration import HELD_OUT, calibrate

SEEDS = st.integers(0, 2**32 - 1)


def draw(n, seed, n_classes=2):
    """Return cases whose true probabilities are known; one class is rare."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    logits = np.column_stack([X[:, 0], X[:, 1] - 1, X[:, 0] * X[:, 2] - 2])[:, :n_classes]
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    return X, np.minimum(y, n_classes - 1), p


def naive_sets(p, y, new, coverage):
    """Return sets by conformal p-values, computed case by case."""
    sets = np.zeros(new.shape, dtype=bool)
    for c in range(p.shape[1]):
        scores = p[y == c, c]
        for row, value in enumerate(new[:, c]):
            p_value = (np.sum(scores <= value) + 1) / (len(scores) + 1)
            sets[row, c] = p_value > 1 - coverage + 1e-12
    return sets


@settings(deadline=None)
@given(SEEDS, st.sampled_from([0.5, 0.8, 0.9, 0.95]))
def test_sets_agree_with_naive_conformal_prediction(seed, coverage):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), 60).round(2)
    y = rng.integers(0, 3, 60)
    new = rng.dirichlet(np.ones(3), 10).round(2)
    found = calibrate(p, y, HELD_OUT).sets(new, coverage)
    np.testing.assert_array_equal(found, naive_sets(p, y, new, coverage))


@settings(deadline=None)
@given(SEEDS)
def test_levels_are_isotonic_regressions_with_the_case_added_to_either_class(seed):
    rng = np.random.default_rng(seed)
    score = rng.random(40).round(2)
    event = rng.random(40) < score
    found = calibrate(np.column_stack([1 - score, score]), event.astype(int), HELD_OUT)
    for value in np.unique(score)[::5]:
        level = np.searchsorted(found.edges[1], value)
        for label, ends in ((0, found.low[1]), (1, found.high[1])):
            fitted = IsotonicRegression().fit(np.append(score, value), np.append(event, label))
            assert ends[level] == pytest.approx(fitted.predict([value])[0])
        cases, events = found.blocks[1][level]
        share = IsotonicRegression().fit(score, event).predict([value])[0]
        assert events / cases == pytest.approx(share)
        interval = found.intervals(np.array([[1 - value, value]]), 0.9)[0, 1]
        low, high = accuracy_interval(events / cases, cases, 0.9)
        # The interval is widened to contain the estimate.
        assert interval[0] == pytest.approx(min(low, found.low[1][level], value))
        assert interval[1] == pytest.approx(max(high, found.high[1][level], value))


@settings(deadline=None)
@given(SEEDS, st.sampled_from([0.8, 0.9, 0.95]))
def test_sets_agree_with_crepes_on_the_same_scores(seed, coverage):
    crepes = pytest.importorskip("crepes")
    rng = np.random.default_rng(seed)
    p, y = rng.dirichlet(np.ones(3), 90), rng.integers(0, 3, 90)
    new = rng.dirichlet(np.ones(3), 20)
    found = calibrate(p, y, HELD_OUT).sets(new, coverage)
    for c in range(3):
        theirs = crepes.ConformalClassifier().fit(1 - p[y == c, c])
        p_value = theirs.predict_p(1 - new[:, [c]], smoothing=False)[:, 0]
        # The sets of crepes also contain p-values of exactly 1 - coverage, which the guarantee
        # does not need.
        np.testing.assert_array_equal(found[:, c], p_value > 1 - coverage + 1e-12)


@settings(deadline=None)
@given(SEEDS)
def test_levels_agree_with_the_venn_abers_package(seed):
    package = pytest.importorskip("venn_abers")
    rng = np.random.default_rng(seed)
    score = np.unique(rng.random(80))  # all scores differ, so each one is a level
    event = (rng.random(len(score)) < score).astype(int)
    pairs = np.column_stack([1 - score, score])
    found = calibrate(pairs, event, HELD_OUT)
    theirs = package.VennAbers()
    theirs.fit(pairs, event)
    _, ends = theirs.predict_proba(pairs)
    np.testing.assert_allclose(np.column_stack([found.low[1], found.high[1]]), ends, atol=1e-12)


def test_evenly_spaced_scores_preserve_the_ranks_in_a_large_sample():
    rng = np.random.default_rng(0)
    p = rng.random(50_000)
    y = np.zeros(50_000, dtype=int)
    calibration = calibrate(np.column_stack([p, 1 - p]), y, HELD_OUT)
    assert len(calibration.scores[0]) < 2000
    new = np.column_stack([np.linspace(0, 1, 10_001)] * 2)
    share = calibration.sets(new, 0.9)[:, 0].mean()
    assert share == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_each_class_is_covered_as_stated_out_of_fold_and_held_out(n_classes):
    X, y, _ = draw(1500, 1, n_classes)
    new, truth, _ = draw(20_000, 2, n_classes)
    learner = DecisionTreeClassifier(max_leaf_nodes=12, random_state=0)
    folded = kt.KeptTreeClassifier(learner).fit(X, y)
    held_out = kt.SmoothedTreeClassifier(learner).fit(X[:700], y[:700]).calibrate(X[700:], y[700:])
    for model, source in ((folded, "out of fold"), (held_out, "held out")):
        assert model.calibration_.source == source
        sets = model.predict_set(new, coverage=0.9)
        for c in range(n_classes):
            n_c = model.calibration_.cases[c]
            error = 3 * np.sqrt(0.09 / n_c + 0.09 / (truth == c).sum())
            covered = sets[truth == c, c].mean()
            assert covered > 0.9 - error
            # The held-out model has ties within its leaves, which raise its coverage.
            if source == "out of fold":
                assert covered < 0.9 + error


def test_intervals_contain_the_mean_true_probability_of_similar_cases():
    inside = []
    for seed in range(3):
        X, y, _ = draw(1000, 3 + seed)
        new, _, truth = draw(5000, 40 + seed)
        model = kt.KeptTreeClassifier(DecisionTreeClassifier(max_leaf_nodes=12)).fit(X, y)
        interval, p = (
            model.predict_interval(new, kind="calibration")[:, 1],
            model.predict_proba(new)[:, 1],
        )
        for part in np.array_split(np.argsort(p), 10):
            low, high = interval[part].mean(axis=0)
            inside.append(low < truth[part, 1].mean() < high)
    assert np.mean(inside) > 0.75


def test_a_poorly_calibrated_estimate_is_an_end_of_its_interval():
    """The other end still contains the share of the calibration cases."""
    p = np.column_stack([np.full(200, 0.1), np.full(200, 0.9)])
    y = (np.arange(200) % 10 < 5).astype(int)  # half of the cases belong to each class
    interval = calibrate(p, y, HELD_OUT).intervals(p[:1], 0.9)[0]
    np.testing.assert_allclose(interval[:, 0], [0.1, 0.44], atol=0.01)
    np.testing.assert_allclose(interval[:, 1], [0.56, 0.9], atol=0.01)


def test_a_model_without_held_out_cases_asks_for_calibration():
    X, y, _ = draw(300, 5)
    tree = kt.C45Classifier().fit(X, y).tree_
    for model in (kt.KeptTreeClassifier(tree), kt.SoftTreeClassifier(kt.C45Classifier())):
        with pytest.raises(ValueError, match=r"call calibrate\(X, y\)"):
            model.fit(X, y).predict_set(X)
    model = kt.KeptTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="coverage=1 is not a share"):
        model.predict_set(X, coverage=1)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.calibrate(X, y[:-1])
    with pytest.raises(ValueError, match="2"):
        model.calibrate(X, np.where(y == 1, 2, y))


def test_a_class_with_few_calibration_cases_is_in_every_set():
    p = np.column_stack([np.full(20, 0.9), np.full(20, 0.1)])
    y = np.array([0] * 17 + [1] * 3)
    sets = calibrate(p, y, HELD_OUT).sets(np.array([[0.99, 0.01]]), 0.9)
    assert sets.tolist() == [[True, True]]


def test_a_saved_model_gives_the_same_sets_and_intervals(tmp_path):
    X, y, _ = draw(400, 6, 3)
    model = kt.KeptTreeClassifier().fit(X, y)
    kt.save(model, tmp_path / "model.json")
    loaded = kt.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_set(X), model.predict_set(X))
    intervals = [m.predict_interval(X, kind="calibration") for m in (loaded, model)]
    np.testing.assert_array_equal(*intervals)
