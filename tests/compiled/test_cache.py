"""The cache of a checkout survives damaged files, folders it cannot write, and many processes."""

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

numba = pytest.importorskip("numba", reason="a wheel does without numba")

from keeptree._compiled import cache as cache_module  # noqa: E402
from keeptree._compiled.jit import compile_entry  # noqa: E402


def double(x: In(float64, 1), out: Out(float64, 1)):
    for i in range(len(x)):
        out[i] = 2 * x[i]


DOUBLE = Entry("test_double", double, double.__annotations__)
double.__module__ = "keeptree._compiled.route"  # the file whose changes count


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "cache_folder", lambda: tmp_path)
    return tmp_path


def check_works():
    x, out = np.arange(3.0), np.empty(3)
    compile_entry(DOUBLE)(x, out)
    np.testing.assert_array_equal(out, 2 * x)


def test_a_compiled_function_is_read_again(folder):
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


def test_a_file_with_something_else_is_compiled_again(folder):
    check_works()
    (path,) = folder.glob("test_double.*")
    for payload in (b"nonsense", pickle.dumps(("other",)), pickle.dumps(None)):
        path.write_bytes(hashlib.sha256(payload).digest() + payload)
        check_works()


def test_a_folder_that_cannot_be_written_is_no_error(monkeypatch, tmp_path):
    monkeypatch.setattr(cache_module, "cache_folder", lambda: tmp_path / "absent")
    check_works()
    assert not (tmp_path / "absent").exists()


def test_the_folder_falls_back_to_the_user_s_and_to_a_temporary_one(monkeypatch, tmp_path):
    find = cache_module.cache_folder.__wrapped__
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr(cache_module, "HERE", blocked)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert find() == tmp_path / "user" / "keeptree"
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(cache_module.tempfile, "gettempdir", lambda: str(tmp_path))
    assert find().parent == tmp_path


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
def test_a_folder_that_others_can_write_is_not_used(monkeypatch, tmp_path):
    find = cache_module.cache_folder.__wrapped__
    monkeypatch.setattr(cache_module, "HERE", tmp_path / "file")
    (tmp_path / "file").write_text("")
    shared = tmp_path / "user" / "keeptree"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert find() != shared


def test_four_processes_can_start_on_an_empty_cache(tmp_path):
    code = (
        "import os, pathlib\n"
        "from keeptree._compiled import cache\n"
        "cache.cache_folder = lambda: pathlib.Path(os.environ['FOLDER'])\n"
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
