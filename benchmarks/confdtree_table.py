"""Print the tables of docs/guide/confdtree.md: variants of ConfDTree on J48 trees.

``python -m reproduction katz-2012`` repeats the paper's own tables; these cover what the paper
leaves open. ``python -m benchmarks.confdtree_table [data set ...]`` prints them as Markdown. As in
the paper, the test cases of ten folds are ranked together. With several classes, the AUC is the
mean of one class against the rest.
"""

import sys
import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

import keeptree as kt
from keeptree.evaluation.experiment import ask
from keeptree.evaluation.ranking import auc
from reproduction.katz import CODINGS, read_set
from tests.fixtures import weka

# The first is a copy of another set; the second is not available.
SETS = [name for name in CODINGS if name not in ("pima", "MiniBooNE")]
INTERVALS = ("normal", "t", "combined")
INDIVIDUAL = {"t_for": "individual"}
SETTINGS = {
    **{f"{i} mean": {"interval": i} for i in INTERVALS},
    **{f"{i} individual": {"interval": i, "options": INDIVIDUAL} for i in INTERVALS},
    "fine to all": {"options": {"fine_to": "all"}},
    "m per class": {"options": {"minimum": "class"}},
    "count weights": {"options": {"route_weight": "count"}},
    "normal by class": {"options": {"normal_by": "class"}},
    "balance": {"options": {"balance": True}},
    "laplace": {"options": {"smoothing": "laplace"}},
    "laplace, normal, m per class": {
        "interval": "normal",
        "options": {"smoothing": "laplace", "minimum": "class"},
    },
    "laplace, individual": {"options": {"smoothing": "laplace", **INDIVIDUAL}},
    "shrunk, individual": {"options": {"smoothing": "shrinkage", **INDIVIDUAL}},
}
LEAVES = {"leaves": "leaves", "Laplace leaves": "laplace", "shrunk leaves": "shrinkage"}
IN_FOREST = ("normal mean", "combined mean", "combined individual")
FOREST_ROWS = 2500  # largest numeric set on which the forest is tried
NOMINAL = ("credit-g", "autos", "crx", "splice", "chess", "soybean", "vote", "tic-tac-toe")


def main(names):
    warnings.filterwarnings("ignore", "No test of the tree can be checked")
    warnings.filterwarnings("ignore", "The least populated class")
    results = {}
    for name in names or SETS:
        results[name] = measure(*read(name))
        print(name, "done", file=sys.stderr, flush=True)
    print_sets(results)
    print_settings(results)
    print_forest(results)
    print_nominal()


def read(name):
    """Return the frame and classes of a data set, by the paper's name."""
    return read_fixture(name) if name == "autos" else read_set(name)


def read_fixture(name):
    """Return the frame and classes of a data set of the Weka fixtures."""
    data = weka.load(name)
    return data.frame, data.y


def measure(X, y):
    """Return the AUC and log-loss of each model, and the share of cases that it affects, in %."""
    with_forest = len(y) <= FOREST_ROWS and all(dtype.kind == "f" for dtype in X.dtypes)
    said, affected = score_folds(X, y, lambda tree: list_models(tree, with_forest))
    codes = np.unique(y, return_inverse=True)[1]
    return {
        "auc": {name: 100 * auc(y, p, np.unique(y)) for name, p in said.items()},
        "log-loss": {
            name: -np.log(np.clip(p[np.arange(len(y)), codes], 1e-3, 1)).mean()
            for name, p in said.items()
        },
        "affected": {name: 100 * rows.mean() for name, rows in affected.items()},
    }


def list_models(tree, with_forest):
    models = {name: kt.SmoothedTreeClassifier(tree, how) for name, how in LEAVES.items()}
    for name, options in SETTINGS.items():
        models[name] = kt.ConfDTreeClassifier(tree, **options)
    if with_forest:
        models["forest of 20 trees"] = RandomForestClassifier(20, random_state=0)
        for name in IN_FOREST:
            correction = kt.ConfDTreeClassifier(**SETTINGS[name])
            models[f"forest, {name}"] = kt.ConfDTreeForestClassifier(
                RandomForestClassifier(20, random_state=0), correction
            )
    return models


