"""Score Ray Datasets, block by block."""

from keeptree.output import require_extra


def score(table, request, **options):
    """Return a Dataset that is computed by Ray when it is used, rows in their order.

    Parameters
    ----------
    table : ray.data.Dataset
        The rows.
    request : Request
        What is asked. The model is put into the object store once.
    **options
        Of ``Dataset.map_batches``, such as ``num_cpus`` or ``concurrency``.
    """
    import ray

    require_extra("pandas", "pyarrow", extra="ray")
    request = request.packed()
    # None if only reading would tell: then the workers find out.
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


def _score_block(block, sent):
    import pyarrow as pa
    import ray

    scorer = ray.get(sent).scorer(block.schema.names)
    schema = scorer.schema(block.schema)
    batches = [scorer.score_batch(batch) for batch in block.combine_chunks().to_batches()]
    return pa.Table.from_batches(batches, schema)
