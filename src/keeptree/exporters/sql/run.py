"""Score rows by a query in DuckDB or SQLite, both inside this process."""

from dataclasses import replace
from importlib.util import find_spec
from operator import itemgetter
from time import process_time

import numpy as np

from keeptree.exporters.check import Answers, codes_of
from keeptree.exporters.plain import read_columns
from keeptree.exporters.sql.spelling import Spelling, label_kind
from keeptree.output import install_command

_TYPES = {  # of the columns of the rows
    "duckdb": {
        None: "DOUBLE",
        "text": "VARCHAR",
        "int": "BIGINT",
        "float": "DOUBLE",
        "bool": "BOOLEAN",
    },
    "sqlite": {None: "REAL", "text": "TEXT", "int": "INTEGER", "float": "REAL", "bool": "INTEGER"},
}
_VALUES = 10_000  # of one INSERT


def run_query(files, subject, rows, dialect, prefix=""):
    """Return the :class:`Answers` of a query for rows, or the reason why there are none.

    Parameters
    ----------
    files : dict
        The query, which reads ``keeptree_rows`` and keeps ``keeptree_id``, and the landmarks.
    subject : Subject
        What is exported.
    rows : Rows
        Rows to score.
    dialect : {"duckdb", "sqlite"}
    prefix : str
        Of the names of the answers.
    """
    if dialect == "duckdb" and find_spec("duckdb") is None:
        return f"duckdb is not installed; run: {install_command('sql')}"
    connection = _connect(dialect)
    try:
        _load(connection, subject, rows, dialect)
        main, *others = files.values()
        for text in others:
            (connection.executescript if dialect == "sqlite" else connection.execute)(text)
        start = process_time()
        connection.execute(f"CREATE TEMP TABLE keeptree_answers AS\n{main}")
        seconds = process_time() - start
        cursor = connection.execute("SELECT * FROM keeptree_answers")
        return replace(read_answers(cursor, subject, prefix), seconds=seconds)
    finally:
        connection.close()


def read_answers(cursor, subject, prefix=""):
    """Answers of a query that has been executed, by ``keeptree_id`` if it was kept."""
    names = [column[0] for column in cursor.description]
    found = cursor.fetchall()
    if "keeptree_id" in names:
        found.sort(key=itemgetter(names.index("keeptree_id")))
    columns = dict(zip(names, zip(*found, strict=True), strict=True))
    answers = (f"{prefix}probability_", f"{prefix}score_")
    probability = [column for name, column in columns.items() if name.startswith(answers)]
    return Answers(
        codes_of(columns[f"{prefix}prediction"], _written(subject.classes)),
        np.array([-1 if leaf is None else leaf for leaf in columns[f"{prefix}leaf"]]),
        np.array(probability, dtype=np.float64).T,
    )


def _written(classes):
    """Return the classes as a query returns them."""
    return [str(label) for label in classes] if label_kind(classes) == "text" else list(classes)


def _connect(dialect):
    if dialect == "sqlite":
        import sqlite3

        return sqlite3.connect(":memory:")
    import duckdb

    return duckdb.connect(":memory:")


def _load(connection, subject, rows, dialect):
    """Create the table of the rows: every other missing number is NaN where that is possible."""
    spell = Spelling(dialect)
    read = read_columns(subject.tree, subject.model)
    kinds = [_kind(rows.categories[f]) for f in read]
    types = [_TYPES[dialect][kind] for kind in kinds]
    declared = [f"{spell.name(rows.names[f])} {t}" for f, t in zip(read, types, strict=True)]
    connection.execute(
        f"CREATE TABLE keeptree_rows ({', '.join(['keeptree_id INTEGER', *declared])})"
    )
    columns = [_values(rows.column(f), kind) for f, kind in zip(read, kinds, strict=True)]
    width = 1 + len(columns)
    table = list(zip(range(len(rows)), *columns, strict=True))
    at_once = max(1, _VALUES // width)
    for start in range(0, len(table), at_once):
        part = table[start : start + at_once]
        if dialect == "sqlite":
            places = ", ".join("?" * width)
            connection.executemany(f"INSERT INTO keeptree_rows VALUES ({places})", part)
        else:
            row = f"({', '.join('?' * width)})"
            values = [value for row in part for value in row]
            connection.execute(
                f"INSERT INTO keeptree_rows VALUES {', '.join([row] * len(part))}", values
            )


def _kind(labels):
    return None if labels is None else label_kind(labels)


def _values(column, kind):
    if kind is None:
        return [
            float("nan") if value is None and k % 2 else value for k, value in enumerate(column)
        ]
    return [str(v) if kind == "text" and v is not None else v for v in column]