def score_folds(X, y, list_models):
    """Return each model's predictions on ten test folds, and which cases it affects."""
    labels = np.unique(y)
    said, affected = {}, {}
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        tree = kt.C45Classifier().fit(X.iloc[train], y[train]).tree_
        for name, model in list_models(tree).items():
            model.fit(X.iloc[train], y[train])
            p = ask(model, X.iloc[test], labels)["probability"]
            # Rounded, so that equal scores tie even if they were summed in another order.
            said.setdefault(name, np.zeros((len(y), len(labels))))[test] = p.round(10)
            if isinstance(model, kt.ConfDTreeClassifier):
                moved = affected.setdefault(name, np.zeros(len(y), dtype=bool))
                moved[test] = model.affected(X.iloc[test])
    return said, affected


def print_sets(results):
    print("\nRelative gain in AUC over the leaf proportions and share of affected cases, in %,")
    print("for the intervals normal / t / combined\n")
    columns = "gain, mean | gain, individual | affected, mean | individual"
    print(f"| data set | AUC of leaves | {columns} |")
    print("|---|---|---|---|---|---|")
    for name, result in results.items():
        gains = {setting: gain(result, setting) for setting in result["affected"]}
        cells = [
            " / ".join(f"{values[f'{interval} {of}']:.{digits}f}" for interval in INTERVALS)
            for values, digits in ((gains, 1), (result["affected"], 0))
            for of in ("mean", "individual")
        ]
        print(f"| {name} | {result['auc']['leaves']:.1f} | {' | '.join(cells)} |")


def print_settings(results):
    print("\nMean over the data sets: gain in AUC % over leaves and Laplace leaves, sets better")
    print("than Laplace leaves, log-loss (probabilities below 0.001 count as 0.001)\n")
    print("| setting | sets | over leaves | over Laplace | better than Laplace | log-loss |")
    print("|---|---|---|---|---|---|")
    for name in (*LEAVES, *SETTINGS):
        print_mean(results, name, "leaves", "Laplace leaves")


def print_forest(results):
    print("\nA forest of 20 trees, each corrected, against the forest itself\n")
    print("| setting | sets | over the forest | better than the forest | log-loss |")
    print("|---|---|---|---|---|")
    for name in ("forest of 20 trees", *(f"forest, {setting}" for setting in IN_FOREST)):
        print_mean(results, name, "forest of 20 trees")


def print_mean(results, name, *bases):
    having = [result for result in results.values() if name in result["auc"]]
    if not having:
        return
    gains = [[gain(result, name, base) for result in having] for base in bases]
    cells = " | ".join(f"{np.mean(values):+.2f}" for values in gains)
    wins = sum(value > 1e-9 for value in gains[-1])
    loss = np.mean([result["log-loss"][name] for result in having])
    print(f"| {name} | {len(having)} | {cells} | {wins} | {loss:.3f} |")


def print_nominal():
    """Print the table of sets with nominal attributes, some of which are not in the paper."""
    print("\nnominal=True: AUC without and with it, share of cases it changes further in %\n")
    print("| data set | J48 | without | with | changed % |")
    print("|---|---|---|---|---|")
    for name in NOMINAL:
        X, y = (part[:4000] for part in read_fixture(name))
        said, _ = score_folds(X, y, nominal_models)
        cells = " | ".join(f"{auc(y, p, np.unique(y)):.4f}" for p in said.values())
        changed = 100 * (np.abs(said["with"] - said["without"]) > 1e-9).any(axis=1).mean()
        print(f"| {name} | {cells} | {changed:.1f} |", flush=True)


def nominal_models(tree):
    return {
        "leaves": kt.SmoothedTreeClassifier(tree, "leaves"),
        "without": kt.ConfDTreeClassifier(tree),
        "with": kt.ConfDTreeClassifier(tree, options={"nominal": True}),
    }


def gain(result, name, base="leaves"):
    return 100 * (result["auc"][name] / result["auc"][base] - 1)


if __name__ == "__main__":
    main(sys.argv[1:])
