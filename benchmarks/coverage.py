"""Coverage of class sets and intervals where the truth is known: python -m benchmarks.coverage.

Each problem has its own relation between attributes and classes, its own class shares and its own
sample. Options: --problems, --coverage.
"""

import argparse

import numpy as np
from rich.progress import track
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.terminal import make_table, open_console

N_TRAIN, N_NEW = 1200, 4000
GROUPS = 10  # of new cases with similar probabilities


def draw_problem(seed):
    """A function that draws cases, classes and their true probabilities."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 5))
    weights = rng.normal(size=(6, n_classes)) * rng.uniform(0.3, 1.2)
    bends = rng.normal(size=(6, n_classes)) * (rng.random((6, n_classes)) < 0.3)
    start = -rng.exponential(1.0, n_classes)  # some classes are rare

    def draw(n):
        X = rng.normal(size=(n, 6))
        logits = X @ weights + np.abs(X) @ bends + start
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        y = (rng.random(n)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
        return X, y, p

    return draw


def models_of(draw):
    """Two calibrated models: out of fold, and on a held-out third."""
    X, y, _ = draw(N_TRAIN)
    learner = DecisionTreeClassifier(max_leaf_nodes=15, random_state=0)
    yield "kept, out of fold", kt.KeptTreeClassifier(learner).fit(X, y)
    fit, held_out = slice(0, 2 * N_TRAIN // 3), slice(2 * N_TRAIN // 3, None)
    known = np.unique(y[fit])
    rows = np.flatnonzero(np.isin(y[held_out], known))
    model = kt.KeptTreeClassifier(learner).fit(X[fit], y[fit])
    yield "kept, held out", model.calibrate(X[held_out][rows], y[held_out][rows])


def set_rows(model, X, y, coverage):
    """For each class: the share covered, and its standard error."""
    sets = model.predict_set(X, coverage)
    for c, label in enumerate(model.classes_):
        cases, known = (y == label).sum(), model.calibration_.cases[c]
        if cases >= 50 and known >= 20:
            error = np.sqrt(coverage * (1 - coverage) * (1 / cases + 1 / known))
            yield sets[y == label, c].mean(), error, sets.sum(axis=1).mean()


def interval_rows(model, X, truth, coverage):
    """For groups of similar probabilities: whether the interval holds their mean true one."""
    p, ends = model.predict_proba(X), model.predict_interval(X, coverage)
    for c, label in enumerate(model.classes_):
        for part in np.array_split(np.argsort(p[:, c]), GROUPS):
            low, high = ends[part, c].mean(axis=0)
            yield low <= truth[part, int(label)].mean() <= high, high - low


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--coverage", type=float, default=0.9)
    options = parser.parse_args()
    sets, intervals = {}, {}
    for seed in track(range(options.problems), "Problems"):
        draw = draw_problem(seed)
        X, y, truth = draw(N_NEW)
        for name, model in models_of(draw):
            sets.setdefault(name, []).extend(set_rows(model, X, y, options.coverage))
            intervals.setdefault(name, []).extend(interval_rows(model, X, truth, options.coverage))
    rows = []
    for name, found in sets.items():
        covered, error, size = np.array(found).T
        within = np.abs(covered - options.coverage) <= 2 * error
        short = covered < options.coverage - 2 * error
        inside, width = np.array(intervals[name], dtype=float).T
        rows.append(
            [
                name,
                f"{len(covered)}",
                f"{100 * covered.mean():.1f}",
                f"{100 * covered.min():.1f}",
                f"{100 * within.mean():.0f}",
                f"{100 * short.mean():.0f}",
                f"{size.mean():.2f}",
                f"{100 * inside.mean():.0f}",
                f"{width.mean():.3f}",
            ]
        )
    console = open_console()
    console.width = max(console.width, 110)
    head = ["", "Classes", "Covered", "Least", "Within 2 SE", "Short", "Size", "Inside"]
    console.print(
        f"\n{options.problems} problems, {N_TRAIN} cases to learn from and {N_NEW} new ones; "
        f"sets that promise {100 * options.coverage:.0f} % of each class; in %.\n"
    )
    console.print(make_table([*head, "Width"], rows))
    console.print(
        "\nWithin 2 SE: classes whose coverage is within two standard errors of the promise; "
        "Short: below that.\nSize: classes in a set. Inside: tenths of the cases, by probability, "
        "whose mean true probability\nlies in their mean interval; Width: of that interval.\n"
    )


if __name__ == "__main__":
    main()
