"""Measure the cost of growing regression trees and NBTrees on one thread."""

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.tree import DecisionTreeRegressor

import keeptree as kt
from benchmarks.timing import best_times, print_table


def main():
    bench_regressor()
    bench_nbtree()


def bench_regressor():
    rows = []
    for n, d in ((100_000, 16), (10_000, 50)):
        X, y = make_friedman1(n, d, noise=1.0, random_state=0)
        for leaf in (1, 5, 50):
            ours = kt.TreeRegressor(leaf, min_samples_split=2)
            theirs = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0)
            own, other = best_times([(ours.fit, X, y), (theirs.fit, X, y)], repeats=3)
            name = f"{n} x {d}, {leaf} in a leaf"
            rows.append((name, f"{own:.2f} s", f"{other:.2f} s", f"{own / other:.2f}", "1"))
    columns = ("growing on numbers", "TreeRegressor", "scikit-learn", "ratio", "limit")
    print_table("TreeRegressor against DecisionTreeRegressor", columns, rows)


def bench_nbtree():
    rows = []
    rng = np.random.default_rng(0)
    for n, d in ((1_000, 16), (10_000, 16), (2_000, 50)):
        X = rng.normal(size=(n, d))
        y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
        model = kt.NBTreeClassifier(random_state=0).fit(X, y)
        fit, answer = best_times([(model.fit, X, y), (model.predict_proba, X)], repeats=3)
        leaves = str(model.get_n_leaves())
        rows.append((f"{n} x {d}", f"{fit:.2f} s", f"{answer / n * 1e9:.0f} ns", leaves))
    print_table("NBTreeClassifier", ("rows x columns", "fit", "answer per row", "leaves"), rows)


if __name__ == "__main__":
    main()
