"""Grow a tree from a data file: what ``keeptree grow`` does."""

from sklearn.base import clone

from keeptree.files import read_training
from keeptree.learners.c45 import C45Classifier


def grow_file(path, target, learner=None):
    """Fit a learner on a CSV, ARFF or Parquet file.

    Parameters
    ----------
    path : str or Path
        The data; see :func:`keeptree.files.read_frame`.
    target : str
        Column of the class.
    learner : estimator, optional
        Unfitted; default :class:`~keeptree.C45Classifier`.

    Returns
    -------
    model : estimator
        The fitted learner; ``model.tree_`` is the tree.
    """
    X, labels = read_training(path, target)
    return clone(learner or C45Classifier()).fit(X, labels)
