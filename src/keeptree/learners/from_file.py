"""Grow a tree from a data file: what ``keeptree grow`` does."""

from sklearn.base import clone

from keeptree.data.files import read_training, warn_suspect_columns
from keeptree.learners.c45 import C45Classifier


def grow_file(path, target, learner=None, *, nominal=(), drop=()):
    """Fit a learner on a CSV, ARFF or Parquet file.

    Parameters
    ----------
    path : str or Path
        The data; see :func:`keeptree.data.files.read_frame`.
    target : str
        Column of the class.
    learner : estimator, optional
        Unfitted; default :class:`~keeptree.C45Classifier`.
    nominal : sequence of str
        Columns that hold categories though they look like numbers.
    drop : sequence of str
        Columns to leave out, such as an identifier.

    Returns
    -------
    model : estimator
        The fitted learner; ``model.tree_`` is the tree.
    """
    X, labels = read_training(path, target, nominal, drop)
    warn_suspect_columns(X, labels)
    return clone(learner or C45Classifier()).fit(X, labels)
