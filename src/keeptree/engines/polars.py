"""Score data frames and lazy frames of Polars."""

from keeptree.engines.tally import ROWS, count_batches
from keeptree.output import require_extra


def score(table, request):
    """Return a DataFrame for a DataFrame, and a LazyFrame for a LazyFrame."""
    import polars as pl

    require_extra("pandas", "pyarrow", extra="polars")
    schema = table.collect_schema()
    scorer = request.scorer(schema.names())
    scorer.check_types(name for name, kind in schema.items() if kind == pl.String)
    if isinstance(table, pl.DataFrame):
        return _add_answers(table, scorer)
    kinds = {"bool": pl.Boolean, "int64": pl.Int64, "float64": pl.Float64, "string": pl.String}
    answers = {name: kinds[kind] for name, kind in scorer.answers.items()}
    kept = {name: schema[name] for name in scorer.kept}
    return table.select(scorer.wanted).map_batches(
        lambda block: _add_answers(block, scorer), schema={**kept, **answers}, streamable=True
    )


def _add_answers(block, scorer):
    import polars as pl

    model = block.select(scorer.columns).to_arrow(compat_level=pl.CompatLevel.oldest())
    parts = [scorer.answer_batch(part) for part in _batches(model)]
    answers = {
        name: pl.concat([pl.Series(name, part[name]) for part in parts]) for name in scorer.answers
    }
    return block.select(scorer.kept).with_columns(**answers)


def _batches(table):
    """The record batches of a table; an empty one if it has no rows."""
    import pyarrow as pa

    batches = table.combine_chunks().to_batches(max_chunksize=ROWS)
    return batches or [pa.RecordBatch.from_pylist([], schema=table.schema)]


def names_of(table):
    """Columns of the table."""
    return table.collect_schema().names()


def tally(table, survey):
    """Count a DataFrame or LazyFrame; see :mod:`keeptree.engines.tally`."""
    import polars as pl

    table = table.select(survey.wanted)
    if isinstance(table, pl.LazyFrame):
        blocks = table.collect_batches() if hasattr(table, "collect_batches") else [table.collect()]
    else:
        blocks = table.iter_slices(ROWS)
    oldest = pl.CompatLevel.oldest()
    tables = (block.to_arrow(compat_level=oldest).combine_chunks() for block in blocks)
    return count_batches((batch for table in tables for batch in table.to_batches()), survey)
