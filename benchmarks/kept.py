"""KeptTreeClassifier: what scoring and fitting cost, and what the cap on landmarks loses."""

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss, roc_auc_score

import keeptree as kt
from benchmarks.timing import best_times, grown_tree, print_table
from keeptree.probability.kernel_expert import MOST_LANDMARKS, fit_kernel


def main():
    scoring()
    fitting()
    landmarks()


def scoring():
    """The same kept tree with the experts of a small and of a large sample."""
    rows = []
    tree, X, y, new = grown_tree(30, n_rows=50_000)
    kept = kt.keep(tree)
    for n_train in (10_000, 100_000):
        sample = X[:n_train], y[:n_train]
        models = [
            kt.SoftTreeClassifier(kept).fit(*sample),
            kt.MarginTreeClassifier(kept).fit(*sample),
            kt.KeptTreeClassifier(kept).fit(*sample),
        ]
        base, *times = best_times([(m.predict_proba, new) for m in (tree, *models)], repeats=5)
        ratios = [f"{t / base:.1f}" for t in times]
        rows.append((f"{n_train:,} training rows", *ratios, f"{times[-1] / len(new) * 1e6:.2f}"))
    rows.append(("limit", "5", "15", "60", ""))
    columns = ("30 leaves, d = 30, K = 2, 1 thread", "soft", "margin", "kept", "kept, µs a row")
    print_table("Ratio to scikit-learn's predict_proba", columns, rows)


def fitting():
    tree, X, y, _ = grown_tree(30, n_train=100_000, n_rows=1)
    calibrated = CalibratedClassifierCV(clone(tree), cv=5)
    kept = kt.KeptTreeClassifier(tree)
    calls = [(calibrated.fit, X, y), (kept.fit, X, y)]
    base, fit = best_times(calls, repeats=1)
    weight = np.ones(len(y))
    (kernel,) = best_times([(fit_kernel, kept.tree_, X, y, weight)], repeats=1)
    row = ("KeptTreeClassifier", f"{fit / base:.2f}", "3, and the kernel", f"{kernel / base:.2f}")
    columns = ("fit on 1e5 x 30, 30 leaves", "ratio", "limit", "of it the kernel")
    print_table("Ratio to CalibratedClassifierCV(tree, cv=5)", columns, [row])


def landmarks():
    """What the kernel expert, and the pool with it, lose by the cap on landmarks."""
    rows = []
    for n_classes in (2, 4):
        tree, X, y, _ = grown_tree(30, n_classes, n_train=20_000, n_rows=2)
        half = len(y) // 2
        kept = kt.keep(clone(tree).fit(X[:half], y[:half]))
        model = kt.KeptTreeClassifier(kept).fit(X[:half], y[:half])
        for most in (MOST_LANDMARKS // 4, MOST_LANDMARKS, 4 * MOST_LANDMARKS, half):
            kernel = fit_kernel(kept, X[:half], y[:half], np.ones(half), most=most)
            model.kernel_ = kernel
            alone = np.empty((len(y) - half, n_classes))
            kernel.probability(X[half:], alone)
            cells = [
                cell for p in (alone, model.predict_proba(X[half:])) for cell in scores(y[half:], p)
            ]
            rows.append((f"K = {n_classes}, {most:,} landmarks", *cells))
    columns = ("10 000 training rows", "kernel AUC", "log-loss", "kept AUC", "log-loss")
    print_table("What the cap on landmarks costs", columns, rows)


def scores(y, p):
    auc = roc_auc_score(y, p[:, 1] if p.shape[1] == 2 else p, multi_class="ovr")
    return f"{auc:.4f}", f"{log_loss(y, p):.4f}"


if __name__ == "__main__":
    main()
