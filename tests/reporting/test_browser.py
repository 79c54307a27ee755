"""The page in a real browser: mouse, keyboard and links, phones, hostile and huge data."""

from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from tests.reporting.browser import plain_model


def test_the_demo_is_small_and_agrees_with_python(demo, demo_page):
    assert demo_page.stat().st_size < 3_000_000
    assert demo.run("() => document.querySelectorAll('*').length") < 3_000
    assert "64 of 64 cases agree with Python" in demo.text("#agreement")


@pytest.fixture
def panel(plain):
    """Open the what-if panel of a small page."""
    plain.page.click("#tab-whatif")
    return plain


def test_changing_a_value_highlights_its_path_and_undo_reverts_one_drag(panel):
    plain = panel
    before = plain.run("() => [...document.querySelectorAll('.outline .on')].length")
    assert before >= 2
    first = plain.page.locator(".control .range").first
    first.scroll_into_view_if_needed()
    start = first.input_value()
    at = plain.run("() => Number(document.querySelector('.control').dataset.attribute)")
    box = first.bounding_box()
    plain.page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
    plain.page.mouse.down()
    for share in (0.2, 0.5, 0.9):
        plain.page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    plain.page.mouse.up()
    plain.settle()
    assert first.input_value() != start
    assert "changed" in plain.text("#which")
    assert plain.run("() => keeptree.state().past.length") == 1
    lit = plain.run(
        "() => [...document.querySelectorAll('.outline .on')].map((e) => Number(e.dataset.node))"
    )
    path = plain.run("() => [...keeptree.route(keeptree.tree, keeptree.state().x).keys()]")
    assert sorted(lit) == sorted(path)
    plain.page.click("#undo")
    plain.settle()
    state = plain.run("() => keeptree.state()")
    assert state["x"][at] == state["base"][at]
    plain.page.click("#redo")
    plain.settle()
    assert plain.run("() => keeptree.state().x") != state["base"]


def test_a_lock_keeps_its_attribute_out_of_the_nearest_change(panel):
    plain = panel
    name = plain.run(
        "() => keeptree.data.attributes[keeptree.judge(keeptree.state()).moves[0].attribute].name"
    )
    control = plain.page.locator(".control", has_text=name).first
    lock = control.locator(".lock")
    assert lock.get_attribute("aria-pressed") == "false"
    assert name in plain.text("#change")
    assert not plain.page.is_visible("#locked")
    lock.click()
    plain.settle()
    assert lock.get_attribute("aria-pressed") == "true"
    assert name not in plain.text("#change")
    assert plain.text("#locked") == f"Locked: {name}."
    while plain.page.locator(".lock[aria-pressed=false]").count():
        plain.page.locator(".lock[aria-pressed=false]").first.click()
        plain.settle()
    plain.page.wait_for_function(
        "() => document.querySelector('#change').textContent.includes('unlock')"
    )
    assert plain.page.is_disabled("#apply")
    assert plain.text("#locked").startswith("Locked: ")
    assert name in plain.text("#locked")


def test_applying_the_nearest_change_changes_the_decision(panel):
    plain = panel
    before = plain.run("() => keeptree.judge(keeptree.state()).label")
    promised = plain.run("() => keeptree.judge(keeptree.state()).change.label")
    plain.page.click("#apply")
    plain.settle()
    assert plain.run("() => keeptree.judge(keeptree.state()).label") == promised != before
    plain.page.click("#reset")
    plain.settle()
    assert plain.run("() => keeptree.judge(keeptree.state()).label") == before


def test_the_ring_follows_the_case_as_values_change(panel):
    plain = panel
    place = """() => {
        const ring = document.querySelector('.at-wide .here');
        const { class: shown, zero, unit } = ring.dataset;
        const [x, y] = ring.style.transform.match(/-?[0-9.]+/g).map(Number);
        const { p } = keeptree.judge(keeptree.state());
        return { inside: (x - zero) / unit, y, p: p[shown] };
    }"""
    before = plain.run(place)
    plain.page.click("#apply")
    plain.settle()
    after = plain.run(place)
    assert before["inside"] * after["inside"] <= 0  # on the other side of the boundary
    assert (after["y"] < before["y"]) == (after["p"] > before["p"])


