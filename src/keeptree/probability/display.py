"""Figure 1 of Alvarez et al. (2007): probability against the distance to the boundary."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from keeptree.plotting import BLUE, GREY, LIGHT, ORANGE, new_axes, plain_frame
from keeptree.probability.base import class_code
from keeptree.probability.smoothing import smoothed_nodes


class DistanceKernelDisplay:
    """Probability of a class against the algebraic distance, one point per case.

    Create one with :meth:`from_estimator` or :meth:`from_predictions`. The Laplace estimate,
    constant over each leaf, is drawn for comparison; the tree's errors have their own marker.

    Parameters
    ----------
    distance : ndarray of shape (n_samples,)
        Algebraic distance of each case to the boundary of the class, negative inside.
    probability : ndarray of shape (n_samples,)
        Probability of the class by the distance kernel.
    laplace : ndarray of shape (n_samples,) or None
        Laplace-smoothed leaf probability of the class.
    error : ndarray of bool of shape (n_samples,)
        Whether the tree is wrong on the case.
    positive : label
        The class.

    Attributes
    ----------
    ax_, figure_
        matplotlib axes and figure, after ``plot``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import keeptree as kt
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = kt.DistanceKernelClassifier().fit(X, y)
    >>> display = kt.DistanceKernelDisplay.from_estimator(model, X, y)
    >>> display.ax_.get_xlabel()
    'distance to the boundary of class 1 (negative inside)'
    """

    def __init__(
        self,
        *,
        distance: ArrayLike,
        probability: ArrayLike,
        error: ArrayLike,
        laplace: ArrayLike | None = None,
        positive: Any = None,
    ) -> None:
        self.distance = distance
        self.probability = probability
        self.error = error
        self.laplace = laplace
        self.positive = positive

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, positive: Any = None, ax: Any = None
    ) -> Self:
        """Draw the cases of X with the estimates of a :class:`~keeptree.DistanceKernelClassifier`.

        Parameters
        ----------
        estimator : DistanceKernelClassifier
            Fitted classifier.
        X, y : array-likes
            Cases with their true classes: the training sample or, as in the paper, a test sample.
        positive : label, optional
            Class whose probability is drawn; by default ``classes_[-1]``.
        ax : matplotlib axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        display : DistanceKernelDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        if not hasattr(estimator, "boundary_") or not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{type(estimator).__name__} is not a fitted DistanceKernelClassifier; fit one."
            )
        positive = estimator.classes_[-1] if positive is None else positive
        tree = estimator.tree_
        code = class_code(positive, tree.classes)
        rows = estimator.encode(X)
        return cls.from_predictions(
            estimator.boundary_.class_distances(rows)[:, code],
            estimator.predict_proba_encoded(rows)[:, code],
            estimator.predict_encoded(rows) != np.asarray(y),
            laplace=tree.leaf_average(rows, smoothed_nodes(tree, "laplace"))[:, code],
            positive=positive,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        distance: ArrayLike,
        probability: ArrayLike,
        error: ArrayLike,
        *,
        laplace: ArrayLike | None = None,
        positive: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw given distances and probabilities.

        Parameters
        ----------
        distance, probability, error, laplace, positive
            As for the class.
        ax : matplotlib axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        display : DistanceKernelDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        given = {"distance": distance, "probability": probability, "error": error}
        if laplace is not None:
            given["laplace"] = laplace
        given = {name: np.atleast_1d(np.asarray(values)) for name, values in given.items()}
        lengths = {name: len(values) for name, values in given.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"Arrays must have one entry per case, but the lengths are {lengths}.")
        if not np.isfinite(given["distance"]).all():
            raise ValueError("The tree predicts only one class, so no case has a distance to draw.")
        given["error"] = given["error"].astype(bool)
        return cls(**given, positive=positive).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        self : DistanceKernelDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        ax = new_axes((6.2, 4.0)) if ax is None else ax
        right = ~self.error
        points = {"s": 12, "linewidths": 0}
        if self.laplace is not None:
            ax.scatter(self.distance[right], self.laplace[right], c=LIGHT, marker="s",
                       label="Laplace: constant over a leaf", **points)  # fmt: skip
        ax.scatter(
            self.distance[right], self.probability[right], c=BLUE, label="distance kernel", **points
        )
        for values in (self.laplace, self.probability):
            if values is not None:
                label = "error of the tree" if values is self.probability else None
                ax.scatter(self.distance[self.error], values[self.error], s=46, marker="x",
                           c=ORANGE, linewidths=1.6, label=label, zorder=3)  # fmt: skip
        ax.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
        ax.set_xlabel(f"distance to the boundary of class {self.positive} (negative inside)")
        ax.set_ylabel(f"probability of class {self.positive}")
        ax.set_ylim(-0.03, 1.03)
        plain_frame(ax)
        ax.legend(frameon=False, fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
