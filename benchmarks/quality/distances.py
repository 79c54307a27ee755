"""How should distances be measured and used? python -m benchmarks.quality.distances

Two studies compare variants on the kept trees of the quality benchmark. ``grid``, for
docs/quality.md, measures distances to the threshold, as in the papers, or to the nearest possible
case (``grid="observed"``). It uses the sets whose trees test a column with a step. ``position``,
for docs/guide/probability.md, gives the distance kernel the distance alone, or also the position of
the projection along the boundary (``features="distance+separator"``).

The output shows the means of both variants, the number of sets on which the second wins and loses,
and the p-value of Wilcoxon's signed-rank test over the sets. The development half, on which the
defaults were chosen, and the confirmation half are shown separately.
"""

import argparse
import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

import keeptree as kt
from benchmarks.quality.data import catalogue, divide, load
from benchmarks.quality.measure import LEAST
from benchmarks.quality.methods import LEARNERS
from benchmarks.quality.summary import markdown
from keeptree.evaluation.ranking import auc

TREES = ("J48", "readable")
KERNELS = {
    "kernel": partial(kt.DistanceKernelClassifier, scope="global"),
    "separator-kernel": partial(kt.DistanceKernelClassifier, scope="separator"),
}
RANKS = {
    "rank": partial(kt.GeometricRankClassifier, scope="global"),
    "local-rank": partial(kt.GeometricRankClassifier, scope="local"),
}
STUDIES = {  # study -> (methods, parameters of the two variants)
    "grid": (KERNELS | RANKS, {"thresholds": {"grid": None}, "grid": {"grid": "observed"}}),
    "position": (
        KERNELS,
        {"distance": {"features": "distance"}, "and position": {"features": "distance+separator"}},
    ),
}


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.distances", description=__doc__
    )
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--half", choices=["development", "confirmation"], help="only this half")
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    entries = [e for e in catalogue().values() if e.group != "large"]
    entries = [e for e in entries if options.half in (None, e.half)]
    rows = []
    for at, entry in enumerate(entries, start=1):
        print(f"\r{at} of {len(entries)} sets", end="", file=sys.stderr, flush=True)
        for split in range(options.splits):
            for tree in TREES:
                rows += measure(options.study, entry, tree, split)
    print(file=sys.stderr)
    sets = pd.DataFrame(rows).groupby(["half", "tree", "method", "variant", "set"], sort=False)
    names = STUDIES[options.study][1]
    print(markdown(make_table(sets[["auc", "log_loss"]].mean(), names), index=False))


def measure(study, entry, kind, split):
    """Return the rows of one set, tree and split; none if a grid would change nothing."""
    data = load(entry.name, entry.collection)
    train, test = divide(data.y, split)
    X = data.X if kind == "J48" else pd.DataFrame(data.numbers)
    part = X.iloc[train], data.y[train]
    tree = LEARNERS[kind]().fit(*part)
    if study == "grid" and not _tests_a_step(tree, part):
        return
    methods, variants = STUDIES[study]
    for method, model in methods.items():
        for name, parameters in variants.items():
            fitted = model(tree, **parameters).fit(*part)
            yield {
                "half": entry.half,
                "tree": kind,
                "method": method,
                "variant": name,
                "set": entry.name,
                **score(fitted, X.iloc[test], data.y[test]),
            }


def _tests_a_step(tree, part):
    return kt.SmoothedTreeClassifier(tree, strength=1).fit(*part).observed_.step.any()


def score(model, X, y):
    """Return the AUC and, if the model has probabilities, the log-loss."""
    if not hasattr(model, "predict_proba"):
        values = model.decision_function(X)
        values = np.column_stack([-values, values]) if values.ndim == 1 else values
        return {"auc": auc(y, values, model.classes_), "log_loss": np.nan}
    p = model.predict_proba(X)
    own = p[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return {"auc": auc(y, p, model.classes_), "log_loss": -np.log(np.maximum(own, LEAST)).mean()}


def make_table(sets, names):
    """Return one row per half, tree, method and measure: the second variant against the first."""
    table = []
    first, second = names
    for (half, tree, method), own in sets.groupby(level=[0, 1, 2], sort=False):
        before, after = (own.xs(name, level="variant") for name in names)
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
