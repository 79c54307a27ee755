"""Measure the cost of fitting the distance kernel to a million rows."""

import keeptree as kt
from benchmarks.timing import best_times, grown_tree, print_table


def main():
    rows = []
    for classes in (2, 3):
        tree, X, y, _ = grown_tree(100, classes, n_train=1_000_000, n_rows=1)
        for scope in ("global", "separator"):
            model = kt.DistanceKernelClassifier(tree, scope)
            base, fit = best_times([(tree.predict_proba, X), (model.fit, X, y)], repeats=3)
            limit = "5" if scope == "global" else ""
            rows.append((f"{scope}, K = {classes}", f"{fit / base:.2f}", limit))
    columns = ("fit on 1e6 x 30, 100 leaves", "ratio", "limit")
    print_table("Ratio to scikit-learn's predict_proba over the same rows", columns, rows)


if __name__ == "__main__":
    main()
