"""Score Spark data frames with ``mapInArrow``; the model is broadcast once."""

import os
import shutil
import sys
from contextlib import contextmanager, suppress

from keeptree.engines.tally import Tally, count_batches, merge
from keeptree.output import require_extra

_TALLIES = "part long, bucket long, tally binary"
_MERGERS = 8  # tasks that merge tallies


def score(table, request):
    """Return a lazy Spark data frame, with the rows in order."""
    from pyspark.sql.types import StructField, StructType

    require_extra("pandas", "pyarrow", extra="spark")
    request = request.packed()
    scorer = request.scorer(table.columns)
    scorer.check_types(name for name, kind in table.dtypes if kind == "string")
    fields = {field.name: field for field in table.schema.fields}
    added = [StructField(name, _types()[kind]) for name, kind in scorer.answers.items()]
    # A new StructType, because its method add would change the schema of the table itself.
    schema = StructType([fields[name] for name in scorer.kept] + added)
    quoted = [_quoted(name) for name in scorer.wanted]
    return table.select(quoted).mapInArrow(_score_partition(_broadcast(table, request)), schema)


@contextmanager
def open_data(data, options):
    """Yield the data frame of Parquet or CSV files, or of a ``format`` that Spark can open.

    ``master`` and names that start with ``spark.`` are settings of the session; others are options
    of the reader.
    """
    require_extra("pyspark", "pandas", "pyarrow", extra="spark")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise ValueError("Spark needs Java, which was not found; install Java 17 or set JAVA_HOME.")
    session = _session(options)
    kind = options.get("format", data.kind.lstrip("."))
    reader = session.read.format(kind).options(**_reading(kind, options))
    files = data.files if "format" not in options else data.path
    try:
        table = reader.load(files)
        if kind == "csv":
            table = reader.schema(_with_text(table.schema, data.text)).load(files)
        yield table, {}
    finally:
        session.stop()


def write(table, folder):
    """Write a data frame to Parquet files in a folder, named in the order of the rows."""
    table.write.mode("append").parquet(folder.as_uri())


def _session(options):
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {name: value for name, value in options.items() if name.startswith("spark.")}
    builder = SparkSession.builder.appName("keeptree")
    if "master" in options or "SPARK_REMOTE" not in os.environ:
        master = options.get("master", "local[*]")
        builder = builder.master(master)
        if master.startswith("local"):
            quiet = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
            settings = {**quiet, "spark.ui.enabled": "false", **settings}
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    with suppress(AttributeError):  # Spark Connect has no context
        session.sparkContext.setLogLevel("OFF")
    return session


def _reading(kind, options):
    """Options of the reader; for CSV, a header and inferred types."""
    of_reader = {
        name: value
        for name, value in options.items()
        if name not in ("master", "format") and not name.startswith("spark.")
    }
    return {"header": "true", "inferSchema": "true", **of_reader} if kind == "csv" else of_reader


def _with_text(schema, text):
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType(
        [
            StructField(field.name, StringType()) if field.name in text else field
            for field in schema.fields
        ]
    )


def _quoted(name):
    return f"`{name.replace('`', '``')}`"


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


def names_of(table):
    """Columns of the table."""
    return table.columns


def tally(table, survey):
    """Count on the executors; tallies are merged there, a few at a time."""
    receive = _broadcast(table, survey)
    found = table.select([_quoted(n) for n in survey.wanted]).mapInArrow(_tally(receive), _TALLIES)
    # Without this, a small partition would send all its rows to the driver.
    merged = found.repartition(_MERGERS, "bucket").mapInArrow(_merge(receive), _TALLIES)
    rows = sorted(merged.collect(), key=lambda row: row["part"])
    return merge((Tally.from_bytes(row["tally"]) for row in rows), survey)


def _tally(receive):
    def tally_partition(batches):
        from pyspark import TaskContext

        part = TaskContext.get().partitionId()
        found = count_batches(batches, receive(), part)
        if found is not None:
            yield _row(part, found)

    return tally_partition


def _merge(receive):
    def merge_tallies(batches):
        found = [row for batch in batches for row in batch.to_pylist()]
        found.sort(key=lambda row: row["part"])
        survey = receive()
        total = merge((Tally.from_bytes(row["tally"]) for row in found), survey)
        if total is not None:
            yield _row(found[0]["part"], total)

    return merge_tallies


def _row(part, tally):
    import pyarrow as pa

    columns = {"part": [part], "bucket": [part % _MERGERS], "tally": [tally.to_bytes()]}
    return pa.record_batch(columns).cast(
        pa.schema([("part", pa.int64()), ("bucket", pa.int64()), ("tally", pa.binary())])
    )
