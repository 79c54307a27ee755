"""Build the sdist and the wheel, check them, and try the wheel in a clean environment.

``make dist`` runs this with build, twine and check-wheel-contents (the extra ``dist``). The wheel
is built from the sdist, so both are tested.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SMOKE = Path(__file__).with_name("smoke.py")
_LIMIT = 2_000_000  # maximum size of a wheel without its compiled functions, in bytes
_NOBODY = 65534
_COMPILED = (".so", ".pyd", ".dylib")


def main():
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder to write to")
    out = parser.parse_args().out
    shutil.rmtree(out, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", out, ROOT)
    (sdist,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
    run(sys.executable, "-m", "check_wheel_contents", wheel)
    check_size(wheel)
    with tempfile.TemporaryDirectory(prefix="keeptree-dist-") as folder:
        os.chmod(folder, 0o755)  # another user must be able to read it
        try_out(wheel, Path(folder))
    print(f"Ready to publish: {sdist.name} ({megabytes(sdist.stat().st_size)}), {wheel.name}.")


def check_size(wheel):
    """Raise an error if the wheel, without its compiled functions, is too large."""
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename: entry.compress_size for entry in archive.infolist()}
    compiled = sum(size for name, size in sizes.items() if name.endswith(_COMPILED))
    rest = sum(sizes.values()) - compiled
    print(f"{wheel.name}: {megabytes(compiled)} compiled, {megabytes(rest)} everything else.")
    if rest > _LIMIT:
        raise SystemExit(f"The wheel is larger than {megabytes(_LIMIT)} without compiled parts.")


def try_out(wheel, folder):
    """Install the wheel, first without extras, and run the smoke tests as two users."""
    shutil.copy(SMOKE, folder)
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*install, wheel)
    run(python, "-m", "pip", "check")
    smoke(python, folder, "core")
    run(*install, f"{wheel}[report,files]")
    smoke(python, folder, "extras")


def smoke(python, folder, stage):
    """Run one stage as this user and as a user who can write only to a temporary folder."""
    for user, prefix in (("this user", ()), ("a user without a home", as_nobody())):
        scratch = Path(tempfile.mkdtemp(dir=folder))
        if prefix:
            os.chown(scratch, _NOBODY, _NOBODY)
        environment = {
            "PATH": os.defpath,
            "HOME": str(folder / "no-home"),
            "TMPDIR": str(scratch),
            "PYTHONDONTWRITEBYTECODE": "1",
            **{name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},
        }
        print(f"Smoke tests ({stage}) as {user}:", flush=True)
        run(*prefix, python, "-I", folder / SMOKE.name, stage, cwd=scratch, env=environment)


def as_nobody():
    """Return the start of a command line that runs the rest as nobody; empty unless root."""
    if getattr(os, "geteuid", lambda: 1)() or not shutil.which("setpriv"):
        return ()
    return ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups")


def run(*command, **options):
    """Run a command; exit if it fails."""
    done = subprocess.run([str(part) for part in command], check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed.")


def megabytes(size):
    """Return a size as text."""
    return f"{size / 1e6:.2f} MB"


if __name__ == "__main__":
    main()
