"""Examples of the docs and docstrings run in an empty folder, where they may write files."""

import pytest
from _pytest.doctest import DoctestItem


@pytest.fixture(autouse=True)
def _empty_folder(request):
    if isinstance(request.node, DoctestItem):
        folder = request.getfixturevalue("tmp_path")
        request.getfixturevalue("monkeypatch").chdir(folder)
