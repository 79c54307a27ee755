"""How does quality depend on the size of the sample? ``python -m benchmarks.samples``

A table of synthetic rows (ten million by default) is written as Parquet. The kept tree is a
scikit-learn tree grown on 10,000 other rows. ``kt.fit_table`` counts all rows and learns from
samples of increasing size; each model is measured on 200,000 fresh rows.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from pyarrow import dataset
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

COLUMNS = [f"x{j}" for j in range(6)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--samples", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    options = parser.parse_args()
    start = draw(10_000, seed=0)
    clf = DecisionTreeClassifier(max_leaf_nodes=30, min_samples_leaf=20, random_state=0)
    clf.fit(start[COLUMNS], start["y"])
    fresh = draw(200_000, seed=1)
    print("| model | sample | log-loss | AUC | fit, s of processor |\n|---|---|---|---|---|")
    tell("the tree's own leaves", "10,000", clf, fresh, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        for number, n in enumerate(pieces(options.rows)):
            draw(n, seed=2 + number).to_parquet(Path(folder) / f"{number:04d}.parquet")
        for sample in options.samples:
            begin = time.process_time()
            model = kt.fit_table(
                kt.KeptTreeClassifier(clf), dataset.dataset(folder), "y", sample=sample
            )
            seconds = time.process_time() - begin
            tell(f"kept, {options.rows:,} rows counted", f"{sample:,}", model, fresh, seconds)


def pieces(rows, most=500_000):
    """Return the number of rows of each file."""
    return [min(most, rows - first) for first in range(0, rows, most)]


def draw(n, seed):
    """Return rows whose class depends on smooth functions, an interaction and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(COLUMNS)))
    logit = 1.5 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5
    return pd.DataFrame(X, columns=COLUMNS).assign(y=rng.random(n) < 1 / (1 + np.exp(-logit)))


def tell(name, sample, model, fresh, seconds):
    p = model.predict_proba(fresh[COLUMNS])[:, 1]
    quality = f"{log_loss(fresh['y'], p):.4f} | {roc_auc_score(fresh['y'], p):.4f}"
    print(f"| {name} | {sample} | {quality} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
