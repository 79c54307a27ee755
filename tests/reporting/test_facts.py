"""The numbers of the first screen agree with scikit-learn, and the sentences with the numbers."""

from html import unescape

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.reporting.collect import collect
from keeptree.reporting.render import render
from keeptree.reporting.summary import list_missed, tell_facts


def fraud(n=3000):
    """Return data with a rare class that a tree hardly finds."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 4)), np.where(rng.random(n) < 0.01, "fraud", "ok")
    return X, y


SETS = {
    "breast": lambda: load_breast_cancer(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "fraud": fraud,
}


@pytest.fixture(scope="module", params=SETS)
def measured(request):
    X, y = SETS[request.param]()
    tree = DecisionTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X[::2], y[::2])
    model = kt.SmoothedTreeClassifier(tree, smoothing="shrinkage").fit(X[::2], y[::2])
    return model, X[1::2], y[1::2], collect(model, X[1::2], y[1::2], title="t", about={})


def test_the_confusion_matrix_agrees_with_scikit_learn(measured):
    model, X, y, data = measured
    expected = confusion_matrix(y, model.predict(X), labels=model.classes_)
    assert data["decisions"]["confusion"] == expected.tolist()
    assert data["decisions"]["accuracy"] == accuracy_score(y, model.predict(X))


def test_the_baseline_agrees_with_scikit_learn(measured):
    model, X, y, data = measured
    always = DummyClassifier(strategy="most_frequent").fit(X, y)
    found = data["decisions"]["baseline"]
    assert found["right"] == round(always.score(X, y) * len(y))
    assert (model.classes_[found["class"]] == y).sum() == found["right"]


def test_the_benefit_of_checking_is_counted_on_the_same_cases(measured):
    model, X, y, data = measured
    p, decided = model.predict_proba(X), model.predict(X)
    risk = 1 - p[np.arange(len(p)), np.searchsorted(model.classes_, decided)]
    listed = np.argsort(-risk, kind="stable")[: data["check"]["cases"]]
    assert data["check"]["errors"] == (decided != y).sum()
    assert data["check"]["caught"] == (decided != y)[listed].sum()
    likeliest = model.classes_[p.argmax(axis=1)]
    differs = p.max(axis=1) > 1 - risk + 1e-15
    assert data["check"]["disagrees"] == differs.sum()
    assert data["check"]["estimate_right"] == (likeliest == y)[differs].sum()
    assert data["check"]["tree_right"] == (decided == y)[differs].sum()


def test_missed_cases_are_counted_per_class(measured):
    model, X, y, data = measured
    decided = model.predict(X)
    for row in list_missed(data):
        label = model.classes_[row["class"]]
        assert row["cases"] == (y == label).sum()
        assert row["missed"] == (decided[y == label] != label).sum()


def facts_of(confusion, labels=("ok", "fraud"), positive=1, check=None):
    """Return the facts about a confusion matrix."""
    confusion = np.asarray(confusion)
    n, right = int(confusion.sum()), int(np.trace(confusion))
    of_class = confusion.sum(axis=1)
    found = {"cases": 10, "disagrees": 4, "errors": n - right, "caught": 1, "estimate_right": 3}
    return tell_facts(
        {
            "classes": [{"label": label} for label in labels],
            "positive": positive,
            "n_test": n,
            "tree": {"n_leaves": 5},
            "decisions": {
                "right": right,
                "low": 0.9,
                "high": 0.95,
                "baseline": {"class": int(of_class.argmax()), "right": int(of_class.max())},
                "confusion": confusion.tolist(),
            },
            "by_rule": None,
            "check": found | (check or {}),
        }
    )


def test_the_headline_says_if_a_tree_is_no_better_than_the_baseline():
    right, missed, _ = facts_of([[1975, 9], [16, 0]])
    assert right["headline"] == "No better than always predicting “ok”"
    assert right["text"][1] == "Always predicting “ok” would be right more often: for 1,984."
    assert missed["headline"] == "16 of 16 “fraud” missed"


def test_the_facts_of_a_good_tree_give_its_figures():
    right, missed, check = facts_of([[111, 8], [7, 64]])
    assert right["headline"] == "92 of 100 right"
    assert right["text"][0].startswith("175 of 190 cases; true rate likely 90 to 95 of 100")
    assert right["text"][1] == "Always predicting “ok” would be right for 63 of 100."
    assert missed["headline"] == "7 of 71 “fraud” missed"
    assert check["headline"] == "Check 10 cases by hand"
    assert check["text"][0] == "They include 1 of the tree's 15 errors."


@pytest.mark.parametrize(
    ("confusion", "headlines"),
    [
        ([[5, 0], [0, 5]], ("All 10 right", "Nothing missed")),
        ([[5, 1], [0, 5]], ("91 of 100 right", "All 5 “fraud” found")),
        (
            [[5, 1], [0, 0]],
            ("No better than always predicting “ok”", "No “fraud” among these cases"),
        ),
        ([[999, 1], [1, 999]], ("over 99 of 100 right", "1 of 1,000 “fraud” missed")),
    ],
)
def test_headlines_do_not_exaggerate_the_counts(confusion, headlines):
    assert tuple(fact["headline"] for fact in facts_of(confusion)[:2]) == headlines


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"estimate_right": 0}, "the estimate was never right"),
        ({"estimate_right": 1}, "the estimate was right once"),
        ({"disagrees": 0}, "Our estimate agrees with the tree on every case."),
        ({"disagrees": 808, "cases": 50}, "The list stops at the 50 most likely to be wrong."),
        ({"caught": 0, "errors": 1}, "They do not include the tree's only error."),
    ],
)
def test_the_benefit_of_checking_is_reported_even_if_it_is_small(found, words):
    assert words in " ".join(facts_of([[111, 8], [7, 64]], check=found)[2]["text"])


def test_labels_that_are_not_words_are_quoted():
    missed = facts_of([[111, 8], [7, 64]], ("Survived = 0", "Survived = 1"))[1]
    assert missed["headline"] == "7 of 71 “Survived = 1” missed"


def test_with_several_classes_the_most_often_missed_comes_first():
    missed = facts_of([[9, 1, 0], [0, 5, 5], [0, 1, 9]], ("a", "b", "c"))[1]
    assert missed["headline"] == "5 of 10 “b” missed"
    assert missed["text"][0] == "1 of 10 “a” was taken for “b”."
    missed = facts_of([[9, 1, 0], [2, 5, 3], [0, 6, 4]], ("a", "b", "c"))[1]
    assert missed["text"][0] == "5 of 10 “b” were mostly taken for “c”."


def test_a_model_that_decides_by_cost_is_counted_beside_its_tree():
    X, y = fraud()
    y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=len(X)) > 2.5, "fraud", "ok")
    tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X[::2], y[::2])
    costs = {"fraud": {"ok": 20}}
    model = kt.SmoothedTreeClassifier(tree, decide="cost", costs=costs).fit(X[::2], y[::2])
    X, y = X[1::2], y[1::2]
    data = collect(model, X, y, title="t", about={})
    by_cost, by_tree = model.predict(X), tree.predict(X)
    assert (by_cost != by_tree).any()
    found = data["by_rule"]
    assert found["confusion"] == confusion_matrix(y, by_cost, labels=model.classes_).tolist()
    codes = {"fraud": 0, "ok": 1}
    for key, decided in (("cost", by_cost), ("tree_cost", by_tree)):
        paid = [model.cost_matrix[codes[a], codes[b]] for a, b in zip(y, decided, strict=True)]
        assert found[key] == pytest.approx(np.mean(paid))
    missed = [int(((y == "fraud") & (d == "ok")).sum()) for d in (by_cost, by_tree)]
    alarms = int(((y == "ok") & (by_tree == "fraud")).sum())
    told = (
        f"These are the model's decisions, by cost. The tree misses {missed[1]} of "
        f"{(y == 'fraud').sum()} “fraud” and {alarms:,} of {(y == 'ok').sum():,} “ok”."
    )
    page = unescape(render(data))
    assert told in data["summary"]
    assert told in page
    cost, missing, _ = data["facts"]
    assert cost["headline"] == f"A case costs {found['cost']:.3g} on average"
    assert cost["text"][0] == f"By the tree's decisions, it would cost {found['tree_cost']:.3g}."
    assert f"By cost, the model is right for {(by_cost == y).sum():,} of {len(y):,} cases" in page
    assert missing["headline"].startswith(f"{missed[0]} of {(y == 'fraud').sum()} “fraud”")
    assert '<span class="muted">model:</span>' in page
    first = data["cases"][data["selected"]]
    own = by_cost[int(first["id"])]
    assert f"By cost, the model decides <bdi>{own}</bdi>" in page
    assert "What would change the tree's decision" in page


def test_a_model_that_decides_by_probability_is_counted_by_its_own_decisions():
    X, y = fraud()
    y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=len(X)) > 2.5, "fraud", "ok")
    tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X[::2], y[::2])
    model = kt.SoftTreeClassifier(tree, decide="probability").fit(X[::2], y[::2])
    data = collect(model, X[1::2], y[1::2], title="t", about={})
    right = (model.predict(X[1::2]) == y[1::2]).sum()
    assert f"By probability, the model is right for {right:,} of" in data["facts"][0]["text"][0]


def test_a_model_that_follows_its_tree_has_no_other_decisions(measured):
    assert measured[3]["by_rule"] is None
