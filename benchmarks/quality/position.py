"""Does a second feature help? python -m benchmarks.quality.position, for docs/guide/probability.md.

The distance kernel with the distance alone and with the position of the projection along the
boundary (``features="distance+separator"``), around the kept trees of the quality benchmark. Prints
the means, on how many sets the second feature wins and loses, and the p-value of Wilcoxon's
signed-rank test over the sets. The direction of the position (Fisher's, rather than the principal
one) and its bandwidth were chosen on the development half; the other half confirms them.
"""

import argparse
import sys
import warnings

import pandas as pd

import keeptree as kt
from benchmarks.quality.data import catalogue, divide, load
from benchmarks.quality.grid import TREES, make_table, score
from benchmarks.quality.methods import LEARNERS
from benchmarks.quality.summary import markdown

FEATURES = {"distance": "distance", "and position": "distance+separator"}
SCOPES = ("global", "separator")


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.position", description=__doc__
    )
    parser.add_argument("--half", choices=["development", "confirmation"], help="only this half")
    parser.add_argument("--splits", type=int, default=2)
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
    sets = pd.DataFrame(rows).groupby(["half", "tree", "method", "features", "set"], sort=False)
    print(markdown(make_table(sets[["auc", "log_loss"]].mean(), "features", FEATURES), index=False))


def measure(entry, kind, split):
    """Rows of one set, tree and split."""
    data = load(entry.name, entry.collection)
    train, test = divide(data.y, split)
    X = data.X if kind == "J48" else pd.DataFrame(data.numbers)
    part = X.iloc[train], data.y[train]
    tree = LEARNERS[kind]().fit(*part)
    for scope in SCOPES:
        for name, features in FEATURES.items():
            model = kt.DistanceKernelClassifier(tree, scope, features=features).fit(*part)
            yield {
                "half": entry.half,
                "tree": kind,
                "method": f"kernel, {scope}",
                "features": name,
                "set": entry.name,
                **score(model, X.iloc[test], data.y[test]),
            }


if __name__ == "__main__":
    main()
