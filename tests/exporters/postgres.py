"""A local Postgres server in a temporary folder, without a network."""

import csv
import io
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from keeptree.exporters.check import Answers, codes_of
from keeptree.exporters.plain import read_columns
from keeptree.exporters.sql.spelling import Spelling


def find_binaries():
    """Return the folder of initdb and postgres, or None."""
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).parent
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found and shutil.which("psql") else None


@contextmanager
def serving():
    """Start a :class:`Server`; stop it and delete its files at the end."""
    binaries = find_binaries()
    # The path must be short, because socket paths have at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="kt"))
    user = {}
    if os.getuid() == 0:  # Postgres refuses to run as root
        user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        shutil.chown(folder, "nobody", "nogroup")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    try:
        made = [binaries / "initdb", "-D", folder / "data", "-U", "keeptree", "-A", "trust"]
        more = ["-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run([*made, *more], check=True, **quiet, **user)
        options = ["-c", "listen_addresses=", "-c", "fsync=off", "-k", folder]
        server = subprocess.Popen(
            [binaries / "postgres", "-D", folder / "data", *options], **quiet, **user
        )
        try:
            yield Server(folder)
        finally:
            server.terminate()
            server.wait(timeout=30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    """Runs statements with ``psql``."""

    def __init__(self, folder):
        self.folder = folder
        self.run("SELECT 1", tries=100)

    def run(self, text, tries=1):
        """Run statements; return the rows of the last query as text, None for NULL."""
        command = ["psql", "-X", "-q", "-h", str(self.folder), "-U", "keeptree", "-d", "postgres"]
        command += ["--csv", "-v", "ON_ERROR_STOP=1", "-P", "null=\x01"]
        for _ in range(tries):
            done = subprocess.run(command, input=text, capture_output=True, text=True)
            if done.returncode == 0:
                rows = list(csv.reader(io.StringIO(done.stdout)))
                return [[None if cell == "\x01" else cell for cell in row] for row in rows]
            subprocess.run(["sleep", "0.1"])
        raise RuntimeError(done.stderr)


def score(server, files, subject, rows, timed=False):
    """Return the answers of a query that reads ``keeptree_rows`` and keeps ``keeptree_id``."""
    spell = Spelling("postgres")
    read = read_columns(subject.tree, subject.model)
    types = ["DOUBLE PRECISION" if rows.categories[f] is None else "TEXT" for f in read]
    columns = [f"{spell.name(rows.names[f])} {t}" for f, t in zip(read, types, strict=True)]
    values = zip(*(_literals(rows, f, spell) for f in read), strict=True)
    lines = ",\n".join(f"({k}, {', '.join(row)})" for k, row in enumerate(values))
    main, *others = files.values()
    server.run(
        "DROP TABLE IF EXISTS keeptree_rows, landmarks, curves;"
        f"CREATE TABLE keeptree_rows ({', '.join(['keeptree_id INT', *columns])});"
        f"INSERT INTO keeptree_rows VALUES {lines};{''.join(others)}"
    )
    seconds = None
    if timed:
        plan = server.run(f"EXPLAIN (ANALYZE, TIMING OFF, SUMMARY)\n{main}")
        (told,) = [row[0] for row in plan if row[0].startswith("Execution Time")]
        seconds = float(told.split()[2]) / 1000
    names, *found = server.run(main)
    found.sort(key=lambda row: int(row[0]))
    columns = dict(zip(names, zip(*found, strict=True), strict=True))
    answers = ("probability_", "score_")
    probability = [column for name, column in columns.items() if name.startswith(answers)]
    return Answers(
        codes_of(columns["prediction"], [str(label) for label in subject.classes]),
        np.array([-1 if leaf is None else int(leaf) for leaf in columns["leaf"]]),
        np.array(probability, dtype=np.float64).T,
        seconds=seconds,
    )


def _literals(rows, feature, spell):
    """Yield a column as SQL literals; missing numbers are NaN in odd rows, otherwise NULL."""
    numeric = rows.categories[feature] is None
    for k, value in enumerate(rows.column(feature)):
        if value is None:
            yield "'NaN'" if numeric and k % 2 else "NULL"
        else:
            yield f"'{value!r}'" if numeric else spell.text(str(value))
