"""Time of the boundary kernels as a ratio to scikit-learn's own predict_proba on the same rows.

python benchmarks/bench_boundary.py [--rows 200000] [--repeats 9] [--leaves 30 100 1000]

Every figure is the best of several repeats, interleaved, on one thread (CPU time of the thread, as
other people may be computing); the last line is the gain of two threads in wall-clock time.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from keeptree import Boundary


def best_times(functions, repeats, clock):
    """Best time of each function; they take turns, so that noise hits all alike."""
    best = dict.fromkeys(functions, np.inf)
    for function in functions.values():
        function()  # compile, and fill the caches
    for _ in range(repeats):
        for name, function in functions.items():
            start = clock()
            function()
            best[name] = min(best[name], clock() - start)
    return best


def compare(X, y, n_rows, leaves, repeats):
    """One line of the table."""
    model = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(X, y)
    boundary = Boundary(model).fit(X)
    rows = X[:n_rows]
    functions = {
        "predict_proba": lambda: model.predict_proba(rows),
        "h float32": lambda: boundary._signed(rows),
        "h float64": lambda: boundary._signed(rows, np.float64),
        "separators": lambda: boundary._nearest_separators(rows),
        "nearest": lambda: boundary.nearest(rows),
    }
    best = best_times(functions, repeats, time.thread_time)
    base = best.pop("predict_proba")
    ratios = "  ".join(f"{name} {seconds / base:5.2f}" for name, seconds in best.items())
    nanoseconds = base / n_rows * 1e9
    print(f"{y.max() + 1:3} classes {model.get_n_leaves():6} leaves  {ratios}  "
          f"(predict_proba: {nanoseconds:.0f} ns per row)", flush=True)  # fmt: skip


def two_threads(X, y, repeats):
    """Gain of a second thread on a million rows."""
    model = DecisionTreeClassifier(max_leaf_nodes=100, random_state=0).fit(X, y)
    boundary = Boundary(model).fit(X)
    rows = np.resize(X, (1_000_000, X.shape[1]))
    functions = {n: lambda n=n: boundary._signed(rows, n_jobs=n) for n in (1, 2)}
    best = best_times(functions, repeats, time.perf_counter)
    print(f"two threads on a million rows: {best[1] / best[2]:.2f} times as fast as one")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--leaves", type=int, nargs="+", default=[30, 100, 1000])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 3, 10])
    options = parser.parse_args()
    for n_classes in options.classes:
        X, y = make_classification(
            max(options.rows, 100_000), 30, n_informative=12, n_classes=n_classes, random_state=0
        )
        for leaves in options.leaves:
            compare(X, y, options.rows, leaves, options.repeats)
    two_threads(X, y, options.repeats)


if __name__ == "__main__":
    main()
