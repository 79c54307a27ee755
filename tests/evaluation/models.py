"""Small models that misbehave in the ways real models do."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Counting(ClassifierMixin, BaseEstimator):
    """A model that predicts the training class shares and can fail, warn or count its fits."""

    def __init__(self, fail_if_rows=None, warn=False, folder=None):
        self.fail_if_rows = fail_if_rows
        self.warn = warn
        self.folder = folder

    def fit(self, X, y):
        if self.folder is not None:
            (self.folder / f"fit-{len(list(self.folder.iterdir()))}").touch()
        if self.fail_if_rows is not None and self.fail_if_rows in X[:, 0]:
            raise RuntimeError("cannot fit\nthis training part")
        if self.warn:
            warnings.warn("did not converge", stacklevel=2)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.share_ = counts / counts.sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.share_, (len(X), 1))

    def predict(self, X):
        return self.classes_[np.full(len(X), self.share_.argmax())]
