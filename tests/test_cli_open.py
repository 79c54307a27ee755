"""``--open`` shows the page in the user's browser, or reports that none was found."""

import webbrowser

import pytest

from keeptree import cli


@pytest.mark.parametrize("found", [True, False])
def test_the_page_is_opened_or_a_missing_browser_is_reported(found, monkeypatch, tmp_path, capsys):
    asked = []
    monkeypatch.setattr(webbrowser, "open", lambda url: asked.append(url) or found)
    page = tmp_path / "page.html"
    assert cli.main(["demo", "--json", "--open", "--out", str(page)]) == 0
    assert asked == [page.as_uri()]
    assert ("No browser was found" in capsys.readouterr().err) == (not found)
