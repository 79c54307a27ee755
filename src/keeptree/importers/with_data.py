"""A tree from anywhere with the class counts of a data file: what ``keeptree keep`` does."""

from pathlib import Path

from keeptree.data.training import read_training
from keeptree.importers import keep
from keeptree.importers.files import is_keeptree_file
from keeptree.tree import LEAF

_OPEN = ("text", "J48", "C5.0 output")  # sources that name only the columns they test


def keep_with_data(source, data, target, *, tree=None, missing=None, nominal=(), drop=()):
    """Return the Tree of a file, its names checked against a data file and its classes counted.

    Parameters
    ----------
    source : str or Path
        As :func:`keeptree.keep` takes it.
    data : str, Path or DataFile
        The rows to count.
    target : str
        Column of the class.
    tree, missing
        As for :func:`keeptree.keep`.
    nominal, drop : sequence of str
        Columns that hold categories though they look like numbers, and columns to leave out.

    Returns
    -------
    tree : Tree
        One written as text has the columns that it tests, not all those of the data.
    """
    sample = read_training(data, target, nominal, drop)
    kept = keep(source, sample.X, sample.y, tree=tree, missing=missing)
    if kept.source.get("model") in _OPEN and kept.n_leaves > 1:
        tested = set(kept.feature[kept.kind != LEAF].tolist())
        used = [name for j, name in enumerate(kept.feature_names) if j in tested]
        kept = keep(source, sample.X[used], sample.y, tree=tree, missing=missing)
    return kept


def is_foreign(path):
    """Whether a file holds a tree that is not in KeepTree's own format."""
    path = Path(path).expanduser()
    return path.is_dir() or (path.is_file() and not is_keeptree_file(path))