def test_the_what_if_panel_works_with_the_keyboard(panel):
    plain = panel
    field = plain.page.locator(".control .range").first
    at = plain.run("() => Number(document.querySelector('.control').dataset.attribute)")

    def value():
        plain.settle()
        return plain.run("(at) => keeptree.state().x[at]", at)

    attribute = plain.run("(at) => keeptree.data.attributes[at]", at)
    start = value()
    field.focus()
    plain.page.keyboard.press("ArrowRight")
    assert value() == pytest.approx(start + attribute["step"], abs=attribute["step"] / 2)
    plain.page.keyboard.press("PageUp")
    assert value() == pytest.approx(start + 11 * attribute["step"], abs=attribute["step"])
    plain.page.keyboard.press("Control+z")
    plain.page.keyboard.press("Control+z")
    assert value() == start
    plain.page.keyboard.press("Control+Shift+z")
    assert value() != start
    threshold = attribute["thresholds"][0]
    plain.page.fill(f"#value-{at}", str(attribute["low"]))
    field.focus()
    plain.page.keyboard.press("]")
    assert value() > threshold
    plain.page.keyboard.press("[")
    assert value() <= threshold
    plain.page.keyboard.press("l")
    plain.settle()
    lock = plain.page.locator(f".control[data-attribute='{at}'] .lock")
    assert lock.get_attribute("aria-pressed") == "true"


def test_cases_can_be_sorted_filtered_and_selected(plain):
    rows = plain.page.locator(".case")
    assert rows.count() == 6
    plain.page.select_option("#show", "all")
    plain.page.select_option("#sort", "id")
    plain.page.click("#more")
    ids = [int(text) for text in plain.page.locator(".case .id").all_inner_texts()]
    assert ids == sorted(ids)
    assert len(ids) == 56
    row = rows.nth(3)
    row.click()
    plain.settle()
    assert row.get_attribute("aria-current") == "true"
    chosen = plain.run("() => keeptree.data.cases[keeptree.state().case].id")
    assert row.locator(".id").inner_text() == chosen
    assert plain.text("#which") == f"Case {chosen}"
    plain.page.click("#next")
    plain.settle()
    assert rows.nth(4).get_attribute("aria-current") == "true"


def test_the_riskiest_cases_are_listed_first(plain):
    risks = plain.run(
        """() => [...document.querySelectorAll('.case')]
            .map((e) => keeptree.data.cases[e.dataset.case].risk)"""
    )
    assert risks == sorted(risks, reverse=True)


def test_the_selected_case_stays_highlighted_under_the_mouse(plain):
    row = plain.page.locator(".case").nth(2)
    row.click()
    row.hover()
    plain.settle()
    lit = "(e) => getComputedStyle(e).backgroundColor"
    assert row.evaluate(lit) == "rgb(255, 243, 196)"


INSIDE = """(id) => {
    const { top, bottom, height } = document.getElementById(id).getBoundingClientRect();
    return height > 0 && top >= 0 && bottom <= innerHeight;
}"""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844), (320, 640)])
def test_the_answer_is_visible_after_a_click_at_the_bottom_of_the_list(
    width, height, opened, demo_page
):
    tab = opened(demo_page, viewport={"width": width, "height": height})
    tab.page.select_option("#show", "all")
    tab.page.click("#more")
    last = tab.page.locator(".case").last
    last.scroll_into_view_if_needed()
    last.click()
    tab.settle()
    assert tab.text("#which") == f"Case {last.locator('.id').inner_text()}"
    assert tab.run(INSIDE, "verdicts")
    tab.page.click("#tab-whatif")
    tab.page.locator(".control .range").last.scroll_into_view_if_needed()
    assert tab.run(INSIDE, "verdicts")


def test_a_reload_restores_the_state(opened, plain_page):
    tab = opened(plain_page)
    tab.page.select_option("#show", "all")
    tab.page.select_option("#sort", "distance")
    tab.page.click("#more")
    tab.page.locator(".case").nth(8).click()
    tab.page.click("#tab-whatif")
    tab.page.click("#apply")
    tab.settle()
    tab.page.locator(".control .lock").first.click()
    tab.run("() => document.getElementById('as-outline').click()")
    tab.page.click("#theme")
    tab.page.check("#zoom")
    tab.page.click("#distance summary >> nth=0")
    tab.page.click("nav a[href='#tree']")
    tab.settle()
    seen = """() => ({...keeptree.state(), locked: [...keeptree.state().locked],
        look: keeptree.look(), past: keeptree.state().past.length, future: 0,
        texts: ['answer-body', 'verdicts', 'case-list']
            .map((id) => document.getElementById(id).innerText),
        theme: document.documentElement.dataset.theme,
        open: document.getElementById('distance').open,
        outline: document.getElementById('as-outline').checked})"""
    before = tab.run(seen)
    tab.page.reload()
    tab.settle()
    assert tab.run(seen) == before


