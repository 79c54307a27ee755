"""The page computes the same class, probability and nearest change as Python."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.explanation.subject import boundary_of, resolve
from keeptree.reporting.render import render
from keeptree.reporting.view import collect_view
from tests.reporting.browser import plain_model


def mixed_table(n=400, seed=0):
    """Return numbers and categories, some of them missing."""
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
    """Return encoded rows, real and random, some on or just beside thresholds."""
    rng = np.random.default_rng(seed)
    tree, matrix = model.tree_, model.tree_.encode(X)
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
    """Check that class and probabilities agree with Python to 1e-12."""
    answers = ask_page(tab, rows)
    decided = model.tree_.decide(rows)
    assert [answer["decision"] for answer in answers] == decided.tolist()
    found = np.array([answer["p"] for answer in answers])
    assert np.abs(found - model.predict_proba_encoded(rows)).max() <= 1e-12


def check_intervals(tab, model, rows):
    """Check that the intervals of all classes agree with Python."""
    columns = [a["column"] for a in tab.run("() => keeptree.data.attributes")]
    found = tab.run(
        """(rows) => rows.map((x) => {
            const p = keeptree.probability(keeptree.tree, keeptree.model, x);
            const seen = { p, shares: keeptree.route(keeptree.tree, x), x };
            return p.map((_, c) => keeptree.interval(seen, c));
        })""",
        as_values(rows, columns),
    )
    wanted = model.intervals_encoded(rows, model.predict_proba_encoded(rows))
    np.testing.assert_allclose(np.array(found), wanted, atol=1e-6)  # the kernel uses float32


MODELS = {
    "smoothed": (kt.SmoothedTreeClassifier, {"smoothing": "shrinkage"}),
    "soft": (kt.SoftTreeClassifier, {}),
    "margin": (kt.MarginTreeClassifier, {}),
    "kept": (kt.KeptTreeClassifier, {}),
    "coherent": (kt.KeptTreeClassifier, {"coherent": True}),
    "all columns": (kt.KeptTreeClassifier, {"columns": "all"}),
    "confdtree": (kt.ConfDTreeClassifier, {}),
    "distance": (kt.DistanceKernelClassifier, {}),
    "separator": (kt.DistanceKernelClassifier, {"scope": "separator"}),
}


def _learner():
    return DecisionTreeClassifier(max_leaf_nodes=12, min_samples_leaf=5, random_state=0)


def test_the_leaf_decides_a_case_unless_its_path_reads_the_missing_value(opened, tmp_path):
    X, y = mixed_table()
    tree = kt.C45Classifier().fit(X, y).tree_
    tree = replace(tree, label=(tree.label + 1) % len(tree.classes))
    model = kt.SmoothedTreeClassifier(tree).fit(X, y)
    kt.report(model, X, y, tmp_path / "page.html")
    tab, rows = opened(tmp_path / "page.html"), tree.encode(X)
    rows[np.random.default_rng(1).random(rows.shape) < 0.2] = np.nan
    check_agreement(tab, model, rows)
    check_changes(tab, model, rows[:100], [])


@pytest.mark.parametrize("name", MODELS)
def test_the_panel_agrees_with_python_for_a_thousand_rows(name, opened, tmp_path):
    X, y = breast()
    kind, options = MODELS[name]
    model = kind(_learner(), **options).fit(X[:300], y[:300])
    kt.report(model, X[300:], y[300:], tmp_path / "page.html")
    tab, rows = opened(tmp_path / "page.html"), rows_about(model, X, 1000)
    check_agreement(tab, model, rows)
    if model.interval_kind is not None:
        check_intervals(tab, model, rows)


@pytest.mark.parametrize("similar", [True, False])
@pytest.mark.parametrize("options", [{}, {"coherent": True}, {"columns": "all"}])
def test_the_page_draws_the_contributions_that_python_wrote(
    options, similar, opened, tmp_path, monkeypatch
):
    monkeypatch.setattr("keeptree.probability.kept.wants_similar_trees", lambda *_: similar)
    X, y = breast()
    model = kt.KeptTreeClassifier(_learner(), **options).fit(X[:300], y[:300])
    model.pool_ = replace(model.pool_, weights=np.array([2.0, 0.1, 0.1]))  # soft counts most
    rows = kt.report(model, X[300:], y[300:], tmp_path / "page.html")["view"]["pushes"]["rows"]
    names = [row["name"] for row in rows]
    assert ("how this tree and similar trees judge it" in names) == similar
    assert ("how clearly it passes the tests" in names) != similar
    tab = opened(tmp_path / "page.html")
    drawn = tab.run(
        """() => {
            keeptree.render();
            return [...document.querySelectorAll("#why .pushes tbody tr")].map((row) =>
                [row.querySelector("th").textContent, row.querySelector(".size").textContent]);
        }"""
    )
    assert [name for name, _ in drawn] == names
    values = [float(size.replace("\u2212", "-")) for _, size in drawn]
    assert values == pytest.approx([row["value"] for row in rows], abs=0.005001)


@pytest.mark.parametrize(
    ("weights", "bars"),
    [
        ((0.0, 0.4, 0.6), ("kernel", "tests")),
        ((0.5, 0.0, 0.6), ("similar", "kernel")),
        ((0.5, 0.6, 0.0), ("similar", "tests")),
    ],
    ids=str,
)
def test_the_panel_agrees_with_python_if_an_expert_has_no_weight(weights, bars, opened, tmp_path):
    X, y = breast()
    model = kt.KeptTreeClassifier(_learner()).fit(X[:300], y[:300])
    model.pool_ = replace(model.pool_, weights=np.array(weights))
    kt.report(model, X[300:], y[300:], tmp_path / "page.html")
    tab, rows = opened(tmp_path / "page.html"), rows_about(model, X, 200)
    check_agreement(tab, model, rows)
    check_intervals(tab, model, rows)
    assert "agree with Python" in tab.text("#agreement")
    tab.page.click("#tab-whatif")
    tab.settle()
    why = " ".join(tab.run("() => document.getElementById('why').textContent").split())
    told = {"kernel": "training cases like this one", "similar": "this tree and similar trees"}
    for name, text in told.items():
        assert (text in why) == (name in bars)


def test_the_page_shows_the_intervals_of_a_calibrated_model(opened, tmp_path):
    X, y = breast()
    model = (
        kt.SoftTreeClassifier(_learner()).fit(X[:200], y[:200]).calibrate(X[200:300], y[200:300])
    )
    data = kt.report(model, X[300:], y[300:], tmp_path / "page.html")
    tab = opened(tmp_path / "page.html")
    check_intervals(tab, model, rows_about(model, X, 300))
    low, high = (100 * end for end in data["cases"][0]["between"])
    told = f"between {np.floor(low + 1e-9):.0f} and {np.ceil(high - 1e-9):.0f}"
    assert told in tab.text("#verdicts")
    assert "taken together" in tab.run("() => document.getElementById('about').textContent")


def test_the_panel_agrees_with_python_for_three_classes(opened, tmp_path):
    X, y = load_wine(return_X_y=True)
    model = kt.KeptTreeClassifier(_learner()).fit(X[::2], y[::2])
    kt.report(model, X[1::2], y[1::2], tmp_path / "page.html")
    tab, rows = opened(tmp_path / "page.html"), rows_about(model, X, 200)
    check_agreement(tab, model, rows)
    inside = tab.run(
        """(rows) => rows.map((x) => keeptree.data.classes.map((_, c) =>
            keeptree.inside(keeptree.tree, keeptree.metric, x, c)))""",
        as_values(rows, [a["column"] for a in tab.run("() => keeptree.data.attributes")]),
    )
    assert np.array(inside) == pytest.approx(-boundary_of(model).class_distances(rows), abs=1e-9)


@pytest.mark.parametrize("kind", ["KeptTreeClassifier", "SmoothedTreeClassifier"])
def test_the_panel_agrees_with_python_for_categories_and_missing_values(kind, opened, tmp_path):
    X, y = mixed_table()
    model = getattr(kt, kind)(kt.C45Classifier()).fit(X[:300], y[:300])
    kt.report(model, X[300:], y[300:], tmp_path / "page.html")
    tab = opened(tmp_path / "page.html")
    rows = rows_about(model, X, 300)
    assert np.isnan(rows).any()
    check_agreement(tab, model, rows)
    if model.interval_kind is not None:
        check_intervals(tab, model, rows)
    assert "agree with Python" in tab.text("#agreement")
    tab.page.click("#tab-whatif")
    tab.page.locator(".control .unknown input").first.check()
    tab.settle()
    assert "not known" in tab.run("() => document.getElementById('why').textContent")


@pytest.mark.parametrize(("error", "agree"), [(3e-13, 64), (3e-12, 63)])
def test_the_page_counts_differences_beyond_rounding(error, agree, opened, tmp_path):
    path = tmp_path / "page.html"
    data = kt.report(*plain_model(), path)
    data["cases"][5]["p"][0] += error
    path.write_text(render(data), encoding="utf-8")
    assert f"{agree} of 64 cases agree" in opened(path).text("#agreement")


def test_distances_agree_with_the_boundary(demo, demo_data):
    cases = demo_data["cases"][:100]
    found = demo.run(
        "(rows) => rows.map((x) => keeptree.distance(keeptree.tree, keeptree.metric, x))",
        [case["values"] for case in cases],
    )
    assert found == pytest.approx([case["distance"] for case in cases], rel=1e-9)


def check_changes(tab, model, rows, locked):
    """Check that nearest changes, costs and sentences agree with Python under the same locks."""
    columns = [a["column"] for a in tab.run("() => keeptree.data.attributes")]
    answers = tab.run(
        "([rows, locked]) => rows.map((x) => keeptree.tell(x, new Set(locked)))",
        [as_values(rows, columns), locked],
    )
    fixed = [columns[at] for at in locked]
    changes = kt.nearest_change(model, model.tree_.decode(rows), fixed=fixed)
    for answer, change in zip(answers, changes, strict=True):
        assert answer["sentence"] == change.sentence
        if change.found:
            assert answer["cost"] == pytest.approx(change.cost, rel=1e-9)
            assert answer["leaf"] == change.leaf


@pytest.mark.parametrize("locked", [[], [0, 2], [0, 1, 2, 3]], ids=str)
def test_the_nearest_change_agrees_with_python(locked, opened, plain_page):
    model, X, _ = plain_model()
    check_changes(opened(plain_page), model, rows_about(model, X, 150), locked)


@pytest.mark.parametrize("locked", [[], [1]], ids=str)
def test_the_nearest_change_agrees_with_python_for_categories(locked, opened, tmp_path):
    X, y = mixed_table()
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    kt.report(model, X, y, tmp_path / "page.html")
    check_changes(opened(tmp_path / "page.html"), model, rows_about(model, X, 100), locked)


SAID = "() => ['verdicts', 'why'].map((id) => document.getElementById(id).textContent)"


def squeezed(texts):
    return ["".join(text.split()) for text in texts]


@pytest.mark.parametrize("kind", ["KeptTreeClassifier", "MarginTreeClassifier"])
@pytest.mark.parametrize("table", [mixed_table, breast, lambda: load_wine(return_X_y=True)])
def test_the_script_writes_the_same_text_about_the_selected_case_as_python(
    table, kind, opened, tmp_path
):
    X, y = table()
    model = getattr(kt, kind)(kt.C45Classifier()).fit(X[::2], y[::2])
    kt.report(model, X[1::2], y[1::2], tmp_path / "page.html")
    written = opened(tmp_path / "page.html", java_script_enabled=False)
    still = [written.page.text_content(f"#{name}") for name in ("verdicts", "why")]
    verdicts, why = squeezed(opened(tmp_path / "page.html").run(SAID))
    assert squeezed(still)[1] == why
    assert verdicts.startswith(squeezed(still)[0])  # with several classes, the script adds bars


@pytest.mark.parametrize("options", [{}, {"coherent": True}, {"columns": "all"}], ids=str)
@pytest.mark.parametrize("table", [mixed_table, breast, lambda: load_wine(return_X_y=True)])
def test_the_script_draws_the_same_contributions_as_python(table, options, opened, tmp_path):
    X, y = table()
    model = kt.KeptTreeClassifier(kt.C45Classifier(), **options).fit(X[::2], y[::2])
    data = kt.report(model, X, y, tmp_path / "page.html")
    tab, rows = opened(tmp_path / "page.html"), model.tree_.encode(X)
    assert "compared with the average training case" in tab.text("#why")
    for _ in range(5):
        tab.page.click("#next")
        tab.settle()
        case = int(tab.text("#which").removeprefix("Case "))
        view = collect_view(resolve(model), rows[case], data["positive"])
        found = tab.run(
            """() => [...document.querySelectorAll("#why .pushes tbody tr")].map((row) =>
                [row.querySelector("th").textContent, row.querySelector(".size").textContent])"""
        )
        values = {name: float(told.replace("−", "-")) for name, told in found}
        wanted = {row["name"]: row["value"] for row in view["pushes"]["rows"]}
        assert values == pytest.approx(wanted, abs=0.005 + 1e-9)


@pytest.mark.parametrize("java_script_enabled", [True, False])
def test_the_page_calls_fractional_counts_weighted_cases(java_script_enabled, opened, tmp_path):
    X, y = breast()
    balanced = DecisionTreeClassifier(max_leaf_nodes=6, class_weight="balanced", random_state=0)
    model = kt.KeptTreeClassifier(balanced).fit(X[:300], y[:300])
    kt.report(model, X[300:], y[300:], tmp_path / "page.html")
    told = opened(tmp_path / "page.html", java_script_enabled=java_script_enabled)
    assert re.search(r"Its leaf contains [\d.]+ weighted cases", told.page.text_content("#why"))


@pytest.mark.parametrize("java_script_enabled", [True, False])
def test_the_page_calls_a_single_weighted_case_a_case(java_script_enabled, opened, tmp_path):
    X, y, weight = np.arange(9.0)[:, None], np.arange(9) == 0, np.linspace(1.04, 1.2, 9)
    tree = DecisionTreeClassifier().fit(X, y, weight)
    model = kt.SmoothedTreeClassifier(tree).fit(X, y, weight)
    kt.report(model, X[:1], y[:1], tmp_path / "page.html")
    told = opened(tmp_path / "page.html", java_script_enabled=java_script_enabled)
    assert "Its leaf contains 1 weighted case, " in told.page.text_content("#why")


@pytest.mark.parametrize("java_script_enabled", [True, False])
def test_the_page_counts_cases_of_enormous_weight(java_script_enabled, opened, tmp_path):
    X, y, weight = np.arange(9.0)[:, None], np.arange(9) < 4, np.full(9, 1e21)
    tree = DecisionTreeClassifier().fit(X, y, weight)
    model = kt.SmoothedTreeClassifier(tree).fit(X, y, weight)
    kt.report(model, X, y, tmp_path / "page.html")
    why = opened(tmp_path / "page.html", java_script_enabled=java_script_enabled).page
    counted = re.search(r"Its leaf contains ([\d,]+) training cases", why.text_content("#why"))
    assert float(counted[1].replace(",", "")) in (4e21, 5e21)


def test_the_page_shows_the_decision_by_cost_beside_the_tree(opened, tmp_path):
    X, y = breast()
    costs = [[0, 1], [9, 0]]
    model = kt.SoftTreeClassifier(_learner(), decide="cost", costs=costs).fit(X[:300], y[:300])
    kt.report(model, X[300:], y[300:], tmp_path / "page.html")
    tab = opened(tmp_path / "page.html")
    decided = model.predict(X[300:])
    cases = tab.run("() => keeptree.data.cases.map(({ id }) => id)")
    for _ in range(12):
        at = cases.index(tab.text("#which").removeprefix("Case "))
        own = f"By cost, the model decides {decided[int(cases[at])]}"
        assert own in " ".join(tab.text("#verdicts").split())
        assert "What would change the tree's decision" in tab.text("#why")
        tab.page.click("#next")
        tab.settle()
