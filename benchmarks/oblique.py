"""Compare oblique trees with other libraries, and measure the cost per row.

    python -m benchmarks.oblique

Compares ``kt.keep(model)`` with the model itself on 10^6 rows, a third of which lie on the plane of
a test or one ulp beside it, for obliquetree and treeple if they are installed (treeple needs
scikit-learn below 1.7). Compares distances and nearest changes with quadprog's quadratic program
over all leaves, on 10^4 pairs of a random tree and a row. Then prints the time per row of routing,
distances and probabilities, and the same for an axis-parallel tree with as many leaves.
"""

import argparse
import copy
import importlib.util
from dataclasses import replace

import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from benchmarks.timing import best_times
from tests.reference.oblique import class_distances
from tests.strategies import random_oblique_tree, random_rows

LEAVES = (8, 30, 100)


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows to route")
    parser.add_argument("--pairs", type=int, default=10_000, help="trees and rows to measure")
    parser.add_argument("--timed", type=int, default=20_000, help="rows to time")
    options = parser.parse_args()
    print("routing, rows that end in another leaf than in the library's own tree")
    for name, model, X in models():
        compare(name, model, X, options.rows)
    compare_distances(options.pairs)
    print("\nmicroseconds per row, one thread")
    for leaves in LEAVES:
        for name, seconds in costs(leaves, options.timed).items():
            shown = "  ".join(f"{what} {1e6 * s:7.2f}" for what, s in seconds.items())
            print(f"{leaves:4d} leaves, {name:13s}  {shown}")


def sample(n, seed=0):
    """Return a problem with correlated columns, which suits oblique tests."""
    X, y = make_classification(
        n, 8, n_informative=6, n_redundant=1, flip_y=0.05, class_sep=0.8, random_state=seed
    )
    return X, y


def models():
    """Yield fitted models of the installed libraries, with their training rows."""
    X, y = sample(4000)
    if importlib.util.find_spec("obliquetree"):
        from obliquetree import Classifier

        for pairs, depth in ((2, 6), (3, 8), (4, 8)):
            model = Classifier(n_pair=pairs, max_depth=depth, random_state=0).fit(X, y)
            yield f"obliquetree, {pairs} columns, depth {depth}", model, X
    try:
        from treeple.tree import ObliqueDecisionTreeClassifier
    except (ImportError, ValueError):  # the installed treeple was built for another scikit-learn
        return
    for columns in (1.5, 3, 5):
        model = ObliqueDecisionTreeClassifier(
            feature_combinations=columns, max_leaf_nodes=60, random_state=0
        ).fit(X, y)
        yield f"treeple, {columns} columns, as fitted", model, X
        yield f"treeple, {columns} columns, copied (sums in column order)", copy.deepcopy(model), X


def compare(name, model, X, n):
    """Print how many rows end in another leaf or class, and how many of these lie on a plane."""
    tree, rng, other = kt.keep(model), np.random.default_rng(1), 0
    # The second part contains the rows on planes.
    met = np.zeros((2, tree.n_nodes, tree.n_nodes), dtype=np.int64)
    for start in range(0, n, 100_000):
        rows = X[rng.integers(len(X), size=min(100_000, n - start))]
        rows = rows + rng.normal(scale=0.3, size=rows.shape) * X.std(axis=0)
        if tree.compare_dtype == "float32":
            rows = rows.astype(np.float32).astype(np.float64)
        moved = on_planes(tree, rows, rng)
        np.add.at(met, (moved.astype(int), np.asarray(model.apply(rows)), tree.apply(rows)), 1)
        other += int((tree.predict(rows) != model.predict(rows)).sum())
    same = met.sum(axis=0).argmax(axis=1)  # the libraries number nodes differently
    differ = met.sum(axis=(1, 2)) - met[:, np.arange(len(same)), same].sum(axis=1)
    print(
        f"{name}: {tree.n_leaves} leaves, {int((tree.kind == 3).sum())} oblique tests, {n} rows: "
        f"{differ.sum()} leaves differ ({differ[1]} of rows on a plane), {other} classes differ"
    )


