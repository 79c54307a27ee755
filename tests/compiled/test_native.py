"""Machine code built ahead of time is used only if it matches the sources and the processor."""

import json
import subprocess
import sys

import pytest

from keeptree._compiled import native
from tools import build_native


def test_the_fastest_level_of_the_processor_comes_first():
    levels, known = native.processor_levels(), ["x86_64_v4", "x86_64_v3", "x86_64"]
    assert levels == known[-len(levels) :] or levels == [native.platform.machine().lower()]


def test_a_changed_source_makes_the_machine_code_outdated(monkeypatch, tmp_path):
    monkeypatch.setattr(native, "HERE", tmp_path)
    digest = native.source_digest.__wrapped__
    (tmp_path / "route.py").write_text("a = 1\n")
    before = digest()
    (tmp_path / "cache.py").write_text("not compiled\n")
    assert digest() == before
    (tmp_path / "route.py").write_text("a = 2\n")
    assert digest() != before


def test_the_digest_of_a_file_covers_everything_it_imports(monkeypatch, tmp_path):
    monkeypatch.setattr(native, "HERE", tmp_path)
    digest = native.source_digest.__wrapped__
    (tmp_path / "top.py").write_text("from keeptree._compiled.middle import a\n")
    (tmp_path / "middle.py").write_text("from keeptree._compiled.low import a\n")
    (tmp_path / "low.py").write_text("from keeptree._compiled.top import b\n")
    (tmp_path / "other.py").write_text("")
    before = digest("top")
    (tmp_path / "other.py").write_text("changed")
    assert digest("top") == before
    (tmp_path / "low.py").write_text("changed")
    assert digest("top") != before


@pytest.mark.parametrize("content", [None, "{", '{"sources": "of another time"}'])
def test_machine_code_built_from_other_sources_is_not_used(monkeypatch, tmp_path, content):
    monkeypatch.setattr(native, "HERE", tmp_path)
    native.source_digest.cache_clear()
    if content is not None:
        (tmp_path / native.MANIFEST).write_text(content)
    assert native.load_native.__wrapped__() is None
    native.source_digest.cache_clear()


def test_without_machine_code_and_numba_the_error_says_what_to_install():
    code = (
        "import os, sys\n"
        "os.environ['KEEPTREE_NATIVE'] = '0'\n"
        "sys.modules['numba'] = sys.modules['llvmlite'] = None\n"
        "import keeptree._compiled.soft\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'pip install "keeptree[jit]"' in done.stderr
    assert 'in a clone: pip install --editable ".[jit]"' in done.stderr


@pytest.mark.skipif(native.load_native() is None, reason="no machine code is installed")
def test_with_machine_code_numba_is_not_imported():
    code = (
        "import sys\n"
        "import keeptree as kt\n"
        "from sklearn.datasets import load_iris\n"
        "X, y = load_iris(return_X_y=True)\n"
        "kt.KeptTreeClassifier().fit(X, y).predict_proba(X)\n"
        "print('numba' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_one_command_compiles_all_functions():
    command = [sys.executable, "-m", "keeptree._compiled"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "up to date" in done.stdout or "Compiled" in done.stdout


def test_machine_code_is_built_again_only_if_a_level_is_missing_or_out_of_date(
    monkeypatch, tmp_path
):
    asked = []
    monkeypatch.setattr(build_native, "FOLDER", tmp_path)
    monkeypatch.setattr(build_native, "_import_native", lambda: native)
    monkeypatch.setattr(build_native, "build", asked.append)
    build_native.build_missing(["x86_64"])
    assert asked.pop() == ["x86_64"]
    manifest = build_native._manifest(native, ["x86_64_v3", "x86_64"])
    (tmp_path / native.MANIFEST).write_text(json.dumps(manifest))
    for level in manifest["levels"]:
        (tmp_path / f"native_{level}.so").touch()
    for levels in (["x86_64"], ["x86_64_v3", "x86_64"]):
        build_native.build_missing(levels)
        assert not asked
    build_native.build_missing(["x86_64_v4"])
    assert asked.pop() == ["x86_64_v4"]
    (tmp_path / native.MANIFEST).write_text(json.dumps({**manifest, "sources": "of another time"}))
    build_native.build_missing(["x86_64"])
    assert asked.pop() == ["x86_64"]
    (tmp_path / native.MANIFEST).write_text(json.dumps(manifest))
    (tmp_path / "native_x86_64.so").unlink()
    build_native.build_missing(["x86_64"])
    assert asked.pop() == ["x86_64"]
