"""A long run can be stopped at any time; the next run completes only the missing tasks."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
from joblib import parallel_config

from keeptree.evaluation.runner import read_records, run
from tests.engines.clusters import dask_cluster

TASKS = [{"x": x} for x in range(6)]


def square(task):
    return [{"square": np.int64(task["x"]) ** 2}]


def note_and_square(folder, task):
    """Create one file per call, so that tests can count the calls of all processes."""
    (folder / f"{task['x']}-{time.monotonic_ns()}").touch()
    return square(task)


def fail_on_three(switch, task):
    if task["x"] == 3 and not switch.exists():
        raise RuntimeError("three is\ntoo many")
    return square(task)


def die_on_two(task):
    if task["x"] == 2:
        os._exit(9)
    return square(task)


def squares(records):
    return [record["rows"][0]["square"] for record in records]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_records_come_back_in_the_order_of_the_tasks(tmp_path, n_jobs):
    results = tmp_path / "r.jsonl"
    records = run(TASKS, square, results, n_jobs=n_jobs, progress=False)
    assert squares(records) == [0, 1, 4, 9, 16, 25]
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert sorted(line["task"]["x"] for line in lines) == list(range(6))
    assert all(set(line) == {"task", "rows", "seconds"} for line in lines)


def test_a_rerun_completes_only_the_missing_tasks(tmp_path):
    results, calls = tmp_path / "r.jsonl", tmp_path / "calls"
    calls.mkdir()
    work = partial(note_and_square, calls)
    run(TASKS[:4], work, results, n_jobs=1)
    records = run([{"x": 1}, *TASKS], work, results, n_jobs=1)
    assert squares(records) == [1, 0, 1, 4, 9, 16, 25]
    assert len(list(calls.iterdir())) == 6


def test_a_task_is_identified_by_its_content_not_by_the_order_of_its_keys(tmp_path):
    results = tmp_path / "r.jsonl"
    run([{"x": 1, "seed": 2}], square, results, n_jobs=1)
    run([{"seed": np.int64(2), "x": 1}], square, results, n_jobs=1)
    assert len(results.read_text().splitlines()) == 1


def test_a_failed_task_is_recorded_and_tried_again_in_the_next_run(tmp_path):
    results, switch = tmp_path / "r.jsonl", tmp_path / "fixed"
    work = partial(fail_on_three, switch)
    records = run(TASKS, work, results, n_jobs=1)
    assert records[3] == {"task": {"x": 3}, "error": "RuntimeError: three is too many"}
    assert squares(records[:3] + records[4:]) == [0, 1, 4, 16, 25]
    switch.touch()
    assert squares(run(TASKS, work, results, n_jobs=1)) == [0, 1, 4, 9, 16, 25]
    assert len(results.read_text().splitlines()) == 7


def test_a_task_whose_rows_cannot_be_written_as_json_fails():
    (record,) = run([{"x": 1}], lambda task: [{"value": object()}], n_jobs=1)
    assert record["error"] == "TypeError: object cannot be written as JSON"


def test_a_damaged_file_is_set_aside_and_its_readable_records_are_reused(tmp_path):
    results = tmp_path / "r.jsonl"
    run(TASKS[:3], square, results, n_jobs=1)
    damaged = results.read_bytes() + b'{"task": {"x": 3}, "rows": [{"squ'
    results.write_bytes(damaged)
    with pytest.warns(UserWarning, match=r"1 damaged line.* kept as r.jsonl.damaged-1, and the 3"):
        records = run(TASKS, square, results, n_jobs=1)
    assert squares(records) == [0, 1, 4, 9, 16, 25]
    assert (tmp_path / "r.jsonl.damaged-1").read_bytes() == damaged
    assert read_records(results)[1] == 0


@pytest.mark.parametrize("content", [b"\xff\xfe\x00\x00" * 9, b"[1, 2]\n", b'{"task": 3}\n'])
def test_a_file_that_is_not_a_results_file_is_never_overwritten(tmp_path, content):
    results = tmp_path / "r.jsonl"
    results.write_bytes(content)
    (tmp_path / "r.jsonl.damaged-1").write_text("an older one")
    with pytest.warns(UserWarning, match="kept as r.jsonl.damaged-2"):
        run(TASKS, square, results, n_jobs=1)
    assert (tmp_path / "r.jsonl.damaged-2").read_bytes() == content


def test_a_missing_folder_raises_a_clear_error_before_any_task_runs(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist; create it"):
        run(TASKS, square, tmp_path / "no" / "r.jsonl")


def test_a_process_that_dies_raises_a_clear_error(tmp_path):
    results = tmp_path / "r.jsonl"
    with pytest.raises(RuntimeError, match="smaller n_jobs"):
        run(TASKS, die_on_two, results, n_jobs=2, progress=False)
    assert squares(run(TASKS, square, results, n_jobs=1)) == [0, 1, 4, 9, 16, 25]


SLOW = """
import sys, time
from keeptree.evaluation.runner import run

def slow(task):
    time.sleep(0.05 if task["x"] < 3 else 60)
    return [{"square": task["x"] ** 2}]

run([{"x": x} for x in range(6)], slow, sys.argv[1], n_jobs=int(sys.argv[2]), progress=False)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interruption_loses_nothing(tmp_path, how, n_jobs):
    results, script = tmp_path / "r.jsonl", tmp_path / "slow.py"
    script.write_text(SLOW)
    child = subprocess.Popen([sys.executable, script, results, str(n_jobs)],
                             stderr=subprocess.DEVNULL)  # fmt: skip
    deadline = time.monotonic() + 60
    while not (results.exists() and results.read_bytes().count(b"\n") == 3):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child.send_signal(how)
    assert child.wait(30) != 0
    assert squares(run(TASKS, square, results, n_jobs=1)) == [0, 1, 4, 9, 16, 25]
    assert len(results.read_text().splitlines()) == 6


def note_process(task):
    return [{"process": os.getpid()}]


def test_the_user_can_choose_the_joblib_backend():
    """With ``parallel_config``, tasks run in threads instead of processes."""
    with parallel_config(backend="threading", n_jobs=2):
        records = run(TASKS, note_process, progress=False)
    assert {record["rows"][0]["process"] for record in records} == {os.getpid()}


def test_a_dask_cluster_runs_the_missing_tasks_and_keeps_earlier_results(tmp_path):
    pytest.importorskip("distributed")
    results = tmp_path / "results.jsonl"
    run(TASKS[:2], square, results, n_jobs=1, progress=False)
    with dask_cluster(), parallel_config(backend="dask"):
        records = run(TASKS, square, results, progress=False)
        where = run(TASKS, note_process, progress=False)
    assert [record["rows"][0]["square"] for record in records] == [x**2 for x in range(6)]
    assert len(read_records(results)[0]) == 6  # two were there already
    assert os.getpid() not in {record["rows"][0]["process"] for record in where}
