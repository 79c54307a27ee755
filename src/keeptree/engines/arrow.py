"""Score tables, batches, readers and datasets of pyarrow."""

from copy import copy

from keeptree.engines.tally import ROWS, count_batches
from keeptree.output import require_extra


def score(table, request):
    """Return a Table for a Table, a RecordBatch for a RecordBatch, and a reader for streams.

    pyarrow has no computed Datasets, so a Dataset becomes a RecordBatchReader.
    """
    import pyarrow as pa

    require_extra("pandas", extra="files")
    scorer = request.scorer(table.schema.names)
    schema = scorer.schema(table.schema)
    if isinstance(table, pa.RecordBatch):
        return scorer.score_batch(table)
    if isinstance(table, pa.Table):
        batches = table.select(scorer.wanted).to_batches(max_chunksize=ROWS)
    elif isinstance(table, pa.RecordBatchReader):
        batches = table
    else:
        batches = _read(table, scorer.wanted)
    answers = (scorer.score_batch(batch) for batch in batches)
    if isinstance(table, pa.Table):
        return pa.Table.from_batches(answers, schema)
    return pa.RecordBatchReader.from_batches(schema, answers)


def names_of(table):
    """Columns of the table."""
    return table.schema.names


def tally(table, survey):
    """Count a table; see :mod:`keeptree.engines.tally`. A reader is exhausted afterwards."""
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        batches = [table]
    elif isinstance(table, pa.RecordBatchReader):
        batches = table
    elif isinstance(table, pa.Table):
        batches = table.select(survey.wanted).to_batches(max_chunksize=ROWS)
    else:
        batches = _read(table, survey.wanted)
    return count_batches(batches, survey)


def _read(dataset, columns):
    """Read the batches of a Dataset with memory that does not grow with the number of rows.

    By default pyarrow reads far ahead of a slow consumer, and keeps the bytes of a Parquet file
    until its last row is read.
    """
    options = getattr(getattr(dataset, "format", None), "default_fragment_scan_options", None)
    if hasattr(options, "pre_buffer"):
        options = copy(options)
        options.pre_buffer = False
    return dataset.to_batches(
        columns=columns,
        batch_size=ROWS,
        batch_readahead=0,
        fragment_readahead=0,
        use_threads=False,  # threads would still read ahead
        fragment_scan_options=options,
    )
