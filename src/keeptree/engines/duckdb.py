"""Score relations of DuckDB: a function of Arrow columns inside the query."""

from contextlib import contextmanager
from uuid import uuid4

from keeptree.engines.tally import ROWS, count_batches
from keeptree.output import require_extra

_TYPES = {"bool": "BOOLEAN", "int64": "BIGINT", "float64": "DOUBLE", "string": "VARCHAR"}


def score(table, request, connection=None):
    """Return a lazy DuckDB relation.

    Parameters
    ----------
    table : DuckDBPyRelation
        The rows.
    request : Request
        The scoring request.
    connection : DuckDBPyConnection, optional
        Connection of the relation; by default DuckDB's default connection.
    """
    import duckdb

    require_extra("pandas", "pyarrow", extra="duckdb")
    scorer = request.scorer(table.columns)
    types = dict(zip(table.columns, map(str, table.types), strict=True))
    scorer.check_types(name for name, kind in types.items() if kind == "VARCHAR")
    function = f"keeptree_{uuid4().hex}"
    (connection or duckdb.default_connection()).create_function(
        function,
        _answer(scorer),
        [duckdb.struct_type({f"c{j}": types[n] for j, n in enumerate(scorer.columns)})],
        duckdb.struct_type({name: _TYPES[kind] for name, kind in scorer.answers.items()}),
        type="arrow",
        null_handling="special",
    )
    fields = ", ".join(f"c{j} := {_quoted(name)}" for j, name in enumerate(scorer.columns))
    kept = "".join(f"{_quoted(name)}, " for name in scorer.kept)
    try:
        return table.project(f"{kept}unnest({function}(struct_pack({fields})))")
    except duckdb.CatalogException as error:
        if function not in str(error):
            raise
        raise ValueError(
            "The relation does not belong to the default connection; pass its own: "
            "kt.score(model, relation, connection=connection)."
        ) from None


@contextmanager
def open_data(data, options):
    """Yield the relation of Parquet or CSV files and the option that scoring it needs."""
    require_extra("duckdb", "pandas", "pyarrow", extra="duckdb")
    import duckdb

    with duckdb.connect() as connection:
        if data.kind == ".csv":
            types = dict.fromkeys(data.text, "VARCHAR")
            table = connection.read_csv(data.files, **{"dtype": types, **options})
        else:
            table = connection.read_parquet(data.files, **options)
        yield table, {"connection": connection}


def write(table, folder):
    """Write a relation to a Parquet file in a folder."""
    table.write_parquet(str(folder / "part-00000.parquet"))


def _answer(scorer):
    """The function that DuckDB calls with a struct of the model's columns."""
    import pyarrow as pa

    def answer(rows):
        rows = rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows
        batch = pa.record_batch(rows.flatten(), names=scorer.columns)
        answers = scorer.answer_batch(batch)
        return pa.StructArray.from_arrays(list(answers.values()), names=list(answers))

    return answer


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


def names_of(table):
    """Columns of the table."""
    return table.columns


def tally(table, survey):
    """Count a relation; see :mod:`keeptree.engines.tally`."""
    wanted = table.project(", ".join(map(_quoted, survey.wanted)))
    # Renamed in DuckDB 1.4.
    read = getattr(wanted, "to_arrow_reader", None) or wanted.fetch_record_batch
    return count_batches(read(ROWS), survey)
