"""The cold path: what a user waits for on a fresh installation, from a wheel and in a checkout.

Everything is measured in processes and environments of their own. Times are processor time, which
other work on the machine disturbs least; sizes do without NumPy, SciPy and scikit-learn.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from benchmarks.timing import print_table

ROOT = Path(__file__).parents[1]
CLASSIFIERS = (
    "SmoothedTreeClassifier",
    "GeometricRankClassifier",
    "DistanceKernelClassifier",
    "ConfDTreeClassifier",
    "SoftTreeClassifier",
    "MarginTreeClassifier",
    "KeptTreeClassifier",
    "C45Classifier",
    "NBTreeClassifier",
)
FIRST = """
from sklearn.datasets import load_breast_cancer
import keeptree as kt
X, y = load_breast_cancer(return_X_y=True)
model = kt.{name}().fit(X, y)
getattr(model, "predict_proba", getattr(model, "decision_function", None))(X)
"""
# Every installation has these: they are not what KeepTree adds.
COMMON = ("numpy", "scipy", "sklearn", "scikit_learn", "pip", "setuptools", "pkg_resources")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build_wheel(folder)
        places = {
            "wheel": [f"{wheel}"],
            "checkout": ["--editable", f"{copy_checkout(folder)}[jit]"],
        }
        found = {kind: measure(folder / kind, what) for kind, what in places.items()}
    rows = [(name, *(found[kind][name] for kind in found)) for name in found["wheel"]]
    print_table("Cold start, processor time and peak memory", ("first", *found), rows)


def build_wheel(folder):
    """Build the wheel of this checkout; the machine code is built too unless it is up to date."""
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", folder, ROOT)
    (wheel,) = folder.glob("keeptree-*.whl")
    return wheel


def copy_checkout(folder):
    """Copy what git knows: no cache, no machine code."""
    listed = run("git", "ls-files", cwd=ROOT, capture_output=True, text=True).stdout
    for name in listed.splitlines():
        target = folder / "source" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    return folder / "source"


def measure(home, install):
    """Install into a new environment and measure the first use of everything."""
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", *install)
    found = {"size of the installation, MB": f"{installed_size(home):.1f}"}
    run(python, "-c", "import sklearn.tree, sklearn.datasets")  # compiled to bytecode, files read
    found["python alone"] = cost(python, "-c", "")
    found["import keeptree"] = cost(python, "-c", "import keeptree")
    found["import sklearn.tree"] = cost(python, "-c", "import sklearn.tree, sklearn.datasets")
    for name in CLASSIFIERS:
        found[f"{name}, fit and probabilities"] = cost(python, "-c", FIRST.format(name=name))
    extras = ["jinja2", "pandas", "rich", "pyarrow", "liac-arff"]
    run(python, "-m", "pip", "install", "-q", *extras)
    found["keeptree demo"] = cost(python, "-m", "keeptree", "demo", cwd=home)
    found["keeptree demo, second time"] = cost(python, "-m", "keeptree", "demo", cwd=home)
    return found


def installed_size(home):
    """Megabytes of the packages beside the common ones."""
    (packages,) = home.glob("lib/*/site-packages")
    own = [p for p in packages.iterdir() if not p.name.lower().startswith(COMMON)]
    files = (f for p in own for f in (p.rglob("*") if p.is_dir() else [p]))
    return (
        sum(f.stat().st_size for f in files if f.is_file() and "__pycache__" not in f.parts) / 1e6
    )


def cost(*command, cwd=None):
    """Processor time and peak memory of a command, as text."""
    # The parent's environment must not reach into the new one.
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    process = subprocess.Popen(
        command, cwd=cwd, env=clean, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    complaint = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(complaint.decode())
    return f"{used.ru_utime + used.ru_stime:.2f} s, {used.ru_maxrss / 1024:.0f} MB"


def run(*command, **options):
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run([str(part) for part in command], check=True, env=clean, **options)


if __name__ == "__main__":
    main()
