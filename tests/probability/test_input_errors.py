"""Wrong input is refused in one sentence: what came, what was expected, what to do."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from tests.data.loans import draw

NUMBERS = ["age", "income"]


@pytest.fixture(scope="module")
def sample():
    frame = draw(400).drop(columns="id")
    return frame.drop(columns="risk"), frame["risk"]


@pytest.fixture(scope="module")
def model(sample):
    return kt.SmoothedTreeClassifier().fit(*sample)


@pytest.fixture(scope="module")
def tree(sample):
    X, y = sample
    return DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X[NUMBERS], y)


def sentence_of(call, *arguments):
    """Return the message of the error that a call raises, which must be one line."""
    with pytest.raises(ValueError, match=r"^.+\.$") as raised:
        call(*arguments)
    return str(raised.value)


@pytest.mark.parametrize("method", [kt.KeptTreeClassifier, kt.SmoothedTreeClassifier])
def test_a_sample_without_rows_is_not_said_to_have_weights(sample, method):
    X, y = sample
    assert "X has no rows; give at least one" in sentence_of(method().fit, X[:0], y[:0])


def test_an_extra_column_of_text_is_named(sample, tree):
    X, y = sample
    kept = kt.SmoothedTreeClassifier(tree)
    told = sentence_of(kept.fit, X[[*NUMBERS, "owner"]].assign(town="Bern"), y)
    assert "X has the columns 'owner', 'town', which the model does not know; leave them" in told
    unnamed = DecisionTreeClassifier().fit(X[NUMBERS].to_numpy(), y)
    for learner in (unnamed, DecisionTreeClassifier()):
        fit = kt.SmoothedTreeClassifier(learner).fit
        assert "The column 'town' holds text, such as 'Bern'" in sentence_of(
            fit, X[NUMBERS].assign(town="Bern"), y
        )
        values = X[NUMBERS].assign(town="Bern").to_numpy()
        assert "The column at position 2 holds text" in sentence_of(fit, values, y)


def test_a_single_row_is_told_how_to_become_a_table(sample, model, tree):
    X, y = sample
    assert "give a single row as X.iloc[[0]]" in sentence_of(model.predict_proba, X.iloc[0])
    assert "give a single row as" in sentence_of(model.predict, X.iloc[0].tolist())
    numeric = kt.SmoothedTreeClassifier(tree).fit(X[NUMBERS], y)
    assert "give a single row as" in sentence_of(numeric.predict_proba, X[NUMBERS].iloc[0])


def test_missing_renamed_and_reordered_columns_are_named(sample, model):
    X, _ = sample
    renamed = X.rename(columns={"income": "Incomes"})
    for call in (model.predict_proba, model.encode, model.tree_.apply):
        assert sentence_of(call, X.drop(columns="income")).startswith(
            "X lacks the column 'income', which the model needs; it has 'age', "
        )
        assert "did you mean 'Incomes'? If so, rename it." in sentence_of(call, renamed)
        assert "in another order" in sentence_of(call, X[X.columns[::-1]])


def test_a_grown_tree_without_tests_is_announced():
    """A class of 1% does not suffice for a leaf of its own, so nothing is ever decided for it."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(3000, 3)), columns=list("abc"))
    y = np.where(rng.random(3000) < 0.01 * np.exp(X["a"] - 0.5), "fraud", "fair")
    with pytest.warns(UserWarning, match="no tests, so it decides 'fair' for every case; grow"):
        model = kt.SmoothedTreeClassifier().fit(X, y)
    assert model.tree_.n_leaves == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kt.SmoothedTreeClassifier(model.tree_).fit(X, y)  # its owner knows
        grown = kt.C45Classifier(pruning="none", collapse=False)  # the advice
        assert kt.SmoothedTreeClassifier(grown).fit(X, y).tree_.n_leaves > 1
        kt.SmoothedTreeClassifier().fit(X, np.full(3000, "fair"))  # nothing to decide
