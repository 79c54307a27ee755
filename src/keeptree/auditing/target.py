"""Find the column of new data that may hold the outcomes, if none was given."""

import numpy as np

from keeptree.data.cells import cells_as_labels
from keeptree.data.files import open_table
from keeptree.data.labels import is_missing, plain
from keeptree.data.source import as_data_file
from keeptree.data.table import column_names, column_values

_ROWS = 1000  # number of rows that are looked at


def likely_target(X, ignored, classes):
    """Return the only ignored column of a data frame whose values are classes of the tree, or None.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [20, 30], "note": ["a", "b"], "risk": ["low", None]})
    >>> likely_target(X, ["note", "risk"], np.array(["high", "low"]))
    'risk'
    """
    if not ignored:
        return None
    labels, names = {plain(label) for label in classes.tolist()}, column_names(X)
    rows = np.arange(min(len(X), _ROWS))
    values = {name: column_values(X, names.index(name), rows) for name in ignored}
    known = {
        name: [plain(value) for value in cells if not is_missing(value)]
        for name, cells in values.items()
    }
    return _only(
        name
        for name, cells in known.items()
        if cells and all(_is_in(cell, labels) for cell in cells)
    )


def likely_target_of_file(data, ignored, classes):
    """Return the same for the columns of a data file; standard input cannot be read again."""
    if not ignored or as_data_file(data).is_stdin:
        return None
    labels = classes.tolist()
    with open_table(data) as table:
        batch, _ = next(table.batches(list(ignored), _ROWS))
        return _only(name for name in ignored if _holds(batch.column(name), labels, name))


def _holds(cells, labels, name):
    """Whether all cells that are not empty are labels, and there is at least one."""
    known = np.array([not empty for empty in cells.is_null().to_pylist()], dtype=bool)
    codes = np.asarray(cells_as_labels(cells, labels, name).codes)
    return bool(known.any() and (codes[known] >= 0).all())


def _is_in(value, labels):
    try:
        return value in labels
    except TypeError:  # not hashable
        return False


def _only(names):
    """The name if there is exactly one."""
    names = list(names)
    return names[0] if len(names) == 1 else None
