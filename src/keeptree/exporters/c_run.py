"""Score rows by an exported C file: compile it with a small program around it, and run that."""

import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from keeptree.exporters.c_text import prefixed, utf8
from keeptree.exporters.check import Answers
from keeptree.exporters.code import code_data

_TIMEOUT = 600  # seconds for the compiler, and for the rows
# Reads rows (a double or a string for each column, then "e"); prints label, leaf and probabilities.
_RUNNER = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "exported.c"
int main(void)
{
    static double row[N_COLUMNS + 1], p[N_CLASSES];
    static char text[1 << 20];
    int kind, k = 0, n = 0;
    while ((kind = getchar()) != EOF) {
        if (kind == 'd' && fread(&row[k], 8, 1, stdin) != 1) return 1;
        if (kind == 's') {
            uint32_t size;
            if (fread(&size, 4, 1, stdin) != 1 || size >= sizeof text) return 1;
            if (size && fread(text, size, 1, stdin) != 1) return 1;
            text[size] = 0;
            row[k] = prefix_category(k, text);
        }
        if (kind != 'e') {
            k++;
            continue;
        }
        double leaf = prefix_leaf(row), label = prefix_predict(row);
        for (int c = 0; c < N_CLASSES; c++) p[c] = NAN;
        prefix_probability(row, p);
        fwrite(&label, 8, 1, stdout);
        fwrite(&leaf, 8, 1, stdout);
        fwrite(p, 8, N_CLASSES, stdout);
        k = 0, n++;
    }
    return 0;
}
"""


def run(files, subject, rows, prefix="tree"):
    """Score rows by the compiled file: :class:`~keeptree.exporters.check.Answers`, or why not."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return "there is no C compiler (cc)"
    data = code_data(subject)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "check"
        (Path(folder) / "exported.c").write_text(files[".c"], encoding="utf-8")
        runner = prefixed(_RUNNER, prefix, data["answer"])
        (Path(folder) / "check.c").write_text(runner, encoding="utf-8")
        command = [compiler, "-O2", "-o", str(program), str(program.with_suffix(".c")), "-lm"]
        _run(command, None)
        answers = np.frombuffer(_run([str(program)], _packed(data, rows)))
    answers = answers.reshape(len(rows), -1)
    label, leaf = answers[:, :2].astype(np.int64).T
    return Answers(label, leaf, answers[:, 2:])


def _run(command, data):
    done = subprocess.run(command, input=data, capture_output=True, timeout=_TIMEOUT)
    if done.returncode:
        errors = [line for line in done.stderr.decode(errors="replace").splitlines() if line]
        first = next((line for line in errors if "error" in line), "it ended early")
        raise ValueError(f"The exported C code does not run, so nothing was written: {first[:300]}")
    return done.stdout


def _packed(data, rows):
    """Return the rows in the format of the checking program: doubles, and labels as text."""
    columns = [rows.column(column["column"]) for column in data["columns"]]
    parts = []
    for values in zip(*columns, strict=True) if columns else [()] * len(rows):
        for value, column in zip(values, data["columns"], strict=True):
            if column["categories"] is None or value is None:
                parts.append(b"d" + struct.pack("d", np.nan if value is None else value))
            else:
                text = utf8(value)
                parts.append(b"s" + struct.pack("I", len(text)) + text)
        parts.append(b"e")
    return b"".join(parts)
