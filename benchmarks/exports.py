"""python -m benchmarks.exports: every export compared with Python, and its cost per row.

For each format, model and data set: rows compared (on thresholds and one ulp beside, missing values
and unseen categories included), rows with another label or leaf, the largest difference of a
probability, and CPU µs per row, programs started by the format included (for Postgres, the time
that it reports). The cost is measured on the last nine tenths of the rows, so that starting a
program and reading the model do not count; nor does loading the rows into a database.
"""

import argparse
import resource
import time
from importlib import import_module

from benchmarks.timing import console, print_table
from keeptree.exporters import FORMATS, pmml
from keeptree.exporters.check import answers_of_python, compare
from keeptree.exporters.rows import Rows, sample_rows
from keeptree.exporters.subject import subject_of
from tests.exporters import postgres
from tests.exporters.models import DATA, MODELS, PAPERS, fitted

_QUICK = 1.0  # seconds; shorter runs are repeated, because other programs run too
_OPTIONS = {"onnx": {"leaf": True}, "pmml": {"missing": "majority"}}  # JPMML cannot share a row


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exports", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000, help="rows of each comparison")
    parser.add_argument("--only", metavar="TARGET", help="such as sql/duckdb or python")
    options = parser.parse_args(argv)
    for name, run in _targets():
        if options.only in (None, name):
            _measure(name, run, options.rows)


def _targets():
    """Names of the targets, and for each a function that writes and runs."""
    for dialect in ("duckdb", "sqlite"):
        yield f"sql/{dialect}", _runner("sql", dialect=dialect)
    if postgres.find_binaries() is not None:
        yield "sql/postgres", None
    for name in FORMATS:
        module = import_module(f"keeptree.exporters.{FORMATS[name].module}")
        if name != "sql" and hasattr(module, "run"):
            yield name, _runner(FORMATS[name].module, **_OPTIONS.get(name, {}))


def _runner(module, **options):
    writer = import_module(f"keeptree.exporters.{module}")

    def run(subject, rows):
        return writer.run(writer.write(subject, **options), subject, rows, **options)

    return run


def _measure(name, run, n):
    if run is None:
        with postgres.serving() as server:
            _measure(name, _postgres_runner(server), n)
            return
    lines = []
    for model in (*MODELS, *PAPERS):
        for data in DATA:
            subject = subject_of(fitted(model, data))
            if name == "pmml":
                subject = pmml.prepare(subject, **_OPTIONS[name])
            lines.append([model, data, *_compare(run, subject, n)])
            console.print(name, *lines[-1])
    columns = ["model", "data", "rows", "labels", "leaves", "probability", "µs per row"]
    print_table(name, columns, lines)


def _postgres_runner(server):
    sql = import_module("keeptree.exporters.sql")

    def run(subject, rows):
        files = sql.write(subject, dialect="postgres", table="keeptree_rows", keep=["keeptree_id"])
        return postgres.score(server, files, subject, rows, timed=True)

    return run


def _compare(run, subject, n):
    """Cells of the table."""
    rows = sample_rows(subject, n)
    try:
        some, _ = _timed(run, subject, _first(rows, max(1, n // 10)))
        all_of_them, theirs = _timed(run, subject, rows)
    except ValueError as error:
        return ["refused", "", "", "", str(error)[:40]]
    if not hasattr(theirs, "label"):
        return ["not run", "", "", "", str(theirs)[:40]]
    found = compare(answers_of_python(subject, rows.X), theirs)
    cost = (all_of_them - some) / (len(rows) - max(1, n // 10)) * 1e6
    counts = [str(found.rows), str(found.labels), str(found.leaves)]
    return [*counts, f"{found.probability:.1e}", f"{cost:.1f}"]


def _first(rows, n):
    unseen = {f: ([k for k in at if k < n], label) for f, (at, label) in rows.unseen.items()}
    return Rows(rows.X[:n], rows.names, rows.categories, unseen)


def _timed(run, *arguments):
    """The shortest time of some calls, and the answer."""
    times = []
    while sum(times) < _QUICK and len(times) < 5:
        start = _cpu()
        answer = run(*arguments)
        told = getattr(answer, "seconds", None)
        times.append(_cpu() - start if told is None else told)
    return min(times), answer


def _cpu():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
