"""model.scorer() gives exactly the same answer for a row as the methods for a table."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data.labels import plain
from keeptree.probability.methods import METHODS, make_method
from tests.exporters.models import DATA, MODELS, OBLIQUE, fitted

RANKS = [name for name in METHODS if not hasattr(make_method(name, None), "predict_proba")]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", [name for name in MODELS if name != "tree"])
def test_a_row_gets_the_same_answer_as_in_a_table(name, data):
    model, X = fitted(name, data), DATA[data]()[0][:25]
    scorer, p = model.scorer(), model.predict_proba(X)
    answers = [scorer(row) for row in X.to_dict("records")]
    assert (np.array([answer.probability for answer in answers]) == p).all()
    assert [answer.label for answer in answers] == model.predict(X).tolist()
    assert [answer.leaf for answer in answers] == model.tree_.apply(X).tolist()


@pytest.mark.parametrize("data", [*DATA, "oblique"])
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore:strength=")
def test_every_method_scores_single_rows(name, data):
    """This includes rows on a threshold, rows off the grid of whole numbers, and missing values."""
    X, y, learner = {**DATA, **OBLIQUE}[data]()
    tree = learner if isinstance(learner, kt.Tree) else kt.keep(learner.fit(X, y))
    model = make_method(name, tree).fit(X, y)
    numeric = [f for f, labels in enumerate(tree.categories) if labels is None]
    rows = model.encode(X[:24])
    rows[8:16, numeric] += 0.137
    for f, threshold in zip(tree.feature, tree.threshold, strict=True):
        if f in numeric:
            rows[16:, f] = threshold
    rows[20:, numeric[0]] = np.nan if data != "numbers" else 0.0
    scorer, scores = model.scorer(), model.scores_encoded(rows)
    decided = model.predict_encoded(rows).tolist()
    for row, expected, label in zip(tree.decode(rows), scores, decided, strict=True):
        answer = scorer(row)
        found = answer.probability if hasattr(model, "predict_proba") else answer.score
        assert (found == expected).all()
        assert answer.label == label
    assert (answer.probability is None) == (name in RANKS)


def test_at_least_one_method_only_ranks():
    assert RANKS


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_row_gets_the_same_answer_as_in_a_table(data):
    model = fitted("kept", "mixed")
    row = {
        "size": data.draw(st.none() | st.floats(-5, 5) | st.integers(-3, 3)),
        "age": data.draw(st.none() | st.floats(0, 120)),
        "colour": data.draw(st.sampled_from(["red", "green", "blue", "pink", None])),
        "letter": data.draw(st.sampled_from([*"abcdefgh", "z", None])),
    }
    answer = model.scorer()(row)
    table = pd.DataFrame([row]).astype({"size": float, "age": float})
    assert (answer.probability == model.predict_proba(table)[0]).all()
    assert plain(answer.label) == plain(model.predict(table)[0])


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X.iloc[3],
        lambda X: X.iloc[3].tolist(),
        lambda X: X.to_numpy()[3],
        lambda X: {**X.iloc[3], "something else": 7},
        lambda X: X.to_numpy(np.float64)[3].astype(object),
    ],
    ids=["series", "list", "array", "more columns", "objects"],
)
def test_a_row_can_be_given_in_many_forms(make):
    model, X = fitted("soft", "numbers"), DATA["numbers"]()[0]
    answer = model.scorer()(make(X))
    assert (answer.probability == model.predict_proba(X[3:4])[0]).all()


def test_columns_that_the_tree_does_not_test_may_be_absent():
    model, X = fitted("laplace", "numbers"), DATA["numbers"]()[0]
    scorer = model.scorer()
    assert len(scorer.columns) < X.shape[1]
    row = {name: X.iloc[0][name] for name in scorer.columns}
    assert scorer(row).leaf == model.tree_.apply(X[:1])[0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"size": "large"}, "numeric column 'size' holds 'large'"),
        ({"size": np.inf}, "infinity"),
        ({"size": [1]}, "numeric column 'size' holds .1."),
        ({"colour": 3}, "'colour' holds numbers such as 3, but the tree knows text"),
    ],
)
def test_an_invalid_value_raises_a_clear_error(changed, message):
    row = {"size": 1.0, "age": 30.0, "colour": "red", "letter": "a", **changed}
    with pytest.raises(ValueError, match=message):
        fitted("kept", "mixed").scorer()(row)


def test_an_absent_column_and_a_short_row_are_refused():
    scorer = fitted("kept", "mixed").scorer()
    with pytest.raises(ValueError, match="The row has no 'age'; give None"):
        scorer({"size": 1.0, "colour": "red", "letter": "a"})
    with pytest.raises(ValueError, match="has 2 values, but the model was fitted on 4 columns"):
        scorer([1.0, 2.0])


def test_a_missing_value_without_a_rule_is_refused():
    X, y, learner = DATA["numbers"]()
    tree = kt.keep(learner.fit(X, y))
    tree = replace(tree, missing=np.full(tree.n_nodes, -2))
    scorer = kt.SmoothedTreeClassifier(tree).fit(X, y).scorer()
    with pytest.raises(ValueError, match="no rule for missing values"):
        scorer(dict.fromkeys(scorer.columns))


def test_a_pipeline_that_cannot_be_folded_has_no_scorer():
    X, y, _ = DATA["numbers"]()
    steps = make_pipeline(PolynomialFeatures(2), DecisionTreeClassifier(max_depth=2))
    model = kt.SmoothedTreeClassifier(steps).fit(X, y)
    with pytest.raises(ValueError, match="call predict_proba with a table of one row"):
        model.scorer()


def test_threads_can_share_a_scorer():
    model, X = fitted("kept", "numbers"), DATA["numbers"]()[0]
    scorer, rows = model.scorer(), X.to_dict("records")
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda row: scorer(row).probability, rows))
    assert (np.array(found) == model.predict_proba(X)).all()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9, 130, 385, 387])
def test_probabilities_do_not_depend_on_the_number_of_rows(n):
    """A few rows are computed one by one, many rows in vectors."""
    model, X = fitted("kept", "missing"), DATA["missing"]()[0]
    assert (model.predict_proba(X[:n]) == model.predict_proba(X)[:n]).all()
