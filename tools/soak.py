"""Make mixed calls in threads and processes for some minutes: python -m tools.soak (make soak).

Every result is compared bit by bit with the first one. The memory of every process is compared with
its memory after the first fifth of the time.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import keeptree as kt
from tests.test_saving import MODELS, draw, fitted

THREADS, PROCESSES = 8, 4
NAMES = [name for name in MODELS if name not in ("forest", "regressor")]
# Maximum growth relative to the memory after the first fifth, and a reserve for the allocator.
_GROWTH = 1.05
_SPARE = 20e6  # bytes


def memory():
    """Return the resident memory of this process, in bytes."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def answer_bits(model, X):
    """Return decisions and probabilities (or scores of a ranking) as bytes."""
    scores = getattr(model, "predict_proba", None) or model.decision_function
    return np.asarray(scores(X), dtype=float).tobytes() + str(model.predict(X).tolist()).encode()


class Calls:
    """Calls that must return the same result every time."""

    def __init__(self, folder):
        self.folder, self.X = folder, draw(n=60)[0]
        self.models = {name: fitted(name, n=80)[0] for name in NAMES}
        self.tree = self.models["c45"].tree_
        self.calls = [
            *((self.score, name) for name in NAMES),
            *((self.reload, name) for name in NAMES),
            (self.distance, "kernel"),
            (self.change, "laplace"),
            (self.explain, "laplace"),
            (self.grow, "c45"),
            (self.refit, "laplace"),
        ]

    def score(self, name):
        """Return decisions and probabilities."""
        return answer_bits(self.models[name], self.X)

    def reload(self, name):
        """Return decisions and probabilities after saving and loading the model."""
        path = self.folder / f"{os.getpid()}-{threading.get_ident()}.json"
        kt.save(self.models[name], path)
        return answer_bits(kt.load(path), self.X)

    def distance(self, name):
        """Return distances to the boundary."""
        return self.models[name].boundary_.distance(self.X).tobytes()

    def change(self, name):
        """Return the nearest change of a case."""
        return str(kt.nearest_change(self.models[name], self.X[3:4])).encode()

    def explain(self, name):
        """Return the story of a case."""
        return str(kt.explain(self.models[name], self.X[5:6])).encode()

    def grow(self, name):
        """Return a tree grown from data."""
        return json.dumps(kt.C45Classifier().fit(*draw(n=80)).tree_.to_dict()).encode()

    def refit(self, name):
        """Return the results of a method refitted to the same tree."""
        model = kt.SmoothedTreeClassifier(self.tree).fit(*draw(n=80))
        return model.predict_proba(self.X).tobytes()


def work(calls, first, end, number, tally):
    """Run one thread: make calls in random order until the time is up."""
    rng = np.random.default_rng(number)
    while time.monotonic() < end:
        call = calls.calls[rng.integers(len(calls.calls))]
        try:
            same = call[0](call[1]) == first[call[0].__name__, call[1]]
        # Any exception is a failure, because the first call did not raise it.
        except Exception as error:
            tally["errors"].append(f"{call[0].__name__} {call[1]}: {error!r:.200}")
            same = True
        with tally["lock"]:
            tally["calls"] += 1
            tally["drift"].update([] if same else [f"{call[0].__name__} {call[1]}"])


def run_process(seconds, number, folder, results):
    """Run one process of the soak test: its threads, and its memory over time."""
    warnings.simplefilter("ignore")
    calls = Calls(Path(folder))
    first = {(call.__name__, name): call(name) for call, name in calls.calls}
    tally = {"calls": 0, "drift": Counter(), "errors": [], "lock": threading.Lock()}
    start = time.monotonic()
    end = start + seconds
    threads = [
        threading.Thread(target=work, args=(calls, first, end, THREADS * number + k, tally))
        for k in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    measured = []
    while any(thread.is_alive() for thread in threads):
        time.sleep(min(1.0, seconds / 50))
        measured.append((time.monotonic() - start, memory()))
    early = max(size for at, size in measured if at <= seconds / 5)
    late = max(size for at, size in measured if at >= seconds * 4 / 5)
    results.put(
        {**{k: tally[k] for k in ("calls", "drift", "errors")}, "early": early, "late": late}
    )


def main():
    """Run the processes and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=float(os.environ.get("SOAK_MINUTES", "10"))
    )
    options = parser.parse_args()
    context = get_context("spawn")
    results = context.Queue()
    with tempfile.TemporaryDirectory(prefix="keeptree-soak-") as folder:
        arguments = [(60 * options.minutes, number, folder, results) for number in range(PROCESSES)]
        processes = [context.Process(target=run_process, args=each) for each in arguments]
        for process in processes:
            process.start()
        found = [results.get() for _ in processes]
        for process in processes:
            process.join()
        left = [name for name in os.listdir(folder) if name.startswith(".")]
    grown = [each["late"] > _GROWTH * each["early"] + _SPARE for each in found]
    figures = {
        "minutes": options.minutes,
        "processes": PROCESSES,
        "threads": THREADS,
        "calls": sum(each["calls"] for each in found),
        "answers that differ": dict(sum((each["drift"] for each in found), Counter())),
        "errors": [error for each in found for error in each["errors"]][:10],
        "temporary files left": len(left),
        "memory after a fifth (MB)": [round(each["early"] / 1e6) for each in found],
        "memory at the end (MB)": [round(each["late"] / 1e6) for each in found],
    }
    print(json.dumps(figures, indent=1))
    return int(any(grown) or bool(left or figures["errors"] or figures["answers that differ"]))


if __name__ == "__main__":
    sys.exit(main())
