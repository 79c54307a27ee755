"""Take the pictures of the tutorials and of an audit: python -m docs.images.tutorials."""

import shutil
from doctest import DocTestParser
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer

import keeptree as kt
from docs.images.report import HERE, SCHEMES
from docs.images.story import take_picture


def main():
    """Show the results of the tutorials, and the page of an audit that raises an alarm."""
    take_picture(kt.keep(names_of("pipeline")["pipeline"]), "tutorial_tree")
    take_picture(names_of("defend")["story"], "tutorial_story")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = kt.KeptTreeClassifier().fit(X[:380], y[:380])
    new = X[380:].assign(**{"worst perimeter": 1.2 * X["worst perimeter"]})  # from another device
    take_audit(kt.audit(model, new, y[380:]))


def names_of(tutorial):
    """Return the variables at the end of a tutorial."""
    names = {}
    with TemporaryDirectory() as folder:
        text = (HERE.parent / "start" / f"{tutorial}.md").read_text()
        for example in DocTestParser().get_examples(text):
            source = example.source.replace('"model.json"', repr(str(Path(folder) / "model.json")))
            exec(compile(source, tutorial, "single"), names)
    return names


def take_audit(result):
    """Take the picture of the first screen of an audit's page."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        result.save(Path(folder) / "audit.html")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for scheme, ending in SCHEMES.items():
            page = browser.new_page(viewport={"width": 1000, "height": 740}, color_scheme=scheme)
            page.goto((Path(folder) / "audit.html").as_uri())
            page.screenshot(path=HERE / f"audit{ending}")
        browser.close()


if __name__ == "__main__":
    main()
