"""Measure the cost of scoring unusual rows one at a time: python -m benchmarks.unusual_rows.

The table shows the microseconds of ``model.scorer()`` per row for small trees: the mean over the
rows and the slowest row, best of ten rounds. Missing values that a tree divides among the branches,
numbers off the grid (2.5 in a column of whole numbers) and oblique tests cost more, mainly for
methods that measure distances.
"""

import time
import warnings

import numpy as np

import keeptree as kt
from benchmarks.timing import print_table
from keeptree.probability.methods import METHODS, make_method
from tests.exporters.models import DATA, OBLIQUE

_ROWS, _ROUNDS = 50, 10
_KINDS = {
    "numbers": "two classes",
    "classes": "three classes",
    "missing": "missing values with a branch",
    "mixed": "categories, divided missing values",
    "off grid": "the same, off the grid",
    "oblique": "oblique tests",
}


def main():
    table = []
    for name in METHODS:
        costs = [_cost(name, kind) for kind in _KINDS]
        table.append((name, *(f"{mean:.0f}, {most:.0f}" for mean, most in costs)))
    print_table("µs per row: mean, slowest", ("method", *_KINDS.values()), table)


def _cost(name, kind):
    X, y, learner = {**DATA, **OBLIQUE}["mixed" if kind == "off grid" else kind]()
    tree = learner if isinstance(learner, kt.Tree) else kt.keep(learner.fit(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_method(name, tree).fit(X, y)
    rows = model.encode(X[:_ROWS])
    if kind == "off grid":
        rows[:, [f for f, labels in enumerate(tree.categories) if labels is None]] += 0.0037
    scorer, rows = model.scorer(), tree.decode(rows)
    best = np.full(len(rows), np.inf)
    for _ in range(_ROUNDS):
        for i, row in enumerate(rows):
            start = time.perf_counter()
            scorer(row)
            best[i] = min(best[i], time.perf_counter() - start)
    return best.mean() * 1e6, best.max() * 1e6


if __name__ == "__main__":
    main()
