"""Study questions that the ConfDTree paper leaves open: python -m benchmarks.confdtree_open.

Prints two tables for docs/guide/confdtree.md, on the numeric sets of the quality benchmark with J48
trees and a third of the cases held out. For the first table, a fifth of the test values are
removed, and a case with a missing value is divided among the children as in C4.5 or by its other
attributes. The second table compares bagging with and without correction of its members.
"""

import argparse
import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import BaggingClassifier

import keeptree as kt
from benchmarks.quality.data import catalogue, divide, load
from benchmarks.quality.distances import score
from benchmarks.quality.summary import markdown

REMOVED = 0.2
MEMBERS = 10
LAPLACE = {"smoothing": "laplace"}
SETTINGS = {  # interval and options of a correction; the first entry is the baseline for the others
    "C4.5's shares, no correction": None,
    "C4.5's shares": ("normal", {**LAPLACE}),
    "other attributes": ("normal", {**LAPLACE, "missing": "others"}),
}
BAGS = {
    "no correction": None,
    "normal interval": ("normal", {**LAPLACE}),
    "the paper's settings": ("combined", {}),
}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.confdtree_open")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--most", type=int, default=2000, help="leave out sets with more cases")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    entries = [e for e in catalogue().values() if e.group == "numeric"]
    entries = [e for e in entries if len(load(e.name, e.collection).y) <= options.most]
    missing, bags = [], []
    for at, entry in enumerate(entries, start=1):
        print(f"\r{at} of {len(entries)} sets", end="", file=sys.stderr, flush=True)
        for split in range(options.splits):
            data = load(entry.name, entry.collection)
            train, test = divide(data.y, split)
            part = data.X.iloc[train], data.y[train]
            rows = data.X.iloc[test], data.y[test]
            tree = kt.C45Classifier().fit(*part)
            gone = np.random.default_rng(split).random(rows[0].shape) < REMOVED
            holes = rows[0].mask(gone), rows[1]
            missing += measure(entry, SETTINGS, lambda s, t=tree: corrected(t, s), part, holes)
            bags += measure(entry, BAGS, bagged, part, rows)
    print(file=sys.stderr)
    print(f"{len(entries)} sets, {options.splits} splits each\n")
    for title, found in (("missing values", missing), ("bagging", bags)):
        print(markdown(make_table(pd.DataFrame(found), title), index=False), end="\n\n")


def measure(entry, settings, make, part, rows):
    return [
        {"set": entry.name, "setting": name, **score(make(setting).fit(*part), *rows)}
        for name, setting in settings.items()
    ]


def corrected(tree, setting):
    """Return a tree corrected by ConfDTree, or with Laplace smoothing."""
    if setting is None:
        return kt.SmoothedTreeClassifier(tree)
    return kt.ConfDTreeClassifier(tree, setting[0], options=setting[1])


def bagged(setting):
    """Return a bagging ensemble of J48 trees, each corrected or with Laplace smoothing."""
    member = corrected(kt.C45Classifier(), setting)
    return BaggingClassifier(member, MEMBERS, random_state=0)


def make_table(found, title):
    """Return the means over the sets, and the number of sets on which a setting beats the first."""
    sets = found.groupby(["setting", "set"], sort=False)[["auc", "log_loss"]].mean()
    table = []
    first = sets.xs(found["setting"].iloc[0], level="setting")
    for name in dict.fromkeys(found["setting"]):
        own = sets.xs(name, level="setting")
        gain, saved = own["auc"] - first["auc"], first["log_loss"] - own["log_loss"]
        table.append(
            {
                title: name,
                "AUC": f"{own['auc'].mean():.4f}",
                "won : lost": f"{(gain > 1e-6).sum()} : {(gain < -1e-6).sum()}",
                "log-loss": f"{own['log_loss'].mean():.3f}",
                "won : lost ": f"{(saved > 1e-6).sum()} : {(saved < -1e-6).sum()}",
            }
        )
    return pd.DataFrame(table)


if __name__ == "__main__":
    main()
