"""Measure how long each command runs without output, on a table like bank marketing.

``python -m benchmarks.silence [COMMAND ...]`` runs each command twice, with a pipe and with a
terminal as its standard error, and prints how long it ran, when it first wrote something, and the
longest time without output.
"""

import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from calendar import month_abbr
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 45_211
RESTS = 0.2  # share of missing cells, as in a survey


def draw_bank(rows=ROWS, seed=0):
    """Return a table with the columns of bank marketing: 7 numbers, 9 categories, two classes."""
    rng = np.random.default_rng(seed)

    def pick(*labels):
        return rng.choice(labels, rows, p=rng.dirichlet(np.full(len(labels), 3.0)))

    frame = pd.DataFrame(
        {
            "age": rng.normal(41, 11, rows).clip(18, 95).round().astype(int),
            "job": pick(*(f"job {k}" for k in range(11))),
            "marital": pick("divorced", "married", "single"),
            "education": pick("primary", "secondary", "tertiary"),
            "default": pick("no", "yes"),
            "balance": rng.lognormal(6, 1.4, rows).round().astype(int) - 300,
            "housing": pick("no", "yes"),
            "loan": pick("no", "yes"),
            "contact": pick("cellular", "telephone"),
            "day": rng.integers(1, 32, rows),
            "month": pick(*month_abbr[1:]),
            "duration": rng.lognormal(5.2, 0.9, rows).round().astype(int),
            "campaign": rng.geometric(0.4, rows),
            "pdays": np.where(rng.random(rows) < 0.8, -1, rng.integers(1, 600, rows)),
            "previous": rng.poisson(0.6, rows),
            "poutcome": pick("failure", "other", "success"),
        }
    )  # fmt: skip
    score = (
        np.log(frame["duration"].clip(1)) - 6.3
        + 1.5 * (frame["poutcome"] == "success")
        + 0.4 * frame["month"].isin(["Mar", "Sep", "Oct", "Dec"])
        - 0.5 * (frame["housing"] == "yes")
        + 0.3 * (frame["age"] > 60)
    )  # fmt: skip
    happens = rng.random(rows) < 1 / (1 + np.exp(-2 * score + 0.8))
    for name in ("job", "education", "contact"):
        frame.loc[rng.random(rows) < RESTS / 5, name] = None
    return frame.assign(y=np.where(happens, "yes", "no"))


COMMANDS = {
    "grow": ["grow", "bank.csv", "--target", "y", "--out", "tree.json"],
    "fit": ["fit", "bank.csv", "--target", "y", "--out", "model.json"],
    "predict": ["predict", "model.json", "bank.csv", "--distance", "--out", "scored.csv"],
    "explain": ["explain", "model.json", "bank.csv", "--row", "40000"],
    "report": ["report", "bank.csv", "--target", "y"],
    "compare": ["compare", "bank.csv", "--target", "y", "--splits", "2", "--jobs", "2"],
}


def run_and_listen(command, folder, terminal):
    """Run a command; return its exit code, its duration and the times of its output."""
    if terminal:
        reader, writer = pty.openpty()
    else:
        reader, writer = os.pipe()
    start, heard = time.monotonic(), []
    process = subprocess.Popen(
        [sys.executable, "-m", "keeptree", *command],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=writer, close_fds=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"},
    )  # fmt: skip
    os.close(writer)
    while True:
        ready, _, _ = select.select([reader], [], [], 0.05)
        if ready:
            try:
                text = os.read(reader, 65536)
            except OSError:  # a closed pseudo-terminal raises this error
                text = b""
            if not text:
                break
            heard.append(time.monotonic() - start)
    code = process.wait()
    os.close(reader)
    return code, time.monotonic() - start, heard


def main(names):
    """Run the commands and print a line for each."""
    print(f"{'command':10}{'where':>10}{'ran':>9}{'first':>9}{'silent':>9}{'writes':>9}")
    with tempfile.TemporaryDirectory() as folder:
        draw_bank().to_csv(Path(folder) / "bank.csv", index=False)
        for name, command in COMMANDS.items():
            for terminal in (False, True):
                if names and name not in (*names, *(["fit"] if "model.json" in command else [])):
                    continue
                code, ran, heard = run_and_listen(command, folder, terminal)
                if code:
                    sys.exit(f"keeptree {' '.join(command)} ended with {code}.")
                ends = [0.0, *heard, ran]
                silent = max(after - before for before, after in pairwise(ends))
                first = f"{heard[0]:.1f} s" if heard else "-"
                where = "terminal" if terminal else "pipe"
                print(
                    f"{name:10}{where:>10}{ran:>7.1f} s{first:>9}{silent:>7.1f} s{len(heard):>9}",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
