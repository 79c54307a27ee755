"""The demonstration's data, measured once."""

import pytest

from keeptree.reporting.demo import demo


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory):
    """What ``keeptree demo`` measures; tests must not change it."""
    return demo(tmp_path_factory.mktemp("demo") / "demo.html")
