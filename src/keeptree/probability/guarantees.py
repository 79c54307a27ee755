"""Class sets and probability intervals, calibrated on cases that the model has not seen."""

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from keeptree.annotations import Floats
from keeptree.data.arrow import from_arrow
from keeptree.data.labels import recode
from keeptree.data.target import read_target
from keeptree.probability.calibration import HELD_OUT, OUT_OF_FOLD, Calibration, calibrate
from keeptree.savable import Savable, expect
from keeptree.tree import Tree


class Guarantees(Savable):
    """Mixin that adds class sets and intervals to classifiers with probabilities.

    A subclass that has intervals for single cases overrides ``_knows_cases`` and supplies
    ``_case_intervals(rows, p, confidence)``.
    """

    saved_fields = ("calibration_",)
    tree_: Tree
    encode: Callable[[ArrayLike], Floats]
    predict_proba: Callable[[ArrayLike], Floats]
    predict_proba_encoded: Callable[[NDArray[Any]], Floats]
    _case_intervals: Callable[[Floats, Floats, float], Floats]

    def calibrate(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Calibrate class sets and intervals on held-out cases.

        :meth:`predict_set` and :meth:`predict_interval` use the result. The probabilities
        themselves do not change.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Held-out cases from the same distribution as new cases.
        y : array-like of shape (n_samples,)
            True classes of these cases.

        Returns
        -------
        self : object
            The classifier; ``calibration_`` is set.
        """
        p = self.predict_proba(X)
        classes, codes = read_target(from_arrow(y))
        check_consistent_length(p, codes)
        self.calibration_ = calibrate(p, recode(codes, classes, self.tree_.classes), HELD_OUT)
        return self

    def predict_set(self, X: ArrayLike, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return the classes that each row may belong to, by conformal prediction.

        For *each* class, at least a share ``coverage`` of its cases have a set that contains it, as
        long as new cases come from the same distribution as the calibration cases.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to classify.
        coverage : float, default=0.9
            Least share of the cases of a class whose set contains it.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Whether each class is in the set; columns in the order of ``classes_``. A set may be
            empty (no class fits) or contain several classes (the case is ambiguous).

        Notes
        -----
        The guarantee is exact if :meth:`calibrate` was called with held-out cases. Otherwise the
        calibration is out of fold (``calibration_.source``), from models fitted to four fifths of
        the sample, and the guarantee is approximate. A class with fewer than ``coverage / (1 -
        coverage)`` calibration cases is in every set.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> import keeptree as kt
        >>> X, y = load_iris(return_X_y=True)
        >>> model = kt.KeptTreeClassifier().fit(X, y)
        >>> model.predict_set(X[[0, 72, 120]], coverage=0.95)
        array([[ True, False, False],
               [False,  True,  True],
               [False, False,  True]])
        """
        check_share(coverage, "coverage")
        self._check_calibrated()
        return self.sets_of(self.predict_proba(X), coverage)

    def sets_of(self, p: Floats, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return the result of :meth:`predict_set` for rows with these probabilities."""
        return self._check_calibrated().sets(p, coverage)

    def predict_interval(
        self,
        X: ArrayLike,
        confidence: float = 0.9,
        kind: Literal["case", "calibration"] | None = None,
    ) -> Floats:
        """Return an interval for the probability of each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to score.
        confidence : float, default=0.9
            Confidence level of the interval.
        kind : {"case", "calibration"} or None, default=None
            ``"case"``: an interval for each single case, which is wide if trees refitted on parts
            of the sample disagree, or if few training cases are similar. ``"calibration"``: an
            interval for all cases with a similar probability, which is the union of the two
            probabilities of a Venn-Abers predictor, Wilson's interval for the share of calibration
            cases, and the estimate. None: ``"case"`` if the model supports it, else
            ``"calibration"``.

        Returns
        -------
        interval : ndarray of shape (n_samples, n_classes, 2)
            Lower and upper ends of the intervals.

        Notes
        -----
        An interval always contains the estimate. ``"calibration"`` needs calibration cases; an
        interval of which the estimate is an end means that they suggest another figure.

        Only a :class:`~keeptree.KeptTreeClassifier` that was fitted to a learner supports
        ``"case"``. No method can guarantee the coverage of such intervals without assumptions; the
        guide shows the coverage measured where the truth is known. At a level of 90 %, it was
        92 % to 98 % on average, by kind of problem, but lower in some problems. It is lowest if the
        truth has a step.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> import keeptree as kt
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = kt.KeptTreeClassifier().fit(X, y)
        >>> model.predict_proba(X[[73]])[:, 0].round(2)
        array([0.21])
        >>> model.predict_interval(X[[73]])[:, 0].round(2)
        array([[0.01, 0.8 ]])
        >>> model.predict_interval(X[[73]], kind="calibration")[:, 0].round(2)
        array([[0.03, 0.38]])
        """
        check_is_fitted(self)
        rows = self.encode(X)
        return self.intervals_encoded(rows, self.predict_proba_encoded(rows), confidence, kind)

    def intervals_encoded(
        self,
        rows: Floats,
        p: Floats,
        confidence: float = 0.9,
        kind: Literal["case", "calibration"] | None = None,
    ) -> Floats:
        """Return the result of :meth:`predict_interval` for encoded rows."""
        check_share(confidence, "confidence")
        kind = (self.interval_kind or "calibration") if kind is None else kind
        if kind == "calibration":
            return self._check_calibrated().intervals(p, confidence)
        if kind != "case":
            raise ValueError(f"kind={kind!r} is unknown; give 'case' or 'calibration'.")
        if not self._knows_cases:
            raise ValueError(
                f"This {type(self).__name__} has no intervals for single cases; "
                f"{self._how_to_know_cases()}, or ask for kind='calibration'."
            )
        return self._case_intervals(rows, p, confidence)

    @property
    def interval_kind(self) -> Literal["case", "calibration"] | None:
        """Default kind of interval of :meth:`predict_interval`; None if there are none."""
        if self._knows_cases:
            return "case"
        return None if getattr(self, "calibration_", None) is None else "calibration"

    @property
    def _knows_cases(self):
        """Whether the model has intervals for single cases."""
        return False

    def _how_to_know_cases(self):
        """Return what to do to get intervals for single cases."""
        grown = not isinstance(getattr(self, "estimator", None), Tree)
        if not (hasattr(self, "spread_") and grown):
            return "fit a KeptTreeClassifier to the learner that grows the tree"
        if self.tree_.has_oblique:
            return "trees refitted on folds test other weighted sums; use a tree without such sums"
        return (
            "trees refitted on folds read other columns or categories than this tree, or a class "
            "has too few cases; use more cases, or drop rare categories"
        )

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        calibration = getattr(self, "calibration_", None)  # files of older versions have none
        if calibration is not None:
            expect(isinstance(calibration, Calibration), "its calibration is damaged")
            calibration.check(self.tree_)

    def _calibrate_out_of_fold(self, unseen):
        """Calibrate on the training cases that refitted models scored, if there are any.

        ``unseen`` is a :class:`~keeptree.probability.expectation.Scored` part of the sample.
        """
        refitted = unseen is not None and unseen.refitted
        self.calibration_ = calibrate(unseen.p, unseen.y, OUT_OF_FOLD) if refitted else None

    def _check_calibrated(self):
        check_is_fitted(self)
        calibration = getattr(self, "calibration_", None)
        if calibration is None:
            raise ValueError(
                f"This {type(self).__name__} has not been calibrated. Calibrate it on cases that "
                "the tree has not seen: call calibrate(X, y), or use keeptree fit --calibrate "
                "FILE. Only a KeptTreeClassifier that was fitted to a learner, with at least two "
                "classes and two cases of each, calibrates itself."
            )
        return calibration


def check_share(value, name):
    """Raise a ValueError unless a parameter is a number between 0 and 1."""
    if not (isinstance(value, Real) and 0 < value < 1):
        raise ValueError(f"{name}={value!r} is not a share between 0 and 1, such as 0.9.")
