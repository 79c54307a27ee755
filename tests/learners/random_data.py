"""Small random tables that trigger J48's rare rules: ties, close values, many categories, NaN."""

import numpy as np
import pandas as pd


def random_table(seed, n_rows=(10, 120)):
    """Return (X, y, n_categories, n_classes): numbers and codes, NaN where missing."""
    random = np.random.default_rng(seed)
    n, d, n_classes = (int(random.integers(*bounds)) for bounds in (n_rows, (1, 7), (2, 5)))
    n_categories = [int(random.integers(1, 7)) * int(random.random() < 0.5) for _ in range(d)]
    if seed % 5 == 0:
        n_categories[random.integers(d)] = int(0.31 * n) + 1
    X = np.empty((n, d))
    for j, k in enumerate(n_categories):
        noise = random.normal(size=n)
        scale = random.choice([1.0, 10.0, 1e6])
        X[:, j] = random.integers(0, k, n) if k else np.round(noise * scale) / scale
        if not k and random.random() < 0.2:
            X[:, j] = np.round(noise, 2) * 1e-4
    score = X @ random.normal(size=d) / np.maximum(np.std(X), 1e-9) + random.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    X[random.random(X.shape) < random.choice([0, 0, 0.1, 0.4])] = np.nan
    return X, y, n_categories, n_classes + int(random.random() < 0.2)


def as_labels(n_categories):
    """Return the declared categories of each column: the codes themselves."""
    return tuple(tuple(range(k)) if k else None for k in n_categories)


def code_frame(X, n_categories):
    """Return a data frame with numeric columns, and with the codes as categorical columns."""
    columns = {}
    for j, k in enumerate(n_categories):
        codes = np.nan_to_num(X[:, j], nan=-1).astype(int)
        columns[f"a{j}"] = pd.Categorical.from_codes(codes, range(k)) if k else X[:, j]
    return pd.DataFrame(columns)
