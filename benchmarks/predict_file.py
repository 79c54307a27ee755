"""Measure peak memory and rows per second of keeptree predict on five million rows.

python -m benchmarks.predict_file [rows] writes the files into a temporary folder (about 1 GB) and
takes some minutes, so it is not part of make bench.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

import keeptree as kt
from benchmarks.timing import print_table

ROWS, LIMIT = 5_000_000, 1.0  # LIMIT is in gigabytes
NUMBERS, BLOCK = 8, 250_000
RUN = """
import resource, sys
from keeptree.cli import main
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
sys.exit(code)
"""


def main(n_rows=ROWS):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write_data(folder, n_rows)
        for method in ("smoothed", "kept"):
            train = read_block(folder / "train.parquet")
            tree = kt.C45Classifier(min_samples_leaf=50)
            kind = {"smoothed": kt.SmoothedTreeClassifier, "kept": kt.KeptTreeClassifier}[method]
            kt.save(kind(tree).fit(*train), folder / "model.json")
            for data, out in (("d.csv", "o.csv"), ("d.parquet", "o.parquet")):
                seconds, gigabytes = score(folder, data, out)
                rows.append(
                    (
                        f"{method}, {data[2:]} to {out[2:]}",
                        f"{gigabytes:.2f} GB",
                        f"{LIMIT:g} GB",
                        f"{n_rows / seconds:,.0f}",
                    )
                )
    columns = (f"{n_rows:,} rows x {NUMBERS + 1}", "peak memory", "limit", "rows per second")
    print_table("keeptree predict", columns, rows)


def draw(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, NUMBERS))
    colour = rng.choice(["red", "green", "blue"], n)
    y = X[:, 0] + X[:, 1] ** 2 + (colour == "red") + rng.normal(size=n) > 1
    columns = {f"x{j}": X[:, j] for j in range(NUMBERS)}
    return pa.table({**columns, "colour": colour, "y": np.where(y, "yes", "no")})


def write_data(folder, n_rows):
    pq.write_table(draw(0, 20_000), folder / "train.parquet")
    schema = draw(0, 1).schema
    with (
        pq.ParquetWriter(folder / "d.parquet", schema) as parquet,
        csv.CSVWriter(str(folder / "d.csv"), schema) as text,
    ):
        for seed, start in enumerate(range(0, n_rows, BLOCK), start=1):
            block = draw(seed, min(BLOCK, n_rows - start))
            parquet.write_table(block)
            text.write_table(block)


def read_block(path):
    frame = pq.read_table(path).to_pandas()
    return frame.drop(columns="y"), frame["y"]


def score(folder, data, out):
    command = ["predict", "model.json", data, "--out", out]
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", RUN, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return time.perf_counter() - start, float(done.stdout.split()[-1])


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
