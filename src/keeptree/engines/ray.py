"""Score Ray Datasets, block by block."""

from contextlib import contextmanager

from keeptree.engines.tally import ROWS, count_batches
from keeptree.output import require_extra


def score(table, request, **options):
    """Return a lazy Ray Dataset, with the rows in order.

    Parameters
    ----------
    table : ray.data.Dataset
        The rows.
    request : Request
        The scoring request. Its model is put into the object store once.
    **options
        Options of ``Dataset.map_batches``, such as ``num_cpus`` or ``concurrency``.
    """
    import ray

    require_extra("pandas", "pyarrow", extra="ray")
    request = request.packed()
    # None if the columns are unknown before reading; the workers then check them.
    schema = table.schema(fetch_if_missing=False)
    if schema is not None:
        scorer = request.scorer(schema.names)
        types = zip(schema.names, map(str, schema.types), strict=True)
        scorer.check_types(name for name, kind in types if kind.startswith(("str", "large_str")))
        table = table.select_columns(scorer.wanted)
    settings = {"batch_format": "pyarrow", "zero_copy_batch": True, "batch_size": None, **options}
    scored = table.map_batches(_score_block, fn_args=(ray.put(request),), **settings)
    scored.context.execution_options.preserve_order = True
    return scored


@contextmanager
def open_data(data, options):
    """Yield the Dataset of Parquet or CSV files; ``address`` is the address of a cluster."""
    require_extra("ray.data", "pandas", "pyarrow", extra="ray")
    import ray
    from pyarrow import csv, string

    options = dict(options)
    started = not ray.is_initialized()
    if started:
        ray.init(options.pop("address", None), log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        if data.kind == ".csv":
            types = csv.ConvertOptions(column_types={name: string() for name in data.text})
            yield ray.data.read_csv(data.files, **{"convert_options": types, **options}), {}
        else:
            yield ray.data.read_parquet(data.files, **options), {}
    finally:
        if started:
            ray.shutdown()


def write(table, folder):
    """Write a Dataset to Parquet files in a folder, named in the order of the rows."""
    table.write_parquet(str(folder))


def _score_block(block, sent):
    import pyarrow as pa
    import ray

    scorer = ray.get(sent).scorer(block.schema.names)
    schema = scorer.schema(block.schema)
    batches = [scorer.score_batch(batch) for batch in block.combine_chunks().to_batches()]
    return pa.Table.from_batches(batches, schema)


def names_of(table):
    """Columns of the table."""
    return table.columns()


def tally(table, survey):
    """Count a Dataset block by block in this process, as Ray streams it."""
    table = table.select_columns(survey.wanted)
    table.context.execution_options.preserve_order = True
    blocks = table.iter_batches(batch_format="pyarrow", batch_size=ROWS)
    batches = (batch for block in blocks for batch in block.combine_chunks().to_batches())
    return count_batches(batches, survey)
