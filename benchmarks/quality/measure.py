"""Measure one task: a data set, a split, a kept tree and a method."""

import time
import warnings

import numpy as np
import pandas as pd

from benchmarks.quality.data import catalogue, divide
from benchmarks.quality.methods import LEARNERS, METHODS, ON_LARGE, RANK_ONLY
from benchmarks.quality.peers import PEERS, PEERS_ON_TREE
from keeptree import keep
from keeptree.evaluation.metrics import squared_error
from keeptree.evaluation.ranking import auc
from keeptree.evaluation.reliability import expected_calibration_error
from keeptree.tree import LEAF

LEAST = 0.001  # probabilities are at least this in the log-loss, because forests return zeros
NO_TREE = "none"  # name of the tree for peers that use all attributes
TRUTH = "truth"  # name of the true probabilities of a synthetic set


def tasks_of(sets, splits, trees, methods=None):
    """Return all tasks, split by split; large sets have only the methods that matter there."""
    tasks = []
    for split, name in ((split, name) for split in splits for name in sets):
        entry = catalogue()[name]
        own = ON_LARGE if entry.group == "large" else METHODS
        known = [TRUTH] if entry.collection == "synthetic" else []
        pairs = [(NO_TREE, method) for method in (*PEERS, *known)]
        pairs += [(tree, method) for tree in trees for method in (*own, *PEERS_ON_TREE)]
        tasks += [
            {"set": name, "split": split, "tree": tree, "method": method}
            for tree, method in pairs
            if methods is None or method in methods
        ]
    return tasks


def measure(task):
    """Return the rows of a task ``{"set", "split", "tree", "method"}``: one for most methods."""
    warnings.simplefilter("ignore")
    entry = catalogue()[task["set"]]
    data = entry.load()
    train, test = divide(data.y, task["split"], whole=entry.group == "large")
    if task["method"] == TRUTH:
        return [{"method": TRUTH, **_scores(data.y[test], data.truth[test], np.unique(data.y))}]
    measured = _peer if task["tree"] == NO_TREE else _reading
    return measured(task, data, train, test)


def _peer(task, data, train, test):
    """Return the rows of a peer on all attributes."""
    part = data.numbers[train], data.y[train]
    built, seconds = _timed(PEERS[task["method"]], part, task["split"])
    result = []
    for name, model in (built if isinstance(built, dict) else {task["method"]: built}).items():
        p = model.predict_proba(data.numbers[test])
        scores = _scores(data.y[test], p, model.classes_)
        result.append({"method": name, **scores, "seconds": seconds})
    return result


def _reading(task, data, train, test):
    """Return the rows of a method for the kept tree, or of a peer on the tree's attributes."""
    kind, method = task["tree"], task["method"]
    X = data.X if kind == "J48" else pd.DataFrame(data.numbers)
    part, rows = (_as_read(X.iloc[train], kind), data.y[train]), _as_read(X.iloc[test], kind)
    tree = LEARNERS[kind]().fit(*part)
    decision, kept = tree.predict(rows), keep(tree)
    if method in PEERS_ON_TREE:
        numbers = data.numbers[:, _tested_columns(kept, data, kind)]
        part, rows = (numbers[train], data.y[train]), numbers[test]
        model, seconds = _timed(PEERS_ON_TREE[method], part, task["split"])
        built = model.predict_proba
    else:
        built, seconds = _timed(METHODS[method], LEARNERS[kind](), tree, part)
    result = []
    for name, score in (built if isinstance(built, dict) else {method: built}).items():
        values, ranks = score(rows), method in RANK_ONLY
        scores = _scores(data.y[test], values, tree.classes_, decision, ranks)
        result.append({"method": name, **scores, "seconds": seconds, "leaves": kept.n_leaves})
    return result


def _as_read(frame, kind):
    """Return a frame for J48 and an array for scikit-learn's learners."""
    return frame if kind == "J48" else frame.to_numpy()


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
    rarest = int(np.argmin(np.bincount(codes, minlength=len(classes))))
    scores["expected"], scores["observed"] = float(p[:, rarest].sum()), int((codes == rarest).sum())
    if decision is not None:
        scores["agreement"] = float((classes[p.argmax(axis=1)] == decision).mean())
    return scores


def _tested_columns(tree, data, kind):
    """Return the columns of ``data.numbers`` that the tree tests; all if it is a leaf."""
    tested = np.unique(tree.feature[tree.kind != LEAF])
    if kind == "J48":  # J48 tests a column of the frame, whose one-hot columns begin with its name
        names = data.X.columns[tested]
        columns = pd.get_dummies(data.X).columns
        own = [j for j, name in enumerate(columns) if name.split("_")[0] in set(names)]
        tested = np.array(own, dtype=int)
    return tested if len(tested) else np.arange(data.numbers.shape[1])
