"""The page in a real browser: by mouse, keyboard and link, on a phone, hostile or huge."""

from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from tests.reporting.browser import plain_model


def test_the_demo_loads_quietly_and_is_small(demo, demo_page):
    assert demo_page.stat().st_size < 3_000_000
    assert demo.run("() => document.querySelectorAll('*').length") < 3_000
    assert "64 of 64 cases agree with Python" in demo.text("#agreement")


def test_moving_a_value_lights_another_way_and_undo_takes_one_drag_back(plain):
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
    assert "moved" in plain.text("#shown")
    assert plain.run("() => keeptree.state().past.length") == 1
    lit = plain.run(
        "() => [...document.querySelectorAll('.outline .on')].map((e) => Number(e.dataset.node))"
    )
    way = plain.run("() => [...keeptree.route(keeptree.tree, keeptree.state().x).keys()]")
    assert sorted(lit) == sorted(way)
    plain.page.click("#undo")
    plain.settle()
    state = plain.run("() => keeptree.state()")
    assert state["x"][at] == state["base"][at]
    plain.page.click("#redo")
    plain.settle()
    assert plain.run("() => keeptree.state().x") != state["base"]


def test_a_lock_keeps_its_attribute_out_of_the_nearest_change(plain):
    name = plain.run(
        "() => keeptree.data.attributes[keeptree.judge(keeptree.state()).moves[0].attribute].name"
    )
    control = plain.page.locator(".control", has_text=name).first
    lock = control.locator(".lock")
    assert lock.get_attribute("aria-pressed") == "false"
    assert name in plain.text("#result .change")
    lock.click()
    plain.settle()
    assert lock.get_attribute("aria-pressed") == "true"
    assert name not in plain.text("#result .change")
    while plain.page.locator(".lock[aria-pressed=false]").count():
        plain.page.locator(".lock[aria-pressed=false]").first.click()
        plain.settle()
    plain.page.wait_for_function(
        "() => document.querySelector('#result .change').textContent.includes('unlock')"
    )
    assert plain.page.is_disabled("#apply")


def test_applying_the_nearest_change_changes_the_decision(plain):
    before = plain.run("() => keeptree.judge(keeptree.state()).label")
    promised = plain.run("() => keeptree.judge(keeptree.state()).change.label")
    plain.page.click("#apply")
    plain.settle()
    assert plain.run("() => keeptree.judge(keeptree.state()).label") == promised != before
    plain.page.click("#reset")
    plain.settle()
    assert plain.run("() => keeptree.judge(keeptree.state()).label") == before


def test_the_ring_glides_over_the_curve_as_values_move(plain):
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


def test_the_keyboard_does_it_all(plain):
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


def test_cases_can_be_sorted_filtered_and_picked(plain):
    head = plain.page.locator("th", has=plain.page.locator(".sort[data-sort=id]"))
    plain.page.click("[data-show=all]")
    plain.page.click(".sort[data-sort=id]")
    assert head.get_attribute("aria-sort") == "ascending"
    ids = [int(text) for text in plain.page.locator(".cases .case").all_inner_texts()]
    assert ids == sorted(ids)
    assert len(ids) == 25
    plain.page.click("#more")
    assert plain.page.locator(".cases tbody tr").count() == 50
    plain.page.click(".sort[data-sort=id]")
    assert head.get_attribute("aria-sort") == "descending"
    row = plain.page.locator(".cases tbody tr").nth(3)
    row.click()
    plain.settle()
    assert row.get_attribute("aria-selected") == "true"
    chosen = plain.run("() => keeptree.data.cases[keeptree.state().case].id")
    assert row.locator(".case").inner_text() == chosen


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


def test_a_link_reopens_a_what_if(opened, plain_page, plain):
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
def test_a_hostile_link_does_nothing(link, opened, plain_page):
    tab = opened(plain_page, link)
    assert all(abs(v) < 1e6 for v in tab.run("() => keeptree.state().x"))
    assert tab.run("() => keeptree.state().locked.size") == 0
    assert "The tree says" in tab.text("#result")


def test_the_page_fits_a_phone(opened, plain_page):
    tab = opened(plain_page, viewport={"width": 390, "height": 844})
    assert tab.run("() => document.documentElement.scrollWidth") <= 390
    assert tab.page.is_hidden(".drawing")
    assert tab.page.is_visible(".outline")
    small = """() => [...document.querySelectorAll('button, select, .number')]
        .filter((e) => e.offsetParent && !e.matches('.sort, .case, .pill'))
        .filter((e) => e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)"""
    assert tab.run(small) == []


