"""Read a tree and count the rows of a data file in it, as ``keeptree keep`` does."""

from pathlib import Path

from keeptree.data.training import read_training, warn_suspect_columns
from keeptree.importers import keep
from keeptree.importers.files import is_keeptree_file

_OPEN = ("text", "J48", "C5.0 output")  # formats that name only the columns they test


def keep_with_data(source, data, target, *, tree=None, missing=None, nominal=(), drop=()):
    """Return the Tree of a file, checked against a data file whose classes are counted.

    Parameters
    ----------
    source : str or Path
        Source for :func:`keeptree.keep`.
    data : str, Path or DataFile
        Rows to count.
    target : str
        Column of the class.
    tree, missing
        As for :func:`keeptree.keep`.
    nominal, drop : sequence of str
        Numeric columns to read as categories, and columns to ignore.

    Returns
    -------
    tree : Tree
        The tree with the counts of the rows. A tree given as text has only the columns that it
        tests.
    """
    X, y, _ = read_training(data, target, nominal, drop, warn=False)
    kept = keep(source, X, y, tree=tree, missing=missing)
    names = X.columns if kept.feature_names is None else kept.feature_names
    used = [names[j] for j in kept.tested]
    if kept.source.get("model") in _OPEN and kept.n_leaves > 1:
        kept = keep(source, X[used], y, tree=tree, missing=missing)
    warn_suspect_columns(X[used], y)
    return kept


def is_foreign(path):
    """Return whether a file holds a tree in a format other than KeepTree's."""
    path = Path(path).expanduser()
    return path.is_dir() or (path.is_file() and not is_keeptree_file(path))
