"""Displays of a comparison, in the style of scikit-learn.

For a single model use scikit-learn's RocCurveDisplay, CalibrationDisplay and LearningCurveDisplay;
these displays show several models over all splits.
"""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from scipy.integrate import trapezoid

from keeptree.evaluation.comparison import Comparison
from keeptree.evaluation.learning import LearningCurve
from keeptree.evaluation.metrics import CURVES
from keeptree.evaluation.ranking import GRID
from keeptree.evaluation.reliability import calibration_gap
from keeptree.evaluation.significance import accuracy_interval
from keeptree.evaluation.tables import metric_label
from keeptree.plotting import (
    BLUE,
    GREY,
    LIGHT,
    ORANGE,
    SERIES,
    new_axes,
    new_panels,
    plain_frame,
    unit_square,
)
from keeptree.text import clean


class ComparisonDisplay:
    """Base of the displays of a comparison; a subclass has ``plot``.

    Parameters
    ----------
    comparison : Comparison
        Comparison to draw.
    """

    plot: Callable[..., Self]

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    @classmethod
    def from_comparison(cls, comparison: Comparison, **options: Any) -> Self:
        """Draw a comparison.

        Parameters
        ----------
        comparison : Comparison
            Result of :func:`~keeptree.evaluation.compare`.
        **options
            Parameters of ``plot``.

        Returns
        -------
        display : ComparisonDisplay
            The display, after ``plot``.
        """
        return cls(comparison).plot(**options)


class PairedDifferenceDisplay(ComparisonDisplay):
    """Paired differences to the baseline: one panel for each metric, one line for each model.

    Parameters
    ----------
    comparison : Comparison
        Comparison to draw.

    Attributes
    ----------
    axes_, figure_
        matplotlib axes and figure, after ``plot``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from keeptree.evaluation import compare, PairedDifferenceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"tree": DecisionTreeClassifier(random_state=0), "Bayes": GaussianNB()}
    >>> comparison = compare(models, X, y, metrics=["auc"], n_splits=3, n_jobs=1)
    >>> display = PairedDifferenceDisplay.from_comparison(comparison)
    >>> len(display.axes_)
    1
    """

    def plot(self, metrics: Sequence[str] | None = None) -> Self:
        """Draw on a new figure.

        Parameters
        ----------
        metrics : list of str, optional
            Metrics to draw; by default all that are numbers.

        Returns
        -------
        self : PairedDifferenceDisplay
            The display, with ``axes_`` and ``figure_``.
        """
        comparison = self.comparison
        metrics = metrics or comparison.numbers()
        others = [model for model in comparison.models if model != comparison.baseline]
        if not others:
            raise ValueError("There is only one model; compare two or more to draw differences.")
        size = (2.9, 0.36 * len(others) + 1.0)
        self.figure_, self.axes_ = new_panels(len(metrics), 3, size, sharey=True)
        found = {(e["model"], e["metric"]): e for e in comparison.differences()}
        for ax, metric in zip(self.axes_, metrics, strict=True):
            reference = comparison.values(comparison.baseline, metric)
            for place, model in enumerate(others):
                values = comparison.values(model, metric)
                _draw_difference(ax, place, values, reference, found[model, metric])
            larger = comparison.metrics[metric].larger
            ax.axvline(0, color=LIGHT, linewidth=0.8, zorder=0)
            ax.set_title(metric_label(comparison, metric), fontsize="medium")
            ax.set_xlabel("better →" if larger else "← better", fontsize="small", color=GREY)
            ax.tick_params(axis="y", length=0)
            ax.locator_params(axis="x", nbins=4)
            plain_frame(ax, "left")
        self.axes_[0].set_yticks(range(len(others)), [clean(model) for model in others])
        self.axes_[0].set_ylim(len(others) - 0.5, -0.5)
        self.figure_.suptitle(
            f"Difference from {clean(comparison.baseline)}: mean, 95% interval, every split",
            fontsize="medium",
        )
        return self


