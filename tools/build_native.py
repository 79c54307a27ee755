"""Compile the functions to machine code ahead of time, from the same Python sources.

``python tools/build_native.py`` builds for this processor, ``--all`` for every level that a wheel
contains, unless the machine code is up to date. The results are stored beside the sources:
``native_LEVEL.*.so``, and ``native.json`` with a digest of the sources. The machine code is loaded
only if the digest matches.

This is the only file that uses ``numba.pycc``, which numba plans to replace (numba issue 8509).
CONTRIBUTING.md explains what to do when that happens.
"""

import argparse
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

# Requirements of a build in addition to those of the package.
REQUIRES = ["numba==0.68.*", "setuptools"]
FOLDER = Path(__file__).parents[1] / "src" / "keeptree" / "_compiled"
# Level -> LLVM's name of the processor, and features to add. LLVM avoids 512-bit vectors by
# default, but the loops here are long enough for them.
_TARGETS = {
    "x86_64_v4": ("x86-64-v4", "-prefer-256-bit"),
    "x86_64_v3": ("x86-64-v3", ""),
    "x86_64": ("x86-64", ""),
}


def build(levels):
    """Build the extension modules of some levels in one process each, and write the manifest."""
    native = _import_native()
    remove()
    running = [
        subprocess.Popen(
            [sys.executable, __file__, "--level", level],
            env={**os.environ, **_target(level), "KEEPTREE_NATIVE": "0"},
        )
        for level in levels
    ]
    failed = [level for level, process in zip(levels, running, strict=True) if process.wait()]
    if failed:
        remove()
        raise RuntimeError(f"The machine code for {', '.join(failed)} could not be built.")
    (FOLDER / native.MANIFEST).write_text(json.dumps(_manifest(native, levels)) + "\n")


def build_missing(levels):
    """Build the extension modules of some levels unless they are up to date."""
    native = _import_native()
    try:
        manifest = json.loads((FOLDER / native.MANIFEST).read_text())
    except (OSError, ValueError):
        manifest = {}
    built = manifest.get("levels", [])  # those of a wheel include the level of this machine
    complete = len(list(FOLDER.glob("native_*.*"))) == len(built) and set(levels) <= set(built)
    if not complete or manifest != _manifest(native, built):
        build(levels)


def remove():
    """Remove the files of an earlier build."""
    for path in (*FOLDER.glob("native_*.so"), *FOLDER.glob("native_*.pyd"), FOLDER / "native.json"):
        path.unlink(missing_ok=True)


def _target(level):
    """Return the environment variables for numba: the processor of a level and its features."""
    processor, features = _TARGETS.get(level, ("generic", ""))
    return {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features}


def all_levels():
    """Return the levels that a wheel for this kind of machine contains."""
    machine = platform.machine().lower()
    return list(_TARGETS) if machine in ("x86_64", "amd64") else [machine]


def build_level(level):
    """Compile every entry for one level; the process must target that level's processor."""
    _import_native()  # pip's build environment ignores PYTHONPATH, so this comes first in sys.path
    import numba.pycc.compiler
    from numba.core.codegen import AOTCPUCodegen
    from numba.core.errors import NumbaPendingDeprecationWarning

    warnings.simplefilter("ignore", NumbaPendingDeprecationWarning)
    from numba.pycc import CC

    from keeptree._compiled import declare
    from keeptree._compiled.jit import numba_type

    target = _target(level)
    numba.pycc.compiler.compile_extra = _compile_as_njit
    AOTCPUCodegen._customize_tm_features = lambda codegen: target["NUMBA_CPU_FEATURES"]
    for path in sorted(FOLDER.glob("*.py")):
        importlib.import_module(f"keeptree._compiled.{path.stem}".removesuffix(".__init__"))
    module = CC(f"native_{level}", source_module=declare)
    module.target_cpu = target["NUMBA_CPU_NAME"]
    for entry in declare.ENTRIES.values():
        signature = tuple(numba_type(kind) for kind in entry.arguments.values())
        module.export(entry.name, signature)(entry.function)
    with tempfile.TemporaryDirectory() as folder:
        # The manifest is written last, so that an incomplete build is never used.
        module.output_dir = folder
        module.compile()
        built = Path(folder) / module.output_file
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", built], check=True)
        shutil.move(built, FOLDER / module.output_file)


def _compile_as_njit(typing_context, target_context, function, args, return_type, flags, **rest):
    """Compile with the flags of ``njit(nogil=True)``.

    pycc's own flags hold the GIL and do not use SSA form. All functions also share one flags
    object, which inlining changes.
    """
    from numba.core.compiler import Flags, compile_extra
    from numba.core.registry import cpu_target

    own = Flags()
    cpu_target.options.parse_as_flags(own, {"nopython": True, "nogil": True})
    own.no_compile, own.nrt = flags.no_compile, flags.nrt
    return compile_extra(typing_context, target_context, function, args, return_type, own, **rest)


def _import_native():
    sys.path.insert(0, str(FOLDER.parents[1]))
    return importlib.import_module("keeptree._compiled.native")


def _manifest(native, levels):
    python = f"{sys.implementation.cache_tag}-{platform.machine()}"
    return {"sources": native.source_digest(), "levels": levels, "python": python}


def main():
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="build every level of a wheel")
    parser.add_argument("--level", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.level:
        build_level(options.level)
    else:
        build_missing(all_levels() if options.all else _import_native().processor_levels()[:1])


if __name__ == "__main__":
    main()
