"""Find the machine code that was built ahead of time for this processor."""

import json
import os
import platform
import re
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

HERE = Path(__file__).parent
MANIFEST = "native.json"  # digest of the sources, written by tools/build_native.py
_NOT_BUILT = ("__main__", "cache", "native", "progress")  # not part of the machine code
# Requirements of the x86-64 levels above the first, in NumPy's terms.
_V3 = ("AVX2", "FMA3", "F16C", "BMI", "BMI2", "LZCNT", "MOVBE")
_NEEDS = {
    "x86_64_v4": (*_V3, "AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL"),
    "x86_64_v3": _V3,
}
_UNTOLD = {"BMI", "BMI2", "LZCNT", "MOVBE"}  # older versions of NumPy do not report these
_IMPORT = re.compile(r"from keeptree\._compiled\.(\w+) import")


@cache
def load_native():
    """Return the extension module for this processor, or None if none fits.

    None fits in a checkout without a build, after a source file has changed, or if the environment
    variable ``KEEPTREE_NATIVE`` is 0. The variable may also name a level to use instead of the
    fastest.
    """
    wanted = os.environ.get("KEEPTREE_NATIVE")
    if wanted == "0" or not _is_current():
        return None
    levels = processor_levels()
    for level in [wanted] if wanted in levels else levels:
        for suffix in EXTENSION_SUFFIXES:
            path = HERE / f"native_{level}{suffix}"
            if path.is_file():
                try:
                    return _load(path)
                except ImportError:
                    continue  # built for another Python or C library
    return None


def _load(path):
    """Import an extension module from its file."""
    name = path.name.partition(".")[0]
    loader = ExtensionFileLoader(name, str(path))
    module = module_from_spec(spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def processor_levels():
    """Return the names of the builds that run on this processor, the fastest first."""
    machine = platform.machine().lower()
    if machine not in ("x86_64", "amd64"):
        return [machine]
    try:
        from numpy._core._multiarray_umath import __cpu_features__ as features
    except ImportError:
        features = {}

    def has(name):
        return features.get(name, bool(features) and name in _UNTOLD)

    return [*(level for level, needs in _NEEDS.items() if all(map(has, needs))), "x86_64"]


@cache
def source_digest(file=None):
    """Return the fingerprint of a source file and the files that it imports, or of all files."""
    names = {path.stem for path in HERE.glob("*.py")} - set(_NOT_BUILT)
    if file is not None:
        names = _imported(file, {file})
    digest = sha256()
    for name in sorted(names):
        digest.update(name.encode() + b"\0" + (HERE / f"{name}.py").read_bytes() + b"\0")
    return digest.hexdigest()


def _imported(file, known):
    """Add the files of this folder that a file imports, directly or not, to ``known``."""
    for name in _IMPORT.findall((HERE / f"{file}.py").read_text()):
        if name not in known and name not in _NOT_BUILT:
            known.add(name)
            _imported(name, known)
    return known


def _is_current():
    try:
        manifest = json.loads((HERE / MANIFEST).read_text())
    except (OSError, ValueError):
        return False
    return manifest.get("sources") == source_digest()
