"""The cache of a checkout handles damaged files, read-only folders and many processes."""

import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy import float64

from keeptree._compiled.signature import Entry, In, Out

numba = pytest.importorskip("numba", reason="numba is not installed")

from keeptree._compiled import cache as cache_module  # noqa: E402
from keeptree._compiled.jit import compile_entry  # noqa: E402


def double(x: In(float64, 1), out: Out(float64, 1)):
    for i in range(len(x)):
        out[i] = 2 * x[i]


DOUBLE = Entry("test_double", double, double.__annotations__)
double.__module__ = "keeptree._compiled.route"  # the file that the cache watches for changes


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "cache_folders", lambda: [tmp_path])
    return tmp_path


def check_works():
    x, out = np.arange(3.0), np.empty(3)
    compile_entry(DOUBLE)(x, out)
    np.testing.assert_array_equal(out, 2 * x)


def test_a_compiled_function_is_read_from_the_cache(folder):
    check_works()
    (path,) = folder.glob("test_double.*")
    stamp = path.stat().st_mtime_ns
    check_works()
    assert path.stat().st_mtime_ns == stamp


@pytest.mark.parametrize("size", [0, 10, 32, 500])
def test_a_truncated_file_is_compiled_again(folder, size):
    check_works()
    (path,) = folder.glob("test_double.*")
    whole = path.read_bytes()
    path.write_bytes(whole[:size])
    check_works()
    assert len(path.read_bytes()) > 500


def test_a_file_with_other_content_is_compiled_again(folder):
    check_works()
    (path,) = folder.glob("test_double.*")
    for payload in (b"nonsense", pickle.dumps(("other",)), pickle.dumps(None)):
        path.write_bytes(hashlib.sha256(payload).digest() + payload)
        check_works()


def test_without_a_writable_folder_functions_still_compile(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(cache_module, "cache_folders", lambda: [tmp_path / "file" / "below"])
    check_works()
    monkeypatch.setattr(cache_module, "cache_folders", list)
    check_works()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_next_folder_is_used_if_the_first_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    folders = [tmp_path / "file" / "below", tmp_path / "second"]
    monkeypatch.setattr(cache_module, "cache_folders", lambda: folders)
    check_works()
    assert len(list((tmp_path / "second").glob("test_double.*"))) == 1


def test_the_cache_is_beside_the_sources_in_the_user_s_cache_or_in_a_temporary_folder(
    monkeypatch, tmp_path
):
    find = cache_module.cache_folders.__wrapped__
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, second, third = find()
    assert (first.name, second) == ("__pycache__", tmp_path / "keeptree")
    assert third.name.startswith("keeptree-")
    # expanduser leaves this path unchanged if HOME is unset.
    monkeypatch.setenv("XDG_CACHE_HOME", "~/relative")
    assert len(find()) == 2

    def no_temporary_folder():
        raise FileNotFoundError

    monkeypatch.setattr(cache_module.tempfile, "gettempdir", no_temporary_folder)
    assert find() == [cache_module.HERE / "__pycache__"]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
def test_a_folder_that_others_can_write_to_is_not_used(monkeypatch, tmp_path):
    shared, link = tmp_path / "shared", tmp_path / "link"
    shared.mkdir()
    shared.chmod(0o777)
    link.symlink_to(tmp_path)
    monkeypatch.setattr(cache_module, "cache_folders", lambda: [shared, link])
    check_works()
    assert not list(shared.iterdir())
    assert not list(tmp_path.glob("test_double.*"))


def test_four_processes_can_start_with_an_empty_cache(tmp_path):
    code = (
        "import os, pathlib\n"
        "from keeptree._compiled import cache\n"
        "cache.cache_folders = lambda: [pathlib.Path(os.environ['FOLDER'])]\n"
        "from tests.compiled.test_cache import check_works\n"
        "check_works()\n"
        "print('works')\n"
    )
    environment = {**os.environ, "KEEPTREE_NATIVE": "0", "FOLDER": str(tmp_path)}
    running = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    assert [process.communicate()[0].strip() for process in running] == [b"works"] * 4
    assert len(list(Path(tmp_path).iterdir())) == 1
