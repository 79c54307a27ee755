"""Measure the cost of scoring with ConfDTree, as a ratio and per visited node."""

import warnings

import numpy as np

import keeptree as kt
from benchmarks.timing import best_times, grown_tree, print_table

LIMIT = 30  # ratio to scikit-learn's predict_proba at 30 leaves


def main():
    warnings.filterwarnings("ignore", "No test of the tree can be checked")
    ratios = []
    for leaves, classes in ((30, 2), (30, 5), (100, 2), (1000, 2), (1000, 5)):
        tree, X, y, new = grown_tree(leaves, classes, n_rows=100_000)
        for interval in ("normal", "t", "combined"):
            # minimum="class" checks more nodes than the paper does, and so costs more.
            model = kt.ConfDTreeClassifier(tree, interval, options={"minimum": "class"}).fit(X, y)
            base, time = best_times([(m.predict_proba, new) for m in (tree, model)], repeats=5)
            visits = model.walk_.correct(new, np.empty((len(new), classes)))[1].mean()
            ratios.append(
                (
                    f"{leaves} leaves, K = {classes}, {interval}",
                    f"{time / base:.1f}",
                    str(LIMIT) if leaves == 30 else "",
                    f"{visits:.0f}",
                    f"{1e9 * time / len(new) / visits:.0f} ns",
                )
            )
    columns = ("ConfDTree, 1e5 rows, 1 thread", "ratio", "limit", "nodes a row visits", "per node")
    print_table("Ratio to scikit-learn's predict_proba (lower is better)", columns, ratios)


if __name__ == "__main__":
    main()
