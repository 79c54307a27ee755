"""Ratios of times measured alternately, so that a busy machine slows both sides alike."""

import time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

console = Console(width=100)


def best_times(functions, repeats=7):
    """Shortest time of each function over rounds in which each is called once."""
    times = np.empty((repeats, len(functions)))
    for function in functions:
        function()  # compile, allocate
    for row in times:
        for j, function in enumerate(functions):
            start = time.perf_counter()
            function()
            row[j] = time.perf_counter() - start
    return times.min(axis=0)


def grown_tree(n_leaves, n_classes=2, n_features=30, n_train=100_000, n_rows=200_000):
    """A fitted scikit-learn tree with about ``n_leaves`` leaves, its training data, and rows."""
    X, y = make_classification(
        n_train + n_rows,
        n_features,
        n_informative=15,
        n_redundant=5,
        n_classes=n_classes,
        flip_y=0.05,
        random_state=0,
    )
    tree = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0)
    tree.fit(X[:n_train], y[:n_train])
    return tree, X[:n_train], y[:n_train], np.ascontiguousarray(X[n_train:])


def print_table(title, columns, rows):
    table = Table(title=title, title_justify="left")
    for j, column in enumerate(columns):
        table.add_column(column, justify="left" if j == 0 else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)
