"""Measure audits under simulated shifts: python -m benchmarks.audit.

The data are simulated, with a known relation between attributes and outcome, and shifted in several
ways. The tables show the expected accuracy and how often an audit raises an alarm. Options:
--repeats (audits per shift), --resamples (audits of unshifted data, and files scored with
``predict --strict``). If NannyML is installed, it monitors the same models for comparison. Its
version 0.13.1 also needs statsmodels, which it does not declare. Use a separate environment.
"""

import argparse
import importlib.util
import os
import warnings
from collections import Counter

import numpy as np
import pandas as pd
from rich.progress import track

import keeptree as kt
from keeptree.terminal import make_table, open_console

N_TRAIN, N_NEW = 2000, 1000
N_CHUNKS = 10  # number of batches of N_NEW held-out cases with outcomes, as a reference for NannyML


def draw(rng, n, *, centre=0.0, prior=None, concept=False):
    """Return rows and outcomes, by default as in training.

    ``centre`` moves two attributes (covariate shift), ``prior`` is the share of positive outcomes
    (label shift), ``concept`` reverses the effect of an attribute (concept shift).
    """
    most = n if prior is None else 8 * n
    X = pd.DataFrame(rng.normal(size=(most, 6)), columns=list("abcdef"))
    X[["a", "b"]] += centre
    X["job"] = rng.choice(["craft", "none", "office"], most, p=[0.3, 0.2, 0.5])
    effect = -X["b"] if concept else X["b"]
    score = 1.5 * X["a"] + effect * (X["c"] > 0) - 0.7 * X["d"] + (X["job"] == "office") - 0.5
    y = (rng.random(most) < 1 / (1 + np.exp(-score))).astype(int)
    if prior is not None:
        positive = round(prior * n)
        rows = [np.flatnonzero(y == c)[:k] for c, k in ((1, positive), (0, n - positive))]
        chosen = rng.permutation(np.concatenate(rows))
        X, y = X.iloc[chosen].reset_index(drop=True), y[chosen]
    return X, y


def recode(X):
    """Return the rows with the labels of one column renamed, as after a change upstream."""
    return X.assign(job=X["job"].replace({"office": "OFFICE"}))


def stick(X):
    """Return the rows with one column stuck at one value for half of the cases."""
    return X.assign(a=X["a"].where(np.arange(len(X)) % 2 == 0, 0.0))


def change_units(X):
    """Return the rows with one column in other units for a fifth of the cases."""
    return X.assign(a=X["a"].where(np.arange(len(X)) % 5 > 0, 100 * X["a"]))


def change_all_units(X):
    """Return the rows with one column in other units."""
    return X.assign(a=100 * X["a"])


# Shift -> options of draw, and a change applied to the rows afterwards.
SHIFTS = {
    "none": ({}, None),
    "covariate, mild": ({"centre": 0.5}, None),
    "covariate, strong": ({"centre": 1.0}, None),
    "covariate, extreme": ({"centre": 2.0}, None),
    "label (30% positive)": ({"prior": 0.3}, None),
    "concept": ({"concept": True}, None),
    "recoded column": ({}, recode),
    "stuck sensor": ({}, stick),
    "other units in a fifth": ({}, change_units),
    "other units": ({}, change_all_units),
}


def fit(rng):
    """Return a model fitted to a fresh training sample."""
    X, y = draw(rng, N_TRAIN)
    return kt.KeptTreeClassifier(kt.C45Classifier(min_samples_leaf=20)).fit(X, y)


class NannyML:
    """NannyML's accuracy estimate and univariate drift detection for one of our models."""

    def __init__(self, model, rng):
        # NannyML sends usage reports otherwise.
        os.environ["NML_DISABLE_USAGE_LOGGING"] = "1"
        import nannyml

        # It expects several chunks; an audit is one.
        warnings.filterwarnings("ignore", "The resulting number of chunks is too low")
        self.model = model
        X, y = draw(rng, N_CHUNKS * N_NEW)
        options = {"chunk_size": N_NEW}
        self.accuracy = nannyml.CBPE(
            metrics=["accuracy"],
            y_pred_proba="p",
            y_pred="decision",
            y_true="y",
            problem_type="classification_binary",
            **options,
        ).fit(self._table(X, y))
        self.drift = nannyml.UnivariateDriftCalculator(
            column_names=list(X),
            continuous_methods=["kolmogorov_smirnov"],
            categorical_methods=["chi2"],
            **options,
        ).fit(X)

    def audit(self, X):
        """Return the expected accuracy, and whether a column or that accuracy raises an alarm."""
        found = self.accuracy.estimate(self._table(X)).filter(period="analysis").to_df()
        moved = self.drift.calculate(X).filter(period="analysis").to_df()
        alerts = [bool(moved[name].iloc[0]) for name in moved.columns if name[-1] == "alert"]
        figures = found["accuracy"].iloc[0]
        return float(figures["value"]), any(alerts), bool(figures["alert"])

    def _table(self, X, y=None):
        table = X.assign(p=self.model.predict_proba(X)[:, 1], decision=self.model.predict(X))
        return table if y is None else table.assign(y=y)


def watch(model, rng):
    """Return NannyML for a model, or None if it is not installed."""
    return NannyML(model, rng) if importlib.util.find_spec("nannyml") else None


