"""Scoring a file in the page agrees with keeptree predict; a broken file gives one sentence."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import keeptree as kt
from tests.reporting.test_browser_agreement import mixed_table


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """Return a model of named numeric columns, its data and its page."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    labels = np.array(["malignant", "benign"])[y]
    model = kt.KeptTreeClassifier(kt.C45Classifier()).fit(X[::2], labels[::2])
    page = tmp_path_factory.mktemp("numbers") / "page.html"
    kt.report(model, X[1::2], labels[1::2], page)
    return model, X, page


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Return a model of numbers and categories, some missing, its data and its page."""
    X, y = mixed_table()
    model = kt.KeptTreeClassifier(kt.C45Classifier()).fit(X[:300], y[:300])
    page = tmp_path_factory.mktemp("mixed") / "page.html"
    kt.report(model, X[300:], y[300:], page)
    return model, X, page


@pytest.fixture(scope="module")
def booleans(tmp_path_factory):
    """Return a model with a boolean column, data that spell it true and false, and a page."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 200), "smoker": rng.random(200) < 0.4})
    y = np.where((X.age > 50) | X.smoker, "yes", "no")
    tree = kt.keep("age <= 48\n  smoker = True: yes\n  smoker = False: no\nage > 48: yes")
    model = kt.KeptTreeClassifier(tree).fit(X[:120], y[:120])
    page = tmp_path_factory.mktemp("booleans") / "page.html"
    kt.report(model, X[120:], y[120:], page)
    return model, X.assign(smoker=X.smoker.map({True: "true", False: "false"})), page


def score(tab, path, wait="#scored button"):
    tab.page.set_input_files("#file", path)
    tab.page.wait_for_selector(wait, timeout=60_000)


def saved(tab, folder):
    with tab.page.expect_download() as waiting:
        tab.page.click("#scored button >> nth=0")
    waiting.value.save_as(folder / "page.csv")
    return pd.read_csv(folder / "page.csv", dtype={"prediction": str})


@pytest.mark.parametrize("made", ["numbers", "mixed", "booleans"])
def test_the_answers_agree_with_predict(made, request, opened, tmp_path):
    model, X, page = request.getfixturevalue(made)
    X.to_csv(tmp_path / "new.csv", index=False)
    kt.predict_file(model, tmp_path / "new.csv", tmp_path / "scored.csv")
    expected = pd.read_csv(tmp_path / "scored.csv", dtype={"prediction": str})
    tab = opened(page)
    score(tab, tmp_path / "new.csv")
    found = saved(tab, tmp_path)
    assert list(found) == list(expected)
    for name in ("prediction", "second_opinion"):
        assert (found[name] == expected[name]).all()
    for name in expected.columns[1:-1]:
        assert np.abs(found[name] - expected[name]).max() <= 1e-9


UNSEEN = {
    "own code": "colour = red: a\ncolour in {green, blue} or unseen\n"
    "  letter in {a, b, c} or unseen or missing: b\n  letter in {d, e, f, g, h}: c",
    "as missing values": "colour = red: a\ncolour = green: b\ncolour = blue or missing: c",
    "numbers": "number = 1: a\nnumber = 2: b\nnumber is unseen: c",
}


@pytest.mark.parametrize("rule", UNSEEN)
def test_unseen_categories_follow_the_same_path_as_in_python(rule, opened, tmp_path):
    X, y = mixed_table()
    y = np.array(list("abc"))[np.asarray(y).astype(int)]
    X = X.assign(number=np.where(X.age > 50, 1, 2))[["colour", "letter", "number"]]
    tree = kt.keep(UNSEEN[rule], X, y)
    model = kt.KeptTreeClassifier(tree).fit(X[:300], y[:300])
    kt.report(model, X[300:], y[300:], tmp_path / "page.html")
    new = X.astype(str)
    new.loc[::3, "colour"], new.loc[::4, "letter"] = "mauve", "z"
    new.loc[::5, "number"] = "7"
    new.to_csv(tmp_path / "new.csv", index=False)
    kt.predict_file(model, tmp_path / "new.csv", tmp_path / "scored.csv")
    expected = pd.read_csv(tmp_path / "scored.csv")
    tab = opened(tmp_path / "page.html")
    score(tab, tmp_path / "new.csv")
    found = saved(tab, tmp_path)
    assert (found["prediction"] == expected["prediction"]).all()
    for name in expected.columns[1:-1]:
        assert np.abs(found[name] - expected[name]).max() <= 1e-9
    tests = tree.feature[tree.kind == 2]
    for column in np.unique(tests[tree.unknown[tests] >= 0]):
        # Choosing the category "others" by hand gives the same decision.
        chosen = tab.run(
            """(column) => {
                const { attributes } = keeptree.data;
                const x = keeptree.state().x.slice();
                const at = attributes.findIndex((a) => a.column === column);
                x[at] = attributes[at].unknown;
                return [x, keeptree.decide(keeptree.tree, x)];
            }""",
            int(column),
        )
        row = np.full(tree.n_features, np.nan)
        columns = [a["column"] for a in tab.run("() => keeptree.data.attributes")]
        row[columns] = [np.nan if v is None else v for v in chosen[0]]
        assert chosen[1] == tree.decide(row[None])[0]


