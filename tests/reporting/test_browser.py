"""The page in a real browser: it agrees with Python, works by keyboard, and asks for nothing."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from tests.reporting.browser import Tab, chromium


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def opened(browser):
    """Opens pages, and checks in the end that they were quiet."""
    tabs = []

    def open_page(path, hash="", **options):  # noqa: A002
        tabs.append(Tab(browser, path, hash, **options))
        return tabs[-1]

    yield open_page
    for tab in tabs:
        tab.check_quiet()
        tab.close()


@pytest.fixture(scope="module")
def demo_page(demo_data):
    return Path(demo_data["page"])


@pytest.fixture
def demo(opened, demo_page):
    return opened(demo_page)


def mixed_table(n=400, seed=0):
    """Numbers and categories, some missing."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], n)
    size, age = rng.normal(size=n).round(2), rng.integers(18, 90, n).astype(float)
    score = size + (colour == "red") + 0.03 * age + 0.5 * rng.normal(size=n)
    size[rng.random(n) < 0.1] = np.nan
    letter = rng.choice(list("abcdefgh"), n)
    score += np.isin(letter, ["a", "c"])
    table = pd.DataFrame({"size": size, "age": age, "colour": colour, "letter": letter})
    for name in ("colour", "letter"):
        table[name] = table[name].astype("category")
    return table, np.digitize(score, [1.5, 3.0]).astype(str)


def breast():
    return load_breast_cancer(return_X_y=True)


def rows_about(model, X, n, seed=0):
    """Encoded rows: real ones, random ones, and ones on and just beside the thresholds."""
    rng = np.random.default_rng(seed)
    tree, matrix = model.tree_, model._read(X)
    rows = matrix[rng.integers(len(matrix), size=n)].copy()
    numeric = [f for f in range(matrix.shape[1]) if tree.categories[f] is None]
    mixed = rng.random(rows.shape) < 0.3
    rows[mixed] = matrix[rng.integers(len(matrix), size=mixed.sum()), np.nonzero(mixed)[1]]
    for f in numeric:
        tests = tree.threshold[tree.feature == f]
        if len(tests):
            put = rng.random(n) < 0.4
            chosen = rng.choice(tests, put.sum())
            beside = rng.choice([-np.inf, 0, np.inf], put.sum())
            moved = np.nextafter(chosen, beside)
            rows[put, f] = np.where(beside == 0, chosen, moved)
    return rows


def as_values(rows, columns):
    return [[None if np.isnan(v) else v for v in row] for row in rows[:, columns].tolist()]


def ask_page(tab, rows):
    columns = [a["column"] for a in tab.run("() => keeptree.data.attributes")]
    return tab.run(
        """(rows) => rows.map((x) => ({
            decision: keeptree.decide(keeptree.tree, x),
            p: keeptree.probability(keeptree.tree, keeptree.model, x),
            distance: keeptree.distance(keeptree.tree, keeptree.metric, x),
        }))""",
        as_values(rows, columns),
    )


def check_agreement(tab, model, rows):
    """Class and probabilities as in Python, to 1e-9."""
    answers = ask_page(tab, rows)
    decided = model.tree_._labels(rows)
    assert [answer["decision"] for answer in answers] == decided.tolist()
    expected = np.empty((len(rows), len(model.classes_)))
    model._probability(rows, expected)
    found = np.array([answer["p"] for answer in answers])
    assert np.abs(found - expected).max() <= 1e-9


MODELS = {
    "smoothed": lambda: kt.SmoothedTreeClassifier(_learner(), "shrinkage"),
    "soft": lambda: kt.SoftTreeClassifier(_learner()),
    "margin": lambda: kt.MarginTreeClassifier(_learner()),
    "kept": lambda: kt.KeptTreeClassifier(_learner()),
    "coherent": lambda: kt.KeptTreeClassifier(_learner(), coherent=True),
}


def _learner():
    return DecisionTreeClassifier(max_leaf_nodes=12, min_samples_leaf=5, random_state=0)


def test_the_demo_loads_quietly_and_is_small(demo, demo_page):
    assert demo_page.stat().st_size < 3_000_000
    assert demo.run("() => document.querySelectorAll('*').length") < 3_000
    assert "64 of 64 cases agree with Python" in demo.text("#agreement")


@pytest.mark.parametrize("name", MODELS)
def test_the_panel_equals_python_for_a_thousand_rows(name, opened, tmp_path):
    X, y = breast()
    model = MODELS[name]().fit(X[:300], y[:300])
    kt.report(model, X[300:], y[300:], tmp_path / "page.html")
    check_agreement(opened(tmp_path / "page.html"), model, rows_about(model, X, 1000))


def test_the_panel_equals_python_with_three_classes(opened, tmp_path):
    X, y = load_wine(return_X_y=True)
    model = kt.KeptTreeClassifier(_learner()).fit(X[::2], y[::2])
    kt.report(model, X[1::2], y[1::2], tmp_path / "page.html")
    check_agreement(opened(tmp_path / "page.html"), model, rows_about(model, X, 200))


@pytest.mark.parametrize("kind", ["KeptTreeClassifier", "SmoothedTreeClassifier"])
def test_the_panel_equals_python_with_categories_and_missing_values(kind, opened, tmp_path):
    X, y = mixed_table()
    model = getattr(kt, kind)(kt.C45Classifier()).fit(X[:300], y[:300])
    kt.report(model, X[300:], y[300:], tmp_path / "page.html")
    tab = opened(tmp_path / "page.html")
    rows = rows_about(model, X, 300)
    assert np.isnan(rows).any()
    check_agreement(tab, model, rows)
    assert "agree with Python" in tab.text("#agreement")


def test_distances_are_those_of_the_boundary(demo, demo_data):
    cases = demo_data["cases"][:100]
    found = demo.run(
        "(rows) => rows.map((x) => keeptree.distance(keeptree.tree, keeptree.metric, x))",
        [case["values"] for case in cases],
    )
    assert found == pytest.approx([case["distance"] for case in cases], rel=1e-9)
