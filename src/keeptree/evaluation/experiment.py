"""Tasks of a comparison: fit a model on a training set and evaluate it on a test set."""

import uuid
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pickle import PicklingError

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from keeptree.data.labels import label_codes
from keeptree.evaluation.runner import run
from keeptree.probability.answers import answers_of

ANSWERS = "answers"  # key of the predictions that are evaluated together with those of other splits
WARNINGS = "warnings"  # key of the warnings


@dataclass(frozen=True)
class Parts:
    """Training and test indices of many splits, concatenated in two arrays.

    Other processes share two large arrays, whereas a list would be sent to them with every task.
    """

    train: np.ndarray
    train_ends: np.ndarray
    test: np.ndarray
    test_ends: np.ndarray

    @classmethod
    def from_pairs(cls, pairs):
        """Collect pairs of index arrays."""
        trains, tests = zip(*pairs, strict=True)
        return cls(*_end_to_end(trains), *_end_to_end(tests))

    def __len__(self):
        return len(self.train_ends)

    def __getitem__(self, split):
        return (
            _piece(self.train, self.train_ends, split),
            _piece(self.test, self.test_ends, split),
        )


@dataclass(frozen=True)
class Experiment:
    """Data, splits, models and metrics of a comparison.

    Parameters
    ----------
    models : dict of str to estimator
        Models, cloned before each fit.
    X, y : array-likes
        All cases, with the labels that the models see.
    labels : ndarray
        Classes; with two, the positive one is last.
    parts : Parts
        The splits.
    metrics : dict of str to QualityMetric
        Metrics to compute on each test set.
    pooled : bool
        Whether test sets are too small to evaluate individually, so that predictions are kept.
    """

    models: dict
    X: object
    y: np.ndarray
    labels: np.ndarray
    parts: Parts
    metrics: dict
    pooled: bool = False

    def tasks(self):
        """Return one task per split and model, identified by everything that affects its result."""
        data = _fingerprint((self.X, self.y, self.labels.tolist()))
        metrics = _fingerprint((self.metrics, self.pooled))
        settings = {name: _fingerprint(model) for name, model in self.models.items()}
        return [
            {
                "split": split,
                "model": name,
                "setting": setting,
                "cases": cases,
                "data": data,
                "metrics": metrics,
            }
            for split, cases in enumerate(map(_fingerprint, self.parts))
            for name, setting in settings.items()
        ]

    def work(self):
        """Return the function that performs a task."""
        return partial(_do_task, self)


@dataclass(frozen=True)
class Outcome:
    """Result of an experiment; see :class:`keeptree.evaluation.Comparison`."""

    rows: list
    failures: list
    warnings: list


def run_experiment(experiment, results=None, n_jobs=-1, progress=True):
    """Run the tasks that are not yet in the file ``results``, and return the Outcome."""
    records = run(
        experiment.tasks(), experiment.work(), results, n_jobs=n_jobs, progress=progress,
        description="Fitting and measuring",
    )  # fmt: skip
    rows, failures, answers, warned = [], [], {}, Counter()
    for record in records:
        split, model = record["task"]["split"], record["task"]["model"]
        if "error" in record:
            failures.append({"split": split, "model": model, "error": record["error"]})
            continue
        train, test = experiment.parts[split]
        sizes = {"n_train": len(train), "n_test": len(test)}
        for row in record["rows"]:
            if row["metric"] == ANSWERS:
                answers.setdefault(model, {})[split] = row["value"]
            elif row["metric"] == WARNINGS:
                warned.update((model, message) for message in row["value"])
            else:
                rows.append({"split": split, "model": model, **row, **sizes})
    if len(failures) == len(records):
        raise ValueError(
            f"Every model failed on every split; the first error was: {failures[0]['error']}"
        )
    messages = [{"model": m, "message": text, "fits": n} for (m, text), n in warned.items()]
    return Outcome(rows + _pooled_rows(experiment, answers), failures, messages)


