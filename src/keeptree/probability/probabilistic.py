"""Base of the classifiers with probabilities, which decide by tree, probability or cost."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from keeptree.annotations import Floats
from keeptree.probability.base import KeptTreeModel
from keeptree.probability.costs import DecidesByCost, cheapest
from keeptree.probability.expectation import Expectation, expect_accuracy, score_sample
from keeptree.probability.guarantees import Guarantees
from keeptree.savable import expect


class ProbabilityModel(DecidesByCost, Guarantees, KeptTreeModel):
    """Base of the classifiers with probabilities.

    A subclass supplies ``_probability(X, out)``, which fills in the probabilities of encoded rows.
    """

    _parameter_constraints = {
        **KeptTreeModel._parameter_constraints,
        "decide": [StrOptions({"tree", "probability", "cost"})],
        "costs": ["array-like", dict, None],
    }
    saved_fields = ("expected_",)

    def _resolve(self, X, y, sample_weight):
        self._check_costs()
        super()._resolve(X, y, sample_weight)
        _ = self.cost_matrix  # invalid costs raise an error before anything is learned

    def _remember(self, sample, unseen):
        super()._remember(sample, unseen)
        scored = score_sample(self, sample) if unseen is None else unseen
        self.expected_ = expect_accuracy(self.tree_, scored)
        self._calibrate_out_of_fold(unseen)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probability of each class for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Probabilities; each row sums to 1, columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self._map(X, self._probability, (len(self.classes_),))

    def predict_proba_encoded(self, rows: NDArray[Any]) -> Floats:
        """Return the result of ``predict_proba`` for encoded rows."""
        return self._map_encoded(rows, self._probability, (len(self.classes_),))

    def scores_encoded(self, rows: NDArray[Any]) -> Floats:
        """Return the probabilities of encoded rows, which rank the cases for each class."""
        return self.predict_proba_encoded(rows)

    def _scores(self, rows, out):
        self._probability(rows, out)

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return the logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
            Logarithms of the probabilities; columns in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the probability as a score.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        score : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes the probability of ``classes_[1]`` minus one half; with more the
            probabilities.
        """
        p = self.predict_proba(X)
        return p[:, 1] - 0.5 if p.shape[1] == 2 else p

    def check_loaded(self) -> None:  # noqa: D102 - inherited
        super().check_loaded()
        expected = getattr(self, "expected_", None)
        if expected is not None:
            expect(isinstance(expected, Expectation), "its expected accuracy is damaged")
            expected.check(self.tree_)

    def _decide(self, rows, out):
        if self.decide == "tree":
            super()._decide(rows, out)
            return
        matrix = self.cost_matrix
        p = np.empty((len(rows), len(self.classes_)))
        self._probability(rows, p)
        out[:] = p.argmax(axis=1) if matrix is None else cheapest(p, matrix)
