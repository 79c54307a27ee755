"""Measure times in turn, so that a busy machine slows all candidates equally."""

import time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from keeptree._compiled.native import load_native

console = Console(width=100)


def best_times(calls, repeats=7, clock=time.process_time):
    """Return the shortest time of each (function, *arguments); every round calls each once.

    By default it is CPU time, which other programs on the machine affect less.
    """
    times = np.empty((repeats, len(calls)))
    for function, *arguments in calls:
        function(*arguments)  # first call, which compiles and allocates
    for row in times:
        for j, (function, *arguments) in enumerate(calls):
            start = clock()
            function(*arguments)
            row[j] = clock() - start
    return times.min(axis=0)


def cpu_time(function, *arguments):
    """Return the CPU time of a single call that takes many seconds."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def grown_tree(n_leaves, n_classes=2, n_features=30, n_train=100_000, n_rows=200_000):
    """Return a scikit-learn tree of about ``n_leaves`` leaves, its training data, and new rows."""
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


def print_table(title, columns, rows, caption=None):
    """Print a table; its default caption tells which machine code was measured."""
    table = Table(title=title, title_justify="left", caption=caption or machine_code())
    for j, column in enumerate(columns):
        table.add_column(column, justify="left" if j == 0 else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def machine_code():
    """Return where the machine code comes from: a build for this kind of processor, or numba."""
    native = load_native()
    source = "numba" if native is None else native.__name__.removeprefix("native_")
    return f"machine code: {source}"
