"""Answers for rows that are encoded only once equal those of the model's own methods."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Perceptron
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.probability.answers import answers_of
from tests.data.loans import draw

MODELS = [
    kt.SmoothedTreeClassifier(),
    kt.GeometricRankClassifier(scope="local"),
    kt.C45Classifier(),
    kt.NBTreeClassifier(random_state=0),
    kt.TreeRegressor(),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    Perceptron(),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_answers_agree_with_the_methods_of_the_model(model, classes):
    X = draw()[["age", "owner"]].astype(float)
    y = pd.qcut(X["age"], classes, labels=False).to_numpy()
    model.fit(X, y)
    answers = answers_of(model, X)
    np.testing.assert_array_equal(answers.prediction, model.predict(X))
    name = next((m for m in ("predict_proba", "decision_function") if hasattr(model, m)), None)
    if name is None:
        assert answers.scores is None
    else:
        np.testing.assert_array_equal(answers.scores, getattr(model, name)(X))
    assert (answers.rows is not None) == hasattr(model, "encode")
