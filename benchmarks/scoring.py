"""Measure the cost of probabilities, distances and nearest points, and compare it with peers."""

import time

import numpy as np
from imodels import HSTreeClassifierCV
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

import keeptree as kt
from benchmarks.timing import best_times, grown_tree, print_table

LIMITS = {(30, 2): 0.8, (100, 2): 0.8, (1000, 2): 2.0, (30, 3): 1.2, (100, 3): 1.2}


def main():
    probabilities()
    soft()
    geometry()
    threads()
    peers()


def probabilities():
    rows = []
    for (leaves, classes), limit in LIMITS.items():
        tree, X, y, new = grown_tree(leaves, classes)
        models = [
            kt.DistanceKernelClassifier(tree).fit(X, y),
            kt.DistanceKernelClassifier(tree, "separator").fit(X, y),
            kt.SmoothedTreeClassifier(tree).fit(X, y),
        ]
        base, *times = best_times([(m.predict_proba, new) for m in (tree, *models)])
        ratios = [f"{t / base:.2f}" for t in times]
        rows.append((f"{leaves} leaves, K = {classes}", ratios[0], f"{limit}", *ratios[1:]))
    columns = ("predict_proba, 1 thread, d = 30", "kernel global", "limit", "separator", "smoothed")
    print_table("Ratio to scikit-learn's predict_proba (lower is better)", columns, rows)


def soft():
    rows = []
    for leaves, classes in ((30, 2), (100, 2), (30, 3)):
        tree, X, y, new = grown_tree(leaves, classes)
        kept = kt.keep(tree)
        models = [kt.SoftTreeClassifier(kept).fit(X, y), kt.MarginTreeClassifier(kept).fit(X, y)]
        base, *times = best_times([(m.predict_proba, new) for m in (tree, *models)])
        limits = ("5", "15") if (leaves, classes) == (30, 2) else ("", "")
        soft_ratio, margin_ratio = (f"{t / base:.2f}" for t in times)
        cells = (soft_ratio, limits[0], margin_ratio, limits[1])
        rows.append((f"{leaves} leaves, K = {classes}", *cells))
    columns = ("predict_proba, 1 thread, d = 30", "soft", "limit", "margin", "limit")
    print_table("Ratio to scikit-learn's predict_proba", columns, rows)


def geometry():
    rows = []
    for leaves, classes in ((30, 2), (100, 2), (1000, 2), (100, 3), (10_000, 2)):
        tree, X, _, new = grown_tree(leaves, classes)
        b = kt.Boundary(tree).fit(X)

        def nearest_points(rows, b=b):
            return b.nearest(rows).point

        calls = [tree.predict_proba, b.distance, b.signed_distance, b.nearest, nearest_points]
        base, *times = best_times(
            [(call, new) for call in calls], repeats=3 if leaves > 1000 else 7
        )
        limit = "2" if leaves == 100 else ""
        *ratios, with_points = (f"{t / base:.2f}" for t in times)
        rows.append((f"{leaves} leaves, K = {classes}", *ratios, limit, with_points))
    columns = ("Boundary, float64, 1 thread", "distance", "signed", "nearest", "limit of nearest")
    columns += ("nearest and .point",)  # computed only on access
    print_table("Ratio to scikit-learn's predict_proba", columns, rows)


def threads():
    tree, X, y, new = grown_tree(100)
    new = np.tile(new, (5, 1))
    model = kt.DistanceKernelClassifier(tree).fit(X, y)
    both = [clone(model).set_params(n_jobs=n) for n in (1, 2)]
    for m in both:
        m.set_params(estimator=FrozenEstimator(tree)).fit(X, y)
    calls = [(m.predict_proba, new) for m in both]
    one, two = best_times(calls, repeats=9, clock=time.perf_counter)
    print_table(
        "Two threads on 1e6 rows, 100 leaves",
        ("", "faster than one", "at least"),
        [("DistanceKernelClassifier", f"{one / two:.2f} x", "1.6")],
    )


def peers():
    rows = []
    for leaves in (30, 100):
        tree, X, y, new = grown_tree(leaves)
        X, y = X[:20_000], y[:20_000]
        isotonic = CalibratedClassifierCV(FrozenEstimator(tree), method="isotonic").fit(X, y)
        five = CalibratedClassifierCV(clone(tree), method="isotonic", cv=5).fit(X, y)
        shrunk = HSTreeClassifierCV(estimator_=clone(tree), max_leaf_nodes=leaves).fit(X, y)
        models = [tree, kt.DistanceKernelClassifier(tree).fit(X, y), shrunk, isotonic, five]
        base, *times = best_times([(m.predict_proba, new) for m in models], repeats=5)
        rows.append((f"{leaves} leaves, K = 2", *(f"{t / base:.2f}" for t in times)))
    columns = ("peers", "kernel global", "imodels HSTree", "isotonic", "isotonic, cv = 5")
    print_table("Ratio to scikit-learn's predict_proba", columns, rows)


if __name__ == "__main__":
    main()
