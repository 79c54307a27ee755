"""``--open`` shows the page in the browser of the user, or says that there is none."""

import webbrowser

import pytest

from keeptree import cli


@pytest.mark.parametrize("found", [True, False])
def test_the_page_is_opened_or_the_user_is_told_to(found, monkeypatch, tmp_path, capsys):
    asked = []
    monkeypatch.setattr(webbrowser, "open", lambda url: asked.append(url) or found)
    page = tmp_path / "page.html"
    assert cli.main(["demo", "--json", "--open", "--out", str(page)]) == 0
    assert asked == [page.as_uri()]
    assert ("No browser was found" in capsys.readouterr().err) == (not found)
