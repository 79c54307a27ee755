"""Files are complete or absent; problems with a path are reported before the work starts."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import keeptree as kt
from keeptree.output import (
    MissingExtraError,
    check_writable,
    replacing,
    require_extra,
    write_text,
)

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX permissions")


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


@posix
def test_a_new_file_has_the_permissions_of_the_umask_which_stays_unchanged(tmp_path, monkeypatch):
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


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_file_keeps_the_permissions_of_the_one_it_replaces(tmp_path, mode):
    path = tmp_path / "tree.json"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as temporary:
        assert temporary.stat().st_mode & 0o777 == mode
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == mode


@posix
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can change owners")
def test_a_file_keeps_the_owner_of_the_one_it_replaces(tmp_path):
    path = tmp_path / "tree.json"
    path.write_text("old")
    os.chown(path, 12345, 12346)
    write_text(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12346)


@posix
def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tree.json").write_text("old")
    link, dangling = tmp_path / "current.json", tmp_path / "next.json"
    link.symlink_to("data/tree.json")
    dangling.symlink_to("data/new.json")
    for path in (link, dangling):
        write_text(path, "new")
        assert path.is_symlink()
        assert path.read_text() == "new"
    assert sorted(p.name for p in (tmp_path / "data").iterdir()) == ["new.json", "tree.json"]
    (tmp_path / "round.json").symlink_to("round.json")
    with pytest.raises(OSError, match="is a symbolic link in a loop"):
        check_writable(tmp_path / "round.json")


def test_the_file_is_synced_before_it_is_renamed_and_the_folder_afterwards(tmp_path, monkeypatch):
    calls, sync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda *a: calls.append("fsync") or sync(*a))
    monkeypatch.setattr(os, "replace", lambda *a: calls.append("replace") or replace(*a))
    write_text(tmp_path / "page.html", "x")
    assert calls == ["fsync", "replace", "fsync"][: 3 if os.name == "posix" else 2]


LIMITED = """
    import resource, sys
    import keeptree as kt

    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    old = kt.load(sys.argv[1])
    limit(1000)
    try:
        {call}
    except OSError as error:
        print(error)
"""


@posix
@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("old.save(sys.argv[1])", "tree.json"),
        ("kt.save(old, sys.argv[1])", "tree.json"),
        ("kt.predict_file(kt.load('model.json'), 'big.csv', 'out.csv')", "out.csv"),
        ("kt.predict_file(kt.load('model.json'), 'big.csv', 'out.parquet')", "out.parquet"),
        ("kt.report(kt.load('model.json'), out='page.html')", "page.html"),
    ],
)
def test_a_full_disk_leaves_the_old_file_and_no_temporary_file(call, name, tmp_path, monkeypatch):
    """A limit on the file size makes a write fail half-way, as a full disk does."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3))
    y = (X.sum(axis=1) > 0).astype(int)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X[:200], y[:200])
    kt.save(model, "model.json")
    model.tree_.save("tree.json")
    np.savetxt("big.csv", X, delimiter=",", header="x[0],x[1],x[2]", comments="")
    for out in ("out.csv", "out.parquet", "page.html"):
        (tmp_path / out).write_text("old")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    code = textwrap.dedent(LIMITED).format(call=call)
    done = subprocess.run(
        [sys.executable, "-c", code, "tree.json"], capture_output=True, text=True, check=True
    )
    assert f"{name} cannot be written (file too large); choose another place" in done.stdout
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@posix
def test_a_read_only_folder_or_file_is_reported_before_writing(tmp_path):
    """Run as a user other than root, because permissions do not apply to root."""
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "tree.json").write_text("signed")
    (tmp_path / "tree.json").write_text("signed")
    (tmp_path / "tree.json").chmod(0o444)
    code = """
        import os, sys
        from keeptree.output import check_writable, write_text

        if os.geteuid() == 0:
            os.chown(sys.argv[1], 65534, 65534)
            os.chown(sys.argv[2], 65534, 65534)
            os.chown(sys.argv[2] + "/tree.json", 65534, 65534)
            os.setuid(65534)
        os.chmod(sys.argv[2], 0o555)
        os.chdir(sys.argv[1])
        for path in ("locked/new.json", "locked/tree.json", "tree.json"):
            for write in (check_writable, lambda path: write_text(path, "new")):
                try:
                    write(path)
                except PermissionError as error:
                    print(error)
    """
    # By default, only their owner can enter pytest's folders.
    for above in [tmp_path, *tmp_path.parents][:4]:
        above.chmod(above.stat().st_mode | 0o011)
    try:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), str(tmp_path), str(folder)],
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        folder.chmod(0o755)
    lines = done.stdout.splitlines()
    assert len(lines) == 6
    assert "new.json cannot be written (permission denied)" in lines[0]
    assert "tree.json is read-only; choose another place" in lines[4]
    assert (tmp_path / "tree.json").read_text() == "signed"
    assert [path.name for path in folder.iterdir()] == ["tree.json"]


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("missing/page.html", "missing does not exist; create it"),
        ("file/page.html", "file is not a folder; create it"),
        (".", "is a folder; give the name of a file in it"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused(tmp_path, place, sentence):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=sentence):
        check_writable(tmp_path / place)


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device file")
def test_a_device_is_not_replaced():
    with pytest.raises(OSError, match="is not a regular file"):
        check_writable("/dev/null")


def test_a_missing_library_is_reported_with_the_command_that_installs_it():
    with pytest.raises(MissingExtraError, match=r'pip install "keeptree\[report\]"'):
        require_extra("json", "no_such_library", extra="report")
