"""Fuzz KeepTree for a few minutes: python -m tools.fuzz (make fuzz).

A part, a seed and a number identify a case; for every finding, the command that repeats it is
printed.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path

PARTS = {"files": 0.3, "estimators": 0.5, "commands": 0.2}  # shares of the time
_WRITE = 10  # seconds between updates of the figures


def run_case(part, seed, number, folder):
    """Run one case; return its outcome, or raise an error that KeepTree should not raise."""
    rng = random.Random(f"{part} {seed} {number}")
    return import_module(f"tools.fuzz.{part}").run(rng, folder)


def run_part(part, seed, seconds, count, report):
    """Run the cases of a part until the time is up; return the counts of outcomes."""
    outcomes, end, number = Counter(), time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory(prefix="keeptree-fuzz-") as folder:
        while time.monotonic() < end and (count is None or number < count):
            try:
                outcomes[run_case(part, seed, number, Path(folder))] += 1
            except Exception as error:  # any exception that is not documented is a finding
                outcomes["FOUND"] += 1
                text = traceback.format_exc(limit=-3)
                print(f"\nFOUND in {part}: {type(error).__name__}: {error}\n{text}")
                print(f"Repeat: python -m tools.fuzz --parts {part} --seed {seed} --case {number}")
            number += 1
            report(part, outcomes)
    report(part, outcomes, last=True)
    return outcomes


def reporter(seed, path, show):
    """Return a function that writes the figures to a file and the terminal at intervals."""
    figures, before = {"seed": seed}, [0.0]

    def report(part, outcomes, last=False):
        if not last and time.monotonic() - before[0] < _WRITE:
            return
        before[0] = time.monotonic()
        figures[part] = {"cases": sum(outcomes.values()), **outcomes}
        if path:
            Path(path).write_text(json.dumps(figures, indent=1) + "\n")
        if last or show:
            print(f"{part}: {figures[part]}", flush=True)

    return report


def main():
    """Parse the options and run."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    minutes = float(os.environ.get("FUZZ_MINUTES", "10"))
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--count", type=int, help="maximum number of cases of each part")
    parser.add_argument("--seed", type=int, default=None, help="random by default")
    parser.add_argument("--parts", default=",".join(PARTS), help="comma-separated parts to run")
    parser.add_argument("--case", type=int, help="run only this case, and show its error")
    parser.add_argument("--figures", metavar="FILE", help="file to update with the figures")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    parts = options.parts.split(",")
    if options.case is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(run_case(parts[0], seed, options.case, Path(folder)))
        return 0
    print(f"Seed {seed}; repeat with --seed {seed}", flush=True)
    report = reporter(seed, options.figures, sys.stdout.isatty())
    share = sum(PARTS[part] for part in parts)
    found = 0
    for part in parts:
        seconds = 60 * options.minutes * PARTS[part] / share
        found += run_part(part, seed, seconds, options.count, report)["FOUND"]
    print(f"{found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
