"""The page shows the figures of the dict, loads nothing and runs nothing."""

import base64
import hashlib
import re
from copy import deepcopy
from html.parser import HTMLParser

import pytest

from keeptree.reporting.render import outline_items, render
from keeptree.text import clean

VOID = {"meta", "input", "br", "img", "link"}


class Page(HTMLParser):
    """Tags, attributes and text of a page; complains about tags that do not match."""

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


def test_the_page_loads_nothing(html, page):
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    for _, attrs in page.tags:
        assert "src" not in attrs
        assert attrs.get("href", "#").startswith("#")
    assert "url(" not in html
    assert "@import" not in html


def test_the_policy_allows_this_style_sheet_and_nothing_else(html, page):
    metas = page.all("meta")
    policy = next(m["content"] for m in metas if m.get("http-equiv") == "Content-Security-Policy")
    style = re.search("<style>(.*?)</style>", html, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not any(
        "style" in attrs or any(a.startswith("on") for a in attrs) for _, attrs in page.tags
    )


def test_the_figures_are_those_of_the_dict(html, demo_data):
    body = re.search(r'<div class="scores">.*?<tbody>(.*?)</tbody>', html, re.DOTALL)[1]
    rows = re.findall("<tr.*?</tr>", body, re.DOTALL)
    assert len(rows) == len(demo_data["methods"])
    for row, shown in zip(demo_data["methods"], rows, strict=True):
        cells = re.findall("<td.*?>(.*?)</td>", shown, re.DOTALL)
        for key, cell in zip(("auc", "brier", "log_loss"), cells, strict=False):
            expected = "–" if row[key] is None else f"{row[key]:.3f}"
            assert re.search(r"[–\d.]+", cell)[0] == expected
            assert ("★" in cell) == (key in row["best"])  # not by weight or colour alone
        assert cells[3] == str(row["distinct"])


def test_the_page_says_what_the_summary_says(page, demo_data):
    for sentence in demo_data["summary"]:
        assert sentence in page.text


def test_the_tree_is_there_as_drawing_and_as_outline(html, demo_data):
    assert 'class="chart tree-drawing"' in html
    assert html.count('class="branch"') == len(demo_data["tree"]["nodes"])


def test_every_picture_has_a_name_or_is_hidden(page):
    for attrs in page.all("svg"):
        assert attrs.get("aria-hidden") == "true" or attrs.get("aria-label")


def test_all_cases_are_in_the_table_below_the_chart(html, demo_data):
    assert html.count("✗ error") == sum(c["error"] for c in demo_data["distance"]["cases"])


def test_an_estimate_is_never_said_to_be_certain(html):
    table = html[html.index("Held-out cases by distance") :]
    assert "1.000" not in table
    assert "0.000" not in table


def test_the_page_is_small(html, page):
    assert len(html) < 300_000
    assert len(page.tags) < 3_000


def test_the_same_data_give_the_same_page(html, demo_data):
    assert render(demo_data) == html


def test_hostile_names_stay_text(demo_data, hostile):
    data = deepcopy(demo_data)
    text = clean(hostile)
    data["title"] = text
    for item in data["classes"]:
        item["label"] = text
    for node in data["tree"]["nodes"]:
        if node["name"] is not None:
            node["name"] = text
        node["relation"], node["relation_exact"] = text, text
    data["about"] = {text: text}
    html = render(data)
    html.encode("utf-8")
    page = Page(html)
    assert not page.all("script")
    assert text[:40] in page.text  # as it was: not markup, not a template that ran


def test_a_tree_without_a_boundary_has_no_distance_section(demo_data):
    html = render({**demo_data, "distance": None})
    assert 'id="distance"' not in html
    assert "#distance" not in html.split("</style>")[1]


def test_many_leaves_leave_the_outline_only(demo_data):
    data = deepcopy(demo_data)
    root = data["tree"]["nodes"][0]
    leaf = next(node for node in data["tree"]["nodes"] if node["name"] is None)
    more = [{**leaf, "id": k, "parent": root["id"], "depth": 1} for k in range(100, 140)]
    data["tree"]["nodes"] = [root, *more]
    html = render(data)
    assert "tree-drawing" not in html.split("</style>")[1]
    assert 'class="outline"' in html


def chain(leaf, n):
    """Nodes of a chain of ``n`` tests in preorder: each has a leaf and the next test."""
    nodes = []
    for depth in range(n):
        up = 2 * depth - 2 if depth else None
        test = {**leaf, "id": 2 * depth, "parent": up, "depth": depth, "name": f"x{depth}"}
        nodes += [test, {**leaf, "id": 2 * depth + 1, "parent": 2 * depth, "depth": depth + 1}]
    return [*nodes, {**leaf, "id": 2 * n, "parent": 2 * n - 2, "depth": n}]


def test_a_chain_of_two_thousand_tests_is_nested_lists(demo_data):
    leaf = next(node for node in demo_data["tree"]["nodes"] if node["name"] is None)
    nodes = chain(leaf, 2000)
    html = render({**demo_data, "tree": {**demo_data["tree"], "nodes": nodes}})
    page = Page(html)  # which complains about lists that do not match
    assert html.count('class="branch"') == len(nodes)
    outline = html[html.index('<ul class="outline') :]
    outline = outline[: outline.index("</section>")]
    assert outline.count("<ul") == outline.count("</ul>") == 1 + 2000
    assert page.text.count("x1999") == 2


def test_the_outline_nests_as_the_tree_does(demo_data):
    nodes = demo_data["tree"]["nodes"]
    open_lists = 1
    for item in outline_items(nodes):
        open_lists += item["opens"]
        assert open_lists == item["node"]["depth"] + 1
        if item["parent"] is not None:
            assert item["parent"]["id"] == item["node"]["parent"]
        assert item["inner"] == (item["node"]["name"] is not None)
        open_lists -= item["closes"]
    assert open_lists == 1


def test_a_tree_of_one_leaf_is_one_line(demo_data):
    leaf = next(node for node in demo_data["tree"]["nodes"] if node["name"] is None)
    nodes = [{**leaf, "id": 0, "parent": None, "depth": 0}]
    html = render({**demo_data, "tree": {**demo_data["tree"], "nodes": nodes}})
    assert Page(html).text.count("All training cases") == 1