def test_a_link_to_a_section_keeps_the_case_in_the_address(panel):
    panel.page.click("#apply")
    panel.settle()
    before = panel.run("() => location.hash")
    panel.page.click("nav a[href='#about']")
    assert panel.run("() => location.hash") == before
    assert panel.run("() => document.getElementById('about').open")


def test_an_emptied_field_shows_the_value_that_is_used(opened, tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    model = kt.SmoothedTreeClassifier(kt.Tree.from_dict(_without_rule(X, y))).fit(X[:300], y[:300])
    kt.report(model, X[300:], y[300:], tmp_path / "page.html")
    tab = opened(tmp_path / "page.html")
    tab.page.click("#tab-whatif")
    field = tab.page.locator(".control .number").first
    before = field.input_value()
    field.fill("")
    field.blur()
    assert field.input_value() == before


def _without_rule(X, y):
    """Return a tree without a rule for missing values, as a dict."""
    learner = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X[:300], y[:300])
    document = kt.keep(learner).to_dict()
    return {**document, "missing": [-2] * len(document["missing"])}


def test_an_emptied_field_means_not_known_if_the_tree_has_a_rule(panel):
    control = panel.page.locator(".control", has=panel.page.locator(".unknown")).first
    control.locator(".number").fill("")
    control.locator(".number").blur()
    panel.settle()
    assert control.locator(".unknown input").is_checked()


def test_a_new_case_starts_from_typical_values_and_shows_all_attributes(plain):
    plain.page.click("#new")
    plain.settle()
    typical = plain.run("() => keeptree.data.attributes.map((a) => a.typical)")
    assert plain.run("() => keeptree.state().x") == typical
    assert plain.text("#which") == "New case"
    assert plain.page.locator(".control:visible").count() == len(typical)


def test_dark_mode_can_be_switched(plain):
    def paper():
        return plain.run("() => getComputedStyle(document.body).backgroundColor")

    assert paper() == "rgb(255, 255, 255)"
    plain.page.click("#theme")
    assert paper() == "rgb(20, 24, 29)"
    assert plain.page.get_attribute("#theme", "aria-pressed") == "true"
    plain.page.click("#theme")
    assert paper() == "rgb(255, 255, 255)"


