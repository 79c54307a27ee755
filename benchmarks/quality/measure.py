"""One task: a data set, a split and a kept tree; one row of measures for every method."""

import time
import warnings

import numpy as np

from benchmarks.quality.data import catalogue, divide, load
from benchmarks.quality.methods import (
    FOREST,
    FOREST_ON_TREE,
    LEARNERS,
    METHODS,
    RANK_ONLY,
    forest,
)
from keeptree import keep
from keeptree.evaluation.metrics import squared_error
from keeptree.evaluation.ranking import auc
from keeptree.evaluation.reliability import expected_calibration_error
from keeptree.tree import LEAF

LEAST = 0.001  # log-loss reads smaller probabilities as this: a forest of 500 gives zeros


def measure(task):
    """Rows of a task ``{"set", "split", "tree"}``; the tree ``"forest"`` is the forest alone."""
    warnings.simplefilter("ignore")
    data = load(task["set"], catalogue()[task["set"]].collection)
    train, test = divide(data.y, task["split"])
    numbers, y = data.numbers, data.y
    if task["tree"] == FOREST:
        model, seconds = _timed(forest, (numbers[train], y[train]), task["split"])
        p = model.predict_proba(numbers[test])
        return [{"method": FOREST, **_scores(y[test], p, model.classes_), "seconds": seconds}]
    X = data.X if task["tree"] == "J48" else numbers
    part = (X.iloc[train], y[train]) if task["tree"] == "J48" else (X[train], y[train])
    rows = X.iloc[test] if task["tree"] == "J48" else X[test]
    learner = LEARNERS[task["tree"]]()
    tree = LEARNERS[task["tree"]]().fit(*part)
    decision = tree.predict(rows)
    result = []
    for method, build in METHODS.items():
        built, seconds = _timed(build, learner, tree, part)
        for name, score in (built if isinstance(built, dict) else {method: built}).items():
            values = score(rows)
            ranks = method in RANK_ONLY
            scores = _scores(y[test], values, tree.classes_, decision, ranks)
            result.append({"method": name, **scores, "seconds": seconds})
    tested = _tested_columns(keep(tree), data, task["tree"])
    model, seconds = _timed(forest, (numbers[train][:, tested], y[train]), task["split"])
    p = model.predict_proba(numbers[test][:, tested])
    scores = _scores(y[test], p, model.classes_, decision)
    result.append({"method": FOREST_ON_TREE, **scores, "seconds": seconds})
    return [{**row, "leaves": int(keep(tree).n_leaves)} for row in result]


def _timed(function, *arguments):
    start = time.process_time()
    result = function(*arguments)
    return result, round(time.process_time() - start, 4)


def _scores(y, p, classes, decision=None, ranks_only=False):
    scores = {"auc": auc(y, p, classes)}
    if ranks_only:
        return scores
    codes = np.searchsorted(classes, y)
    scores["log_loss"] = float(-np.log(np.maximum(p[np.arange(len(y)), codes], LEAST)).mean())
    scores["brier"] = squared_error(y, p, classes)
    scores["ece"] = expected_calibration_error(y, p, classes)
    if decision is not None:
        scores["agreement"] = float((classes[p.argmax(axis=1)] == decision).mean())
    return scores


def _tested_columns(tree, data, kind):
    """Columns of ``data.numbers`` that the tree tests; all of them if it is a leaf."""
    tested = np.unique(tree.feature[tree.kind != LEAF])
    if kind == "J48":  # tests a column of the frame; its one-hot columns begin with its name
        import pandas as pd

        names = data.X.columns[tested]
        columns = pd.get_dummies(data.X).columns
        own = [j for j, name in enumerate(columns) if name.split("_")[0] in set(names)]
        tested = np.array(own, dtype=int)
    return tested if len(tested) else np.arange(data.numbers.shape[1])
