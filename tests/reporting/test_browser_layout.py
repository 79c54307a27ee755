"""Ten kinds of pages at five widths, light and dark, without overlaps or sideways scrolling."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from tests.reporting.test_browser_agreement import mixed_table

WIDTHS = (1440, 1024, 768, 390, 320)


def sklearn_tree(X, y, leaves=8):
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(X[::2], y[::2])
    return kt.SmoothedTreeClassifier(tree).fit(X[::2], y[::2]), X[1::2], y[1::2]


def three_classes():
    return sklearn_tree(*load_iris(return_X_y=True, as_frame=True))


def ten_classes():
    return sklearn_tree(*load_digits(return_X_y=True), 30)


def nominal_with_missing():
    X, y = mixed_table()
    model = kt.KeptTreeClassifier(kt.C45Classifier()).fit(X[:300], y[:300])
    return model, X[300:], y[300:]


def noise(leaves, columns=5):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5 * leaves, columns)), rng.integers(2, size=5 * leaves)
    return sklearn_tree(X, np.array(["no", "yes"])[y], leaves)


def two_leaves():
    return sklearn_tree(*load_breast_cancer(return_X_y=True, as_frame=True), 2)


def rare_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 4)), np.where(rng.random(2000) < 0.02, "fraud", "ok")
    return sklearn_tree(X, y)


def long_names():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.columns = [f"{name} as_it_was_measured_by_the_first_of_two_laboratories" for name in X]
    labels = np.array(["no-recurrence-events", "recurrence-events-within-five-years"])[y]
    model, X, labels = sklearn_tree(X, pd.Series(labels, name="outcome after treatment"))
    return model, X.set_axis([f"patient-number-{k:09d}" for k in range(len(X))]), labels


PAGES = {
    "three classes": three_classes,
    "ten classes": ten_classes,
    "nominal with missing values": nominal_with_missing,
    "100 leaves": lambda: noise(100),
    "1000 leaves": lambda: noise(1000),
    "2 leaves": two_leaves,
    "a rare class": rare_class,
    "200 columns": lambda: noise(150, 200),
    "long names": long_names,
}


@pytest.fixture(scope="module", params=["demo", *PAGES])
def page(request, tmp_path_factory):
    if request.param == "demo":
        return request.getfixturevalue("demo_page")
    path = tmp_path_factory.mktemp("page") / "page.html"
    kt.report(*PAGES[request.param](), path)
    return path


# Find pairs of visible text boxes that overlap by more than a few pixels. The answer panel may lie
# over the page by design, so boxes inside it are compared only with each other.
OVERLAPS = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const boxes = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const parent = node.parentElement;
        const unseen = '.hidden, .skip, script, noscript, template, title, desc, option, .scroll';
        if (!node.textContent.trim() || parent.closest(unseen)) continue;
        if (!parent.checkVisibility({ visibilityProperty: true })) continue;
        const group = parent.closest('svg g[class]'); // Chromium reports text in hidden groups
        if (group && getComputedStyle(group).display === 'none') continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const panel = parent.closest('#answer');
        const body = parent.closest('#answer-body')?.getBoundingClientRect();
        for (const { left, right, top, bottom } of range.getClientRects()) {
            if (body && (bottom > body.bottom || top < body.top)) continue; // scrolled out of sight
            const text = node.textContent.trim().slice(0, 40);
            if (right - left <= 1) continue;
            boxes.push({ left, right, top: top + 3, bottom: bottom - 3, panel, text });
        }
    }
    boxes.sort((a, b) => a.top - b.top);
    const found = [];
    boxes.forEach((a, k) => {
        for (let j = k + 1; j < boxes.length && boxes[j].top < a.bottom; j += 1) {
            const b = boxes[j];
            const beside = a.left >= b.right - 2 || b.left >= a.right - 2;
            if (a.panel === b.panel && !beside) found.push([a.text, b.text]);
        }
    });
    return found;
}"""
TOO_WIDE = "() => document.documentElement.scrollWidth - innerWidth"


def test_no_text_overlaps_and_no_page_scrolls_sideways(page, opened):
    tab = opened(page)
    for width in WIDTHS:
        tab.page.set_viewport_size({"width": width, "height": 900})
        for tab_name in ("why", "whatif"):
            tab.run("(name) => document.getElementById(`tab-${name}`).click()", tab_name)
            for scheme in ("light", "dark"):
                tab.page.emulate_media(color_scheme=scheme)
                tab.settle()
                assert tab.run(TOO_WIDE) <= 0, (width, scheme)
                assert tab.run(OVERLAPS) == [], (width, scheme, tab_name)
        tab.run("() => document.getElementById('sheet').click()")


def test_a_window_without_room_for_the_drawing_states_the_width(opened, tmp_path):
    path = tmp_path / "page.html"
    kt.report(*sklearn_tree(*load_breast_cancer(return_X_y=True, as_frame=True), 9), path)
    tab = opened(path)
    told = tab.run("() => document.querySelector('.no-room').textContent").strip()
    width = int(re.search(r"at least ([\d,]+) pixels", told)[1].replace(",", ""))
    for more, hidden in ((-1, True), (0, False)):
        tab.page.set_viewport_size({"width": width + more, "height": 900})
        assert tab.page.is_hidden(".drawing") == hidden
        assert tab.page.is_hidden(".no-room") != hidden


def test_a_wide_drawing_is_shown_whole_or_not_at_all(opened, tmp_path):
    path = tmp_path / "page.html"
    kt.report(*sklearn_tree(*load_breast_cancer(return_X_y=True, as_frame=True), 9), path)
    tab = opened(path, viewport={"width": 1440, "height": 900})
    assert tab.page.is_hidden(".drawing")
    box = """() => { const { left, right } = document.querySelector('.tree-drawing')
        .getBoundingClientRect(); return [left, right]; }"""
    for width in (1507, 1920):
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.settle()
        left, right = tab.run(box)
        assert right - left > 1440 - 2 * 64  # wider than the column of the text
        assert right < width - 20  # beside a scrollbar
        assert tab.run("() => getComputedStyle(document.querySelector('.drawing')).overflowX") == (
            "visible"
        )
        assert tab.run(TOO_WIDE) <= 0
        assert tab.run(OVERLAPS) == []


def test_every_section_fits_a_narrow_screen(page, opened):
    tab = opened(page, viewport={"width": 320, "height": 640})
    tab.run("() => document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    tab.settle()
    assert tab.run(TOO_WIDE) <= 0
    assert tab.run(OVERLAPS) == []


def test_pages_have_no_accessibility_violations(page, opened, request):
    """Check every other page in light mode on a desktop, the others in dark mode on a phone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    turn = ["demo", *PAGES].index(request.node.callspec.params["page"]) % 2
    width, scheme = [(1440, "light"), (390, "dark")][turn]
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    tab = opened(page, bypass_csp=True, **options)  # allows the script of the checker
    found = axe.Axe().run(tab.page).response["violations"]
    assert [(item["id"], item["nodes"][0]["html"]) for item in found] == []
