"""Notebook views of trees, models and changes are complete, escaped and readable."""

from html import escape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.evaluation import compare, learning_curve
from tests.reporting.browser import Tab, chromium

HOSTILE = "<script>alert(1)</script>"
OURS = {*"section style p strong table thead tbody tr th td ul li h4".split()}  # noqa: SIM905


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    return X, y, DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def hostile():
    """Return a model whose column, category and class names are markup."""
    X = pd.DataFrame({HOSTILE: [0.0, 1.0, 2.0, 3.0] * 6, "b": pd.Categorical(["&", "<b>"] * 12)})
    y = np.array([f"{HOSTILE} a", f"{HOSTILE} b"], dtype=object)[[0, 1, 1, 0] * 6]
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    return model, X


def tags(html):
    """Return the tags in a piece of HTML, and check that they are closed in order."""
    opened, seen = [], []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.append(tag)
            opened.append(tag)

        def handle_startendtag(self, tag, attrs):
            seen.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Reader().feed(html)
    assert opened == []
    return seen


def test_a_tree_shows_every_leaf_with_its_class_and_cases(cancer):
    _, _, clf = cancer
    tree = kt.keep(clf)
    html = tree._repr_html_()
    assert tags(html).count("strong") == tree.n_leaves
    assert "8 leaves, 4 levels of tests, from DecisionTreeClassifier" in html
    assert html.count("kt-leaf>") == tree.n_leaves
    for line in tree.to_text().splitlines():
        condition = line.split(":")[0].strip().replace("<", "&lt;").replace(">", "&gt;")
        assert condition in html


def test_a_large_tree_shows_its_first_200_nodes_and_counts_the_rest():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 3)), rng.integers(0, 2, 3000)
    tree = kt.keep(DecisionTreeClassifier(random_state=0).fit(X, y))
    html = tree._repr_html_()
    tags(html)
    assert html.count("<li") == 200  # the nodes shown except the root, and the line about the rest
    assert f"{tree.n_nodes - 200:,} nodes further down not shown" in html


def test_one_leaf_a_regression_tree_and_many_classes_are_shown():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    grown = kt.TreeRegressor(max_depth=2).fit(X, y).tree_
    assert tags(grown._repr_html_()).count("strong") == grown.n_leaves
    leaf = kt.C45Classifier().fit([[0.0], [0.0]], ["a", "b"]).tree_
    assert "One leaf" in leaf._repr_html_()
    many = kt.keep(DecisionTreeClassifier().fit(np.arange(18.0)[:, None], np.arange(18) % 9))
    assert "4 other classes" in many._repr_html_()


def test_a_model_shows_the_diagram_of_scikit_learn_and_its_tree(cancer):
    X, y, clf = cancer
    model = kt.SmoothedTreeClassifier(clf)
    assert "kt-tree" not in model._repr_html_()
    model.fit(X, y)
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "sk-container" in html
        assert html.count('class="kt-tree"') == 1
    with sklearn.config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")


def test_a_change_shows_old_and_new_values_and_the_alternatives(cancer):
    X, y, clf = cancer
    model = kt.SmoothedTreeClassifier(clf).fit(X, y)
    html = kt.nearest_change(model, X.iloc[3], n=3)._repr_html_()
    assert set(tags(html)) <= OURS
    assert "<td>26.50</td><td>25.67</td>" in html
    assert html.count("<li>") == 2
    stuck = kt.nearest_change(model, X.iloc[3], fixed=list(X))._repr_html_()
    assert "unlock worst texture" in stuck
    assert "<table>" not in stuck
    table = kt.nearest_change(model, X)._repr_html_()
    assert "569 cases, 569 with a change" in table
    assert "559 more cases" in table
    assert repr(kt.nearest_change(model, X[:1])) == "NearestChanges(1 case, 1 with a change)"


def test_names_from_data_are_escaped(hostile):
    model, X = hostile
    change = kt.nearest_change(model, X.iloc[0])
    for html in (model.tree_._repr_html_(), change._repr_html_()):
        assert "script" not in tags(html)
        assert "&lt;script&gt;" in html
    assert "<script>alert" not in model._repr_html_()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_views_fit_a_phone_and_run_no_script_from_the_data(theme, hostile, tmp_path):
    model, X = hostile
    shown = [model.tree_, kt.nearest_change(model, X.iloc[0]), kt.nearest_change(model, X)]
    page = tmp_path / "page.html"
    body = "".join(view._repr_html_() for view in shown)
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
    with chromium() as browser:
        tab = Tab(browser, page, viewport={"width": 390, "height": 844}, color_scheme=theme)
        ink, ground = tab.run(
            "() => { const s = getComputedStyle(document.querySelector('.keeptree-view'));"
            " return [s.color, s.backgroundColor]; }"
        )
        wide = tab.run("() => document.documentElement.scrollWidth - innerWidth")
        bars = tab.run("() => document.querySelector('.kt-tree svg').getBoundingClientRect().width")
        tab.check_quiet()
        tab.close()
    assert (ink, ground) == {
        "light": ("rgb(27, 31, 36)", "rgb(255, 255, 255)"),
        "dark": ("rgb(230, 234, 239)", "rgb(20, 24, 29)"),
    }[theme]
    assert wide <= 0
    assert bars == 60


def test_results_are_short_in_a_console_and_readable_in_a_notebook(tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    options = {"metrics": ["auc"], "n_splits": 2, "n_jobs": 1, "progress": False}
    compared = compare({"<b>": kt.C45Classifier()}, X, y, **options)
    curve = learning_curve({"<b>": kt.C45Classifier()}, X, y, sizes=[50, 100], **options)
    audit = kt.audit(model, X)
    assert repr(compared) == "Comparison(1 model, 1 metric, 2 splits)"
    assert repr(curve) == "LearningCurve(1 model, 1 metric, 2 sizes)"
    assert repr(audit) == "Audit(569 cases, no alarm)"
    assert repr(kt.unfamiliar(model, X)) == "Unfamiliar(569 rows, 0 columns with something new)"
    page = tmp_path / "report.html"
    title = "target: how far to trust this tree"
    assert repr(kt.report(model, X, y, page)) == f"Report({title!r}, page={str(page)!r})"
    change = kt.nearest_change(model, X.iloc[0])
    assert repr(change).startswith(f"NearestChange({change.sentence!r}, cost=")
    fixed = kt.nearest_change(model, X.iloc[0], fixed=list(X.columns))
    assert repr(fixed) == "NearestChange(none allowed, decided=0)"
    assert "&lt;b&gt;" in compared._repr_html_()
    assert escape(str(curve)) in curve._repr_html_()
    assert "b" not in tags(curve._repr_html_())
    assert escape(audit.verdict) in audit._repr_html_()
    new = kt.unfamiliar(model, X * 2)
    assert escape(new.sentence) in new._repr_html_()
    assert curve._repr_markdown_() == curve.to_markdown()
