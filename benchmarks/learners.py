"""Compare the cost of growing trees with scikit-learn and, with Java, Weka's J48 in a warm JVM.

Weka needs ``KEEPTREE_WEKA`` (a class path with weka.jar and the compiled
``tools/weka_reference/WekaReference.java``); the data sets are those of the fixtures.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from benchmarks.timing import best_times, print_table

NUMERIC = (("letter", 0.5), ("magic", 0.5), ("shuttle", 0.5), ("satimage", 0.5))
NOMINAL = tuple((name, 1.0) for name in ("splice", "soybean", "anneal-orig", "income", "nursery"))
MEMORY = """
import resource
import numpy as np
import keeptree as kt

random = np.random.default_rng(0)
X = random.normal(size=(1_000_000, 16))
y = (X[:, :4].sum(axis=1) + random.normal(size=len(X)) > 0).astype(int)
model = kt.C45Classifier().fit(X, y)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, model.get_n_leaves())
"""


def against_scikit_learn():
    rows = []
    for n, d in ((100_000, 16), (10_000, 50)):
        X, y = make_classification(
            n, d, n_informative=10, n_redundant=0, flip_y=0.1, random_state=0
        )
        grown = kt.C45Classifier(pruning="none", collapse=False).fit(X, y)
        # scikit-learn's tree gets the same depth and the same minimum leaf size.
        base = DecisionTreeClassifier(
            criterion="entropy", max_depth=grown.get_depth(), min_samples_leaf=25, random_state=0
        )
        pruned = kt.C45Classifier()
        skl, grow, prune = best_times(
            [(base.fit, X, y), (grown.fit, X, y), (pruned.fit, X, y)], repeats=3
        )
        size = f"{n} x {d}, depth {grown.get_depth()}, {grown.get_n_leaves()} leaves"
        rows.append((f"{size}: growing", f"{grow / skl:.3f}", "0.15"))
        rows.append((f"{size}: with pruning", f"{prune / skl:.3f}", "0.3"))
    columns = ("fit", "ratio", "limit")
    print_table("Ratio to DecisionTreeClassifier(criterion='entropy').fit", columns, rows)


def memory():
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True
    )
    gigabytes, leaves = done.stdout.split()
    row = (f"1e6 x 16, {leaves} leaves", f"{float(gigabytes):.2f} GB", "2 GB")
    print_table("Memory of C45Classifier.fit, the whole process", ("fit", "peak", "limit"), [row])


def against_weka():
    class_path = os.environ.get("KEEPTREE_WEKA")
    if not class_path:
        print("Weka: set KEEPTREE_WEKA to compare.")
        return
    from tests.fixtures import weka

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, limit in NUMERIC + NOMINAL:
            data = weka.load(name)
            path = Path(folder) / f"{name}.arff"
            write_arff(data, path)
            job = f"time\t{path}\t15\t9\t\n"
            command = ["java", "-Xshare:auto", "-cp", class_path, "WekaReference"]
            done = subprocess.run(command, input=job, capture_output=True, text=True, check=True)
            theirs = float(done.stdout)
            X, y = as_frame(data)
            ours = median_seconds(kt.C45Classifier().fit, X, y)
            milliseconds = f"{ours * 1e3:.1f} / {theirs * 1e3:.1f} ms"
            rows.append((name, milliseconds, f"{ours / theirs:.2f}", f"{limit:g}"))
    columns = ("fit, training part of the fixture", "ours / Weka", "ratio", "limit")
    print_table("Ratio to Weka's J48, warm", columns, rows)


def median_seconds(function, *arguments, repeats=9):
    """Return the median elapsed time, as ``WekaReference`` does."""
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        function(*arguments)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds[1:]))


def as_frame(data):
    columns = {}
    for j, labels in enumerate(data.categories):
        column = data.X[data.train, j]
        if labels is not None:
            codes = np.nan_to_num(column, nan=-1).astype(int)
            column = pd.Categorical.from_codes(codes, list(labels))
        columns[f"a{j}"] = column
    return pd.DataFrame(columns), pd.Categorical.from_codes(data.y[data.train], list(data.classes))


def write_arff(data, path):
    """Write the training rows, with categories and classes as numbers."""
    lines = ["@relation r"]
    for j, labels in enumerate(data.categories):
        kind = "numeric" if labels is None else f"{{{','.join(map(str, range(len(labels))))}}}"
        lines.append(f"@attribute a{j} {kind}")
    lines += [f"@attribute y {{{','.join(map(str, range(len(data.classes))))}}}", "@data"]
    nominal = [labels is not None for labels in data.categories]
    for x, y in zip(data.X[data.train], data.y[data.train], strict=True):
        cells = [
            "?" if np.isnan(v) else str(int(v)) if is_code else repr(float(v))
            for v, is_code in zip(x, nominal, strict=True)
        ]
        lines.append(",".join([*cells, str(y)]))
    path.write_text("\n".join(lines) + "\n")


def main():
    against_scikit_learn()
    memory()
    against_weka()


if __name__ == "__main__":
    main()