class MeanRocDisplay(ComparisonDisplay):
    """Mean ROC curve of each model over the splits.

    Parameters
    ----------
    comparison : Comparison
        Comparison with the metric ``"roc"``.

    Attributes
    ----------
    ax_, figure_
        matplotlib axes and figure, after ``plot``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from keeptree.evaluation import compare, MeanRocDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"tree": DecisionTreeClassifier(random_state=0), "Bayes": GaussianNB()}
    >>> comparison = compare(models, X, y, metrics=["roc"], n_splits=3, n_jobs=1)
    >>> display = MeanRocDisplay.from_comparison(comparison)
    >>> display.ax_.get_xlabel()
    'share of the other cases called positive'
    """

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves; the best ones run through the upper left.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        self : MeanRocDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        curves = _curves(self.comparison, "roc")
        ax = new_axes((6.2, 5.6)) if ax is None else ax
        area = {model: self._area(model, curve) for model, curve in curves.items()}
        unit_square(ax, 0.01)
        ranked = sorted(curves, key=area.get, reverse=True)
        for model, width in zip(ranked, _widths(len(ranked)), strict=True):
            color, label = _color(self.comparison, model), f"{clean(model)}  {area[model]:.3f}"
            x, y = np.append(0, GRID), np.append(0, curves[model])
            ax.plot(x, y, color=color, linewidth=width, label=label)
        several = len(self.comparison.labels) > 2
        positive = "each class, averaged" if several else clean(self.comparison.labels[-1])
        ax.set_xlabel("share of the other cases called positive")
        ax.set_ylabel(f"share of the positive cases found ({positive})")
        ax.legend(frameon=False, fontsize="small", loc="lower right", title="AUC")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _area(self, model, curve):
        """Return the mean AUC if it was computed; the drawn curve has only 101 points."""
        if "auc" in self.comparison.metrics:
            return float(np.nanmean(self.comparison.values(model, "auc")))
        return float(trapezoid(curve, GRID))


class ReliabilityDisplay(ComparisonDisplay):
    """Reliability diagram of each model: observed frequency against predicted probability.

    Parameters
    ----------
    comparison : Comparison
        Comparison with the metric ``"reliability"``.

    Attributes
    ----------
    axes_, figure_
        matplotlib axes and figure, after ``plot``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from keeptree.evaluation import compare, ReliabilityDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"tree": DecisionTreeClassifier(random_state=0), "Bayes": GaussianNB()}
    >>> comparison = compare(models, X, y, metrics=["reliability"], n_splits=3, n_jobs=1)
    >>> display = ReliabilityDisplay.from_comparison(comparison)
    >>> len(display.axes_)
    2
    """

    def plot(self) -> Self:
        """Draw one panel for each model on a new figure.

        Returns
        -------
        self : ReliabilityDisplay
            The display, with ``axes_`` and ``figure_``.
        """
        curves = _curves(self.comparison, "reliability")
        columns = 3 if len(curves) == 3 else int(np.ceil(np.sqrt(len(curves))))
        self.figure_, self.axes_ = new_panels(
            len(curves), columns, (2.6, 2.7), sharex=True, sharey=True
        )
        for ax, (model, bins) in zip(self.axes_, curves.items(), strict=True):
            _draw_reliability(ax, bins, self.comparison.n_splits)
            ax.set_title(clean(model), fontsize="medium")
            # The lowest visible panel may be above a hidden one.
            ax.tick_params(labelbottom=ax in self.axes_[-columns:])
        several = len(self.comparison.labels) > 2
        event = "the most probable class" if several else clean(self.comparison.labels[-1])
        self.figure_.supxlabel(f"predicted probability of {event}", fontsize="medium")
        self.figure_.supylabel("how often it was true", fontsize="medium")
        return self


class LearningDisplay:
    """Learning curves of several models, mean ± standard error over the splits.

    Parameters
    ----------
    curve : LearningCurve
        Result of :func:`~keeptree.evaluation.learning_curve`.

    Attributes
    ----------
    axes_, figure_
        matplotlib axes and figure, after ``plot``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from keeptree.evaluation import LearningDisplay, learning_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> curve = learning_curve([tree], X, y, sizes=[15, 100], metrics=["accuracy"], n_jobs=1)
    >>> len(LearningDisplay.from_curve(curve).axes_)
    1
    """

    def __init__(self, curve: LearningCurve) -> None:
        self.curve = curve

    @classmethod
    def from_curve(cls, curve: LearningCurve) -> Self:
        """Draw a learning curve.

        Parameters
        ----------
        curve : LearningCurve
            Result of :func:`~keeptree.evaluation.learning_curve`.

        Returns
        -------
        display : LearningDisplay
            The display, with ``axes_`` and ``figure_``.
        """
        return cls(curve).plot()

    def plot(self) -> Self:
        """Draw one panel for each metric on a new figure.

        Returns
        -------
        self : LearningDisplay
            The display, with ``axes_`` and ``figure_``.
        """
        curve = self.curve
        self.figure_, self.axes_ = new_panels(len(curve.metrics), 3, (4.4, 3.6))
        points = curve.points()
        geometric = len(curve.sizes) > 2 and curve.sizes[1] - curve.sizes[0] < 0.7 * (
            curve.sizes[-1] - curve.sizes[-2]
        )
        for ax, metric in zip(self.axes_, curve.metrics, strict=True):
            for model, width in zip(curve.models, _widths(len(curve.models)), strict=True):
                chosen = [p for p in points if p["metric"] == metric and p["model"] == model]
                _draw_learning(ax, chosen, clean(model), _color(curve, model), width)
            ax.set_ylabel(metric_label(curve, metric))
            ax.set_xlabel("training cases")
            if geometric:
                ax.set_xscale("log", base=2)
            ax.set_xticks(curve.sizes, [str(size) for size in curve.sizes])
            ax.minorticks_off()
            plain_frame(ax)
        handles, labels = self.axes_[0].get_legend_handles_labels()
        self.figure_.legend(handles, labels, loc="outside right upper", frameon=False)
        return self