@pytest.mark.parametrize(("width", "scheme"), [(1440, "dark"), (390, "light")])
def test_nothing_stands_in_the_way_of_a_screen_reader(width, scheme, opened, demo_page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    tab = opened(demo_page, bypass_csp=True, **options)  # for the checker's own script
    found = axe.Axe().run(tab.page).response["violations"]
    assert [(item["id"], item["nodes"][0]["html"]) for item in found] == []


def test_without_javascript_everything_can_be_read(opened, plain_page):
    tab = opened(plain_page, java_script_enabled=False)
    text = tab.page.inner_text("body")
    for words in ("This tree asks at most", "Which cases need a person?", "AUC", "The tree says"):
        assert words in text
    assert tab.page.is_hidden("#apply")
    assert tab.page.locator(".cases tbody tr").count() > 5


def test_print_is_light_and_shows_the_outline(opened, plain_page):
    tab = opened(plain_page, color_scheme="dark")
    tab.page.emulate_media(media="print")
    assert tab.run("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.page.is_hidden(".drawing")
    assert tab.page.is_visible(".outline")
    assert tab.page.is_hidden("#apply")


def test_one_case_prints_on_a_sheet_of_its_own(plain):
    plain.run("() => { window.print = () => {}; }")
    plain.page.emulate_media(media="print")
    plain.run("() => document.getElementById('print-case').click()")
    assert plain.page.is_visible("#result")
    for hidden in ("#cases", "#quality", ".outline li:not(.on) >> nth=0"):
        assert plain.page.is_hidden(hidden)
    plain.run("() => dispatchEvent(new Event('afterprint'))")
    assert plain.page.is_visible("#quality")


def test_charts_are_saved_as_they_look(plain):
    for name in ("tree", "roc", "reliability", "distances", "probability-by-distance"):
        with plain.page.expect_download() as waiting:
            plain.page.click(f"[data-save={name}]")
        assert waiting.value.suggested_filename == f"{name}.svg"
        root = ElementTree.parse(waiting.value.path()).getroot()
        kinds = {"edge", "line ours", "dot", "bars hits", "points"}
        drawn = [part for part in root.iter() if part.get("class") in kinds]
        assert drawn
        for part in drawn:  # colours, not variables of the style sheet
            assert "rgb(" in part.get("stroke") + part.get("fill")


def test_thresholds_light_as_a_value_passes_them(plain):
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
    assert tab.run("() => document.querySelectorAll('img, main b').length") == 3  # of the table
    assert HOSTILE_NAMES[0] in tab.text("h1")
    tab.page.click("[data-show=all]")
    tab.page.click(".sort[data-sort=id]")
    tab.page.locator(".cases tbody tr").nth(2).click()
    tab.page.click("#apply")
    tab.settle()
    tab.page.locator(".lock").first.click()
    tab.settle()
    reopened = opened(tmp_path / "page.html", tab.run("() => location.hash"))
    assert reopened.run("() => keeptree.state().x") == tab.run("() => keeptree.state().x")
    assert tab.run("() => document.documentElement.scrollWidth") <= 1440


@pytest.fixture(scope="module")
def large_page(tmp_path_factory):
    """A tree of 1000 leaves over 200 columns."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4_000, 200)), rng.integers(2, size=4_000)
    tree = DecisionTreeClassifier(max_leaf_nodes=1000, max_features=1, random_state=0)
    tree.fit(X[:3_500], y[:3_500])
    assert tree.get_n_leaves() == 1000
    model = kt.SmoothedTreeClassifier(tree).fit(X[:3_500], y[:3_500])
    path = tmp_path_factory.mktemp("large") / "page.html"
    kt.report(model, X[3_500:], y[3_500:], path)
    return path


def test_a_thousand_leaves_and_two_hundred_columns_stay_usable(opened, large_page):
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
    times = tab.run(
        """() => {
            const field = document.querySelector('.control .range');
            return [...Array(20).keys()].map((k) => {
              field.value = Number(field.min) + (k / 20) * (field.max - field.min);
              const start = performance.now();
              field.dispatchEvent(new Event('input'));
              keeptree.render();
              return performance.now() - start;
            });
        }"""
    )
    assert np.median(times) < 50  # a fifth of that if nothing else is running


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
def test_every_state_opens_quietly(state, opened, tmp_path):
    model, X, y, options = state()
    kt.report(model, X, y, tmp_path / "page.html", **options)
    tab = opened(tmp_path / "page.html")
    text = tab.page.inner_text("main")
    if state is one_leaf:
        assert "Always says" in text
        assert "ROC" not in text
    if state is no_held_out_data:
        assert "kt.report(model, X_test, y_test)" in text
    if state is no_rows:
        assert tab.run("() => keeptree.data.cases.every((item) => item.values === null)")
    if state is many_classes:
        for shown in ("curves", "curve"):
            before = tab.text(f"#{shown} figcaption >> nth=0")
            tab.page.select_option(f"#{shown}-of", "7")
            assert tab.text(f"#{shown} figcaption >> nth=0") != before
    assert tab.run("() => document.querySelectorAll('*').length") < 3_000
