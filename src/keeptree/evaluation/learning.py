"""Learning curves of several models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keeptree.annotations import Filename, RandomState
from keeptree.choice import one_of
from keeptree.evaluation.experiment import Parts, run_experiment
from keeptree.evaluation.metrics import CURVES
from keeptree.evaluation.preparation import prepare_experiment
from keeptree.evaluation.protocols import RESUBSTITUTED
from keeptree.evaluation.significance import describe_differences
from keeptree.evaluation.tables import (
    aligned,
    fit_troubles,
    markdown_table,
    metric_heading,
    metric_label,
    number,
)
from keeptree.notebook import framed_text
from keeptree.text import clean, plural


def arithmetic_schedule(n: int, steps: int = 10) -> list[int]:
    """Return training sizes in equal steps up to n (arithmetic sampling, John and Langley 1996).

    Parameters
    ----------
    n : int
        Largest size.
    steps : int, default=10
        Number of sizes.

    Returns
    -------
    sizes : list of int
        Increasing sizes, the last of which is n.

    Examples
    --------
    >>> arithmetic_schedule(200, steps=4)
    [50, 100, 150, 200]
    """
    return _sizes(n * np.arange(1, steps + 1) / steps, n)


def geometric_schedule(n: int, start: int | None = None, ratio: float = 2.0) -> list[int]:
    """Return training sizes that grow by a ratio up to n (geometric sampling, Provost et al. 1999).

    Parameters
    ----------
    n : int
        Largest size.
    start : int, optional
        Smallest size; by default n / 32, at least 10.
    ratio : float
        Ratio of consecutive sizes, above 1.

    Returns
    -------
    sizes : list of int
        Increasing sizes, the last of which is n.

    Examples
    --------
    >>> geometric_schedule(200, start=20)
    [25, 50, 100, 200]
    """
    start = min(n, max(10, n // 32)) if start is None else start
    if not (1 <= start <= n and ratio > 1):
        raise ValueError(
            f"start is {start} and ratio {ratio}; give a start from 1 to {n} and a ratio above 1."
        )
    steps = int(np.floor(np.log(n / start) / np.log(ratio) + 1e-9))
    return _sizes(n / ratio ** np.arange(steps + 1), n)


SCHEDULES = {"arithmetic": arithmetic_schedule, "geometric": geometric_schedule}


def learning_curve(
    models: Mapping[str, Any] | Sequence[Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    sizes: str | Sequence[float] = "geometric",
    protocol: Any = "repeated-holdout",
    n_splits: int | None = None,
    metrics: Sequence[str] | Mapping[str, Any] = ("auc", "accuracy"),
    positive: Any = None,
    results: Filename | None = None,
    n_jobs: int = -1,
    random_state: RandomState = 0,
    progress: bool = True,
) -> "LearningCurve":
    """Evaluate models on the same test sets for increasing training sizes.

    Training sets are nested and stratified.

    Parameters
    ----------
    models, X, y, protocol, n_splits, metrics, positive, results, n_jobs, random_state, progress
        As for :func:`~keeptree.evaluation.compare`.
    sizes : {"arithmetic", "geometric"} or list
        A schedule up to the size of the smallest training set; or a list of numbers of cases, or of
        shares of that set (floats up to 1).

    Returns
    -------
    curve : LearningCurve
        Values for each split, model, metric and size. Prints as one table for each metric.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from keeptree.evaluation import learning_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> curve = learning_curve([tree], X, y, sizes=[15, 100], metrics=["accuracy"], n_jobs=1)
    >>> [round(point["mean"], 2) for point in curve.points()]
    [0.91, 0.94]
    """
    if isinstance(protocol, str) and protocol in RESUBSTITUTED:
        raise ValueError(
            f"A learning curve needs test cases not used for training, unlike {protocol!r}; "
            "choose another protocol, such as 'bootstrap'."
        )
    whole = prepare_experiment(
        models, X, y, protocol=protocol, n_splits=n_splits, metrics=metrics, positive=positive,
        random_state=random_state,
    )  # fmt: skip
    sizes = _read_sizes(sizes, min(np.diff(whole.parts.train_ends, prepend=0)))
    rng = np.random.default_rng(random_state)
    orders = [(_proportional_order(train, whole.y, rng), test) for train, test in whole.parts]
    nested = Parts.from_pairs([(order[:size], test) for order, test in orders for size in sizes])
    outcome = run_experiment(replace(whole, parts=nested), results, n_jobs, progress)
    return LearningCurve(
        **vars(outcome), models=list(whole.models), metrics=whole.metrics, sizes=sizes
    )


@dataclass(frozen=True)
class LearningCurve:
    """Result of :func:`learning_curve`.

    Attributes
    ----------
    rows, failures, warnings, models, metrics
        As in :class:`~keeptree.evaluation.Comparison`; ``n_train`` is the training size.
    sizes : list of int
        Training sizes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from keeptree.evaluation import learning_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> curve = learning_curve([tree], X, y, sizes=[15, 100], metrics=["accuracy"], n_jobs=1)
    >>> curve.sizes, [point["n"] for point in curve.points()]
    ([15, 100], [10, 10])
    """

    rows: list
    failures: list
    warnings: list
    models: list
    metrics: dict
    sizes: list

    def points(self) -> list[dict[str, Any]]:
        """Return mean, standard deviation and standard error for each metric, model and size.

        Returns
        -------
        points : list of dict
            ``metric``, ``model``, ``size``, ``n``, ``mean``, ``sd``, ``se``; None where values are
            too few or infinite.
        """
        groups = {}
        for row in self.rows:
            if row["value"] is not None:
                key = row["metric"], row["model"], row["n_train"]
                groups.setdefault(key, []).append(row["value"])
        points = []
        for key in product(self.metrics, self.models, self.sizes):
            entry = describe_differences(np.array(groups.get(key, []), dtype=float))
            point = dict(zip(("metric", "model", "size"), key, strict=True))
            points.append(point | {name: entry[name] for name in ("n", "mean", "sd", "se")})
        return points

    def to_markdown(self) -> str:
        """Return a Markdown table for each metric: models by sizes, means ± standard errors.

        Returns
        -------
        text : str
            Markdown.
        """
        lines = []
        for name, rows in self._tables():
            head = [metric_label(self, name), *map(str, self.sizes)]
            lines += [*markdown_table(head, rows), ""]
        return "\n".join(lines)

    def __str__(self):
        lines = []
        for name, rows in self._tables():
            lines += [*aligned([[metric_heading(self, name), *map(str, self.sizes)], *rows]), ""]
        lines.append(
            "Mean ± standard error by number of training cases; ↑ larger is better, ↓ smaller."
        )
        return "\n".join([*lines, *fit_troubles(self, self._training_size)])

    def __repr__(self):
        counts = plural(len(self.models), "model"), plural(len(self.metrics), "metric")
        return f"LearningCurve({', '.join(counts)}, {plural(len(self.sizes), 'size')})"

    def _repr_html_(self):
        return framed_text("learning-curve", str(self))

    def _repr_markdown_(self):
        return self.to_markdown()

    def _tables(self):
        """Yield each metric that is a number with the rows of its table."""
        cells = {(p["metric"], p["model"], p["size"]): p for p in self.points()}
        for name, metric in self.metrics.items():
            if name in CURVES:
                continue
            rows = []
            for model in self.models:
                points = [cells[name, model, size] for size in self.sizes]
                rows.append([clean(model), *(_cell(point, metric.decimals) for point in points)])
            yield name, rows

    def _training_size(self, failure):
        """Return the number of training cases of a failed fit."""
        # Each split trains on all sizes in turn.
        return plural(self.sizes[failure["split"] % len(self.sizes)], "training case")


def _sizes(values, n):
    return sorted({max(1, min(n, round(float(value)))) for value in values})


def _read_sizes(sizes, largest):
    if isinstance(sizes, str):
        return SCHEDULES[one_of(SCHEDULES, sizes, "schedule")](int(largest))
    values = np.asarray(sizes, dtype=float)
    if values.size and np.asarray(sizes).dtype.kind == "f" and (values <= 1).all():
        values = values * largest
    if not values.size or not ((values >= 1) & (values <= largest)).all():
        raise ValueError(
            f"sizes is {sizes!r}; give numbers of cases from 1 to {largest}, the smallest training "
            "part, or shares of it up to 1."
        )
    return _sizes(values, int(largest))


def _proportional_order(cases, y, rng):
    """Return a random order of the cases in which every prefix is roughly stratified."""
    place = np.empty(len(cases))
    for label in np.unique(y[cases]):
        members = rng.permutation(np.flatnonzero(y[cases] == label))
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    return cases[np.argsort(place, kind="stable")]


def _cell(point, decimals):
    text = number(point["mean"], decimals)
    return text if point["se"] is None else f"{text} ± {number(point['se'], decimals)}"
