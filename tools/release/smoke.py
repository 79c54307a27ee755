"""Try an installed KeepTree outside the checkout: ``python -I smoke.py core|extras``.

It needs only the package and writes only to the current folder.
"""

import subprocess
import sys
from importlib.metadata import distributions, requires
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

COMMAND = Path(sys.executable).with_name("keeptree")


def main(stage):
    """Run one stage: ``core`` needs only the dependencies, ``extras`` also report and files."""
    home = Path(kt.__file__).parent
    assert home.is_relative_to(sys.prefix), f"KeepTree was imported from {home}."
    assert (home / "py.typed").exists()
    if stage == "core":
        check_nothing_else_is_installed()
        model = check_models()
        check_files(model)
    else:
        check_report()
        check_commands()
    left = [path for path in home.rglob("__pycache__") if any(path.glob("*.nbi"))]
    assert not left, f"Compiled functions were cached in {left}."
    print("  passed")


def check_nothing_else_is_installed():
    """Check that only declared dependencies, and theirs in turn, are installed."""
    found = {package.metadata["Name"].lower(): package for package in distributions()}
    needed, wanted = set(), ["keeptree"]
    while wanted:
        name = wanted.pop()
        if name in needed:
            continue
        needed.add(name)
        lines = [line for line in requires(name) or () if "extra ==" not in line]
        names = [line.split(";")[0].strip() for line in lines]
        names = [name.translate(str.maketrans("[(<>=!~ ", "        ")).split()[0] for name in names]
        wanted += [name.lower() for name in names if name.lower() in found]
    assert set(found) - {"pip", "setuptools"} == needed, sorted(set(found) - needed)
    print(f"  installed: {', '.join(sorted(needed))}")


def check_models():
    """Check that a tree can be kept, scored, explained and changed."""
    X, y = load_breast_cancer(return_X_y=True)
    grown = DecisionTreeClassifier(max_leaf_nodes=9, random_state=0).fit(X[::2], y[::2])
    model = kt.KeptTreeClassifier(grown).fit(X[::2], y[::2])
    assert (model.predict(X) == grown.predict(X)).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    kinds = [kt.DistanceKernelClassifier, kt.ConfDTreeClassifier, kt.GeometricRankClassifier]
    for kind in kinds:
        assert np.isfinite(kind(grown).fit(X, y).decision_function(X)).all()
    assert kt.C45Classifier().fit(X, y).score(X, y) > 0.95
    assert kt.nearest_change(model, X[1]).to_dict()
    assert kt.explain(model, X[1]).text
    return model


def check_files(model):
    """Check the files that need no extra."""
    X, _ = load_breast_cancer(return_X_y=True)
    kt.save(model, "model.json")
    np.testing.assert_array_equal(kt.load("model.json").predict_proba(X), model.predict_proba(X))
    kt.export(model, "model.py")
    kt.export(model, "model.c")
    assert call("--version").startswith("keeptree ")
    assert "usage" in call("--help").lower()
    assert call("verify", "model.json")


def check_report():
    """Check the report of a model."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = kt.KeptTreeClassifier(kt.C45Classifier()).fit(X[::2], y[::2])
    kt.report(model, X[1::2], y[1::2], "report.html")
    assert "</html>" in Path("report.html").read_text(encoding="utf-8")


def check_commands():
    """Check the commands that turn a data file into a report, a model and scored cases."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.assign(sick=np.where(y == 0, "yes", "no")).to_csv("cases.csv", index=False)
    call("report", "cases.csv", "--target", "sick", "--out", "page.html")
    call("fit", "cases.csv", "--target", "sick", "--out", "model.json")
    call("predict", "model.json", "cases.csv", "--out", "scored.csv")
    call("explain", "model.json", "cases.csv", "--row", "3")
    call("audit", "model.json", "cases.csv")
    assert len(Path("scored.csv").read_text().splitlines()) == len(X) + 1


def call(*arguments):
    """Run a keeptree command and return its output."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


if __name__ == "__main__":
    main(sys.argv[1])
