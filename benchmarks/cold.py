"""Measure the first use after installation, from a wheel and in a checkout: time and memory.

Everything is measured in separate processes and environments, with an empty cache before each line.
Times are CPU times, which other work on the machine affects least. Sizes exclude NumPy, SciPy and
scikit-learn.
"""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import keeptree as kt
from benchmarks.timing import print_table

ROOT = Path(__file__).parents[1]
CLASSIFIERS = [name for name in kt.__all__ if name.endswith("Classifier")]
FIRST = """
from sklearn.datasets import load_breast_cancer
import keeptree as kt
X, y = load_breast_cancer(return_X_y=True)
model = kt.{name}().fit(X, y)
getattr(model, "predict_proba", getattr(model, "decision_function", None))(X)
"""
# A small process starts the command, because the peak memory of a child is at least its parent's.
LAUNCH = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""
# Variables that would affect the new environments are left out.
CLEAN = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "KEEPTREE_NATIVE")}
# Left out of the size, because every scikit-learn installation has them.
COMMON = ("numpy", "scipy", "sklearn", "scikit_learn", "pip", "setuptools", "pkg_resources")
COMMON += ("joblib", "threadpoolctl", "narwhals", "cloudpickle")  # dependencies of scikit-learn


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # so that the user nobody can read it
        checkout = copy_checkout(folder / "source")
        places = {"wheel": [build_wheel(folder)], "checkout": ["--editable", f"{checkout}[jit]"]}
        found = {kind: measure(folder / kind, what, checkout) for kind, what in places.items()}
    rows = [(name, *(found[kind][name] for kind in found)) for name in found["wheel"]]
    title = "Cold start, processor time and peak memory"
    print_table(title, ("first", *found), rows, caption="each in a new environment")


def copy_checkout(target):
    """Copy the files that git tracks, without caches and machine code."""
    listed = run("git", "ls-files", cwd=ROOT, capture_output=True, text=True).stdout
    for name in listed.splitlines():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name)
    return target


def build_wheel(folder):
    """Build the wheel in a separate copy, because a build leaves machine code in the sources."""
    source = copy_checkout(folder / "built")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", folder, source)
    return next(folder.glob("keeptree-*.whl"))


def measure(home, install, checkout):
    """Install into a new environment and measure the first use of everything."""
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", *install)

    def first(*arguments, **options):
        for file in checkout.glob("src/keeptree/_compiled/__pycache__/*.machinecode"):
            file.unlink()
        return cost(python, *arguments, **options)

    found = {"size of the installation, MB": f"{installed_size(home):.1f}"}
    # A warm-up: the first import compiles to bytecode and reads the files from disk.
    run(python, "-c", "import sklearn.tree, sklearn.datasets")
    found["python alone"] = first("-c", "")
    found["import keeptree"] = first("-c", "import keeptree")
    found["import sklearn.tree"] = first("-c", "import sklearn.tree, sklearn.datasets")
    for name in CLASSIFIERS:
        found[f"{name}, fit and probabilities"] = first("-c", FIRST.format(name=name))
    kept = "-c", FIRST.format(name="KeptTreeClassifier")
    found["KeptTreeClassifier, slowest of four at once"] = first(*kept, times=4)
    nobody = find_nobody(python)
    found["KeptTreeClassifier, user nobody"] = first(*kept, user=nobody) if nobody else "-"
    run(python, "-m", "pip", "install", "-q", "jinja2", "pandas", "rich", "pyarrow", "liac-arff")
    found["keeptree demo"] = first("-m", "keeptree", "demo", cwd=home)
    found["keeptree demo, second time"] = cost(python, "-m", "keeptree", "demo", cwd=home)
    return found


def installed_size(home):
    """Return the size of all but the common packages in MB, including bytecode."""
    (packages,) = home.glob("lib/*/site-packages")
    own = [p for p in packages.iterdir() if not p.name.lower().startswith(COMMON)]
    files = (f for p in own for f in (p.rglob("*") if p.is_dir() else [p]))
    return sum(f.stat().st_size for f in files if f.is_file()) / 1e6


def cost(*command, times=1, user=None, cwd=None):
    """Return the CPU time and peak memory of the slowest of several equal processes, as text.

    The processes start at the same time, with an empty folder as their home. A given ``user`` has
    no home and can write only to the temporary folder.
    """
    with tempfile.TemporaryDirectory() as empty:
        home = "/nonexistent" if user else empty
        if user:
            shutil.chown(empty, user["user"], user["group"])
        places = {"HOME": home, "XDG_CACHE_HOME": home, "TMPDIR": empty}
        options = {"cwd": cwd or empty, "env": CLEAN | places, **(user or {})}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        launch = [command[0], "-c", LAUNCH, *command]
        started = [subprocess.Popen(launch, **options, **pipes) for _ in range(times)]
        seconds, memory = max(wait(process) for process in started)
    return f"{seconds:.2f} s, {memory:.0f} MB"


def wait(process):
    """Return the CPU time (s) and memory (MB) of a process, which must succeed."""
    answer, complaint = process.communicate()
    if process.returncode:
        raise RuntimeError(complaint)
    return tuple(float(number) for number in answer.split())


def find_nobody(python):
    """Return the user nobody if this process can switch to it and it can run Python, else None."""
    try:
        nobody = pwd.getpwnam("nobody")
        user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        run(python, "-c", "import keeptree", cwd="/", stderr=subprocess.DEVNULL, **user)
    except (KeyError, OSError, subprocess.CalledProcessError):
        return None
    return user


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, env=CLEAN, **options)


if __name__ == "__main__":
    main()
