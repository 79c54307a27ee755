"""Measure the memory needed beyond input and output to score ten million rows."""

import subprocess
import sys

from benchmarks.timing import print_table

CODE = """
import os, threading, time
import numpy as np
import keeptree as kt
from benchmarks.timing import grown_tree

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

tree, X, y, new = grown_tree(100, n_train=20_000, n_rows=20_000)
model = kt.DistanceKernelClassifier(tree, {scope!r}).fit(X, y)
model.predict_proba(new)
# float32 rows, so that a conversion of the whole matrix would show.
rows = np.tile(new.astype(np.float32), (500, 1))
before, peak, done = resident(), [0.0], threading.Event()

def watch():
    while not done.is_set():
        peak[0] = max(peak[0], resident())
        time.sleep(0.005)

watcher = threading.Thread(target=watch)
watcher.start()
p = model.predict_proba(rows)
done.set()
watcher.join()
print(max(peak[0], resident()) - before - p.nbytes / 2**20)
"""


def main():
    rows = []
    for scope in ("global", "separator"):
        code = CODE.format(scope=scope)
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        rows.append((scope, f"{float(done.stdout):.0f} MB", "200 MB"))
    columns = ("10 million rows x 30", "beyond input and output", "limit")
    print_table("Memory of predict_proba", columns, rows)


if __name__ == "__main__":
    main()
