"""The page shows the labels of categories that the tree has not seen, in plain words."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from tests.reporting.test_browser_agreement import SAID, squeezed
from tests.reporting.test_browser_score import score

LABEL = "<b>purple</b>"
STEPS = "() => document.querySelector('.steps').textContent"
ENCODERS = [
    OneHotEncoder(handle_unknown="ignore"),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
]


def sample():
    rng = np.random.default_rng(0)
    size, colour = rng.normal(size=300).round(2), rng.choice(list("rgb"), 300)
    X = pd.DataFrame({"size": size, "colour": colour})
    X.loc[::7, "colour"] = np.nan
    return X, np.where((X["colour"] == "r") & (X["size"] > -1), "yes", "no")


def folded_model(X, y, encoder):
    """Return a model of a pipeline that is folded into its tree."""
    encode = make_pipeline(SimpleImputer(strategy="constant", fill_value="r"), encoder)
    columns = make_column_transformer((encode, ["colour"]), remainder="passthrough")
    learner = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0)
    pipeline = make_pipeline(columns, learner).fit(X, y)
    return kt.KeptTreeClassifier(pipeline).fit(X, y)


@pytest.fixture(scope="module", params=ENCODERS, ids=lambda encoder: type(encoder).__name__)
def folded(request, tmp_path_factory):
    """Return a model, cases of which two have an unseen colour, their classes, and the page."""
    X, y = sample()
    model = folded_model(X[:200], y[:200], request.param)
    assert "(other)" in model.tree_.categories[1]
    new = X[200:240].copy()
    new.iloc[:2, 1] = [LABEL, "violet"]
    path = tmp_path_factory.mktemp("folded") / "page.html"
    kt.report(model, new, y[200:240], path)
    return model, new, y[200:240], path


def show_case(tab, name):
    """Select a case of the page by its name."""
    tab.run("(name) => { location.hash = `#case=${name}`; }", name)
    tab.page.wait_for_function(
        "(name) => keeptree.data.cases[keeptree.state().case]?.id === name", arg=name
    )
    tab.settle()


def markup(tab):
    """Return the page without its scripts and their data."""
    return tab.run(
        """() => {
            const copy = document.documentElement.cloneNode(true);
            copy.querySelectorAll("script").forEach((script) => script.remove());
            return copy.outerHTML;
        }"""
    )


def test_a_case_shows_its_own_label_and_the_panel_a_plain_name(folded, opened):
    _, new, _, path = folded
    tab = opened(path)
    for name, label in zip(new.index[:2].astype(str), (LABEL, "violet"), strict=True):
        show_case(tab, name)
        steps = " ".join(tab.text(".steps").split())
        assert f"colour {label} among b, g and any other value" in steps
        assert f"colour changes from {label} to r" in tab.text("#change")
        assert "(other)" not in markup(tab)
        assert "<b>purple" not in markup(tab)
    tab.page.click("#tab-whatif")
    assert "any other value" in tab.text(".controls .chips")
    tab.page.get_by_label("g", exact=True).check()
    tab.settle()
    assert "violet" not in tab.run(STEPS)
    tab.page.get_by_label("any other value").check()
    tab.settle()
    assert "violet" in tab.run(STEPS)


def test_a_seen_category_changed_to_any_other_value_has_no_label(folded, opened):
    _, new, _, path = folded
    tab = opened(path)
    show_case(tab, str(new.index[2]))
    tab.page.click("#tab-whatif")
    tab.page.get_by_label("any other value").check()
    tab.settle()
    shown = tab.run(STEPS)
    assert "any other value" in shown
    assert "violet" not in shown
    assert "(other)" not in markup(tab)


def test_the_first_case_reads_alike_without_javascript(folded, opened, tmp_path):
    model, new, y, _ = folded
    for k in (0, 1):
        page = tmp_path / f"page{k}.html"
        kt.report(model, new[k : k + 1], y[k : k + 1], page)
        still = opened(page, java_script_enabled=False).page.text_content("#why")
        why = squeezed(opened(page).run(SAID))[1]
        assert squeezed([still])[0] == why


def test_a_scored_row_shows_its_own_label_also_after_a_reload(folded, opened, tmp_path):
    _, new, _, path = folded
    new.to_csv(tmp_path / "new.csv", index=False)
    tab = opened(path)
    score(tab, tmp_path / "new.csv")
    tab.page.select_option("#show", "all")
    tab.page.select_option("#sort", "id")
    tab.page.locator(".case").first.click()
    tab.settle()
    assert f"colour changes from {LABEL} to r" in tab.text("#change")
    why = tab.text("#why")
    tab.page.reload()
    tab.settle()
    assert tab.text("#why") == why


def test_a_page_without_rows_holds_no_labels_of_cases(folded, tmp_path):
    model, new, y, _ = folded
    data = kt.report(model, new, y, tmp_path / "page.html", rows=False)
    assert not any(case["unseen"] for case in data["cases"])
    assert "violet" not in (tmp_path / "page.html").read_text()


def test_a_link_cannot_put_markup_or_directions_into_the_page(folded, opened):
    tab = opened(folded[3], "#new=&b.colour==3&l.colour=<img src=x onerror=alert(1)>\u202eabc")
    shown = tab.run(STEPS)
    assert "<img src=x onerror=alert(1)>abc" in shown
    assert "\u202e" not in shown


def test_an_unseen_label_without_visible_letters_has_a_name(folded, opened):
    tab = opened(folded[3], "#new=&b.colour==3&l.colour=\u202e")
    assert "(no name)" in tab.run(STEPS)


def test_right_to_left_labels_of_a_file_do_not_reorder_their_neighbours(folded, opened, tmp_path):
    (tmp_path / "new.csv").write_text("size,colour\n1.5,\u05d0\u05d1\n", encoding="utf-8")
    tab = opened(folded[3])
    score(tab, tmp_path / "new.csv")
    tab.page.locator(".case").first.click()
    tab.settle()
    assert "\u2068\u05d0\u05d1\u2069" in tab.run(STEPS)


def test_a_number_of_a_file_is_known_however_it_is_written(opened, tmp_path):
    """Here the category 2 also takes unseen labels."""
    tree = replace(kt.keep("code = 1: a\ncode = 2: b"), unknown=(1,))
    X, y = pd.DataFrame({"code": [1, 2] * 20}), ["a", "b"] * 20
    kt.report(kt.SmoothedTreeClassifier(tree).fit(X, y), X, y, tmp_path / "page.html")
    (tmp_path / "new.csv").write_text("code\n2.0\n3\n")
    tab = opened(tmp_path / "page.html")
    score(tab, tmp_path / "new.csv")
    tab.page.select_option("#show", "all")
    tab.page.select_option("#sort", "id")
    for at, shown in enumerate(["2", "3"]):
        tab.page.locator(".case").nth(at).click()
        tab.settle()
        assert tab.run("() => document.querySelector('.steps .value').textContent") == shown
