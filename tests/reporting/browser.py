"""A real browser for the page tests: an installed Chromium, driven by Playwright."""

import os
import shutil
from contextlib import contextmanager

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from keeptree.probability.smoothing import SmoothedTreeClassifier

NAMES = ("chromium", "chromium-browser", "google-chrome")


def _missing(reason):
    """Skip a test that needs a browser, but fail in CI."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; .ci/run installs what the page tests need")
    pytest.skip(reason)


@contextmanager
def chromium():
    """Yield a headless Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        _missing("playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        _missing("no Chromium is installed")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tab:
    """A page in the browser that records its requests and errors."""

    def __init__(self, browser, path, hash="", **options):
        options = {"viewport": {"width": 1440, "height": 900}, **options}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.requests, self.problems = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", self._record_message)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        self.url = path.as_uri()
        self.page.goto(self.url + hash)

    def _record_message(self, message):
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def run(self, code, argument=None):
        """Return the result of a JavaScript function."""
        return self.page.evaluate(code, argument)

    def text(self, selector):
        return self.page.inner_text(selector)

    def settle(self):
        """Wait until the page has drawn its next frame."""
        self.run("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def check_quiet(self):
        """Check that there were no errors and no requests except for the file itself."""
        assert self.problems == []
        assert {url.split("#")[0] for url in self.requests} == {self.url}

    def close(self):
        self.context.close()


def plain_model():
    """Return a small model and held-out cases."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    learner = DecisionTreeClassifier(max_leaf_nodes=8, min_samples_leaf=5, random_state=0)
    return SmoothedTreeClassifier(learner).fit(X[:300], y[:300]), X[300:], y[300:]