def study(repeats, seed=0):
    """Return, by shift, the means of our figures and of NannyML's, and counts of what has aged."""
    found, theirs = ({name: [] for name in SHIFTS} for _ in range(2))
    aged = {name: Counter() for name in SHIFTS}
    for k in track(range(repeats), "Shifts"):
        rng, other = (np.random.default_rng([seed, k, part]) for part in range(2))
        model = fit(rng)
        nanny = watch(model, other)
        for name, (options, change) in SHIFTS.items():
            X, y = draw(rng, N_NEW, **options)
            X = X if change is None else change(X)
            blind, seeing = kt.audit(model, X), kt.audit(model, X, y)
            error = blind.expected.accuracy - seeing.realised.accuracy
            inside = blind.expected.low <= seeing.realised.accuracy <= blind.expected.high
            doubts = (blind.expected.beyond, not blind.expected.trusted)
            alarms = (blind.drift, blind.inaccurate, seeing.inaccurate)
            found[name].append(
                (seeing.realised.accuracy, error, abs(error), inside, *doubts, *alarms)
            )
            aged[name][seeing.aged or "nothing"] += 1
            if nanny is not None:
                expected, *alarms = nanny.audit(X)
                error = expected - seeing.realised.accuracy
                theirs[name].append((error, abs(error), *alarms))
    means = [
        {name: np.mean(values, axis=0) for name, values in rows.items() if values}
        for rows in (found, theirs)
    ]
    return *means, aged


def false_alarms(resamples, seed=1):
    """Return the share of audits of unshifted data that raise an alarm.

    The three figures are without outcomes, with outcomes, and NannyML's.
    """
    alarms = []
    model = nanny = None
    for k in track(range(resamples), "Unshifted"):
        if k % 10 == 0:
            rng, other = (np.random.default_rng([seed, k, part]) for part in range(2))
            model = fit(rng)
            nanny = watch(model, other)
        X, y = draw(rng, N_NEW)
        results = kt.audit(model, X), kt.audit(model, X, y)
        ours = [result.drift or result.inaccurate for result in results]
        alarms.append([*ours, np.nan if nanny is None else any(nanny.audit(X)[1:])])
    return np.mean(alarms, axis=0)  # the last is NaN without NannyML


def refused_files(resamples, n_train, n_new, seed=2):
    """Return the shares of unshifted files that ``predict --strict`` refuses and that have values
    outside the training range; a twentieth of the numbers is missing.
    """
    found = []
    for k in track(range(resamples), f"Strict, {n_train:,} and {n_new:,} rows"):
        if k % 10 == 0:
            rng = np.random.default_rng([seed, n_train, n_new, k])
            X, y = draw(rng, n_train)
            learner = kt.C45Classifier(min_samples_leaf=20)
            model = kt.SmoothedTreeClassifier(learner).fit(make_gaps(X, rng), y)
        new = kt.unfamiliar(model, make_gaps(draw(rng, n_new)[0], rng))
        found.append([new.unexpected, any(column.outside for column in new.columns)])
    return np.mean(found, axis=0)


def make_gaps(X, rng, share=0.05):
    """Return the rows with a share of the numbers missing at random."""
    numbers = X.select_dtypes("number")
    return X.assign(**numbers.mask(rng.random(numbers.shape) < share))


def main():
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--resamples", type=int, default=200)
    options = parser.parse_args()
    rows = []
    ours, theirs, aged = study(options.repeats)
    for name, means in ours.items():
        realised, error, size, *shares = means
        figures = [
            f"{100 * value:+.1f}" if k == 1 else f"{100 * value:.1f}"
            for k, value in enumerate((realised, error, size))
        ]
        rows.append([name, *figures, *(f"{100 * share:.0f}" for share in shares)])
    head = ["Shift", "Right", "Error", "Size", "Inside", "Beyond", "Doubt", "Drift", "Accuracy"]
    head.append("with outcomes")
    console = open_console()
    console.width = max(console.width, 110)
    console.print(f"\n{options.repeats} models, {N_TRAIN} training and {N_NEW} new cases; in %.\n")
    console.print(make_table(head, rows))
    console.print(
        "\nRight: decisions of the tree. Error: expected accuracy minus that, and its mean size; "
        "Inside: how often the interval holds it. Beyond: cases beyond the training sample; Doubt: "
        "how often the expected accuracy is not trusted. Then how often each alarm went off: drift "
        "and accuracy without outcomes, accuracy with them."
    )
    console.print("\nWhat has aged according to the outcomes (number of audits):\n")
    kinds = ["nothing", "cases", "classes", "estimate", "tree"]
    rows = [[name, *(str(found[kind]) for kind in kinds)] for name, found in aged.items()]
    console.print(make_table(["Shift", *kinds], rows))
    if theirs:
        rows = [
            [name, f"{100 * error:+.1f}", f"{100 * size:.1f}", *(f"{100 * s:.0f}" for s in alarms)]
            for name, (error, size, *alarms) in theirs.items()
        ]
        console.print("\nNannyML on the same probabilities and decisions, without outcomes:\n")
        console.print(make_table(["Shift", "Error", "Size", "Drift", "Accuracy"], rows))
    blind, seeing, nanny = false_alarms(options.resamples)
    console.print(
        f"\nFalse alarms in {options.resamples} audits of unshifted data: {100 * blind:.1f}% "
        f"without outcomes, {100 * seeing:.1f}% with them; "
        + ("NannyML is not installed.\n" if np.isnan(nanny) else f"NannyML {100 * nanny:.1f}%.\n")
    )
    sizes = [(1000, 1000), (1000, 20_000), (10_000, 1000)]
    rows = [
        [f"{n_train:,}", f"{n_new:,}", *(f"{100 * share:.1f}" for share in shares)]
        for n_train, n_new in sizes
        for shares in [refused_files(options.resamples, n_train, n_new)]
    ]
    console.print(f"\n{options.resamples} unshifted files with six numeric columns; in %.\n")
    console.print(make_table(["Training", "New", "Refused by --strict", "A value outside"], rows))


if __name__ == "__main__":
    main()
