"""Grow a tree from a data file: what ``keeptree grow`` does."""

from sklearn.base import clone

from keeptree.files import read_frame, split_target
from keeptree.learners.c45 import C45Classifier

MOST_CLASSES = 1000


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
    X, y = split_target(read_frame(path), target)
    distinct = y.nunique()
    if distinct > MOST_CLASSES:
        raise ValueError(
            f"The target {target!r} has {distinct} distinct values, which are no classes; choose a "
            f"column with at most {MOST_CLASSES}."
        )
    # A categorical target keeps its declared labels; others are plain labels.
    labels = y.array if y.dtype == "category" else y.to_numpy()
    return clone(learner or C45Classifier()).fit(X, labels)
