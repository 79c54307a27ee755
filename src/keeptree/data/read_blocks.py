"""A data file in blocks of rows, each column as the model saw it in fit."""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from keeptree.data.cells import as_labels, as_numbers, read_cells
from keeptree.data.files import check_data_file, file_columns, find_column, read_frame, reading

CELLS = 1_000_000  # of a block: 8 MB as numbers, several times over


@dataclass(frozen=True)
class Block:
    """Some rows of a file.

    Parameters
    ----------
    frame : pandas.DataFrame
        The model's columns, in its order: float64, or categorical with its labels.
    kept : dict
        Columns to pass through, by name, as pyarrow arrays.
    start : int
        Number of the first row, from 0.
    done : float
        How much of the file was read, between 0 and 1.
    """

    frame: object
    kept: dict
    start: int
    done: float


def read_blocks(path, model, keep=()):
    """Read a CSV, Parquet or ARFF file block by block.

    Parameters
    ----------
    path : str or Path
        The file. Columns are found by name, in any order; others are ignored. If the model was
        fitted without names, they are taken in order and must be just as many.
    model : fitted model with ``tree_``
        Says which columns are wanted, and which of them are nominal.
    keep : sequence of str
        Columns to pass through.

    Yields
    ------
    block : Block
    """
    path = check_data_file(path)
    kind = path.suffix.lower()
    names = file_columns(path)
    for name in keep:
        find_column(name, names)
    columns = _wanted(path, names, model, keep)
    wanted = list(dict.fromkeys(chain(columns, keep)))
    rows = max(CELLS // max(len(wanted), 1), 1000)
    start, blocks = 0, _BLOCKS[kind](path, wanted, rows)
    while True:
        with reading(path):
            cells, done = next(blocks, (None, 1.0))
        if cells is None:
            break
        frame = _frame(cells, columns, start)
        if not hasattr(model, "feature_names_in_"):
            frame.columns = range(len(columns))  # scikit-learn warns of names the model lacks
        yield Block(frame, {name: cells[name] for name in keep}, start, done)
        start += len(cells[wanted[0]])
    if start == 0:
        raise ValueError(f"{path} has no rows; a table with a header and some rows is needed.")


def _wanted(path, names, model, keep):
    """Labels (None for numbers) of each of the model's columns, by the name in the file."""
    categories = _categories(model)
    expected = getattr(model, "feature_names_in_", None)
    if expected is None:
        expected = [name for name in names if name not in keep]
        if len(expected) != len(categories):
            raise ValueError(
                f"{path} has {len(expected)} columns, but the model, which knows no names, was "
                f"fitted to {len(categories)}; give a file with just these, in their order."
            )
    absent = [name for name in expected if name not in names]
    if absent:
        shown = ", ".join(map(repr, absent[:5])) + (" and others" if len(absent) > 5 else "")
        raise ValueError(
            f"{path} lacks the column{'s' if len(absent) > 1 else ''} {shown}, which the model "
            f"needs; it has {', '.join(map(repr, names[:10]))}."
        )
    return dict(zip(expected, categories, strict=True))


def _categories(model):
    """Labels of each column of X, None for numbers."""
    if getattr(model, "preprocessing_", None):
        raise ValueError(
            f"The tree of this {type(model).__name__} stands at the end of a pipeline, which does "
            "not tell the types of its columns; read the file and call the model's predict_proba."
        )
    categories = getattr(getattr(model, "tree_", None), "categories", None)
    # scikit-learn's own trees have numbers only, and say nothing of categories.
    return (None,) * model.n_features_in_ if categories is None else categories


def _frame(cells, columns, start):
    import pandas as pd

    made = {name: _column(cells[name], labels, name, start) for name, labels in columns.items()}
    return pd.DataFrame(made, copy=False)


def _column(column, labels, name, start):
    """One column as numbers, or as a categorical one of the model's labels."""
    import pyarrow as pa

    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if labels is not None:
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        return as_labels(encoded.to_pandas(), labels, name)
    if text:
        return as_numbers(column, name, start)
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "biuf" and column.null_count < len(column):
        raise ValueError(
            f"The column {name!r} holds {column.type}, where the model expects numbers; convert it."
        )
    return values.astype(np.float64)


def _csv_blocks(path, wanted, rows):
    for cells, done in read_cells(path, wanted):
        n = len(cells[wanted[0]])
        for first in range(0, n, rows):
            yield {name: column.slice(first, rows) for name, column in cells.items()}, done


def _parquet_blocks(path, wanted, rows):
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        read, total = 0, max(file.metadata.num_rows, 1)
        for batch in file.iter_batches(rows, columns=wanted):
            read += batch.num_rows
            if batch.num_rows:
                yield dict(zip(batch.schema.names, batch.columns, strict=True)), read / total


def _arff_blocks(path, wanted, rows):
    import pyarrow as pa

    # ARFF declares its types before the rows; the reader holds all of them anyway.
    table = pa.Table.from_pandas(read_frame(path)[wanted], preserve_index=False).combine_chunks()
    for batch in table.to_batches(rows):
        yield dict(zip(batch.schema.names, batch.columns, strict=True)), 1.0


_BLOCKS = {".arff": _arff_blocks, ".csv": _csv_blocks, ".parquet": _parquet_blocks}
