"""Cases of a data file as a saved model sees them, and what is told of them."""

from pathlib import Path

from keeptree.cells import as_labels
from keeptree.engines.read_blocks import read_blocks
from keeptree.text import plural


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


def explain_row(model, data, row):
    """Tell the story of one row of a data file: what ``keeptree explain`` does.

    Parameters
    ----------
    model : fitted classifier
        For example of :func:`~keeptree.load`.
    data : str or Path
        A CSV, Parquet or ARFF file.
    row : int
        Its number; the first row after the header is 1.

    Returns
    -------
    story : Story
        See :func:`~keeptree.explain`.
    """
    from keeptree.explanation.story import explain

    rows = 0
    for block in read_blocks(data, model):
        rows = block.start + len(block.frame)
        if 1 <= row <= rows:
            return explain(model, block.frame.iloc[[row - 1 - block.start]])
    raise ValueError(f"{data} has {rows} rows, counted from 1; there is no row {row}.")


def report_file(
    data,
    target,
    *,
    tree=None,
    model=None,
    out="report.html",
    title=None,
    rows=True,
    nominal=(),
    drop=(),
):
    """Write a report on a data file: what ``keeptree report`` does.

    Parameters
    ----------
    data : str or Path
        A CSV, Parquet or ARFF file. With ``model`` they are cases it has not seen; else a third
        of them is held out.
    target : str
        Column of the class.
    tree : Tree or estimator, optional
        A tree to keep, whose columns are found by name, or an unfitted learner; default
        :class:`~keeptree.C45Classifier`.
    model : fitted classifier, optional
        Report on this one instead of fitting one.
    out, title, rows
        As in :func:`~keeptree.report`.
    nominal : sequence of str
        Columns that hold categories though they look like numbers.
    drop : sequence of str
        Columns to leave out, such as an identifier.

    Returns
    -------
    data : dict
        As :func:`~keeptree.report` returns it.
    """
    from keeptree.engines.fit_file import columns_of
    from keeptree.files import read_training, warn_of_doubtful
    from keeptree.reporting.from_data import report_data
    from keeptree.reporting.report import report

    if model is not None:
        X, y = read_cases(model, data, target)
    else:
        X, y = read_training(data, target, nominal, drop)
        X = columns_of(tree, X, data)
        warn_of_doubtful(X, y)
    file = Path(data).name
    title = title or f"One kept tree, honest probabilities: {file}"
    about = {"Data": f"{file}, target {target}, {plural(len(X), 'row')}."}
    X = _number_rows(X, file)
    if model is not None:
        return report(model, X, y, out, title, rows, about=about)
    return report_data(X, y, tree=tree, out=out, title=title, rows=rows, about=about)


def _number_rows(X, file):
    """The frame with its rows counted as :func:`explain_row` counts them, which a page says."""
    import pandas as pd

    name = f"row of {file}; the first after the header is 1, as for keeptree explain --row"
    return X.set_axis(pd.RangeIndex(1, len(X) + 1, name=name), axis=0)
