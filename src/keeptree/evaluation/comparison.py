"""Compare classifiers on the same splits, with paired differences and tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keeptree.annotations import Filename, RandomState
from keeptree.choice import one_of
from keeptree.data.labels import plain
from keeptree.evaluation.bootstrap import add_no_information, mix_plus, mix_resubstitution
from keeptree.evaluation.experiment import Parts, run_experiment
from keeptree.evaluation.metrics import CURVES
from keeptree.evaluation.preparation import prepare_experiment
from keeptree.evaluation.protocols import RESUBSTITUTED
from keeptree.evaluation.ranking import stays_ahead
from keeptree.evaluation.significance import accuracy_interval, describe_differences
from keeptree.evaluation.tables import comparison_dict, comparison_markdown, comparison_text
from keeptree.notebook import framed_text
from keeptree.text import plural

DEFAULT_METRICS = ("auc", "brier", "log_loss", "ece", "accuracy")


def compare(
    models: Mapping[str, Any] | Sequence[Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    protocol: Any = "repeated-holdout",
    n_splits: int | None = None,
    metrics: Sequence[str] | Mapping[str, Any] = DEFAULT_METRICS,
    baseline: str | None = None,
    positive: Any = None,
    results: Filename | None = None,
    n_jobs: int = -1,
    random_state: RandomState = 0,
    progress: bool = True,
) -> "Comparison":
    """Fit and evaluate classifiers on the same splits.

    Parameters
    ----------
    models : dict of str to estimator, or list of estimators
        Any scikit-learn classifiers. Each is cloned and fitted again on every training part. Frozen
        models (a :class:`~keeptree.Tree`, a ``FrozenEstimator``) are not refitted, and a warning
        says so. Their figures are valid only on cases that were not used to train them.
    X, y : array-likes
        Cases and classes.
    protocol : str, int or splitter
        A name (see :func:`~keeptree.evaluation.make_protocol`), or a ``cv`` argument of
        scikit-learn.
    n_splits : int, optional
        Number of splits of a named protocol.
    metrics : list of str or dict
        Names in ``keeptree.evaluation.METRICS`` and ``keeptree.evaluation.CURVES``, or a dict of
        names to your own :class:`~keeptree.evaluation.QualityMetric`.
    baseline : str, optional
        Model that the others are compared with; by default the first.
    positive : label, optional
        Positive class of a two-class problem; by default the last in sorted order.
    results : str or Path, optional
        File to which each finished fit is appended. The same call with the same file resumes after
        an interruption. Only what has changed (metrics, models or data) is evaluated again, and
        anything that contains a lambda, because lambdas cannot be compared.
    n_jobs : int
        Number of processes; by default one per core.
    random_state : int
        Seed of a named protocol.
    progress : bool
        Whether to show progress on standard error.

    Returns
    -------
    comparison : Comparison
        Prints as a table. Failed fits are listed in ``failures`` and do not stop the others.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from keeptree.evaluation import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"tree": DecisionTreeClassifier(random_state=0), "Bayes": GaussianNB()}
    >>> comparison = compare(models, X, y, metrics=["auc"], n_jobs=1)
    >>> (difference,) = comparison.differences()
    >>> round(difference["mean"], 3), difference["p_wilcoxon"] < 0.01
    (0.042, True)
    """
    experiment = prepare_experiment(
        models, X, y, protocol=protocol, n_splits=n_splits, metrics=metrics, positive=positive,
        random_state=random_state,
    )  # fmt: skip
    models, n_splits = list(experiment.models), len(experiment.parts)
    metrics = experiment.metrics
    if isinstance(protocol, str) and protocol in RESUBSTITUTED:
        experiment = _add_resubstitution(experiment, protocol)
    baseline = one_of(models, models[0] if baseline is None else baseline, "model")
    single = bool((np.diff(experiment.parts.test_ends, prepend=0) == 1).all())
    outcome = run_experiment(replace(experiment, pooled=single), results, n_jobs, progress)
    if protocol == "bootstrap-632":
        outcome = replace(outcome, rows=mix_resubstitution(outcome.rows, n_splits))
    elif protocol == "bootstrap-632+":
        outcome = replace(outcome, rows=mix_plus(outcome.rows, n_splits, metrics))
    return Comparison(
        **vars(outcome),
        models=models,
        metrics=metrics,
        baseline=baseline,
        labels=[plain(label) for label in experiment.labels],
        protocol=str(protocol),
        n_cases=len(experiment.y),
        n_splits=n_splits,
    )


@dataclass(frozen=True)
class Comparison:
    """Result of :func:`compare`.

    Attributes
    ----------
    rows : list of dict
        One for each split, model and metric: ``split``, ``model``, ``metric``, ``value`` (None if
        it is undefined, a list for a curve), ``n_train`` and ``n_test``. Metrics that are undefined
        for the single test cases of leave-one-out are computed on all of them together, in the
        split ``"all"``.
    failures : list of dict
        ``split``, ``model`` and ``error`` of the fits that failed.
    warnings : list of dict
        ``model``, ``message`` and the number of ``fits`` that gave this warning.
    models : list of str
        Names of the models.
    metrics : dict of str to QualityMetric
        The metrics by name.
    baseline : str
        Model that the others are compared with.
    labels : list
        Classes; with two, the positive one is last.
    protocol : str
        Name of the protocol.
    n_cases, n_splits : int
        Number of cases, and of splits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from keeptree.evaluation import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"tree": DecisionTreeClassifier(random_state=0), "Bayes": GaussianNB()}
    >>> comparison = compare(models, X, y, metrics=["accuracy"], n_splits=3, n_jobs=1)
    >>> comparison.values("tree", "accuracy").round(2)
    array([0.96, 0.94, 0.92])
    >>> [(row["model"], round(row["mean"], 3)) for row in comparison.means()]
    [('tree', 0.94), ('Bayes', 0.96)]
    """

    rows: list
    failures: list
    warnings: list
    models: list
    metrics: dict
    baseline: str
    labels: list
    protocol: str
    n_cases: int
    n_splits: int

    @property
    def test_share(self) -> float:
        """Ratio of test to training cases."""
        return float(np.mean([row["n_test"] / row["n_train"] for row in self.rows]))

    def values(self, model: str, metric: str) -> NDArray[Any]:
        """Return the values of a metric over the splits, NaN where it is undefined.

        Parameters
        ----------
        model, metric : str
            Names of a model and a metric.

        Returns
        -------
        values : ndarray of shape (n_splits,) or (n_splits, ...)
            One value, or one curve, for each split.
        """
        one_of(self.models, model, "model")
        one_of(self.metrics, metric, "metric")
        found = {
            row["split"]: row["value"]
            for row in self.rows
            if row["model"] == model and row["metric"] == metric
        }
        splits = ["all"] if "all" in found else range(self.n_splits)
        shape = next((np.shape(value) for value in found.values() if value is not None), ())
        empty = np.full(shape, np.nan)
        values = [found.get(split) for split in splits]
        return np.array([empty if value is None else value for value in values], dtype=float)

    def means(self, *, confidence: float = 0.95, corrected: bool = True) -> list[dict[str, Any]]:
        """Return mean, standard deviation, standard error and interval by model and metric.

        Parameters
        ----------
        confidence : float
            Confidence level of the intervals. With a single split, only the accuracy has an
            interval (Wilson's).
        corrected : bool
            Widen the intervals for the overlap of training parts (Nadeau and Bengio 2003).

        Returns
        -------
        means : list of dict
            ``model``, ``metric``, ``n`` (splits with a value), ``n_infinite`` (how many of these
            are infinite; then the mean is infinite too, without a spread), ``mean``, ``sd``,
            ``se``, ``low``, ``high``.
        """
        options = {
            "confidence": confidence, "corrected": corrected, "test_share": self.test_share
        }  # fmt: skip
        found = []
        for metric in self.numbers():
            for model in self.models:
                entry = describe_differences(self.values(model, metric), **options)
                if metric == "accuracy" and entry["n"] == 1:
                    n_test = next(row["n_test"] for row in self.rows if row["metric"] == metric)
                    limits = accuracy_interval(entry["mean"], n_test, confidence)
                    entry["low"], entry["high"] = limits
                fields = ("n", "n_infinite", "mean", "sd", "se", "low", "high")
                kept = {key: entry[key] for key in fields}
                found.append({"model": model, "metric": metric, **kept})
        return found

    def differences(
        self, baseline: str | None = None, *, confidence: float = 0.95, corrected: bool = True
    ) -> list[dict[str, Any]]:
        """Return the paired differences of every other model to the baseline.

        Parameters
        ----------
        baseline : str, optional
            Model to compare with; by default that of the comparison.
        confidence : float
            Confidence level of the two-sided intervals.
        corrected : bool
            Widen the intervals for the overlap of training parts (Nadeau and Bengio 2003).

        Returns
        -------
        differences : list of dict
            ``model``, ``metric``, ``baseline``, and the fields of
            :class:`~keeptree.evaluation.PairedDifference` over the splits where both have a value
            and at most one is infinite. ``n_infinite`` counts infinite differences. If there are
            any, no test is possible, and the mean is infinite, or None if they have both signs. The
            tests are one-sided: a small p-value means that the model is *better* than the baseline
            (a larger AUC, a smaller Brier score), a p-value near 1 that it is worse. ``better``
            states what the interval shows: True, False, or None if it contains 0.
        """
        baseline = one_of(self.models, baseline or self.baseline, "model")
        options = {
            "confidence": confidence, "corrected": corrected, "test_share": self.test_share
        }  # fmt: skip
        found = []
        for metric in self.numbers():
            reference = self.values(baseline, metric)
            larger = self.metrics[metric].larger
            for model in self.models:
                if model == baseline:
                    continue
                with np.errstate(invalid="ignore"):  # two infinite values have no difference
                    difference = self.values(model, metric) - reference
                entry = describe_differences(
                    difference, alternative="greater" if larger else "less", **options
                )
                sure = entry["low"] is not None and (entry["low"] > 0 or entry["high"] < 0)
                better = (entry["mean"] > 0) == larger if sure else None
                found.append({"model": model, "metric": metric, "baseline": baseline, **entry,
                              "better": better})  # fmt: skip
        return found

    def curve(self, model: str, name: str) -> NDArray[Any]:
        """Return a curve over all splits: the sum of counts, or the mean of other values.

        Parameters
        ----------
        model : str
            Name of a model.
        name : {"confusion", "partial_auc", "reliability", "roc"}
            A curve among the metrics of the comparison.

        Returns
        -------
        curve : ndarray
            The combined curve.
        """
        values = self.values(model, name)
        values = values[~np.isnan(values.reshape(len(values), -1)).any(axis=1)]
        if not len(values):
            raise ValueError(f"The model {model!r} has no {name!r} on any split; see failures.")
        return values.sum(axis=0) if name in ("confusion", "reliability") else values.mean(axis=0)

    def ahead(self, model: str, baseline: str | None = None, confidence: float = 0.95) -> float:
        """Return the abscissa up to which the ROC curve of a model stays ahead of the baseline's.

        The comparison must have the metric ``"partial_auc"``; see
        :func:`~keeptree.evaluation.stays_ahead`.

        Parameters
        ----------
        model : str
            Name of a model.
        baseline : str, optional
            Model to compare with; by default that of the comparison.
        confidence : float
            One-sided confidence level.

        Returns
        -------
        x : float
            Share of the negative cases, between 0 and 1.
        """
        ours, theirs = (self.values(m, "partial_auc") for m in (model, baseline or self.baseline))
        both = ~np.isnan(ours - theirs).any(axis=-1)
        return stays_ahead(ours[both], theirs[both], confidence=confidence)

    def numbers(self) -> list[str]:
        """Return the names of the metrics that are numbers rather than curves.

        Returns
        -------
        names : list of str
            Names of the metrics that tables show.
        """
        return [name for name in self.metrics if name not in CURVES]

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame, without the curves.

        Returns
        -------
        frame : pandas.DataFrame
            One row for each split, model and metric.
        """
        import pandas as pd

        return pd.DataFrame([row for row in self.rows if row["metric"] not in CURVES])

    def to_dict(self) -> dict[str, Any]:
        """Return all results as JSON-compatible values.

        Returns
        -------
        data : dict
            Protocol, means, differences, rows, failures and warnings.
        """
        return comparison_dict(self)

    def to_markdown(self) -> str:
        """Return the tables of means and differences as Markdown.

        Returns
        -------
        text : str
            Markdown.
        """
        return comparison_markdown(self)

    def __str__(self):
        return comparison_text(self)

    def __repr__(self):
        counts = plural(len(self.models), "model"), plural(len(self.metrics), "metric")
        return f"Comparison({', '.join(counts)}, {plural(self.n_splits, 'split')})"

    def _repr_html_(self):
        return framed_text("comparison", str(self))


def _add_resubstitution(experiment, protocol):
    """Add a split with all cases as both training and test part, and the metrics for .632+."""
    everything = np.arange(len(experiment.y))
    parts = Parts.from_pairs([*experiment.parts, (everything, everything)])
    metrics = experiment.metrics
    if protocol == "bootstrap-632+":
        metrics = add_no_information(metrics)
    return replace(experiment, parts=parts, metrics=metrics)
