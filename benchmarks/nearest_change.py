"""Compare nearest changes with DiCE: cost and time for the same rows and scikit-learn tree.

Both costs are measured in our metric, the Euclidean distance in standard deviations.
"""

import os
import time
import warnings

os.environ.setdefault("TQDM_DISABLE", "1")  # DiCE draws a progress bar for every row

import dice_ml
import numpy as np
import pandas as pd
from raiutils.exceptions import UserConfigValidationException
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from benchmarks.timing import console, grown_tree, print_table

METHODS = ("random", "kdtree", "genetic")  # the last two methods take minutes on a larger sample
N_ROWS = 10  # number of rows; DiCE takes about a second for each


def main():
    with_dice("breast cancer, 569 cases, 30 columns, 10 leaves", METHODS, *cancer())
    with_dice("5,000 cases, 20 columns, 100 leaves", METHODS[:1], *grown())
    alone()


def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(max_leaf_nodes=10, random_state=0).fit(X, y)
    return tree, X, y


def grown():
    tree, X, y, _ = grown_tree(100, n_features=20, n_train=5_000, n_rows=1)
    X = pd.DataFrame(X, columns=[f"x{j}" for j in range(20)])
    return clone(tree).fit(X, y), X, y


def with_dice(title, methods, tree, X, y):
    rows = X.iloc[:: len(X) // N_ROWS][:N_ROWS]
    scale = X.to_numpy().std(axis=0)
    kt.nearest_change(tree, rows, X=X)  # first call, which compiles
    start = time.perf_counter()
    changes = kt.nearest_change(tree, rows, X=X)
    points = pd.DataFrame(changes.point, columns=X.columns)
    seconds = time.perf_counter() - start
    ours = np.sqrt((((points.to_numpy() - rows.to_numpy()) / scale) ** 2).sum(axis=1))
    assert (tree.predict(points) != tree.predict(rows)).all()
    assert np.allclose(ours, changes.cost)
    table = [("keeptree", f"{N_ROWS} of {N_ROWS}", f"{np.median(ours):.3f}", "", *_time(seconds))]
    for method in methods:
        cost, seconds = dice_costs(method, tree, X, y, rows, scale)
        found = np.isfinite(cost)
        ratio = np.median(cost[found] / ours[found]) if found.any() else np.nan
        assert (cost[found] >= ours[found] - 1e-9).all(), "a nearer change than the nearest"
        table.append(
            (
                f"dice-ml {method}",
                f"{found.sum()} of {N_ROWS}",
                f"{np.median(cost[found]):.3f}" if found.any() else "",
                f"{ratio:.1f} x" if found.any() else "",
                *_time(seconds),
            )
        )
    columns = ("nearest change", "found", "median cost", "to ours", "ms per row")
    print_table(title, columns, table)


def dice_costs(method, tree, X, y, rows, scale):
    """Return the cost of DiCE's counterfactual for each row (infinite if none), and the seconds.

    DiCE rounds its numbers, after which some results no longer change the class.
    """
    frame = X.assign(outcome=np.asarray(y))
    data = dice_ml.Data(
        dataframe=frame, continuous_features=list(X.columns), outcome_name="outcome"
    )
    model = dice_ml.Model(model=tree, backend="sklearn")
    more = {"random_seed": 0} if method == "random" else {}
    cost = np.full(len(rows), np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dice = dice_ml.Dice(data, model, method=method)
        start = time.perf_counter()
        for i in range(len(rows)):
            row = rows.iloc[[i]]
            try:
                found = dice.generate_counterfactuals(
                    row, total_CFs=1, desired_class="opposite", verbose=False, **more
                )
            except UserConfigValidationException:
                continue  # DiCE raises an error if it finds no counterfactual
            point = found.cf_examples_list[0].final_cfs_df
            if point is None or not len(point):
                continue
            point = point[list(X.columns)].astype(float)
            if tree.predict(point)[0] != tree.predict(row)[0]:
                cost[i] = np.sqrt((((point.to_numpy() - row.to_numpy()) / scale) ** 2).sum())
    return cost, time.perf_counter() - start


def alone():
    """Measure our time on large tables, for which DiCE is too slow."""
    table = []
    for leaves in (30, 100, 1000):
        tree, X, y, new = grown_tree(leaves, n_train=20_000, n_rows=20_000)
        model = kt.SmoothedTreeClassifier(tree).fit(X, y)
        locks = {"fixed": [0, 1], "increase_only": [2], "steps": {3: 0.5}, "max_changes": 3}
        times = []
        for arguments in ({}, locks):
            kt.nearest_change(model, new[:10], **arguments)
            start = time.process_time()
            kt.nearest_change(model, new, **arguments).point  # noqa: B018 - computed when asked
            times.append(time.process_time() - start)
        table.append((f"{leaves} leaves, d = 30", *(f"{t / len(new) * 1e6:.1f}" for t in times)))
    columns = ("nearest change and its point", "µs per row", "with constraints")
    print_table("A table of 20,000 rows, 1 thread", columns, table)


def _time(seconds):
    return (f"{1000 * seconds / N_ROWS:.2f}",)


if __name__ == "__main__":
    main()
    console.print("Costs are in standard deviations; dice-ml 0.12, default settings.")
