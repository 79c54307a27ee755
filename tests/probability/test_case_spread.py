"""Intervals of single cases contain the estimate, and the truth about as often as stated."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.probability.calibration import wilson_interval
from keeptree.probability.case_spread import REFITS, CaseSpread, measure_spread
from keeptree.probability.kernel_expert import bell
from tests.probability.test_calibration import draw

LEARNER = DecisionTreeClassifier(max_leaf_nodes=12, random_state=0)


@pytest.fixture(scope="module")
def model():
    X, y, _ = draw(800, 1)
    return kt.KeptTreeClassifier(LEARNER).fit(X, y)


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 50), st.floats(0, 1e4), st.floats(0.05, 0.99))
def test_intervals_contain_the_estimate_and_widen_with_confidence(p, variance, similar, confidence):
    spread = CaseSpread(np.full((1, 2), variance))
    case = np.array([[1 - p, p]]), np.array([0]), np.array([similar])
    low, high = np.moveaxis(spread.intervals(*case, confidence), -1, 0)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low <= case[0]).all()
    assert (case[0] <= high).all()
    wider = spread.intervals(*case, (1 + confidence) / 2)
    assert (wider[..., 0] <= low + 1e-12).all()
    assert (wider[..., 1] >= high - 1e-12).all()
    # With two classes one interval is the mirror image of the other, but 1 - p is rounded.
    np.testing.assert_allclose(low[0, 0], 1 - high[0, 1], atol=1e-4)


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 50), st.floats(0, 1e4))
def test_fewer_similar_cases_and_more_spread_never_narrow_an_interval(p, variance, similar):
    case = np.array([[1 - p, p]]), np.array([0])
    narrow = CaseSpread(np.full((1, 2), variance)).intervals(*case, np.array([similar]), 0.9)
    wide = CaseSpread(np.full((1, 2), variance + 1)).intervals(*case, np.array([similar / 2]), 0.9)
    assert (wide[..., 0] <= narrow[..., 0] + 1e-9).all()
    assert (wide[..., 1] >= narrow[..., 1] - 1e-9).all()


@settings(deadline=None)
@given(st.floats(0.01, 0.99), st.floats(0, 4), st.floats(1, 1e4), st.floats(0.05, 0.99))
def test_intervals_agree_with_the_formula_of_the_guide(p, variance, similar, confidence):
    spread = CaseSpread(np.full((1, 1), variance))
    found = spread.intervals(np.array([[p]]), np.array([0]), np.array([similar]), confidence)[0, 0]
    z = norm.ppf((1 + confidence) / 2)
    middle, wilson = logit(p), logit(wilson_interval(similar * p, similar, confidence))
    share = (4 + similar / 4) / (4 + similar)
    down, up = np.sqrt(1.5 * z**2 * variance + share * (wilson - middle) ** 2)
    total = 1.5 * variance + share / (similar * p * (1 - p) + 0.25)
    outer = middle * np.sqrt(1 + np.pi / 8 * total)
    ends = (middle - down, outer + up) if p > 0.5 else (outer - down, middle + up)
    np.testing.assert_allclose(found, expit(ends), rtol=1e-6, atol=1e-12)


@settings(deadline=None, max_examples=20)
@given(st.floats(0.02, 0.98), st.floats(0.05, 2))
def test_the_end_away_from_one_half_is_measured_from_the_middle_of_what_the_mean_is_of(p, variance):
    """The estimate is the mean of a logistic function of normal log-odds around this middle."""
    certain = CaseSpread(np.full((1, 1), variance)), np.array([[p]]), np.array([0])
    low, high = certain[0].intervals(*certain[1:], np.array([1e12]), 1e-9)[0, 0]
    middle = logit(low if p < 0.5 else high)
    x, weight = np.polynomial.hermite_e.hermegauss(60)
    mean = (weight @ expit(middle + np.sqrt(REFITS * variance) * x)) / weight.sum()
    assert mean == pytest.approx(p, abs=0.02)


def test_an_interval_without_similar_cases_covers_everything():
    spread = CaseSpread(np.full((1, 2), 0.04))
    ends = spread.intervals(np.array([[0.3, 0.7]]), np.array([0]), np.array([0.0]), 0.9)
    np.testing.assert_allclose(ends[0], [[0, 1], [0, 1]], atol=1e-6)


def test_the_variance_is_the_jackknife_variance_averaged_over_the_cases_of_a_leaf(model):
    tree, rng = model.tree_, np.random.default_rng(0)
    X, _, _ = draw(300, 2)
    leaf, refits = tree.route(X), rng.dirichlet([2, 2], (5, 300))
    found = measure_spread(tree, leaf, refits).variance
    odds = np.log(refits / (1 - refits))
    variance = 4 / 5 * ((odds - odds.mean(axis=0)) ** 2).sum(axis=0)
    for node in np.unique(leaf):
        cases = variance[leaf == node]
        expected = (cases.sum(axis=0) + 20 * variance.mean(axis=0)) / (len(cases) + 20)
        np.testing.assert_allclose(found[node], expected)
    assert (found[tree.feature >= 0] == 0).all()


def test_the_number_of_similar_cases_follows_from_the_kernel_weights(model):
    X, _, _ = draw(50, 3)
    expert, found = model.kernel_, np.empty(50)
    expert.similar_cases(X, found)
    gaps = expert.space.coordinates(X)[:, None] - expert.landmarks[:, : len(expert.space.feature)]
    weight = bell(np.abs(gaps).sum(axis=2) * expert.sharpness)
    total = weight @ expert.mass
    kish = total**2 / (weight**2 @ expert.mass) * total / (total + expert.pseudo_cases)
    np.testing.assert_allclose(found, kish, rtol=0.2)  # the square of a bell is nearly a bell
    far = np.empty(1)
    expert.similar_cases(np.full((1, 4), 1e6), far)
    assert 0 <= far < found.mean()  # normal scores are bounded, so no row is infinitely far away


def test_case_intervals_contain_the_truth_and_calibration_intervals_do_not():
    inside = {"case": [], "calibration": []}
    for seed in range(4):
        X, y, _ = draw(800, 10 + seed)
        new, _, truth = draw(2000, 50 + seed)
        model = kt.KeptTreeClassifier(LEARNER).fit(X, y)
        tested = np.unique(model.tree_.feature[model.tree_.feature >= 0])
        assert {0, 1} <= set(tested.tolist())  # the attributes that the classes depend on
        for kind, found in inside.items():
            low, high = np.moveaxis(model.predict_interval(new, kind=kind), -1, 0)
            found.append(((low <= truth) & (truth <= high)).mean())
    assert 0.88 < np.mean(inside["case"]) < 0.99
    assert np.mean(inside["calibration"]) < 0.85  # these describe groups of cases


def test_the_default_interval_is_for_single_cases_if_the_model_was_refitted(model, tmp_path):
    X, y, _ = draw(300, 4)
    assert model.interval_kind == "case"
    np.testing.assert_array_equal(model.predict_interval(X), model.predict_interval(X, kind="case"))
    kt.save(model, tmp_path / "model.json")
    loaded = kt.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))
    bare = kt.KeptTreeClassifier(model.tree_).fit(X, y)
    assert bare.interval_kind is None
    with pytest.raises(ValueError, match="has not been calibrated"):
        bare.predict_interval(X)
    with pytest.raises(ValueError, match="no intervals for single cases"):
        bare.predict_interval(X, kind="case")
    assert bare.calibrate(X, y).interval_kind == "calibration"
    with pytest.raises(ValueError, match="kind='cases' is unknown"):
        bare.predict_interval(X, kind="cases")
    with pytest.raises(ValueError, match="confidence=1 is not a share"):
        bare.predict_interval(X, 1)


def test_a_pipeline_whose_steps_cannot_be_folded_has_intervals():
    X, y, _ = draw(400, 5)
    model = kt.KeptTreeClassifier(make_pipeline(PolynomialFeatures(2), LEARNER)).fit(X, y)
    low, high = np.moveaxis(model.predict_interval(X), -1, 0)
    p = model.predict_proba(X)
    assert model.interval_kind is not None
    assert ((low <= p) & (p <= high)).all()


def test_a_pipeline_with_a_rare_category_has_intervals_for_single_cases():
    """The folds without that category encode it as unseen."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 200)
    colour[7] = "grey"
    size = np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200))
    X = pd.DataFrame({"size": size, "colour": colour})
    encoder = OneHotEncoder(handle_unknown="ignore")
    columns = make_column_transformer((SimpleImputer(), ["size"]), (encoder, ["colour"]))
    model = kt.KeptTreeClassifier(make_pipeline(columns, LEARNER)).fit(X, colour == "red")
    assert model.interval_kind == "case"
    assert model.predict_interval(X[:3], kind="case").shape == (3, 2, 2)


def test_the_error_about_single_cases_names_the_reason():
    X, y, _ = draw(200, 1)
    model = kt.KeptTreeClassifier(LEARNER).fit(X, y)
    model.spread_ = None
    with pytest.raises(ValueError, match="read other columns or categories than this tree"):
        model.predict_interval(X, kind="case")
    tree = kt.KeptTreeClassifier(kt.keep(model.tree_)).fit(X, y)
    with pytest.raises(ValueError, match="to the learner that grows the tree"):
        tree.predict_interval(X, kind="case")
