"""Tables for the export tests."""

import numpy as np
import pandas as pd

HOSTILE = ["label", "kt0", 'a "quoted"; DROP', "naïve\n<b>"]


def hostile_table(n=600):
    """Return numbers and categories with missing values and odd names, and three odd labels."""
    rng = np.random.default_rng(0)
    columns = [
        rng.normal(size=n),
        rng.choice(["red", "blue", 'gr"een', ""], n),
        rng.integers(0, 9, n).astype(float),
        rng.choice(["s", "m", "l"], n),
    ]
    X = pd.DataFrame(dict(zip(HOSTILE, columns, strict=True)))
    y = np.where((columns[0] > 0.3) ^ (columns[1] == "red"), "yes", "no; '\"")
    y = np.where((columns[2] > 5) & (columns[3] == "m"), "", y)
    for column in HOSTILE[:3]:
        X.loc[rng.random(n) < 0.1, column] = None
    return X, y