def test_dark_mode_follows_the_system(opened, plain_page):
    tab = opened(plain_page, color_scheme="dark")
    assert tab.run("() => getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"


def test_a_link_restores_a_changed_case(opened, plain_page, panel):
    plain = panel
    plain.page.click("#apply")
    plain.settle()
    plain.page.locator(".control .lock").first.click()
    plain.settle()
    asked = plain.run("() => ({...keeptree.state(), locked: [...keeptree.state().locked]})")
    link = plain.run("() => location.hash")
    again = opened(plain_page, link)
    found = again.run("() => ({...keeptree.state(), locked: [...keeptree.state().locked]})")
    assert {key: found[key] for key in ("case", "x", "locked")} == {
        key: asked[key] for key in ("case", "x", "locked")
    }


HOSTILE_LINKS = [
    "#case=<script>alert(1)</script>&x.worst%20area=NaN&lock=__proto__",
    "#x.__proto__=1&x.constructor=2&case=__proto__",
    "#x.worst%20area=1e999&x.worst%20area=-Infinity&x.worst%20area=0x10",
    "#" + "x." * 50_000,
    "#%E0%A4%A&case=%",
    "#case=@999999&x.@-1=5&lock=@1e9",
]


@pytest.mark.parametrize("link", HOSTILE_LINKS, ids=lambda link: link[:12])
def test_a_hostile_link_has_no_effect(link, opened, plain_page):
    tab = opened(plain_page, link)
    assert all(abs(v) < 1e6 for v in tab.run("() => keeptree.state().x"))
    assert tab.run("() => keeptree.state().locked.size") == 0
    assert "The tree decides" in tab.text("#verdicts")


def test_the_page_fits_a_phone(opened, plain_page):
    tab = opened(plain_page, viewport={"width": 390, "height": 844})
    assert tab.run("() => document.documentElement.scrollWidth") <= 390
    assert tab.page.is_hidden(".drawing")
    assert tab.page.is_visible(".outline")
    small = """() => [...document.querySelectorAll('button, select, .number')]
        .filter((e) => e.offsetParent && !e.matches('.pill'))
        .filter((e) => e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)"""
    assert tab.run(small) == []


@pytest.mark.parametrize(("width", "scheme"), [(1440, "dark"), (390, "light")])
def test_the_demo_has_no_accessibility_violations(width, scheme, opened, demo_page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    tab = opened(demo_page, bypass_csp=True, **options)  # allows the script of the checker
    found = axe.Axe().run(tab.page).response["violations"]
    assert [(item["id"], item["nodes"][0]["html"]) for item in found] == []


def test_without_javascript_everything_can_be_read(opened, plain_page):
    tab = opened(plain_page, java_script_enabled=False)
    text = tab.page.inner_text("body")
    for words in ("of 100 right", "Check these first", "AUC", "Why the tree decides"):
        assert words in text
    assert tab.page.is_hidden("#apply")
    assert tab.page.locator(".case").count() > 5


def test_the_printed_page_is_light_and_shows_the_outline(opened, plain_page):
    tab = opened(plain_page, color_scheme="dark")
    tab.page.emulate_media(media="print")
    assert tab.run("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.page.is_hidden(".drawing")
    assert tab.page.is_visible(".outline")
    assert tab.page.is_hidden("#apply")


def test_a_single_case_can_be_printed_alone(plain):
    plain.run("() => { window.print = () => {}; }")
    plain.page.emulate_media(media="print")
    plain.run("() => document.getElementById('print-case').click()")
    assert plain.page.is_visible("#why")
    for hidden in (".facts", ".list", "#quality", ".outline li:not(.on) >> nth=0"):
        assert plain.page.is_hidden(hidden)
    plain.run("() => dispatchEvent(new Event('afterprint'))")
    assert plain.page.is_visible("#quality")


def test_saved_charts_look_like_those_on_the_page(opened, plain_page):
    plain = opened(plain_page, viewport={"width": 1900, "height": 900})  # room for the drawing
    plain.page.click("#distance summary >> nth=0")
    for name in ("tree", "roc", "reliability", "distances", "probability-by-distance"):
        with plain.page.expect_download() as waiting:
            plain.page.click(f"[data-save={name}]")
        assert waiting.value.suggested_filename == f"{name}.svg"
        root = ElementTree.parse(waiting.value.path()).getroot()
        kinds = {"edge", "line ours", "dot", "bars hits", "points"}
        drawn = [part for part in root.iter() if part.get("class") in kinds]
        assert drawn
        for part in drawn:  # the file has colours instead of CSS variables
            assert "rgb(" in part.get("stroke") + part.get("fill")


def test_thresholds_are_highlighted_as_a_value_passes_them(panel):
    plain = panel
    at = plain.run("() => Number(document.querySelector('.control').dataset.attribute)")
    attribute = plain.run("(at) => keeptree.data.attributes[at]", at)
    marks = f".control[data-attribute='{at}'] .threshold"
    for value in (attribute["low"], *attribute["thresholds"], attribute["high"]):
        plain.page.fill(f"#value-{at}", str(value))
        plain.settle()
        passed = sum(float(np.float32(value)) > t for t in attribute["thresholds"])
        assert plain.page.locator(f"{marks}.passed").count() == passed


HOSTILE_NAMES = [
    "<script>alert(1)</script>",
    "\"double\" 'single' `back`",
    "🌳🔥👩‍⚕️ emoji",
    "العمر بالسنوات",
    "x" * 10_000,
    "</script><img src=x onerror=alert(1)>",
]


def test_hostile_names_are_shown_as_text(opened, tmp_path):
    import pandas as pd

    X = np.random.default_rng(0).normal(size=(300, len(HOSTILE_NAMES)))
    table = pd.DataFrame(X.round(2), columns=HOSTILE_NAMES)
    kinds = pd.Series(np.array(HOSTILE_NAMES)[np.arange(300) % 3]).astype("category")
    table["<b>kind</b>"] = kinds
    y = np.array(HOSTILE_NAMES)[(X[:, 0] > 0).astype(int) + 2 * (kinds.cat.codes.to_numpy() == 0)]
    table.index = [f"{name}{k}" for k, name in enumerate(HOSTILE_NAMES * 50)]
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(table[:200], y[:200])
    kt.report(model, table[200:], y[200:], tmp_path / "page.html", title=HOSTILE_NAMES[0])
    tab = opened(tmp_path / "page.html")
    assert tab.run("() => document.querySelectorAll('script').length") == 2
    # The only bold text is that of the three differences in the table of figures.
    assert tab.run("() => document.querySelectorAll('img, main b').length") == 3
    assert HOSTILE_NAMES[0] in tab.text("h1")
    tab.page.select_option("#show", "all")
    tab.page.select_option("#sort", "id")
    tab.page.locator(".case").nth(2).click()
    tab.page.click("#tab-whatif")
    tab.page.click("#apply")
    tab.settle()
    tab.page.locator(".lock").first.click()
    tab.settle()
    reopened = opened(tmp_path / "page.html", tab.run("() => location.hash"))
    assert reopened.run("() => keeptree.state().x") == tab.run("() => keeptree.state().x")
    assert tab.run("() => document.documentElement.scrollWidth") <= 1440


@pytest.fixture(scope="module")
def large_page(tmp_path_factory):
    """Return the page of a tree with 1000 leaves and 200 columns."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4_000, 200)), rng.integers(2, size=4_000)
    tree = DecisionTreeClassifier(max_leaf_nodes=1000, max_features=1, random_state=0)
    tree.fit(X[:3_500], y[:3_500])
    assert tree.get_n_leaves() == 1000
    model = kt.SmoothedTreeClassifier(tree).fit(X[:3_500], y[:3_500])
    path = tmp_path_factory.mktemp("large") / "page.html"
    kt.report(model, X[3_500:], y[3_500:], path)
    return path


def test_the_page_stays_small_with_a_thousand_leaves_and_two_hundred_columns(opened, large_page):
    assert large_page.stat().st_size < 5_000_000
    tab = opened(large_page)
    assert tab.run("() => document.querySelectorAll('*').length") < 5_000
    assert tab.page.locator(".outline li").count() < 120
    pills = tab.page.locator(".pill")
    before = tab.page.locator(".outline li").count()
    pills.first.click()
    tab.settle()
    assert tab.page.locator(".outline li").count() > before
    tab.page.fill("#search", "x")
    tab.settle()
    assert "tests" in tab.text("#matches")
    drawn = tab.run(
        """() => {
            const seen = new MutationObserver(() => {});
            seen.observe(document, { subtree: true, childList: true });
            const field = document.querySelector('.control .range');
            return [...Array(20).keys()].map((k) => {
              field.value = Number(field.min) + (k / 20) * (field.max - field.min);
              field.dispatchEvent(new Event('input'));
              keeptree.render();
              const added = seen.takeRecords().flatMap((record) => [...record.addedNodes]);
              const size = (node) => 1 + (node.querySelectorAll?.('*').length || 0);
              return added.reduce((sum, node) => sum + size(node), 0);
            });
        }"""
    )
    assert 0 < np.median(drawn) < 2_000, drawn  # a change redraws only part of the page


def one_leaf():
    X, y = load_breast_cancer(return_X_y=True)
    learner = DecisionTreeClassifier(min_samples_leaf=250, random_state=0)
    return kt.SmoothedTreeClassifier(learner).fit(X[:300], y[:300]), X[300:], y[300:], {}


def no_rows():
    model, X, y = plain_model()
    return model, X, y, {"rows": False}


def no_held_out_data():
    return plain_model()[0], None, None, {}


def many_classes():
    shape = {"n_informative": 8, "n_redundant": 0, "n_clusters_per_class": 1}
    X, y = make_classification(2600, 8, n_classes=26, random_state=0, **shape)
    labels = np.array(list("abcdefghijklmnopqrstuvwxyz"))[y]
    model = kt.SmoothedTreeClassifier(DecisionTreeClassifier(max_leaf_nodes=40, random_state=0))
    return model.fit(X[:2000], labels[:2000]), X[2000:], labels[2000:], {}


STATES = [one_leaf, no_rows, no_held_out_data, many_classes]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_the_page_opens_without_errors_in_every_state(state, opened, tmp_path):
    model, X, y, options = state()
    kt.report(model, X, y, tmp_path / "page.html", **options)
    tab = opened(tmp_path / "page.html")
    text = tab.page.inner_text("main")
    if state is one_leaf:
        assert "It always decides" in text
        assert "ROC" not in text
    if state is no_held_out_data:
        assert "kt.report(model, X_test, y_test)" in text
    if state is no_rows:
        assert tab.run("() => keeptree.data.cases.every((item) => item.values === null)")
    if state is many_classes:
        tab.page.click("#distance summary >> nth=0")
        for shown in ("curves", "curve"):
            before = tab.text(f"#{shown} figcaption >> nth=0")
            tab.page.select_option(f"#{shown}-of", "7")
            assert tab.text(f"#{shown} figcaption >> nth=0") != before
    assert tab.run("() => document.querySelectorAll('*').length") < 3_000
