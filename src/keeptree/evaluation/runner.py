"""Run long experiments that can be interrupted and resumed.

A task is a small dict; its record is one line of a JSON-lines file. Running the same tasks with the
same file again continues where the last run stopped.
"""

import json
import time
import warnings
from pathlib import Path

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import threadpool_limits

from keeptree.output import check_writable, write_text
from keeptree.progress import step, watch


def run(tasks, work, results=None, *, n_jobs=None, progress=True, description="Running"):
    """Run the unfinished tasks in parallel and save each result immediately.

    Parameters
    ----------
    tasks : list of dict
        Tasks as JSON-compatible values, identified by their content.
    work : callable
        ``work(task)`` returns the rows of a task, a list of dicts of JSON values (NumPy scalars
        become numbers). It is sent to other processes, so it must be a module-level function or a
        partial of one.
    results : str or Path, optional
        File to which every finished task is appended as one line, ``{"task", "rows", "seconds"}``,
        or ``{"task", "error"}`` if it raised an exception. Tasks with rows in the file are skipped;
        failed ones are repeated. Unreadable lines are moved to another file, with a warning.
        Without a file nothing is saved.
    n_jobs : int, optional
        Number of processes, one thread each; by default one per core. Inside
        ``joblib.parallel_config(backend="dask")`` the tasks run on that cluster.
    progress : bool
        Whether to show progress on standard error.
    description : str
        Description shown with the progress.

    Returns
    -------
    records : list of dict
        One record per task, in order.

    Examples
    --------
    >>> def square(task):
    ...     return [{"square": task["x"] ** 2}]
    >>> records = run([{"x": 3}, {"x": 4}], square, n_jobs=1)
    >>> [record["rows"] for record in records]
    [[{'square': 9}], [{'square': 16}]]
    """
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; give a number of processes, or -1 for one per core.")
    path = None if results is None else check_writable(results)
    records = {} if path is None else _finished(path)
    keys = [_key(task) for task in tasks]
    wanted = dict(zip(keys, tasks, strict=True))
    todo = [task for key, task in wanted.items() if key not in records]
    before = len(wanted) - len(todo)
    with watch(wanted=progress), step(description, len(wanted), done=before) as move:
        for done, line in enumerate(_lines(todo, work, n_jobs, path), start=before + 1):
            if path is not None:
                _append(path, line)
            record = json.loads(line)
            records[_key(record["task"])] = record
            move(done, f"{done} of {len(wanted)}")
    return [records[key] for key in keys]


def read_records(path):
    """Read a results file.

    Parameters
    ----------
    path : str or Path
        File written by :func:`run`.

    Returns
    -------
    records : list of dict
        The records, oldest first.
    damaged : int
        Number of damaged lines.
    """
    records, damaged = [], 0
    for line in Path(path).read_bytes().splitlines():
        try:
            record = json.loads(line)
            if not isinstance(record["task"], dict) or not {"rows", "error"} & record.keys():
                raise ValueError
            records.append(record)
        except (ValueError, TypeError, KeyError):
            damaged += 1
    return records, damaged


def _key(task):
    return json.dumps(task, sort_keys=True, default=_plain)


def _plain(value):
    """Convert NumPy scalars and arrays to JSON-compatible values."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _finished(path):
    """Return the records of finished tasks; move a damaged file aside."""
    if not path.exists():
        return {}
    records, damaged = read_records(path)
    if damaged:
        aside = _aside(path)
        path.rename(aside)
        write_text(path, "".join(f"{json.dumps(record)}\n" for record in records))
        warnings.warn(
            f"{path} has {damaged} damaged line(s); it is kept as {aside.name}, and the "
            f"{len(records)} readable records are copied to {path.name}.",
            stacklevel=3,
        )
    return {_key(record["task"]): record for record in records if "rows" in record}


def _aside(path):
    """Return an unused file name."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return aside


def _append(path, line):
    # Write a whole line at once, so that a process killed between two tasks leaves no partial line.
    with path.open("ab", buffering=0) as file:
        file.write(f"{line}\n".encode())


def _lines(tasks, work, n_jobs, path):
    """Yield the records as JSON, in order of completion."""
    n_jobs = min(effective_n_jobs(-1 if n_jobs is None else n_jobs), max(1, len(tasks)))
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    try:
        yield from parallel(delayed(_do)(work, task) for task in tasks)
    except TerminatedWorkerError as error:
        kept = f"Finished results are in {path}; run it again" if path else "Run it again"
        raise RuntimeError(
            f"A process was killed, most likely because memory ran out. {kept} with a "
            "smaller n_jobs."
        ) from error


def _do(work, task):
    start = time.perf_counter()
    try:
        with threadpool_limits(1):
            rows = work(task)
        record = {"task": task, "rows": rows, "seconds": round(time.perf_counter() - start, 4)}
        return json.dumps(record, default=_plain)
    except Exception as error:  # a model may raise anything; other tasks continue
        text = " ".join(str(error).split())
        return json.dumps({"task": task, "error": f"{type(error).__name__}: {text}"},
                          default=_plain)  # fmt: skip
