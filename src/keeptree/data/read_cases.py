"""Cases of a data file as a saved model sees them."""

from keeptree.data.cells import as_labels
from keeptree.data.read_blocks import read_blocks


def read_cases(model, data, target=None):
    """Read a whole data file as a model saw its columns in fit.

    Parameters
    ----------
    model : fitted model
        For example of :func:`~keeptree.load`.
    data : str or Path
        A CSV, Parquet or ARFF file.
    target : str, optional
        Column of the true class; a missing one, or one the model does not know, is a ValueError.

    Returns
    -------
    X : pandas.DataFrame
        The model's columns.
    y : pandas.Categorical or None
        The true classes.
    """
    import pandas as pd
    import pyarrow as pa

    blocks = list(read_blocks(data, model, [] if target is None else [target]))
    X = pd.concat([block.frame for block in blocks], ignore_index=True)
    if target is None:
        return X, None
    column = pa.chunked_array([block.kept[target] for block in blocks]).to_pandas()
    y = as_labels(column, model.classes_.tolist(), target)
    if y.isna().any():
        value = column[y.isna()].iloc[0]
        raise ValueError(
            f"The target {target!r} is {value!r:.50} in row {int(y.isna().argmax()) + 1}, but the "
            f"model knows {', '.join(map(str, model.classes_[:10]))}."
        )
    return X, y


def read_row(model, data, row):
    """Read one row of a data file as a model saw its columns in fit.

    Parameters
    ----------
    model : fitted model
        For example of :func:`~keeptree.load`.
    data : str or Path
        A CSV, Parquet or ARFF file.
    row : int
        Its number; the first row after the header is 1.

    Returns
    -------
    X : pandas.DataFrame
        The model's columns, of that row.
    """
    rows = 0
    for block in read_blocks(data, model):
        rows = block.start + len(block.frame)
        if 1 <= row <= rows:
            return block.frame.iloc[[row - 1 - block.start]]
    raise ValueError(f"{data} has {rows} rows, counted from 1; there is no row {row}.")
