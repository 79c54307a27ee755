"""Measure the cost of scoring one row at a time, as in a service: python -m benchmarks.single_row.

The table shows the CPU time in µs per row of our predict_proba, ``model.scorer()`` and the exports
to plain Python, JavaScript and C, and of scikit-learn's predict_proba for a table of one row in the
same run. The exported programs time many calls themselves, after a first one, so that their start
does not count.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import keeptree as kt
from benchmarks.timing import best_times, console, grown_tree, print_table
from keeptree.exporters.plain import tested_columns
from keeptree.probability.methods import METHODS, make_method

_LEAVES, _TRAIN = 50, 20_000
_CALLS = 200  # number of calls of each method in a round
_PYTHON = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import exported
rows = json.load(sys.stdin)
best = float("inf")
for _ in range(5):
    start = time.process_time()
    for row in rows:
        exported.predict(row), exported.ANSWER(row)
    best = min(best, time.process_time() - start)
print(best / len(rows) * 1e6)
"""
_SCRIPT = """
import { readFileSync } from "node:fs";
import { predict, ANSWER } from "./exported.mjs";
const rows = JSON.parse(readFileSync(0, "utf8"));
let best = Infinity;
const scoreAll = () => rows.forEach((row) => [predict(row), ANSWER(row)]);
let repeats = 1;
for (let spent = 0; spent < 50_000; repeats *= 2) {
  const start = process.cpuUsage().user;
  for (let k = 0; k < repeats; k += 1) scoreAll();
  spent = process.cpuUsage().user - start;
}
for (let round = 0; round < 5; round += 1) {
  const start = process.cpuUsage().user;
  for (let k = 0; k < repeats; k += 1) scoreAll();
  best = Math.min(best, (process.cpuUsage().user - start) / repeats);
}
console.log(best / rows.length);
"""
_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "exported.c"
int main(void)
{
    static double rows[1000][N_COLUMNS + 1], p[N_CLASSES];
    int n = 0, k = 0;
    double best = 1e9, value, sink = 0;
    while (scanf("%lf", &value) == 1) {
        rows[n][k++] = value;
        if (k == N_COLUMNS) k = 0, n++;
    }
    for (int round = 0; round < 20; round++) {
        clock_t start = clock();
        for (int i = 0; i < n; i++) {
            sink += tree_predict(rows[i]);
            tree_ANSWER(rows[i], p);
            sink += p[0];
        }
        double spent = (double)(clock() - start) / CLOCKS_PER_SEC;
        best = spent < best ? spent : best;
    }
    printf("%g\n", best / n * 1e6);
    return sink < 0;
}
"""


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.single_row", description=__doc__)
    parser.add_argument("--train", type=int, default=_TRAIN, help="training rows")
    options = parser.parse_args(argv)
    tree, X, y, rows = grown_tree(_LEAVES, n_train=options.train, n_rows=_CALLS)
    kept = kt.keep(tree)
    table = []
    for name in METHODS:
        model = make_method(name, kept).fit(X, y)
        table.append((name, *_costs(model, tree, rows)))
    console.print(f"{options.train} training rows, {_LEAVES} leaves, {X.shape[1]} columns.")
    columns = ("method", "sklearn", "table", "scorer()", "ratio", "Python", "JS", "C")
    print_table("CPU µs per row; ratio of scorer() to sklearn", columns, table)


def _costs(model, tree, rows):
    """Return the cost of one row for each method, and of ``scorer()`` relative to scikit-learn."""
    scorer = model.scorer()
    score = getattr(model, "predict_proba", None) or model.decision_function
    singles = [rows[i : i + 1] for i in range(len(rows))]
    calls = (
        (_each, tree.predict_proba, singles),
        (_each, score, singles),
        (_each, scorer, [row[0] for row in singles]),
    )
    theirs, ours, single = best_times(calls, repeats=5) / len(rows) * 1e6
    numbers = [f"{value:.0f}" for value in (theirs, ours, single)]
    return *numbers, f"{single / theirs:.2f}", *_exported(model, rows)


def _each(function, rows):
    for row in rows:
        function(row)


def _exported(model, rows):
    try:
        texts = {name: kt.export(model, format=name, check=0) for name in ("python", "javascript")}
        texts["c"] = kt.export(model, format="c", check=0)
    except ValueError:
        return ["-"] * 3
    names = [model.tree_.feature_name(f) for f in range(rows.shape[1])]
    table = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
    answer = "probability" if hasattr(model, "predict_proba") else "score"
    python, script, c = (text.replace("ANSWER", answer) for text in (_PYTHON, _SCRIPT, _C))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "exported.py").write_text(texts["python"])
        (folder / "exported.mjs").write_text(texts["javascript"])
        (folder / "exported.c").write_text(texts["c"])
        (folder / "bench.mjs").write_text(script)
        (folder / "bench.c").write_text(c)
        text = json.dumps(table)
        found = [_ask([sys.executable, "-S", "-c", python, str(folder)], text)]
        node, compiler = shutil.which("node"), shutil.which("cc")
        found.append(_ask([node, str(folder / "bench.mjs")], text) if node else "no node")
        if compiler is None:
            return [*found, "no cc"]
        program = str(folder / "bench")
        subprocess.run([compiler, "-O2", "-o", program, f"{program}.c", "-lm"], check=True)
        tested = rows[:, tested_columns(model.tree_)]  # columns in the order of the exported code
        lines = "\n".join(" ".join(map(repr, row)) for row in tested.tolist())
        return [*found, _ask([program], lines)]


def _ask(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return f"{float(done.stdout):.3g}"


if __name__ == "__main__":
    main()
