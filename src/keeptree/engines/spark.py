"""Score data frames of Spark: ``mapInArrow``, with the model broadcast once."""

from keeptree.output import require_extra


def score(table, request):
    """Return a data frame that is computed by Spark when it is used, rows in their order."""
    from pyspark.sql.types import StructField, StructType

    require_extra("pandas", "pyarrow", extra="spark")
    request = request.packed()
    scorer = request.scorer(table.columns)
    scorer.check_types(name for name, kind in table.dtypes if kind == "string")
    fields = {field.name: field for field in table.schema.fields}
    added = [StructField(name, _types()[kind]) for name, kind in scorer.answers.items()]
    # A new StructType: its method add would change the schema of the table itself.
    schema = StructType([fields[name] for name in scorer.kept] + added)
    quoted = [f"`{name.replace('`', '``')}`" for name in scorer.wanted]
    return table.select(quoted).mapInArrow(_score_partition(_broadcast(table, request)), schema)


def _types():
    from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType

    return {
        "bool": BooleanType(),
        "int64": LongType(),
        "float64": DoubleType(),
        "string": StringType(),
    }


def _broadcast(table, request):
    """A function that returns the request on a worker; Spark Connect has no broadcasts."""
    context = getattr(table.sparkSession, "sparkContext", None)
    if context is None:
        return lambda: request
    sent = context.broadcast(request)
    return lambda: sent.value


def _score_partition(receive):
    def score_partition(batches):
        request = receive()
        for batch in batches:
            yield request.scorer(batch.schema.names).score_batch(batch)

    return score_partition
