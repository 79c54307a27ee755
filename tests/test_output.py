"""Files are complete or not there; what is wrong with a place is said before the work."""

import os

import pytest

from keeptree.output import MissingExtraError, check_writable, require_extra, write_text


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "page.html"
    write_text(path, "eins ≤ zwei")
    write_text(path, "drei")
    assert path.read_text(encoding="utf-8") == "drei"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match=r"page\.html cannot be written \(no space left on device\)"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_new_file_has_the_permissions_of_the_umask_which_nobody_touches(tmp_path, monkeypatch):
    def touched(mask):
        raise AssertionError("the umask belongs to the whole process")

    old = os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", touched)
            write_text(tmp_path / "page.html", "x")
    finally:
        os.umask(old)
    assert (tmp_path / "page.html").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("missing/page.html", "missing does not exist; create it"),
        ("file/page.html", "file is not a folder; create it"),
        (".", "is a folder; give the name of a file in it"),
    ],
)
def test_a_bad_place_is_a_sentence(tmp_path, place, sentence):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=sentence):
        check_writable(tmp_path / place)


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device file")
def test_a_device_is_not_replaced():
    with pytest.raises(OSError, match="is not a regular file"):
        check_writable("/dev/null")


def test_a_missing_library_comes_with_the_command():
    with pytest.raises(MissingExtraError, match=r'pip install "keeptree\[report\]"'):
        require_extra("json", "no_such_library", extra="report")
