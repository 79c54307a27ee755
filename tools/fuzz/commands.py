"""Run every command on random files and options; expect success, or an error and no new file."""

import contextlib
import io
import os
import shutil

import numpy as np
import pandas as pd

from keeptree.cli import main
from keeptree.temporary import is_temporary
from tools.fuzz.check import require
from tools.fuzz.estimators import COLUMNS

METHODS = ["laplace", "shrinkage", "raw", "rank", "kernel", "confdtree", "m-estimate"]


def run(rng, folder):
    """Write a data file, run one or two commands on it, and return the outcome."""
    random = np.random.default_rng(rng.getrandbits(64))
    place = os.getcwd()
    os.chdir(folder)
    try:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        data = write_data(rng, random)
        model = ["fit", data, "--target", "y", "--out", "m.json", "--method", rng.choice(METHODS)]
        lines = rng.choice(
            [
                [["grow", data, "--target", "y", "--out", "t.json"], ["verify", "t.json"]],
                [model, ["predict", "m.json", data, "--out", rng.choice(["o.csv", "o.parquet"])]],
                [model, ["explain", "m.json", data, "--row", "1"]],
                [model, ["sign", "m.json", "--by", "A"], ["verify", "m.json", "--signed"]],
            ]
        )
        if rng.random() < 0.02:  # the slow commands
            slow = ["report", data, "--target", "y", "--out", "p.html"]
            few = ["--models", "raw,laplace", "--protocol", "holdout", "--jobs", "1"]
            lines = [rng.choice([slow, ["compare", data, "--target", "y", "--out", "c", *few]])]
        # The other commands need the file that the first one writes.
        refused = any(command(rng, line) for line in lines)
    finally:
        os.chdir(place)
    return "refused" if refused else "done"


def command(rng, line):
    """Run a command line, sometimes with an unusual argument."""
    line = [*line, *rng.choice([[], [], [], ["--json"], ["--drop", "x0"], ["--nominal", "x1"]])]
    if rng.random() < 0.1:
        line[rng.randrange(1, len(line))] = rng.choice(["", "-", "nothing", "--nope", "\x00", "é"])
    before = sorted(os.listdir())
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(line)
        except SystemExit as ended:  # raised by argparse
            code = ended.code
    require(code in (0, 2), f"{line} ended with code {code}")
    left = [name for name in os.listdir() if is_temporary(name)]
    require(not left, f"{line} left {left}")
    if code == 2:
        last = err.getvalue().strip().splitlines()[-1:]
        require(bool(last) and "Traceback" not in err.getvalue(), f"{line} gave no clear error")
        require(sorted(os.listdir()) == before, f"{line} failed and wrote a file")
    return code


def write_data(rng, random):
    """Write a CSV file such as users may have; half of the files are as plain as possible."""
    plain = rng.random() < 0.5
    n = 60 if plain else rng.choice([0, 1, 3, 30, 60])
    frame = pd.DataFrame(
        {f"x{j}": COLUMNS[rng.choice(list(COLUMNS))](random, n) for j in range(rng.choice([2, 3]))}
    )
    classes = ["a", "b"] if plain else rng.choice([["a"], ["a", "b"], ["0", "1"], ["a", "b", ""]])
    frame["y"] = random.choice(classes, n)
    name = "d.csv" if plain else rng.choice(["d.csv", "d.csv", "d.csv", "d.tsv", "d.txt"])
    content = frame.to_csv(index=False).encode() if plain else write_dialect(rng, random, frame)
    with open(name, "wb") as file:
        file.write(content)
    return name


def write_dialect(rng, random, frame):
    """Write a table in the CSV dialect of some program, sometimes damaged."""
    sep, decimal = rng.choice([(",", "."), (";", ","), ("\t", "."), ("|", ".")])
    text = frame.to_csv(
        index=False,
        sep=sep,
        decimal=decimal,
        na_rep=rng.choice(["", "NA", "?", "null"]),
        lineterminator=rng.choice(["\n", "\r\n"]),
        quoting=rng.choice([0, 1, 2]),
    )
    content = text.encode(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    if rng.random() < 0.15:
        content = content[: rng.randrange(len(content))]
    if rng.random() < 0.05:
        at = rng.randrange(len(content) + 1)
        content = content[:at] + bytes(random.integers(0, 256, 3, dtype=np.uint8)) + content[at:]
    return content