def _curves(comparison, name):
    """Return the curve of each model that has one."""
    if name not in comparison.metrics:
        raise ValueError(f"The comparison has no {name!r}; add it to the metrics of compare.")
    found = {}
    for model in comparison.models:
        values = comparison.values(model, name)
        if np.isfinite(values).any() and values.ndim > 1:
            found[model] = comparison.curve(model, name)
    if not found:
        raise ValueError(f"No model has a {CURVES[name].label} curve, so there is nothing to draw.")
    return found


def _color(thing, model):
    return SERIES[thing.models.index(model) % len(SERIES)]


def _widths(n):
    """Return line widths that keep overlapping lines visible."""
    return np.linspace(3.2, 1.4, n) if n > 1 else [1.8]


def _draw_difference(ax, place, values, reference, entry):
    if entry["n_infinite"] or entry["mean"] is None:
        why = "infinite" if np.isinf([values, reference]).any() else "no value"
        ax.text(0, place, why, color=LIGHT, fontsize="x-small", ha="center", va="center")
        return
    both = np.isfinite(values) & np.isfinite(reference)
    splits = values[both] - reference[both]
    color = {True: BLUE, False: ORANGE, None: GREY}[entry["better"]]
    jitter = np.random.default_rng(0).uniform(-0.16, 0.16, len(splits))
    ax.scatter(splits, place + jitter, s=7, color=color, alpha=0.28, linewidths=0)
    if entry["low"] is not None:
        ax.plot([entry["low"], entry["high"]], [place, place], color=color, linewidth=2.2,
                solid_capstyle="round")  # fmt: skip
    ax.scatter([entry["mean"]], [place], s=34, color=color, edgecolors="white", zorder=3)


def _draw_reliability(ax, bins, n_splits):
    count, said, happened = bins[bins[:, 0] > 0].T
    x, y = said / count, happened / count
    # A case is tested in several splits, so the interval uses the number of cases per split.
    cases = np.maximum(count / n_splits, 1)
    limits = [accuracy_interval(share, n) for share, n in zip(y, cases, strict=True)]
    common = count >= 0.01 * count.sum()  # bins with fewer cases are noisy and drawn faintly
    unit_square(ax, 0.03)
    ax.plot(x[common], y[common], color=BLUE, linewidth=1.4, alpha=0.8)
    for chosen, color in ((common, BLUE), (~common, LIGHT)):
        ax.vlines(
            x[chosen], *np.transpose(limits)[:, chosen], color=color, alpha=0.4, linewidth=1.2
        )
        ax.scatter(x[chosen], y[chosen], s=14 + 110 * count[chosen] / count.sum(), color=color,
                   edgecolors="white", linewidths=0.6, zorder=3)  # fmt: skip
    ax.text(
        0.98,
        0.03,
        f"mean gap {calibration_gap(bins):.3f}",
        fontsize="small",
        color=GREY,
        ha="right",
    )
    ax.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])


def _draw_learning(ax, points, label, color, width):
    points = [p for p in points if p["mean"] is not None and np.isfinite(p["mean"])]
    x, y = (np.array([p[key] for p in points]) for key in ("size", "mean"))
    error = np.array([p["se"] or 0 for p in points])
    ax.plot(x, y, color=color, marker="o", markersize=2 + width, linewidth=width, label=label)
    ax.fill_between(x, y - error, y + error, color=color, alpha=0.1, linewidth=0)
