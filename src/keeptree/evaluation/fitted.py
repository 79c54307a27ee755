"""Compare fitted models on the same held-out cases, paired case by case."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest

from keeptree.choice import one_of
from keeptree.data.labels import label_codes, plain
from keeptree.evaluation.experiment import ask
from keeptree.evaluation.metrics import METRICS, QualityMetric, cost_metric
from keeptree.evaluation.ranking import weighted_area
from keeptree.evaluation.resampling import count_resamples, draw_weights, find_scarce, tell_scarce
from keeptree.evaluation.significance import describe_differences
from keeptree.evaluation.tables import SURE, aligned, finite, means_table, p_text, signed
from keeptree.probability.costs import read_costs
from keeptree.text import clean, plural
from keeptree.tree import Tree


def compare_fitted(
    models: Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    baseline: str | None = None,
    costs: ArrayLike | Mapping[Any, Any] | None = None,
    random_state: int = 0,
) -> "FittedComparison":
    """Compare fitted models on one held-out sample.

    Nothing is fitted or split. All models predict the same cases, and the differences are tested
    case by case: accuracies by McNemar's exact test, the Brier score, log-loss and cost by the
    paired t-test, and the AUC by bootstrap resamples of the cases.

    Parameters
    ----------
    models : dict of str to fitted classifier or Tree
        Two or more models with the same classes, by name.
    X : array-like, data frame, or dict of str to these
        Cases that no model has seen. A dict gives each model its own table of the same cases.
    y : array-like of shape (n,)
        True classes.
    baseline : str, optional
        Model that the others are compared with; by default the first.
    costs : array-like of shape (n_classes, n_classes) or dict, optional
        Costs of decisions, in the order of the baseline's classes or by name, as in
        :class:`~keeptree.KeptTreeClassifier`; adds the mean cost of a case.
    random_state : int, default=0
        Seed of the bootstrap.

    Returns
    -------
    comparison : FittedComparison
        Prints as tables.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> small = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0).fit(X[::2], y[::2])
    >>> large = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X[::2], y[::2])
    >>> comparison = compare_fitted({"small": small, "large": large}, X[1::2], y[1::2])
    >>> found = comparison.differences()[0]
    >>> found["metric"], found["only_model"], found["only_baseline"], round(found["p"], 3)
    ('accuracy', 12, 5, 0.143)
    """
    if len(models) < 2:
        raise ValueError(f"There is {len(models)} model to compare; give two or more.")
    baseline = one_of(models, baseline or next(iter(models)), "model")
    models = {name: as_classifier(model) for name, model in models.items()}
    labels = _same_classes(models, baseline)
    tables = X if isinstance(X, Mapping) else dict.fromkeys(models, X)
    truth = label_codes(y, labels)
    answers = {name: ask(model, tables[name], labels) for name, model in models.items()}
    metrics = {name: METRICS[name] for name in ("accuracy", "auc", "brier", "log_loss")}
    losses = {name: _case_values(found, truth) for name, found in answers.items()}
    if costs is not None:
        matrix = read_costs(costs, labels)
        metrics["cost"] = cost_metric(matrix)
        for name, found in answers.items():
            losses[name]["cost"] = matrix[truth, found["decision"]]
    areas = _areas(answers, truth, len(labels), random_state)
    return FittedComparison(
        n_cases=len(truth),
        labels=[plain(label) for label in labels],
        models=list(models),
        baseline=baseline,
        metrics=metrics,
        values={name: {**losses[name], "auc": areas[name]} for name in models},
        scarce=find_scarce(truth, len(labels)),
    )


@dataclass(frozen=True)
class FittedComparison:
    """Result of :func:`compare_fitted`.

    Parameters
    ----------
    n_cases : int
        Number of cases.
    labels : list
        Classes.
    models : list of str
        Names of the models.
    baseline : str
        Model that the others are compared with.
    metrics : dict of str to QualityMetric
        Metrics by name.
    values : dict of str to dict
        Model -> metric -> its value for each case; for the AUC, its value on the sample followed
        by those on the resamples; None if the model has no such metric.
    scarce : dict or None
        The rarest class with fewer than 10 cases, as its position ``class`` in the labels and its
        number of ``cases``. Differences of the AUC then have no interval and no p-value, and only
        the accuracy can be better or worse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True)
    >>> trees = {str(n): kt.C45Classifier(max_depth=n).fit(X[::2], y[::2]) for n in (1, 3)}
    >>> comparison = compare_fitted(trees, X[1::2], y[1::2])
    >>> [round(entry["mean"], 2) for entry in comparison.means() if entry["metric"] == "accuracy"]
    [0.64, 0.92]
    """

    n_cases: int
    labels: list[Any]
    models: list[str]
    baseline: str
    metrics: dict[str, QualityMetric]
    values: dict[str, dict[str, Any]]
    scarce: dict[str, int] | None = None

    def numbers(self) -> list[str]:
        """Return the names of the metrics."""
        return list(self.metrics)

    def means(self) -> list[dict[str, Any]]:
        """Return the ``mean`` of each ``metric`` of each ``model``; None if it is undefined."""
        return [
            {"model": model, "metric": name, "mean": _mean(self.values[model][name], name)}
            for model in self.models
            for name in self.metrics
        ]

    def differences(self) -> list[dict[str, Any]]:
        """Return the paired differences from the baseline.

        Returns
        -------
        differences : list of dict
            ``model``, ``metric``, ``mean`` (model minus baseline), ``low`` and ``high`` (95%
            interval), two-sided ``p``, and ``better``: whether the model is better (True) or worse
            (False), or None if the interval contains 0 or a class is ``scarce``. For the accuracy
            also ``only_model`` and ``only_baseline``, the numbers of cases that only one of them
            decides correctly.
        """
        others = [model for model in self.models if model != self.baseline]
        return [self._difference(model, name) for model in others for name in self.metrics]

    def to_dict(self) -> dict[str, Any]:
        """Return all results as JSON-compatible values."""
        return finite(
            {
                "n_cases": self.n_cases,
                "classes": self.labels,
                "models": self.models,
                "baseline": self.baseline,
                "scarce": self.scarce,
                "metrics": {
                    name: {"label": metric.label, "larger": metric.larger}
                    for name, metric in self.metrics.items()
                },
                "means": self.means(),
                "differences": self.differences(),
            }
        )

    def __str__(self):
        head, rows = means_table(self)
        means = [
            [name, *(f"{text} {'*' * best:1}" for text, best in cells)] for name, cells in rows
        ]
        found = self.differences()
        classes = plural(len(self.labels), "class", "classes")
        return "\n".join(
            [
                f"{plural(self.n_cases, 'case')}, {classes}",
                "",
                *aligned([head, *means]),
                "",
                f"Difference from {clean(self.baseline)}",
                "",
                *aligned([_HEAD, *(self._row(entry) for entry in found)]),
                "",
                *(self._tell_decisions(entry) for entry in found if entry["metric"] == "accuracy"),
                *self._tell_scarce(),
                _NOTES,
            ]
        )

    def _difference(self, model, name):
        ours, theirs = (self.values[who][name] for who in (model, self.baseline))
        entry = {"model": model, "metric": name}
        if ours is None or theirs is None:
            return {**entry, **dict.fromkeys(("mean", "low", "high", "p", "better"))}
        found = _resampled(ours - theirs) if name == "auc" else _paired(ours - theirs)
        entry |= {**found, "better": _is_better(found, self.metrics[name].larger)}
        if self.scarce is not None and name != "accuracy":
            entry["better"] = None
            if name == "auc":
                entry |= dict.fromkeys(("low", "high", "p"))
        if name == "accuracy":
            entry["only_model"] = won = int((ours > theirs).sum())
            entry["only_baseline"] = lost = int((theirs > ours).sum())
            entry["p"] = float(binomtest(won, won + lost).pvalue) if won + lost else 1.0
        return entry

    def _row(self, entry):
        metric = self.metrics[entry["metric"]]
        ends = [signed(entry[key], metric.decimals) for key in ("low", "high")]
        return [
            clean(entry["model"]),
            f"{metric.label} {'↑' if metric.larger else '↓'}",
            f"{signed(entry['mean'], metric.decimals)} {SURE[entry['better']]}",
            "-" if entry["low"] is None else " to ".join(ends),
            p_text(entry["p"]),
        ]

    def _tell_scarce(self):
        if self.scarce is None:
            return []
        return [tell_scarce(str(self.labels[self.scarce["class"]]), self.scarce["cases"])]

    def _tell_decisions(self, entry):
        won, lost = (plural(entry[key], "case") for key in ("only_model", "only_baseline"))
        return (
            f"Only {clean(entry['model'])} is right on {won}, and only {clean(self.baseline)} on "
            f"{lost}."
        )


_HEAD = ["Model", "Metric", "Difference", "95% interval", "p"]
_NOTES = (
    "* best in its column; ↑ larger is better, ↓ smaller. ▲ better, ▼ worse: the 95% interval of "
    "the paired\ndifference excludes 0. p is two-sided: McNemar's exact test for the accuracy, the "
    "bootstrap for the AUC,\nand the paired t-test for the others."
)


class TreeClassifier:
    """A :class:`~keeptree.Tree` with the interface of a fitted classifier."""

    def __init__(self, tree):
        self.tree_, self.classes_, self.predict = tree, tree.classes, tree.predict
        self.n_features_in_ = tree.n_features
        if tree.feature_names is not None:
            self.feature_names_in_ = np.array(tree.feature_names, dtype=object)
        if tree.counts.any():  # a written tree may have none
            self.predict_proba = tree.predict_proba


def as_classifier(model):
    """Return a fitted model with ``predict`` and ``classes_``; a regression raises a ValueError."""
    model = TreeClassifier(model) if isinstance(model, Tree) else model
    if getattr(model, "classes_", None) is None:
        raise ValueError(
            f"A {type(model).__name__} without classes cannot be compared; give classifiers."
        )
    return model


def _same_classes(models, baseline):
    """Return the classes of the baseline; raise a ValueError if another model has others."""
    labels = models[baseline].classes_
    for name, model in models.items():
        if set(map(plain, model.classes_)) != set(map(plain, labels)):
            raise ValueError(
                f"{name} decides between the classes {_list(model.classes_)}, but {baseline} "
                f"between {_list(labels)}; compare models with the same classes."
            )
    return labels


def _list(labels):
    shown = ", ".join(repr(plain(label)) for label in labels[:10])
    return f"{shown} and others" if len(labels) > 10 else shown


def _case_values(answers, truth):
    """Return the metrics that are means over cases, for each case."""
    p, decision = answers["probability"], answers["decision"]
    found = {"accuracy": (decision == truth).astype(float), "brier": None, "log_loss": None}
    if p is None:
        return found
    right = np.arange(p.shape[1]) == truth[:, None]
    # Clipped as in scikit-learn's log_loss, so that probability 0 has a finite cost.
    log_loss = -np.log(np.clip(p[right], np.finfo(p.dtype).eps, None))
    brier = ((p - right) ** 2).sum(axis=1) / (2 if p.shape[1] == 2 else 1)
    return {**found, "brier": brier, "log_loss": log_loss}


def _areas(answers, truth, n_classes, random_state):
    """Return the AUC of each model, on the sample and on resamples that all models share."""
    shown = [1] if n_classes == 2 else np.unique(truth).tolist()
    measured = {
        name: [weighted_area(truth == c, found["score"][:, c]) for c in shown]
        for name, found in answers.items()
        if found["score"] is not None
    }
    n, areas = len(truth), {name: [] for name in measured}
    resamples = count_resamples(n * len(shown))
    for weights in (np.ones((1, n)), *draw_weights(n, resamples, random_state)):
        for name, of_class in measured.items():
            areas[name].append(_mean_area([area(weights) for area in of_class]))
    areas = {name: np.concatenate(values) for name, values in areas.items()}
    return {name: None if np.isnan(a[0]) else a for name, a in areas.items()} | dict.fromkeys(
        answers.keys() - measured.keys()
    )


def _mean_area(areas):
    """Return the mean over the classes that occur in each resample; NaN if there are none."""
    areas = np.array(areas)
    known = ~np.isnan(areas)
    with np.errstate(invalid="ignore"):
        return np.where(known, areas, 0.0).sum(axis=0) / known.sum(axis=0)


def _mean(values, name):
    if values is None:
        return None
    return float(values[0] if name == "auc" else values.mean())


def _paired(differences):
    found = describe_differences(differences, alternative="two-sided")
    return {**{key: found[key] for key in ("mean", "low", "high")}, "p": found["p_t"]}


def _resampled(differences):
    """Return a difference with the percentile interval of its resamples and their p-value."""
    mean, draws = float(differences[0]), differences[1:]
    draws = draws[~np.isnan(draws)]
    low, high = np.percentile(draws, [2.5, 97.5]).tolist()
    extreme = 1 + min((draws <= 0).sum(), (draws >= 0).sum())
    return {"mean": mean, "low": low, "high": high, "p": min(1.0, 2 * extreme / (len(draws) + 1))}


def _is_better(found, larger):
    if found["low"] is None or found["low"] <= 0 <= found["high"]:
        return None
    return bool((found["mean"] > 0) == larger)
