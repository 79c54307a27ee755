"""The page shows the figures of the dict, loads no other files and runs only its own script."""

import base64
import dataclasses
import hashlib
import json
import re
from copy import deepcopy
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.probability.smoothing import SmoothedTreeClassifier
from keeptree.reporting.collect import collect
from keeptree.reporting.render import SCRIPTS, page_script, render, to_script
from keeptree.text import clean

VOID = {"meta", "input", "br", "img", "link"}


class Page(HTMLParser):
    """Tags, attributes and text of a page; fails if tags do not match."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.open = [], "", []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def all(self, name):
        return [attrs for tag, attrs in self.tags if tag == name]


@pytest.fixture(scope="module")
def html(demo_data):
    return render(demo_data)


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def body_of(html):
    """Return the page without style sheet and scripts."""
    return re.sub("<(style|script)[^>]*>.*?</(style|script)>", "", html, flags=re.DOTALL)


def test_the_page_loads_no_other_files(html, page):
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    for _, attrs in page.tags:
        assert "src" not in attrs
        assert attrs.get("href", "#").startswith("#")
    assert "url(" not in html
    assert "@import" not in html


def digest(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_policy_allows_only_this_style_sheet_and_this_script(html, page):
    metas = page.all("meta")
    policy = next(m["content"] for m in metas if m.get("http-equiv") == "Content-Security-Policy")
    style = re.search("<style>(.*?)</style>", html, re.DOTALL)[1]
    script = re.search('<script type="module">(.*?)</script>', html, re.DOTALL)[1]
    assert f"style-src 'sha256-{digest(style)}'" in policy
    assert f"script-src 'sha256-{digest(script)}'" in policy
    assert "default-src 'none'" in policy
    assert not any(
        "style" in attrs or any(a.startswith("on") for a in attrs) for _, attrs in page.tags
    )


def test_the_script_is_one_module_without_imports():
    script = page_script()
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    assert "</script" not in script


def test_the_data_cannot_close_their_element():
    text = to_script({"name": "</script><!-- & \u2028"})
    assert "<" not in text
    assert "&" not in text
    assert json.loads(text) == {"name": "</script><!-- & \u2028"}


def test_no_two_modules_export_the_same_name():
    folders = [files(package) / "js" for package in ("keeptree.reporting", "keeptree.exporters")]
    scripts = [path for folder in folders for path in folder.iterdir()]
    text = "".join(path.read_text(encoding="utf-8") for path in scripts)
    names = re.findall(r"^export (?:async )?(?:function\*?|const) (\w+)", text, re.MULTILINE)
    assert len(names) == len(set(names))
    exported_only = {"rank.js", "sums.js"}  # the page scores neither rankings nor oblique trees
    assert {f"{name}.js" for name in SCRIPTS} | exported_only == {path.name for path in scripts}


def test_the_table_contains_the_figures(html, demo_data):
    body = re.search('<div class="scores">.*?<tbody>(.*?)</tbody>', html, re.DOTALL)[1]
    rows = re.findall("<tr.*?</tr>", body, re.DOTALL)
    for metric, shown in zip(demo_data["quality"]["metrics"].values(), rows, strict=True):
        for who in ("ours", "leaves"):
            for end in ("value", "low", "high"):
                assert f"{metric[who][end]:.3f}" in shown


def test_the_page_contains_the_facts(page, demo_data):
    right, missed, check = demo_data["facts"]
    for sentence in (*right["text"], *check["text"], demo_data["summary"][-1]):
        assert sentence in page.text
    for fact in (right, missed, check):
        assert fact["headline"] in page.text


def test_the_page_contains_the_confusion_matrix(html, demo_data):
    table = re.search('<table class="confusion">(.*?)</table>', html, re.DOTALL)[1]
    shown = [int(count) for count in re.findall(r"<td(?: class=\"wrong\")?>(\d+)", table)]
    assert shown == [count for row in demo_data["decisions"]["confusion"] for count in row]
    assert table.count("✗") == 2


def test_only_a_given_tree_is_called_unchanged(demo_data):
    grown = body_of(render(demo_data))
    given = body_of(render({**demo_data, "tree": {**demo_data["tree"], "grown": False}}))
    assert "unchanged" not in grown
    assert given.count("unchanged") == 2


def test_the_tree_is_shown_as_a_drawing_and_as_an_outline(html, demo_data):
    assert 'class="chart tree-drawing"' in html
    assert body_of(html).count('class="branch"') == len(demo_data["tree"]["nodes"])


def test_the_path_of_the_selected_case_is_highlighted_without_javascript(html, demo_data):
    case = demo_data["cases"][demo_data["selected"]]
    assert f'<li data-node="{case["leaf"]}" class="on">' in html
    assert '<li data-node="0" class="on">' in html


def test_the_page_of_a_model_that_decides_by_cost_does_not_say_that_the_tree_decides():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    costs = {1: {2: 50}}
    for model, stands in (
        (SmoothedTreeClassifier(tree), True),
        (SmoothedTreeClassifier(tree, decide="cost", costs=costs), False),
    ):
        text = Page(body_of(render(collect(model.fit(X, y), X, y, title="", about={})))).text
        assert ("(this stands)" in text) is stands
        assert ("The nearest change alters the tree's decision." in text) is not stands


def test_every_picture_has_a_name_or_is_hidden(page):
    for attrs in page.all("svg"):
        assert attrs.get("aria-hidden") == "true" or attrs.get("aria-label")


def test_every_field_has_a_label(page):
    labelled = {attrs.get("for") for attrs in page.all("label")}
    for attrs in page.all("input") + page.all("select"):
        around = attrs.get("type") == "checkbox"  # its label encloses it
        assert around or attrs.get("aria-label") or attrs["id"] in labelled


def test_the_cases_to_check_are_listed(html, demo_data):
    listed = re.findall(r'<button type="button" class="case" data-case="(\d+)"', body_of(html))
    assert listed == [str(k) for k, case in enumerate(demo_data["cases"]) if case["check"]]


def test_the_selected_case_is_explained_without_javascript(page, demo_data):
    view = demo_data["view"]
    for step in view["steps"]:
        for part in ("name", "value", "test", "note"):
            assert step[part] in page.text
    for sentence in ("leaf", "change", "after"):
        assert view[sentence]
        assert view[sentence] in page.text
    for row in view["pushes"]["rows"]:
        assert row["name"] in page.text


def test_the_page_lists_the_locked_attributes_without_javascript():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["age <b>", "size", "unused"])
    y = np.where(X["age <b>"] + X["size"] > 0, "yes", "no")
    model = SmoothedTreeClassifier(DecisionTreeClassifier(max_leaf_nodes=4)).fit(X[:100], y[:100])

    def page(*fixed):
        return render(collect(model, X[100:], y[100:], title="", about={}, fixed=fixed))

    assert '<p class="locked">Locked: age &lt;b&gt;.</p>' in page("age <b>", "unused")
    assert re.search(r"Locked: (age &lt;b&gt; and size|size and age &lt;b&gt;)\.", page(0, 1))
    assert '<p class="locked">' not in page()


def test_the_drawing_of_the_demo_fits_beside_a_scrollbar(html):
    width = float(re.search(r'<svg[^>]* width="([\d.]+)"[^>]*tree-drawing', html)[1])
    body = 1440 - 2 * 64  # page width and padding in css/base.css
    assert width <= body - 20
    assert f"@media (max-width:{int(width) + 2 * 64 + 20}px)" in html.replace(": ", ":")


def test_an_estimate_is_never_shown_as_certain(html):
    assert not re.search(r"[^r] (0|100) in 100", body_of(html))


def test_the_page_is_small(html, page):
    assert len(html) < 1_000_000
    assert len(page.tags) < 3_000


def test_the_same_data_give_the_same_page(html, demo_data):
    assert render(demo_data) == html


def test_hostile_names_stay_text(demo_data, hostile):
    data = deepcopy(demo_data)
    text = clean(hostile)
    data["title"] = text
    for item in data["classes"]:
        item["label"] = text
    for item in data["attributes"]:
        item["name"] = text
    for case in data["cases"]:
        case["id"] = text
    for step in data["view"]["steps"]:
        step |= dict.fromkeys(("name", "value", "test", "note", "short"), text)
    for row in data["view"]["pushes"]["rows"]:
        row["name"] = text
    data["view"] |= dict.fromkeys(("leaf", "change", "after", "such"), text)
    data["facts"] = [{"headline": text, "text": [text]} for _ in data["facts"]]
    for node in data["tree"]["nodes"]:
        if node["name"] is not None:
            node["name"] = text
        node["relation"], node["relation_exact"] = text, text
    data["about"] = {text: text}
    html = render(data)
    html.encode("utf-8")
    page = Page(html)
    assert len(page.all("script")) == 2
    assert text[:40] in page.text  # unchanged: neither markup nor a template


def test_a_tree_without_a_boundary_has_no_distance_section(demo_data):
    html = body_of(render({**demo_data, "distance": None}))
    assert 'id="distance"' not in html
    assert "#distance" not in html


def test_without_held_out_data_the_page_says_how_to_provide_them(demo_data):
    none = dict.fromkeys(("quality", "decisions", "distance", "selected", "view", "check"))
    none["cases"] = []
    html = body_of(render({**demo_data, **none, "n_test": 0}))
    assert "kt.report(model, X_test, y_test)" in html
    assert "case-list" not in html


def test_a_tree_with_many_leaves_has_only_an_outline(demo_data):
    data = deepcopy(demo_data)
    root = data["tree"]["nodes"][0]
    leaf = next(node for node in data["tree"]["nodes"] if node["name"] is None)
    more = [{**leaf, "id": k, "parent": root["id"], "depth": 1} for k in range(100, 130)]
    data["tree"]["nodes"] = [root, *more]
    data["cases"], data["selected"], data["view"] = [], None, None
    html = body_of(render(data))
    assert "tree-drawing" not in html
    assert 'class="outline"' in html


def chain(leaf, n):
    """Return the nodes of a chain of ``n`` tests in preorder."""
    nodes = []
    for depth in range(n):
        up = 2 * depth - 2 if depth else None
        test = {**leaf, "id": 2 * depth, "parent": up, "depth": depth, "name": f"x{depth}"}
        nodes += [test, {**leaf, "id": 2 * depth + 1, "parent": 2 * depth, "depth": depth + 1}]
    return [*nodes, {**leaf, "id": 2 * n, "parent": 2 * n - 2, "depth": n}]


def test_a_chain_of_two_thousand_tests_is_folded_except_for_the_path_of_a_case(demo_data):
    leaf = next(node for node in demo_data["tree"]["nodes"] if node["name"] is None)
    nodes = chain(leaf, 2000)
    data = {**demo_data, "tree": {**demo_data["tree"], "nodes": nodes}}
    html = render({**data, "cases": [], "selected": None, "view": None})
    assert body_of(html).count('class="branch"') <= 40
    assert "+1 leaf</button>" in html
    case = {**demo_data["cases"][0], "leaf": 4000}
    html = render({**data, "cases": [case], "selected": 0, "view": None})
    page = Page(html)  # fails if lists do not match
    assert body_of(html).count('class="branch"') == len(nodes)
    assert page.all("li")


def test_a_tree_with_one_leaf_is_one_line(demo_data):
    leaf = next(node for node in demo_data["tree"]["nodes"] if node["name"] is None)
    nodes = [{**leaf, "id": 0, "parent": None, "depth": 0}]
    cases = [{**case, "leaf": 0} for case in demo_data["cases"]]
    tree = {**demo_data["tree"], "nodes": nodes}
    html = render({**demo_data, "tree": tree, "cases": cases, "view": None})
    assert body_of(html).count("All training cases") == 1


def test_fractions_of_cases_have_one_decimal_and_the_page_says_why(demo_data):
    why = "divided among the branches"
    assert why not in render(demo_data)
    nodes = [{**node, "cases": node["cases"] + 0.512} for node in demo_data["tree"]["nodes"]]
    page = render({**demo_data, "tree": {**demo_data["tree"], "nodes": nodes}, "n_others": 1})
    assert page.count(why) == 1
    assert f'class="count">{nodes[0]["cases"]:.1f}<' in page
    assert "1 other attribute does not affect" in page


def test_an_uninformative_distance_is_replaced_by_one_sentence(demo_data):
    html = body_of(render({**demo_data, "distance": {"silent": "It says nothing."}}))
    assert '<p class="note left-out" id="distance">It says nothing.</p>' in html
    assert "Are errors near" not in html


def test_the_curve_of_probability_against_distance_has_a_wide_and_a_narrow_form(html, demo_data):
    (curve,) = demo_data["distance"]["by_class"]
    body = body_of(html)
    assert body.count("Probability of malignant against the distance to the boundary</title>") == 2
    assert body.count('class="here"') == 2  # at the selected case, even without JavaScript
    assert curve["line"] is not None
    assert "distance kernel)" in body


def test_without_single_cases_the_curve_describes_bins(demo_data):
    curves = [{**curve, "points": None} for curve in demo_data["distance"]["by_class"]]
    body = body_of(render({**demo_data, "distance": {**demo_data["distance"], "by_class": curves}}))
    assert "the observed share among the cases" in body
    assert "our estimate for a case" not in body


def test_the_methods_are_shown_in_a_table_and_as_small_roc_curves(html, page, demo_data):
    names = [row["name"] for row in demo_data["methods"]]
    curves = [attrs["aria-label"] for attrs in page.all("svg") if "aria-label" in attrs]
    assert [f"ROC curve: {name}" for name in names[1:]] == [c for c in curves if "curve:" in c]
    for row in demo_data["methods"]:
        shown = re.search(f"<bdi>{re.escape(escape(row['name']))}</bdi></th>(.*?)</tr>", html)[1]
        assert f"{row['auc']:.3f}" in shown
        assert f"<td>{row['distinct']}</td>" in shown
    assert "Other methods" not in render({**demo_data, "methods": None})


def test_a_tree_with_one_leaf_has_no_menu_of_curves():
    X, y = load_iris(return_X_y=True)
    one_leaf = DecisionTreeClassifier(min_samples_leaf=100).fit(X, y)
    model = SmoothedTreeClassifier(one_leaf).fit(X, y)
    html = render(collect(model, X, y, title="t", about={}))
    assert '<select id="curves-of"' not in html
    assert 'data-for="curves"' not in html


def test_the_page_says_if_all_cases_are_of_one_class(demo_data):
    assert "190 cases the tree had not seen, 71 of them <bdi>malignant</bdi>." in render(demo_data)
    quality = {**demo_data["quality"], "by_class": []}
    assert "190 cases the tree had not seen, all of one class." in render(
        {**demo_data, "quality": quality}
    )


def test_no_score_is_called_better_on_too_few_cases_of_a_class(demo_data):
    auc = {who: {**row, "low": None, "high": None} for who, row in
           demo_data["quality"]["metrics"]["auc"].items()}  # fmt: skip
    metrics = {**demo_data["quality"]["metrics"], "auc": auc}
    quality = {**demo_data["quality"], "metrics": metrics, "scarce": {"class": 0, "cases": 3}}
    html = render({**demo_data, "quality": quality})
    assert "ours is better" in render(demo_data)
    assert "ours is better" not in html
    assert html.count('<span class="verdict">too few cases</span>') == 3
    assert "to compare the estimates. Measured on 190 cases" in html


def test_the_page_shows_who_signed_the_tree_and_if_the_signature_is_for_another_tree(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    tree = kt.C45Classifier().fit(X, X[:, 0] > 0).tree_.sign("<b>Ada", "Fit for use.")
    page = tmp_path / "page.html"
    kt.report(kt.SmoothedTreeClassifier(tree).fit(X, X[:, 0] > 0), out=page)
    text = page.read_text()
    assert "Signed by &lt;b&gt;Ada</dt>" in text
    assert ": Fit for use.</dd>" in text
    assert "of another tree" not in text
    other = dataclasses.replace(tree, threshold=tree.threshold + 1)
    kt.report(kt.SmoothedTreeClassifier(other).fit(X, X[:, 0] > 0), out=page)
    assert (
        f"This signature belongs to another tree, <code>{tree.digest[:12]}</code>"
        in page.read_text()
    )
