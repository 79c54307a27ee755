"""False alarms and expected accuracy of audits under simulated shifts: python -m benchmarks.audit.

Simulated data with a known relation between attributes and outcome, shifted in five ways. Options:
--repeats (audits per shift), --resamples (audits of unshifted data).
"""

import argparse

import numpy as np
import pandas as pd
from rich.progress import track

import keeptree as kt
from keeptree.terminal import make_table, open_console

N_TRAIN, N_NEW = 2000, 1000


def draw(rng, n, *, centre=0.0, prior=None, concept=False):
    """Rows and outcomes; by default as in training.

    ``centre`` moves two attributes (covariate shift), ``prior`` is the share of positive outcomes
    (label shift), ``concept`` turns the effect of an attribute around (concept shift).
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
    """A column whose labels were renamed upstream."""
    return X.assign(job=X["job"].replace({"office": "OFFICE"}))


def stick(X):
    """A sensor that is stuck at one value for half of the cases."""
    return X.assign(a=X["a"].where(np.arange(len(X)) % 2 == 0, 0.0))


# Shift -> options of draw, and what is done to the rows afterwards.
SHIFTS = {
    "none": ({}, None),
    "covariate, mild": ({"centre": 0.5}, None),
    "covariate, strong": ({"centre": 1.0}, None),
    "label (30 % positive)": ({"prior": 0.3}, None),
    "concept": ({"concept": True}, None),
    "recoded column": ({}, recode),
    "stuck sensor": ({}, stick),
}


def fit(rng, seed):
    """A model on a fresh training sample."""
    X, y = draw(rng, N_TRAIN)
    return kt.KeptTreeClassifier(kt.C45Classifier(min_samples_leaf=20)).fit(X, y)


def study(repeats, seed=0):
    """Rows of the table: shift, error of the expected accuracy, share of alarms."""
    rng = np.random.default_rng(seed)
    found = {name: [] for name in SHIFTS}
    for k in track(range(repeats), "Shifts"):
        model = fit(rng, k)
        for name, (options, change) in SHIFTS.items():
            X, y = draw(rng, N_NEW, **options)
            X = X if change is None else change(X)
            blind, seeing = kt.audit(model, X), kt.audit(model, X, y)
            error = blind.expected.accuracy - seeing.realised.accuracy
            inside = blind.expected.low <= seeing.realised.accuracy <= blind.expected.high
            alarms = (blind.drift, blind.inaccurate, seeing.inaccurate)
            found[name].append((seeing.realised.accuracy, error, abs(error), inside, *alarms))
    return {name: np.mean(values, axis=0) for name, values in found.items()}


def false_alarms(resamples, seed=1):
    """Share of audits of unshifted data with an alarm: without outcomes, and with them."""
    rng = np.random.default_rng(seed)
    alarms = []
    model = None
    for k in track(range(resamples), "Unshifted"):
        if k % 10 == 0:
            model = fit(rng, k)
        X, y = draw(rng, N_NEW)
        results = kt.audit(model, X), kt.audit(model, X, y)
        alarms.append([result.drift or result.inaccurate for result in results])
    return np.mean(alarms, axis=0)


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--resamples", type=int, default=200)
    options = parser.parse_args()
    rows = []
    for name, means in study(options.repeats).items():
        realised, error, size, inside, *alarms = means
        figures = [
            f"{100 * value:+.1f}" if k == 1 else f"{100 * value:.1f}"
            for k, value in enumerate((realised, error, size))
        ]
        rows.append([name, *figures, *(f"{100 * share:.0f}" for share in (inside, *alarms))])
    head = ["Shift", "Right", "Error", "Size", "Inside", "Drift", "Accuracy", "with outcomes"]
    console = open_console()
    console.print(f"\n{options.repeats} models, {N_TRAIN} training and {N_NEW} new cases; in %.\n")
    console.print(make_table(head, rows))
    console.print(
        "\nRight: decisions of the tree. Error: expected accuracy minus that, and its mean size; "
        "Inside: how often the interval holds it. Then how often each alarm went off: drift and "
        "accuracy without outcomes, accuracy with them."
    )
    blind, seeing = false_alarms(options.resamples)
    console.print(
        f"\nFalse alarms in {options.resamples} audits of unshifted data: {100 * blind:.1f} % "
        f"without outcomes, {100 * seeing:.1f} % with them.\n"
    )


if __name__ == "__main__":
    main()
