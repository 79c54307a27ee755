"""The demonstration's data, measured once."""

import pytest

from keeptree.reporting.demo import measure


@pytest.fixture(scope="session")
def demo_data():
    """What ``keeptree demo`` measures; tests must not change it."""
    return measure()
