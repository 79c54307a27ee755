"""Which parts of the design help, and which limits hurt? python -m benchmarks.quality.ablation

Each variant changes one thing in a KeptTreeClassifier around a readable tree. The table shows its
mean AUC and log-loss, and the number of sets on which it beats the current design. Sets come from
the development half, on which such choices are made. To study the limits, name large sets and use
all their rows: ``--sets sim-rings sim-friedman phoneme --whole``.
"""

import argparse
import sys
import warnings
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from benchmarks.quality.data import catalogue, divide
from benchmarks.quality.distances import score
from benchmarks.quality.summary import markdown
from keeptree.probability import (
    further_tests,
    kept,
    kernel_expert,
    kernel_space,
    margin_choice,
    margin_expert,
    pool,
    refits,
    similar_trees,
)

LEAVES = 30
AS_IS = "as it is"
ALL = "all columns"


def _scales(*names):
    return [patch.object(module, "SCALES", names) for module in (margin_choice, kernel_expert)]


def _landmarks(most):
    fit = partial(kernel_expert.fit_kernel, most=most)
    return [patch.object(kept, "fit_kernel", fit)]


def _refits(most):
    return [patch.object(refits, "out_of_fold", partial(refits.out_of_fold, most=most))]


def _penalties(*more):
    choose = partial(margin_choice.choose_margin, penalties=(*margin_choice.PENALTIES, *more))
    return [patch.object(kept, "choose_margin", choose)]


def _without(further):
    return [patch.dict(margin_expert.FURTHER, {further: margin_expert.FURTHER[None]})]


def _rules(**limits):
    return [patch.object(further_tests, name, value) for name, value in limits.items()]


def _similar(**limits):
    return [patch.object(similar_trees, name, value) for name, value in limits.items()]


def _large_from(rows, *modules):
    def is_large(sample):
        return np.count_nonzero(sample.weight) >= rows

    return [patch.object(module, "is_large", is_large) for module in modules]


def _equally_wide():
    return [patch.object(kernel_expert, "_MOST_SHARP", 1.0)]


def _knots(most):
    return [patch.object(kernel_space, "_MOST_KNOTS", most)]


def _untested(size):
    return [patch.object(kernel_space, "_UNTESTED", size)]


VARIANTS = {
    AS_IS: list,
    "standard deviations only": partial(_scales, "deviation"),
    "normal scores only": partial(_scales, "score"),
    "1 024 landmarks": partial(_landmarks, 1024),
    "1 536 landmarks": partial(_landmarks, 1536),
    "2 048 landmarks": partial(_landmarks, 2048),
    "6 144 landmarks": partial(_landmarks, 6144),
    "refits on 5 000 rows": partial(_refits, 5000),
    "also weaker penalties of the margins": partial(_penalties, 10.0, 30.0),
    "no tests at quantiles": partial(_without, "quantiles"),
    "no rules": partial(_without, "rules"),
    "24 boosted trees": partial(_rules, _TREES=24),
    "24 boosted trees, grown on 4 000 rows": partial(_rules, _TREES=24, _MOST_ROWS=4000),
    "two folds choose the margins of large samples": lambda: [
        patch.object(margin_choice, "_JUDGES", 2)
    ],
    "rules from 300 rows on": partial(_large_from, 300, further_tests, margin_choice),
    "no similar trees": partial(_large_from, 0, similar_trees),
    "16 similar trees": partial(_similar, _TREES=16),
    "32 similar trees": partial(_similar, _TREES=32),
    "128 similar trees": partial(_similar, _TREES=128),
    "similar trees of 64 leaves": partial(_similar, _LEAVES=64),
    "similar trees draw for all columns": partial(_similar, _COLUMNS=1.0),
    "similar trees in large samples": partial(_large_from, 10**9, similar_trees),
    "all landmarks equally sharp": _equally_wide,
    "24 bends of an axis in normal scores": partial(_knots, 24),
    "share of the prior 0.03": lambda: [patch.object(pool, "SHARE", 0.03)],
    "ridge of the pool 6": lambda: [patch.object(pool, "_RIDGE", 6.0)],
    "100 leaves": list,
    ALL: list,
    f"{ALL}, axes of size 0.1": partial(_untested, 0.1),
    f"{ALL}, axes of size 1": partial(_untested, 1.0),
    f"{ALL}, margins only": partial(_untested, 0.0),
    f"{ALL}, no similar trees": partial(_large_from, 0, similar_trees),
    f"{ALL}, 32 similar trees": partial(_similar, _TREES=32),
    f"{ALL}, all landmarks equally sharp": _equally_wide,
    f"{ALL}, axes not stretched": lambda: [patch.object(kernel_expert, "_FEWEST_STRETCHED", 10**9)],
}


def main(arguments=None):
    about = __doc__.split("\n\n")[0]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.ablation", description=about
    )
    parser.add_argument("--sets", nargs="+", default=["numeric"], help="names or groups of sets")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--whole", action="store_true", help="train on three quarters of all rows")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    entries = [entry for entry in catalogue().values() if entry.half == "development"]
    chosen = [e for e in entries if {e.name, e.group} & set(options.sets)]
    rows = []
    for at, entry in enumerate(chosen, start=1):
        print(f"{at} of {len(chosen)} sets: {entry.name}", file=sys.stderr, flush=True)
        for split in range(options.splits):
            rows += measure(entry, split, dict.fromkeys([AS_IS, *options.variants]), options.whole)
    print(markdown(make_table(pd.DataFrame(rows)), index=False))


def measure(entry, split, variants, whole=False):
    """Return one row for each variant."""
    data = entry.load()
    train, test = divide(data.y, split, whole or entry.group == "large")
    X = data.numbers
    for variant in variants:
        leaves = 100 if variant == "100 leaves" else LEAVES
        learner = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)
        with ExitStack() as stack:
            for change in VARIANTS[variant]():
                stack.enter_context(change)
            tree = learner.fit(X[train], data.y[train])
            columns = "all" if variant.startswith(ALL) else "tree"
            model = kt.KeptTreeClassifier(tree, columns=columns).fit(X[train], data.y[train])
        yield {"set": entry.name, "variant": variant, **score(model, X[test], data.y[test])}


def make_table(rows):
    """Return the means of each variant, and on how many sets it wins and loses."""
    sets = rows.groupby(["variant", "set"], sort=False).mean()
    table = []
    for variant, own in sets.groupby(level=0, sort=False):
        gain = own.droplevel(0) - sets.loc[AS_IS]
        row = {"variant": f"{variant} ({len(own)} sets)"}
        for column, title, sign in (("auc", "AUC", 1), ("log_loss", "log-loss", -1)):
            better = sign * gain[column]
            won, lost = (better > 1e-6).sum(), (better < -1e-6).sum()
            row[title] = f"{own[column].mean():.4f}"
            row[f"{title}, won : lost"] = "" if variant == AS_IS else f"{won} : {lost}"
        table.append(row)
    return pd.DataFrame(table)


if __name__ == "__main__":
    main()