def ask(model, X, labels):
    """Return the predictions of a fitted classifier.

    Parameters
    ----------
    model : estimator
        Fitted model; it may lack some classes.
    X : array-like
        Cases.
    labels : ndarray
        All classes, in the order of the columns of the answers.

    Returns
    -------
    answers : dict
        ``decision``: codes of the predicted classes. ``probability``: array of shape (n,
        n_classes), or None if the model has none. ``score``: the probabilities, or else the result
        of ``decision_function``, or None if the model has neither.
    """
    own = label_codes(model.classes_, labels)
    answers = answers_of(model, X)
    decision = label_codes(answers.prediction, labels)
    if hasattr(model, "predict_proba"):
        probability = _columns(answers.scores, own, len(labels), missing=0.0)
        return {"decision": decision, "probability": probability, "score": probability}
    if answers.scores is None:
        return {"decision": decision, "probability": None, "score": None}
    score = np.asarray(answers.scores, dtype=float)
    if score.ndim == 1:
        score = np.column_stack([-score, score])
    score = _columns(score, own, len(labels), missing=-np.inf)
    return {"decision": decision, "probability": None, "score": score}


def _do_task(experiment, task):
    train, test = experiment.parts[task["split"]]
    model = clone(experiment.models[task["model"]])
    # Warnings are shown once at the end instead of for every fit.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(_safe_indexing(experiment.X, train), experiment.y[train])
        answers = ask(model, _safe_indexing(experiment.X, test), experiment.labels)
    truth = label_codes(experiment.y[test], experiment.labels)
    rows = [
        {"metric": name, "value": _evaluate(metric, truth, answers, len(experiment.labels))}
        for name, metric in experiment.metrics.items()
        if metric.per_case or not experiment.pooled
    ]
    if experiment.pooled:
        rows.append({"metric": ANSWERS, "value": answers})
    if caught:
        rows.append({"metric": WARNINGS, "value": sorted({str(w.message) for w in caught})})
    return rows


def _evaluate(metric, truth, answers, n_classes):
    """Return the value of a metric, or None if it is undefined; ``truth`` holds class codes."""
    values = answers[metric.needs]
    if values is None:
        return None
    value = np.asarray(metric.function(truth, values, np.arange(n_classes)), dtype=float)
    return None if np.isnan(value).any() else value.tolist()


def _pooled_rows(experiment, answers):
    """Return metrics computed on the test cases of all splits together."""
    rows = []
    for model, by_split in answers.items():
        cases = np.concatenate([experiment.parts[split][1] for split in by_split])
        truth = label_codes(experiment.y[cases], experiment.labels)
        joined = {
            key: None if any(a[key] is None for a in by_split.values())
            else np.concatenate([np.asarray(a[key], dtype=float) for a in by_split.values()])
            for key in ("decision", "probability", "score")
        }  # fmt: skip
        sizes = {"n_train": len(experiment.y) - 1, "n_test": len(cases)}
        for name, metric in experiment.metrics.items():
            if not metric.per_case:
                value = _evaluate(metric, truth, joined, len(experiment.labels))
                rows.append(
                    {"split": "all", "model": model, "metric": name, "value": value, **sizes}
                )
    return rows


def _columns(values, own, n_classes, missing):
    """Return the columns of the model's own classes as columns of all classes."""
    full = np.full((len(values), n_classes), missing)
    full[:, own] = values
    return full


def _end_to_end(arrays):
    """Return arrays joined into one, and the end of each."""
    return np.concatenate(arrays).astype(np.int32), np.cumsum([len(array) for array in arrays])


def _piece(values, ends, index):
    """Return one of the arrays joined by ``_end_to_end``."""
    return values[ends[index - 1] if index else 0 : ends[index]]


def _fingerprint(thing):
    """Return a short hash of an object, to recognise it in a results file."""
    try:
        return joblib.hash(thing)[:12]
    except PicklingError:  # a lambda has no stable hash, so it never matches
        return uuid.uuid4().hex[:12]