def compare_distances(pairs, rows_per_tree=10):
    """Print how much distances and nearest changes differ from those of a quadratic program."""
    apart, beaten, dearer, unchanged, counted = 0.0, 0.0, 0.0, 0, 0
    for seed in range(pairs // rows_per_tree):
        shape = {"n_leaves": 2 + seed % 13, "n_features": 1 + seed % 5, "n_classes": 2 + seed % 3}
        tree = random_oblique_tree(seed, **shape)
        X = random_rows(tree, seed, n=rows_per_tree)
        boundary = kt.Boundary(tree).fit(random_rows(tree, seed + 1) * (1 + seed % 7))
        expected = class_distances(tree, boundary.metric_.factor_, X)
        expected[np.arange(len(X)), tree.decide(X)] = np.inf
        expected = expected.min(axis=1)
        found = kt.nearest_change(tree, X, metric=boundary.metric_, within_data=False)
        finite = np.isfinite(expected)
        distance, cost, expected = (
            boundary.distance(X)[finite],
            found.cost[finite],
            expected[finite],
        )
        apart = max(apart, _largest(abs(distance - expected)))
        beaten, dearer = (
            max(beaten, _largest(cost - expected)),
            max(dearer, _largest(expected - cost)),
        )
        unchanged += int((found.predicted[finite] == tree.predict(X)[finite]).sum())
        counted += len(X)
    print(
        f"\n{counted} pairs of a tree and a row against quadprog over all leaves: distances differ "
        f"by at most {apart:.1e}; nearest changes cost at most {beaten:.1e} more and {dearer:.1e} "
        f"less, and {unchanged} do not change the class"
    )


def _largest(differences):
    return float(np.max(differences, initial=0.0))


def on_planes(tree, rows, rng):
    """Move every third row onto the plane of a test or one ulp beside it; return which moved."""
    moved = np.zeros(len(rows), dtype=bool)
    moved[::3] = True
    kind = np.dtype(tree.compare_dtype).type
    tests = np.flatnonzero(tree.kind == 3)
    chosen = rng.choice(tests, size=moved.sum())
    for node in tests:
        at = np.flatnonzero(moved)[chosen == node]
        (feature, weight), *rest = tree.terms(node)
        others = sum(w * rows[at, f] for f, w in rest)
        value = ((tree.threshold[node] - others) / weight).astype(kind)
        step = rng.integers(-1, 2, size=len(at))
        beside = np.nextafter(value, np.where(step < 0, -np.inf, np.inf).astype(kind))
        rows[at, feature] = np.where(step == 0, value, beside)
    return moved


def costs(leaves, n):
    """Return the seconds per row for an oblique and an axis-parallel tree, by task."""
    X, y = sample(4000)
    rows = sample(n, seed=1)[0]
    plain = kt.keep(DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(X, y))
    found = {}
    for name, tree in (("axis-parallel", plain), ("oblique", tilted(plain, X, y))):
        boundary = kt.Boundary(tree, n_jobs=1).fit(X)
        kept = kt.KeptTreeClassifier(tree, n_jobs=1).fit(X, y)
        calls = (tree.apply, rows), (boundary.distance, rows), (kept.predict_proba, rows)
        seconds = best_times(calls, repeats=3) / n
        found[name] = dict(zip(("route", "distance", "kept"), seconds, strict=True))
    return found


def tilted(tree, X, y):
    """Return the tree with two more columns in every test, and with new counts."""
    rng, inner = np.random.default_rng(0), tree.kind == 1
    features, weights = [], []
    for node in np.flatnonzero(inner):
        others = rng.permutation(np.delete(np.arange(tree.n_features), tree.feature[node]))[:2]
        features += [tree.feature[node], *others]
        weights += [1.0, *rng.normal(scale=0.3, size=2).astype(np.float32).astype(float)]
    oblique = replace(
        tree,
        kind=np.where(inner, 3, 0),
        feature=np.full(tree.n_nodes, -1),
        term_start=np.concatenate([[0], np.cumsum(3 * inner)]),
        term_feature=np.array(features),
        term_weight=np.array(weights),
    )
    return kt.keep(oblique, X, y)


if __name__ == "__main__":
    main()