def test_a_category_that_the_model_refuses_is_named_in_the_error(opened, tmp_path):
    X, y = mixed_table()
    X = X[["colour"]]
    text = "refuse unseen colour\ncolour = red: 0\ncolour in {green, blue}: 1"
    y = np.where(np.asarray(y) == "0", "0", "1")
    model = kt.SmoothedTreeClassifier(kt.keep(text, X, y)).fit(X, y)
    kt.report(model, X, y, tmp_path / "page.html")
    (tmp_path / "new.csv").write_text("colour\nred\nmauve\n")
    tab = opened(tmp_path / "page.html")
    score(tab, tmp_path / "new.csv", "#scored.failed")
    assert tab.text("#scored") == (
        'new.csv: the column "colour" holds "mauve" in row 2, which is unknown to the model; it '
        'accepts only "red", "green", "blue".'
    )
    with pytest.raises(ValueError, match="mauve"):
        kt.predict_file(model, tmp_path / "new.csv", tmp_path / "scored.csv")


def test_ten_thousand_rows_are_scored_within_seconds(numbers, opened, tmp_path):
    _, X, page = numbers
    pd.concat([X] * 18)[:10_000].to_csv(tmp_path / "new.csv", index=False)
    tab = opened(page)
    start = time.perf_counter()
    score(tab, tmp_path / "new.csv")
    assert time.perf_counter() - start < 30  # usually 1.2 to 2.6 s, with a margin for busy machines
    assert "10,000 rows scored" in tab.text("#scored")
    assert tab.page.locator(".case").count() == 6


def test_a_row_of_the_file_is_explained_and_a_reload_keeps_it(numbers, opened, tmp_path):
    _, X, page = numbers
    X[:20].to_csv(tmp_path / "new.csv", index=False)
    tab = opened(page)
    score(tab, tmp_path / "new.csv")
    tab.page.locator(".case").nth(1).click()
    tab.settle()
    title, why = tab.text("#which"), tab.text("#why")
    assert title.startswith("Row ")
    assert "Why the tree decides" in why
    tab.page.reload()
    tab.settle()
    assert (tab.text("#which"), tab.text("#why")) == (title, why)


def test_files_with_other_separators_and_encodings_are_read(mixed, opened, tmp_path):
    _, X, page = mixed
    X[:30].to_csv(tmp_path / "a.csv", index=False)
    X[:30].to_csv(tmp_path / "b.csv", index=False, sep=";", decimal=",", encoding="utf-16")
    answers = []
    for name in ("a.csv", "b.csv"):
        tab = opened(page)
        score(tab, tmp_path / name)
        answers.append(saved(tab, tmp_path))
    assert answers[0].equals(answers[1])


BROKEN = {
    "": "its first line is empty",
    "a,b\n1,2\n": "lacks the column",
    "size,age,colour,letter\n": "has no rows",
    "size,age,colour,letter\n1,2,red\n": "row 1 has 3 cells",
    "size,age,colour,letter\n1,old,red,a\n": '"age" holds "old" in row 1',
    "size,age,colour,letter\n1,constructor,red,a\n": '"age" holds "constructor" in row 1',
    "size,size,colour,letter\n1,2,red,a\n": 'two columns are called "size"',
    'size,age,colour,letter\n1,2,"red,a\n': "quotation mark is opened",
    "size,age\0\n1": "NUL bytes",
}


def test_a_broken_file_gives_one_sentence(mixed, opened, tmp_path):
    tab = opened(mixed[2])
    before = tab.run("() => keeptree.state().x")
    for text, words in BROKEN.items():
        (tmp_path / "broken.csv").write_text(text)
        tab.run("() => document.getElementById('scored').classList.remove('failed')")
        score(tab, tmp_path / "broken.csv", "#scored.failed")
        said = tab.text("#scored")
        assert words in said
        assert said.startswith("broken.csv: ")
        assert said.count(". ") == 0
    assert tab.run("() => keeptree.state().x") == before
