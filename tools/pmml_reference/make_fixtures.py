"""Write small PMML files with JPMML's results, for tests/importers/test_pmml.py.

    python -m tools.pmml_reference.make_fixtures           writes tests/fixtures/pmml
    python -m tools.pmml_reference.make_fixtures 500       compares 500 random documents

Needs Java and the pip packages jpmml_evaluator, sklearn2pmml, nyoka and jpype1.
"""

import contextlib
import io
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import sklearn
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from tests.importers.neighbours import EXTREMES, trying_rows
from tests.importers.pmml_rows import compare_row, keep_quietly
from tools.pmml_reference.documents import RandomDocument
from tools.pmml_reference.jpmml import answers, java

FOLDER = Path(__file__).parents[2] / "tests" / "fixtures" / "pmml"
STORED_SEEDS = range(24)


def main():
    """Write the fixtures, or compare random documents."""
    with java() as backend:
        if len(sys.argv) > 1:
            _compare(int(sys.argv[1]), backend)
            return
        FOLDER.mkdir(exist_ok=True)
        for seed in STORED_SEEDS:
            document = RandomDocument(seed)
            _store(f"random_{seed:02d}", document.text, document.rows(40), backend)
        for path in sorted(FOLDER.glob("hand_*.pmml")):
            text = path.read_text(encoding="utf-8")
            _store(path.stem, text, _rows_of(text), backend)
        for name, text, rows in _converted():
            _store(name, text, rows, backend)


def _compare(n, backend):
    found = Counter()
    for seed in range(1000, 1000 + n):
        document = RandomDocument(seed)
        try:
            tree = keep_quietly(document.text)
        except ValueError:
            found["documents refused"] += 1
            continue
        found["documents"] += 1
        rows, nodes = document.rows(100), {}
        for row, answer in zip(rows, answers(document.text, rows, backend), strict=True):
            found[compare_row(tree, row, answer, nodes)] += 1
    for name, times in sorted(found.items()):
        print(f"{times:8d}  {name}")


def _store(name, text, rows, backend):
    (FOLDER / f"{name}.pmml").write_text(text, encoding="utf-8")
    found = answers(text, rows, backend)
    columns = sorted({key for row in rows for key in row})
    table = [
        [*(_cell(row.get(column)) for column in columns), *(str(a or "") for a in answer)]
        for row, answer in zip(rows, found, strict=True)
    ]
    frame = pd.DataFrame(table, columns=[*columns, ".node", ".class"])
    frame.loc[frame[".node"] == "!", ".class"] = ""
    frame.to_csv(FOLDER / f"{name}.csv", index=False)


def _cell(value):
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _rows_of(text, n=60):
    """Return rows for a handwritten document, based on the tree that KeepTree reads."""
    tree, rng = keep_quietly(text), np.random.default_rng(0)
    rows = trying_rows(tree, rng.normal(size=(n, tree.n_features)), share=0.8)
    for j, labels in enumerate(tree.categories):
        if labels is not None:
            rows[:, j] = rng.integers(-1, len(labels) + 1, size=n)
    return [_as_dict(tree, row) for row in rows]


def _as_dict(tree, row):
    found = {}
    for name, labels, value in zip(tree.feature_names, tree.categories, row, strict=True):
        if labels is None and not np.isnan(value):
            found[name] = float(value)
        elif labels is not None and value >= 0:
            found[name] = labels[int(value)] if value < len(labels) else "unseen"
    return found


def _converted():
    """Yield scikit-learn trees converted by sklearn2pmml and nyoka."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["sepal length", "sepal width", "petal length", "petal width"]
    species = pd.Series(np.array(["setosa", "versicolor", "virginica"])[y], name="species")
    fitted = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, species)
    rng = np.random.default_rng(0)
    rows = X.to_numpy()[rng.integers(len(X), size=150)]
    thresholds = fitted.tree_.threshold[fitted.tree_.feature >= 0]
    values = [*np.repeat(thresholds, 3), *EXTREMES, np.nan]
    values[: 3 * len(thresholds) : 3] = np.nextafter(thresholds, np.inf)
    values[1 : 3 * len(thresholds) : 3] = np.nextafter(np.float32(thresholds), np.float32(np.inf))
    rows = np.where(rng.random(rows.shape) < 0.5, rng.choice(values, rows.shape), rows)
    dicts = [
        {name: float(v) for name, v in zip(X.columns, row, strict=True) if not np.isnan(v)}
        for row in rows
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.pmml"
        for compact in (True, False):
            _by_sklearn2pmml(fitted, X, species, compact, path)
            kind = "compact" if compact else "binary"
            yield f"sklearn2pmml_{kind}", path.read_text(encoding="utf-8"), dicts
        _by_nyoka(fitted, list(X.columns), path)
        yield "nyoka", path.read_text(encoding="utf-8"), dicts


def _by_sklearn2pmml(fitted, X, y, compact, path):
    from sklearn2pmml import make_pmml_pipeline, sklearn2pmml

    pipeline = make_pmml_pipeline(fitted, active_fields=list(X.columns), target_fields=[y.name])
    pipeline.steps[-1][1].pmml_options_ = {"compact": compact}
    # The converter refuses patch releases that it does not know, although their trees are the same.
    with mock.patch("sklearn.base.__version__", sklearn.__version__.rpartition(".")[0] + ".0"):
        sklearn2pmml(pipeline, str(path))


def _by_nyoka(fitted, columns, path):
    from nyoka import skl_to_pmml

    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        skl_to_pmml(Pipeline([("tree", fitted)]), columns, "species", str(path))


if __name__ == "__main__":
    main()
