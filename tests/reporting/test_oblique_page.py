"""The page of a tree with oblique tests draws the tree and says what it leaves out."""

import numpy as np
import pandas as pd

import keeptree as kt

TEXT = """
0.8 * age + 1.2 * <income> <= 90
  debt <= 1: good
  debt > 1: bad
0.8 * age + 1.2 * <income> > 90: bad
""".replace("<income>", '"<income>"')


def write_page(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 300),
            "<income>": rng.normal(40, 12, 300),
            "debt": rng.normal(size=300),
        }
    )
    y = np.where((0.8 * X["age"] + 1.2 * X["<income>"] > 90) | (X["debt"] > 1), "bad", "good")
    y = pd.Series(np.where(rng.random(300) < 0.1, "bad", y), name="risk")
    model = kt.KeptTreeClassifier(kt.keep(TEXT, X[:200], y[:200])).fit(X[:200], y[:200])
    data = kt.report(model, X[200:], y[200:], tmp_path / "page.html")
    return data, (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_page_draws_weighted_sums_and_says_what_it_leaves_out(tmp_path):
    data, page = write_page(tmp_path)
    assert data["tree"]["nodes"][0]["name"] == "0.8 × age + 1.2 × <income>"
    assert "0.8 × age + 1.2 × &lt;income&gt;" in page
    assert "This tree tests weighted sums of attributes." in page
    assert "Becomes good if" in data["view"]["change"] or "Becomes bad if" in data["view"]["change"]
    assert [item["name"] for item in data["attributes"]] == ["age", "<income>", "debt"]
    assert data["attributes"][0]["thresholds"] == []


def test_the_page_has_no_script(tmp_path):
    assert "<script" not in write_page(tmp_path)[1]
