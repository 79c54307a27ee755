"""The data of the demo, measured once; a browser, and pages to open in it."""

from pathlib import Path

import pytest

import keeptree as kt
from keeptree.reporting.demo import demo as run_demo
from tests.reporting.browser import Tab, chromium, plain_model


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory):
    """Return what ``keeptree demo`` measures; tests must not change it."""
    return run_demo(tmp_path_factory.mktemp("demo") / "demo.html")


@pytest.fixture(scope="session")
def plain_page(tmp_path_factory):
    """Return the path of a small page that opens quickly."""
    path = tmp_path_factory.mktemp("plain") / "page.html"
    model, X, y = plain_model()
    kt.report(model, X, y, path)
    return path


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def opened(browser):
    """Return a function that opens pages; check at the end that they had no errors."""
    tabs = []

    def open_page(path, hash="", **options):
        tabs.append(Tab(browser, path, hash, **options))
        return tabs[-1]

    yield open_page
    for tab in tabs:
        tab.check_quiet()
        tab.close()


@pytest.fixture(scope="session")
def demo_page(demo_data):
    return Path(demo_data["page"])


@pytest.fixture
def demo(opened, demo_page):
    return opened(demo_page)


@pytest.fixture
def plain(opened, plain_page):
    return opened(plain_page)
