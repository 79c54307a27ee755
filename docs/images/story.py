"""Take the pictures of notebooks: python -m docs.images.story (needs Chromium)."""

import shutil

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from docs.images.report import HERE, SCHEMES


def main():
    """Show a tree, and the story of the first case on which the estimate disagrees."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)
    model = kt.KeptTreeClassifier(tree).fit(X, y)
    decided, p = model.predict(X), model.predict_proba(X)
    doubtful = next(i for i in range(len(X)) if model.classes_[p[i].argmax()] != decided[i])
    take_picture(kt.explain(model, X.iloc[doubtful], n=2), "story")
    take_picture(kt.keep(tree), "tree")


def take_picture(view, name):
    """Show an object as a notebook does and take its picture."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for scheme, ending in SCHEMES.items():
            page = browser.new_page(
                viewport={"width": 760, "height": 400}, device_scale_factor=1.5, color_scheme=scheme
            )
            page.set_content(f"<!doctype html><body>{view._repr_html_()}</body>")
            page.locator(".keeptree-view").screenshot(path=HERE / f"{name}{ending}")
        browser.close()


if __name__ == "__main__":
    main()
