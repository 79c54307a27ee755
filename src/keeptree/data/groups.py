"""Process short columns in groups.

pandas and Arrow take as long for a column of six cells as for one of thousands, so short columns
are converted in groups. Groups are limited in size, so that at most one of them is in memory twice.
"""

import numpy as np

CELLS = 1 << 16  # number of cells in a group


def column_groups(columns, n_rows):
    """Divide a list of columns of the same length into lists of about ``CELLS`` cells.

    Parameters
    ----------
    columns : list
        Columns, or their positions or names.
    n_rows : int
        Length of each column.

    Yields
    ------
    group : list
        Some of the columns, in order.

    Examples
    --------
    >>> [len(group) for group in column_groups(list(range(50)), n_rows=3000)]
    [21, 21, 8]
    >>> [len(group) for group in column_groups(list(range(3)), n_rows=1_000_000)]
    [1, 1, 1]
    """
    size = max(CELLS // max(n_rows, 1), 1)
    for start in range(0, len(columns), size):
        yield columns[start : start + size]


def map_cells(function, columns):
    """Apply an elementwise function to Arrow columns of the same length, group by group.

    Parameters
    ----------
    function : callable
        Elementwise function of an array.
    columns : list of pyarrow.Array
        Columns of one type.

    Returns
    -------
    made : list of pyarrow.Array
        Results, in the order of the columns.
    """
    import pyarrow as pa

    made = []
    for group in column_groups(columns, len(columns[0]) if columns else 0):
        if len(group) == 1:
            made.append(function(group[0]))
            continue
        cells, n = function(pa.concat_arrays(group)), len(group[0])
        made += [cells.slice(k * n, n) for k in range(len(group))]
    return made


def plain_columns(X):
    """Return the positions of the NumPy number and boolean columns of a pandas frame.

    They can be converted together as one array. Frames of other libraries have none.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_columns(pd.DataFrame({"age": [31], "colour": ["red"], "old": [True]}))
    [0, 2]
    """
    if not hasattr(X, "iloc") or getattr(X, "ndim", 0) != 2:
        return []
    return [
        k
        for k, dtype in enumerate(X.dtypes)
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf"
    ]
