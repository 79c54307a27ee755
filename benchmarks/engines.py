"""Measure the cost per row of each engine: ``python -m benchmarks.engines``.

Each engine reads, scores and sums up a Parquet file of five numbers and an identifier; nothing is
written. Each measurement runs in a separate process; the best of ``--repeats`` counts. The cost is
the CPU time of the process and its children once the cluster runs. "Empty" is the same with a
scorer that returns zeros. "Bare" is the scorer alone, on Arrow batches in memory. "Overhead" is
scored minus empty minus bare, in percent of bare: the cost of our own part of the engine. The bare
scorer gets blocks of 131,072 rows. DuckDB passes 2,048 rows at a time to a function, so it has a
second line with blocks of that size. Memory is the peak of the driver.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

ENGINES = ("arrow", "polars", "duckdb", "dask", "ray", "spark")
BLOCK = 1 << 17  # rows per block of the bare scorer
SMALL = 2048  # rows that DuckDB passes to a function at a time; no setting changes this


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)  # engine, file, what
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    print("| engine | rows | bare µs | scored µs | empty µs | overhead | driver MB |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for rows in options.rows:
            file = write_rows(Path(folder) / f"{rows}.parquet", rows)
            measured = partial(best, options.repeats, file)
            bare = measured("bare", "scored")
            for engine in options.engines:
                for line in lines_of(engine, measured, rows, bare):
                    print(line, flush=True)


def lines_of(engine, measured, rows, bare):
    """Yield the lines of the table for an engine."""
    try:
        scored, empty = (measured(engine, what) for what in ("scored", "empty"))
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip().splitlines()[-1] if error.stderr else "failed"
        yield f"| {engine} | {rows:,} | {reason:.80} |"
        return
    yield line_of(engine, rows, bare, scored, empty)
    if engine == "duckdb":
        bare = measured("bare in small blocks", "scored")
        yield line_of(f"{engine}, bare by {SMALL:,}", rows, bare, scored, empty)


def line_of(name, rows, bare, scored, empty):
    """Return a line of the table."""
    per_row = [1e6 * found["seconds"] / rows for found in (bare, scored, empty)]
    overhead = 100 * (per_row[1] - per_row[2] - per_row[0]) / per_row[0]
    cells = [f"{value:.2f}" for value in per_row]
    return f"| {name} | {rows:,} | {' | '.join(cells)} | {overhead:.0f}% | {scored['mb']:.0f} |"


def best(repeats, file, engine, what):
    """Return the measurement with the least CPU time, because other work only adds to it."""
    found = [in_process(engine, file, what) for _ in range(repeats)]
    return min(found, key=lambda one: one["seconds"])


def in_process(*arguments):
    """Return a measurement made in a separate process."""
    command = [sys.executable, "-m", "benchmarks.engines", "--one", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(engine, file, what):
    """Return the CPU time of this process and its descendants, and its peak memory."""
    from benchmarks.empty_scorer import EmptyRequest
    from keeptree.engines.table import Request

    model = fit_model()
    request = (EmptyRequest if what == "empty" else Request)(model, ("id",))
    run = _RUN[engine](file)
    next(run)  # from here on the cluster is running
    before = processor_seconds()
    total = run.send(request)
    seconds = processor_seconds() - before
    run.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "mb": peak, "total": float(total)}


def fit_model():
    """Return the recommended classifier, fitted to five numeric columns."""
    import numpy as np
    import pandas as pd

    import keeptree as kt

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(5000, 5)), columns=list("abcde"))
    y = X["a"] + X["b"] * X["c"] + rng.normal(size=5000) > 0
    return kt.KeptTreeClassifier().fit(X, y)


def write_rows(path, rows):
    """Write random rows, 100,000 at a time."""
    import numpy as np
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    rng, start, writer = np.random.default_rng(1), 0, None
    while start < rows:
        n = min(100_000, rows - start)
        columns = {"id": np.arange(start, start + n)}
        table = pa.table(columns | {name: rng.normal(size=n) for name in "abcde"})
        writer = writer or ParquetWriter(path, table.schema)
        writer.write_table(table)
        start += n
    writer.close()
    return path


def processor_seconds():
    """Return the CPU seconds of this process and all its living descendants."""
    children, times = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
            times[int(entry.name)] = sum(map(int, fields[11:15]))
    todo, ticks = [os.getpid()], 0
    while todo:
        process = todo.pop()
        ticks += times.get(process, 0)
        todo += children.get(process, [])
    return ticks / os.sysconf("SC_CLK_TCK")


def run_bare(file, block=BLOCK):
    """Run the scorer alone, on batches in memory."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(file)
    batches = []
    for batch in file.iter_batches(block):
        batches.append(batch)
        if len(batches) == 8:  # use the same batches again, so that memory does not grow
            break
    whole = file.metadata.num_rows
    request = yield
    scorer, done, total = request.scorer(batches[0].schema.names), 0, 0.0
    while done < whole:
        for batch in batches:
            part = batch.slice(0, whole - done)
            scorer.answer_batch(part)
            done += part.num_rows
            if done >= whole:
                break
    yield total


def run_arrow(file):
    import pyarrow.compute as pc
    from pyarrow import dataset

    from keeptree.engines import arrow

    request = yield
    scored = arrow.score(dataset.dataset(str(file)), request)
    yield sum(pc.sum(batch.column("probability_True")).as_py() for batch in scored)


def run_polars(file):
    import polars as pl

    from keeptree.engines import polars

    request = yield
    scored = polars.score(pl.scan_parquet(file), request)
    yield scored.select(pl.col("probability_True").sum()).collect(engine="streaming").item()


def run_duckdb(file):
    import duckdb as library

    from keeptree.engines import duckdb

    request = yield
    scored = duckdb.score(library.read_parquet(str(file)), request)
    yield scored.aggregate("sum(probability_True)").fetchall()[0][0]


def run_dask(file):
    import dask.dataframe

    from keeptree.engines import dask as engine

    request = yield
    table = dask.dataframe.read_parquet(str(file), split_row_groups=2)
    yield engine.score(table, request)["probability_True"].sum().compute(scheduler="threads")


def run_ray(file):
    import ray as library

    from keeptree.engines import ray

    library.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    library.data.DataContext.get_current().enable_progress_bars = False
    request = yield
    scored = ray.score(library.data.read_parquet(str(file)), request)
    yield scored.sum("probability_True")
    library.shutdown()


def run_spark(file):
    from pyspark.sql import SparkSession

    from keeptree.engines import spark

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for name in ("spark.driver.bindAddress", "spark.driver.host"):
        builder = builder.config(name, "127.0.0.1")
    session = builder.getOrCreate()
    session.range(10).count()
    request = yield
    scored = spark.score(session.read.parquet(str(file)), request)
    yield scored.agg({"probability_True": "sum"}).first()[0]
    session.stop()


_RUN = {
    "bare": run_bare,
    "bare in small blocks": partial(run_bare, block=SMALL),
    "arrow": run_arrow,
    "polars": run_polars,
    "duckdb": run_duckdb,
    "dask": run_dask,
    "ray": run_ray,
    "spark": run_spark,
}

if __name__ == "__main__":
    main()
