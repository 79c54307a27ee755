"""The documentation is consistent: links and pictures exist, and no page or name is missing."""

import re
import textwrap
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

import keeptree
import keeptree.evaluation
from docs.images import gallery
from keeptree.exporters.subject import subject_of
from keeptree.probability.methods import METHODS
from tools.site.check import find_problems

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *(page for page in sorted(DOCS.rglob("*.md")) if "gallery" not in page.parts),
]
BUILT = ROOT / "build" / "site"


def outside_code(text):
    """Return Markdown without its code, in which brackets have other meanings."""
    return re.sub(r"```.*?```|`[^`\n]+`", "", text, flags=re.DOTALL)


def anchors(page):
    """Return the anchors that GitHub and MyST create for the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", outside_code(page.read_text()), flags=re.MULTILINE)
    full = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in headings + full}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_pictures_exist(page):
    text = outside_code(page.read_text())
    for link in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text):
        target = link[0] or link[1]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        aim = (page.parent / path).resolve() if path else page
        assert aim.exists(), f"{target} does not exist"
        if anchor:
            assert anchor in anchors(aim), f"{target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_cells_of_tables_are_short_enough_to_read(page):
    for line in page.read_text().splitlines():
        if line.startswith("|"):
            assert max(map(len, line.split(" | "))) <= 300, line[:80]


def test_every_page_of_the_guide_is_in_its_table_of_contents():
    listed = re.findall(r"^[\w./]+$", (DOCS / "guide" / "index.md").read_text(), re.MULTILINE)
    pages = {page.stem for page in (DOCS / "guide").glob("*.md")} - {"index"}
    assert pages - set(listed) == set(), "list these pages in docs/guide/index.md"


def test_the_reference_lists_every_public_name():
    listed = (DOCS / "api" / "index.rst").read_text()
    names = [*keeptree.__all__, *keeptree.evaluation.__all__]
    missing = [name for name in names if not re.search(rf"\b{name}\b", listed)]
    assert missing == [], "list these names in docs/api/index.rst"


def test_the_reference_lists_only_names_that_exist():
    text = (DOCS / "api" / "index.rst").read_text()
    for part in text.split(".. currentmodule:: ")[1:]:
        module = part.split()[0]
        for name in re.findall(r"^   ~?([\w.]+)$", part, re.MULTILINE):
            home, _, last = f"{module}.{name}".rpartition(".")
            assert hasattr(import_module(home), last), f"{module}.{name} does not exist"


def names_of_the_developers_page():
    """Return the names that the code on the developers page defines."""
    text = (DOCS / "developers" / "index.md").read_text()
    names = {}
    for code in re.findall(r" +```python\n(.*?)\n +```", text, re.DOTALL):
        exec(textwrap.dedent(code), names)
    return names


def test_the_method_of_the_developers_page_works():
    X, y = load_iris(return_X_y=True)
    model = names_of_the_developers_page()["PriorTreeClassifier"]().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3)
    assert (model.predict(X) == model.tree_.predict(X)).all()


def test_the_importer_and_the_export_of_the_developers_page_work():
    names = names_of_the_developers_page()
    counts = np.array([[5, 0], [1, 4]])
    model = SimpleNamespace(
        column_=1, threshold_=2.5, counts_=counts, classes_=["no", "yes"], n_features_in_=2
    )
    tree = names["stump"](model)
    assert tree.predict([[9, 2.5], [0, 2.6]]).tolist() == ["no", "yes"]
    files = names["write"](subject_of(tree))
    assert "x[1] <= 2.5: no (5)" in files[".txt"]


@pytest.mark.skipif(
    not (BUILT / "index.html").exists(), reason="needs the site that make docs builds"
)
def test_the_built_site_has_no_broken_link():
    problems, pages, links = find_problems(BUILT)
    assert problems == []
    assert pages > 40
    assert links > 1000


def test_the_check_finds_broken_links(tmp_path):
    (tmp_path / "there.html").write_text('<h1 id="here">x</h1>')
    (tmp_path / "index.html").write_text(
        '<a href="there.html#here">a</a><a href="there.html#gone">b</a><a href="gone.html">c</a>'
        '<img src="gone.png"><script src="https://cdn.example/x.js"></script>'
        '<a href="https://example.org">fine</a>'
    )
    problems, pages, links = find_problems(tmp_path)
    assert (pages, links) == (2, 6)
    assert [problem.split(" ", 2)[1] for problem in problems] == [
        "there.html#gone",
        "gone.html",
        "gone.png",
        "https://cdn.example/x.js",
    ]


def test_the_glossary_names_every_method():
    text = (DOCS / "glossary.md").read_text()
    assert [name for name in METHODS if f"`{name}`" not in text] == []


def test_a_picture_of_the_gallery_is_the_first_of_its_example(tmp_path, monkeypatch):
    plt.figure(figsize=(9, 9))  # left open by another picture, it would be figure 1
    example = tmp_path / "plot_example.py"
    example.write_text("import matplotlib.pyplot as plt\nplt.figure(figsize=(2, 1))\n")
    monkeypatch.setattr(gallery, "HERE", tmp_path)
    monkeypatch.setattr(gallery, "PICTURES", {"example.png": example})
    gallery.main()
    plt.close("all")
    height, width = plt.imread(tmp_path / "example.png").shape[:2]
    assert width == 2 * height, "another figure was saved"


def test_dark_pictures_match_the_light_ones():
    dark = sorted((DOCS / "images").glob("*_dark.png"))
    assert dark
    for picture in dark:
        light = picture.with_name(picture.name.replace("_dark", ""))
        assert plt.imread(picture).shape[:2] == plt.imread(light).shape[:2], picture.name
