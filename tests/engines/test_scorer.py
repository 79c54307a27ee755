"""The scorer gives the model's predictions and encodes every block only once."""

import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data import cases
from keeptree.data.table import as_matrix
from keeptree.engines.scorer import Scorer
from tests.data.loans import draw, read

ATTRIBUTES = ["age", "income", "area", "owner"]
NUMBERS = ["age", "income", "owner"]
MODELS = [
    kt.KeptTreeClassifier(),
    kt.SoftTreeClassifier(),
    kt.SmoothedTreeClassifier(decide="probability"),
    kt.DistanceKernelClassifier(),
    kt.GeometricRankClassifier(),
    kt.ConfDTreeClassifier(),
    kt.C45Classifier(laplace=True),
    kt.NBTreeClassifier(random_state=0),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
columns = pytest.mark.parametrize("names", [ATTRIBUTES, NUMBERS], ids=["nominal", "numbers"])


def fitted(model, names, n=400):
    X = draw(n)[names].astype({"owner": float})
    if "area" in names:
        X["area"] = X["area"].astype("category")
    return model.fit(X, draw(n)["risk"]), X


@pytest.fixture
def encodings(monkeypatch):
    """Return a list of the number of rows in each call of the function that encodes tables."""
    calls = []

    def counted(X, *rules):
        calls.append(len(X))
        return as_matrix(X, *rules)

    for name, module in list(sys.modules.items()):
        if name.startswith("keeptree.") and getattr(module, "as_matrix", None) is as_matrix:
            monkeypatch.setattr(module, "as_matrix", counted)
    return calls


@every_model
@columns
def test_every_block_of_a_file_is_encoded_once(model, names, encodings, tmp_path, monkeypatch):
    model, _ = fitted(model, names)
    draw(2500).to_csv(tmp_path / "d.csv", index=False)
    monkeypatch.setattr(cases, "CELLS", 1)
    reads, encode = Counter(), type(model).encode
    monkeypatch.setattr(
        type(model), "encode", lambda self, X: reads.update([len(X)]) or encode(self, X)
    )
    encodings.clear()
    kt.predict_file(
        model, tmp_path / "d.csv", tmp_path / "o.csv", distance=hasattr(model, "observed_")
    )
    assert reads == {1000: 2, 500: 1}
    if "area" in names or hasattr(model, "observed_"):  # learners do not encode numbers
        assert encodings == [1000, 1000, 500]
    else:
        assert encodings == []


@every_model
@columns
def test_scores_equal_those_of_the_model(model, names):
    model, X = fitted(model, names)
    distance = hasattr(model, "observed_")
    answer = Scorer(model, distance).score(X)
    assert answer["prediction"].tolist() == model.predict(X).tolist()
    if hasattr(model, "predict_proba"):
        p = np.column_stack([answer[f"probability_{label}"] for label in model.classes_])
        np.testing.assert_array_equal(p, model.predict_proba(X))
        decision = model.tree_.predict(X)
        if not isinstance(model, kt.NBTreeClassifier):  # which decides by its probabilities
            larger = p.max(axis=1) > p[np.arange(len(X)), np.searchsorted(model.classes_, decision)]
            assert answer["second_opinion"].tolist() == larger.tolist()
    else:
        np.testing.assert_array_equal(answer["score"], model.decision_function(X))
    if distance:
        known = ~pd.isna(X).any(axis=1).to_numpy()
        cost = kt.nearest_change(model, X[known]).cost
        np.testing.assert_allclose(answer["distance"][known], cost, rtol=1e-9)


def test_a_declared_order_of_classes_does_not_mix_up_the_columns():
    X = draw()[NUMBERS].astype(float)
    y = pd.Categorical(draw()["risk"], categories=["low", "high"])
    for model in (kt.SmoothedTreeClassifier(), kt.C45Classifier()):
        answer = Scorer(model.fit(X, y)).score(X)
        assert list(answer)[1:3] == ["probability_high", "probability_low"]
        p = np.column_stack([answer["probability_high"], answer["probability_low"]])
        np.testing.assert_array_equal(p, model.predict_proba(X))


def test_the_steps_of_a_pipeline_run_once_for_every_block(tmp_path):
    runs = []
    step = FunctionTransformer(lambda X: runs.append(len(X)) or X)
    X, y = draw()[NUMBERS].astype(float).fillna(0), draw()["risk"]
    X.to_csv(tmp_path / "d.csv", index=False)
    for learner in (kt.SmoothedTreeClassifier(), DecisionTreeClassifier(max_depth=3)):
        model = make_pipeline(step, learner).fit(X, y)
        p = model.predict_proba(X)
        runs.clear()
        kt.predict_file(model, tmp_path / "d.csv", tmp_path / "o.csv")
        assert runs == [400]
        scored = read(tmp_path / "o.csv")
        np.testing.assert_array_equal(scored[["probability_high", "probability_low"]], p)


def test_a_model_inside_a_search_or_a_frozen_estimator_finds_its_columns(tmp_path):
    X = draw()[ATTRIBUTES].astype({"area": "category", "owner": float})
    X.to_csv(tmp_path / "d.csv", index=False)
    search = GridSearchCV(kt.C45Classifier(), {"max_depth": [2, 3]}, cv=2).fit(X, draw()["risk"])
    for model in (search, FrozenEstimator(search.best_estimator_)):
        kt.predict_file(model, tmp_path / "d.csv", tmp_path / "o.csv")
        assert read(tmp_path / "o.csv")["prediction"].tolist() == model.predict(X).tolist()


def test_a_learner_without_stored_scales_cannot_give_distances():
    model, _ = fitted(kt.C45Classifier(), NUMBERS)
    with pytest.raises(ValueError, match="A C45Classifier does not store the scale of its columns"):
        Scorer(model, distance=True)


def test_a_forest_that_decides_by_probability_has_no_second_opinion():
    model, X = fitted(
        kt.ConfDTreeForestClassifier(RandomForestClassifier(3, random_state=0)), ["age", "owner"]
    )
    answer = Scorer(model.set_params(decide="probability")).score(X)
    assert not answer["second_opinion"].any()
