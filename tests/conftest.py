"""Fixtures shared by several test folders."""

import os

import pytest
from hypothesis import settings

# No test has a deadline, because a busy machine would miss it. CI tries the same examples each
# time, so that it fails only after changes; other runs look for new ones.
settings.register_profile("keeptree", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("keeptree")

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quoted\" & 'quoted' </title></svg>",
    "x" * 10_000,
    "العمر بالسنوات",
    "tab\tnewline\nnull\x00 lone \ud800 surrogate",
    "\u202ereversed",
    "{{ 7 * 7 }}{% raw %}",
    "🌳🔥 emoji",
    "",
]


@pytest.fixture(params=HOSTILE, ids=lambda text: repr(text[:12]))
def hostile(request):
    """Return hostile text that a data set may contain and a page must handle."""
    return request.param


@pytest.fixture
def closed_figures():
    """Draw without a window, and close all figures afterwards."""
    import matplotlib as mpl

    mpl.use("Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """Suppress progress lines, which a slow machine would print.

    test_progress.py tests them with its own times.
    """
    monkeypatch.setattr("keeptree.progress._FIRST", 3600.0)
