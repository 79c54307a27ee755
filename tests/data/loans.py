"""A table of loans with every kind of column, for tests of data files."""

import numpy as np
import pandas as pd

import keeptree as kt


def draw(n=400, seed=0):
    """Return loans with missing values, categories that look like numbers, and a boolean."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": rng.gamma(2, 20_000, n) / 3,
            "area": rng.choice(["01", "2", "x3"], n),
            "owner": rng.random(n) < 0.5,
            "id": [f"case {i}" for i in range(n)],
        }
    )
    score = 0.05 * (frame["age"] - 50) + 2 * (frame["area"] == "2") + rng.normal(size=n)
    frame["risk"] = np.where(score > 0.5, "high", "low")
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    return frame


def write_files(folder):
    """Write loans.csv, loans.parquet, and train.csv, which lacks the identifier."""
    frame = draw()
    frame.to_csv(folder / "loans.csv", index=False)
    frame.to_parquet(folder / "loans.parquet")
    frame.drop(columns="id").to_csv(folder / "train.csv", index=False)
    return folder


def fit_model(folder):
    return kt.fit_file(folder / "train.csv", "risk", method="smoothed", nominal=["area"])


def read(path):
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, float_precision="round_trip")
