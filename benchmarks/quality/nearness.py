"""How many cases lie near the boundary? python -m benchmarks.quality.nearness, for docs/quality.md.

The tables are drawn to resemble the passengers of the Titanic and a bank's telephone campaign, with
counts, whole years and amounts of money. For C4.5's tree, the output shows the share of held-out
cases at distance 0, measured to the thresholds and on the grid. It also shows how many cases are
near: the nearest twentieth with all ties, and those that a report selects after it breaks ties.
"""

import warnings

import numpy as np
import pandas as pd

import keeptree as kt
from benchmarks.quality.summary import markdown
from keeptree.explanation.subject import boundary_of
from keeptree.reporting.held_out import NEAREST_SHARE, hold_out_cases


def passengers(n, rng):
    """Return class, sex, age, siblings, parents and children, and fare; the target is survival."""
    level, male = rng.choice([1, 2, 3], n, p=[0.24, 0.21, 0.55]), rng.random(n) < 0.65
    age = np.clip(rng.normal(30, 14, n), 0.5, 80).round()
    siblings = rng.choice(6, n, p=[0.68, 0.23, 0.04, 0.02, 0.02, 0.01])
    parents = rng.choice(6, n, p=[0.76, 0.13, 0.09, 0.01, 0.005, 0.005])
    fare = (np.exp(rng.normal(4.2 - 0.75 * level, 0.5, n)) + 4 * (siblings + parents)).round(2)
    score = 2.2 - 2.7 * male - 0.9 * (level - 1) - 0.02 * age - 0.4 * siblings - 0.2 * parents
    y = rng.random(n) < 1 / (1 + np.exp(-score - 0.9))
    columns = {"Pclass": level, "male": male, "Age": age, "SibSp": siblings, "Parch": parents}
    return pd.DataFrame({**columns, "Fare": fare}).astype(float), y.astype(int)


def customers(n, rng):
    """Return age, balance and the history of calls; the target is whether the customer agreed."""
    columns = {
        "age": np.clip(rng.normal(41, 11, n), 18, 95).round(),
        "balance": (np.exp(rng.normal(6, 1.3, n)) - 200).round(),
        "day": rng.integers(1, 32, n),
        "duration": np.exp(rng.normal(5.2, 0.9, n)).round(),
        "campaign": 1 + rng.geometric(0.4, n),
        "pdays": np.where(rng.random(n) < 0.82, -1, rng.integers(1, 400, n)),
        "previous": rng.geometric(0.6, n) - 1,
    }
    X = pd.DataFrame(columns).astype(float)
    score = 0.004 * X.duration + 1.2 * (X.pdays > 0) - 0.15 * X.campaign - 3.2
    return X, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


TABLES = {"passengers": (passengers, 1309, 436), "customers": (customers, 45211, 15071)}


def main():
    warnings.simplefilter("ignore")
    table = []
    for name, (draw, n, n_test) in TABLES.items():
        X, y = draw(n, np.random.default_rng(0))
        model = kt.SmoothedTreeClassifier(kt.C45Classifier(), strength=1)
        model.fit(X[n_test:], y[n_test:])
        papers = kt.Boundary(model.tree_).fit(X[n_test:])
        for title, boundary in (("thresholds", papers), ("grid", boundary_of(model))):
            held = hold_out_cases(model, boundary, X[:n_test])
            last = np.sort(held.distance)[int(np.ceil(NEAREST_SHARE * n_test)) - 1]
            table.append(
                {
                    "table": f"{name} ({n_test:,} held out)",
                    "measured": title,
                    "at distance 0": f"{(held.distance == 0).mean():.1%}",
                    "as near as the nearest twentieth": f"{(held.distance <= last).sum():,}",
                    "near in a report": f"{held.near.sum():,}",
                }
            )
    print(markdown(pd.DataFrame(table), index=False))


if __name__ == "__main__":
    main()
