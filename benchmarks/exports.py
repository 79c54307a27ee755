"""Compare every export with Python, and measure its cost per row: python -m benchmarks.exports.

For each format, model and data set, the table shows the number of rows compared, the rows with a
different label or leaf, and the largest difference of a probability (relative, for scores above 1).
The rows include values on thresholds and one ulp beside them, missing values and unseen categories.
It also shows the CPU time in µs per row, including programs that the format starts; for Postgres it
is the time that the server reports. The cost is measured on the last nine tenths of the rows, so
that starting a program, reading the model and loading rows into a database do not count. The last
lines give totals and the reasons why models were not compared.

Every finished comparison is added to ``--results``, and a later run with the same file does not
repeat it. Two processes may share the file, each with some of the ``--sets``. Use a new file after
a change to the exporters.
"""

import argparse
import json
import resource
import time
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path

from benchmarks.timing import console, print_table
from keeptree.exporters import FORMATS, pmml
from keeptree.exporters.check import answers_of_python, compare
from keeptree.exporters.rows import Rows, sample_rows
from keeptree.exporters.subject import subject_of
from tests.exporters import postgres
from tests.exporters.models import DATA, MODELS, OBLIQUE, PAPERS, fitted

_RESULTS = Path(__file__).parents[1] / "build" / "exports.jsonl"
_QUICK = 0.2  # seconds; a shorter run is repeated, because other programs may affect it
_MODELS, _SETS = [*MODELS, *PAPERS], [*DATA, *OBLIQUE]
_FORMATS = ["sql/duckdb", "sql/sqlite", "sql/postgres", "onnx", "pmml", "python", "javascript", "c"]
# JPMML cannot divide a row among several leaves
_OPTIONS = {"onnx": {"leaf": True}, "pmml": {"missing": "majority"}}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exports", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000, help="rows per comparison")
    parser.add_argument("--results", type=Path, default=_RESULTS, help="results file to extend")
    for option, known in (("formats", _FORMATS), ("models", _MODELS), ("sets", _SETS)):
        names = ", ".join(known)
        parser.add_argument(f"--{option}", nargs="+", choices=known, default=known, help=names)
    options = parser.parse_args(argv)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    done = _read(options.results, options.rows)
    with ExitStack() as stack:
        runners = {name: run for name, run in _runners(stack) if name in options.formats}
        for data, model, name in product(options.sets, options.models, runners):
            if (name, model, data) in done:
                continue
            subject = subject_of(fitted(model, data))
            rows = _rows(data, model == "tree", options.rows)
            cells = _compare(name, runners[name], subject, rows)
            done[name, model, data] = cells
            console.print(name, model, data, *cells)
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps([options.rows, name, model, data, cells]) + "\n")
    asked = list(product(runners, options.models, options.sets))
    columns = ["model", "data", "rows", "labels", "leaves", "probability", "µs per row"]
    for name in runners:
        own = [[*key[1:], *_short(done[key])] for key in asked if key[0] == name]
        print_table(name, columns, own)
    _sum_up([(key, done[key]) for key in asked])


def _read(path, n):
    """Return finished comparisons of ``n`` rows: (format, model, data) -> cells of the table."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = map(json.loads, lines)
    return {(name, model, data): cells for rows, name, model, data, cells in found if rows == n}


def _short(cells):
    return [*cells[:-1], cells[-1][:40]]


def _runners(stack):
    """Return the names of the formats, and for each a function that writes and runs an export."""
    for dialect in ("duckdb", "sqlite"):
        yield f"sql/{dialect}", _runner("sql", dialect=dialect)
    if postgres.find_binaries() is not None:
        yield "sql/postgres", _postgres_runner(stack.enter_context(postgres.serving()))
    for name in FORMATS:
        module = import_module(f"keeptree.exporters.{FORMATS[name].module}")
        if name != "sql" and hasattr(module, "run"):
            yield name, _runner(FORMATS[name].module, **_OPTIONS.get(name, {}))


@cache
def _rows(data, is_bare, n):
    """Return rows for all models of a tree; those for the tree alone include infinite numbers."""
    return sample_rows(subject_of(fitted("tree" if is_bare else "laplace", data)), n)


def _runner(module, **options):
    writer = import_module(f"keeptree.exporters.{module}")

    def run(subject, rows):
        return writer.run(writer.write(subject, **options), subject, rows, **options)

    return run


def _sum_up(found):
    """Print the number of comparisons, the largest differences, and what was not compared."""
    made = [cells for _, cells in found if cells[0].isdigit()]
    if made:
        rows, labels, leaves = (sum(int(cells[k]) for cells in made) for k in range(3))
        most = max(float(cells[3]) for cells in made)
        console.print(
            f"{len(made)} comparisons, {rows:,} rows: {labels} other labels, {leaves} other "
            f"leaves, probabilities within {most:.1e}; {len(found) - len(made)} refused or not run"
        )
    reasons = {}
    for (name, model, _), cells in found:
        if not cells[0].isdigit():
            reasons.setdefault(f"{cells[0]}: {cells[-1]}", []).append((name, model))
    for reason, cases in reasons.items():
        names, models = (", ".join(dict.fromkeys(part)) for part in zip(*cases, strict=True))
        console.print(f"{len(cases)} {reason} ({names}; {models})", highlight=False)


def _postgres_runner(server):
    sql = import_module("keeptree.exporters.sql")

    def run(subject, rows):
        files = sql.write(subject, dialect="postgres", table="keeptree_rows", keep=["keeptree_id"])
        return postgres.score(server, files, subject, rows, timed=True)

    return run


def _compare(name, run, subject, rows):
    """Return the cells of a line of the table."""
    if name == "pmml":
        subject = pmml.prepare(subject, **_OPTIONS[name])
    n = max(1, len(rows) // 10)
    try:
        some, _ = _timed(run, subject, _first(rows, n))
        all_of_them, theirs = _timed(run, subject, rows)
    except ValueError as error:
        return ["refused", "", "", "", str(error)]
    if not hasattr(theirs, "label"):
        return ["not run", "", "", "", str(theirs)]
    found = compare(answers_of_python(subject, rows.X), theirs)
    cost = (all_of_them - some) / (len(rows) - n) * 1e6
    counts = [str(found.rows), str(found.labels), str(found.leaves)]
    return [*counts, f"{found.probability:.1e}", f"{cost:.1f}"]


def _first(rows, n):
    unseen = {f: ([k for k in at if k < n], label) for f, (at, label) in rows.unseen.items()}
    return Rows(rows.X[:n], rows.names, rows.categories, unseen)


def _timed(run, *arguments):
    """Return the time of a call and its result; a short call is timed twice."""
    times = []
    while sum(times) < _QUICK and len(times) < 2:
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
