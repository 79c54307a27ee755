"""The demonstration's data, measured once, and names that a page must survive."""

import pytest

from keeptree.reporting.demo import demo

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


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory):
    """What ``keeptree demo`` measures; tests must not change it."""
    return demo(tmp_path_factory.mktemp("demo") / "demo.html")


@pytest.fixture(params=HOSTILE, ids=lambda text: repr(text[:12]))
def hostile(request):
    """Text that a data set may hold and a page must survive."""
    return request.param
