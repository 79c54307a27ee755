"""Blocks of rows are processed on several threads."""

import threading

import numpy as np
import pytest

from keeptree.blocks import map_rows


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
@pytest.mark.parametrize("block", [1, 3, 7, 100])
def test_every_row_is_visited_once_and_results_come_in_order(n_jobs, block):
    visits = np.zeros(20, dtype=int)

    def visit(start, stop):
        visits[start:stop] += 1
        return start

    starts = map_rows(visit, 20, n_jobs, block)
    assert (visits == 1).all()
    assert starts == list(range(0, 20, block))


def test_without_rows_nothing_is_called():
    assert map_rows(lambda start, stop: 1 / 0, 0) == []


def test_two_jobs_run_at_the_same_time():
    both = threading.Barrier(2, timeout=10)
    map_rows(lambda start, stop: both.wait(), 2, n_jobs=2, block=1)


def test_an_error_in_a_block_reaches_the_caller():
    def fail(start, stop):
        raise ValueError(f"rows {start} to {stop}")

    with pytest.raises(ValueError, match="rows 0 to 2"):
        map_rows(fail, 4, n_jobs=2, block=2)
