"""Which cases a person should look at first, and what the file says about each."""

from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from keeptree.importers import keep
from keeptree.reporting.cases import collect_cases
from keeptree.reporting.held_out import HeldOut


def held_out(distance, decision=None):
    """Cases at given distances; the more probable class of each is the first."""
    n = len(distance)
    decision = np.zeros(n, dtype=int) if decision is None else decision
    p, inside = np.tile([0.7, 0.3], (n, 1)), np.column_stack([distance, distance])
    stump = keep(DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1]))
    rows = np.zeros((n, 1))
    return HeldOut(stump, rows, rows, None, decision, inside, p, p)


def test_the_nearest_twentieth_is_near_and_a_second_opinion_is_another_class():
    decision = np.zeros(40, dtype=int)
    decision[3] = 1
    held = held_out(np.arange(40.0), decision)
    assert np.flatnonzero(held.near).tolist() == [0, 1]
    assert np.flatnonzero(held.opinion).tolist() == [3]


def test_a_tie_is_no_second_opinion():
    held = replace(held_out(np.arange(2.0), np.array([0, 1])), ours=np.full((2, 2), 0.5))
    assert not held.opinion.any()


def test_of_equally_near_cases_a_twentieth_is_near_those_we_are_least_sure_of():
    held = held_out(np.ones(60))
    held.ours[:, 0] = np.linspace(0.9, 0.6, 60)
    assert np.flatnonzero(held.near).tolist() == [57, 58, 59]
    assert held_out(np.ones(60)).near.sum() == 3


def test_a_case_without_a_distance_is_never_near():
    distance = np.array([3.0, 1.0, 1.0, 1.0, 2.0, np.inf] + [9.0] * 14)
    assert np.flatnonzero(held_out(distance).near).tolist() == [1]
    assert not held_out(np.full(20, np.inf)).near.any()


def test_equally_near_cases_share_a_rank():
    distance = np.array([3.0, 1.0, 1.0, 1.0, 2.0, np.inf] + [9.0] * 14)
    cases = collect_cases(held_out(distance), [0])
    assert len(cases) == 20
    share = {case["id"]: case["percentile"] for case in cases}
    assert [share[str(i)] for i in range(5)] == [0.2, 0.0, 0.0, 0.0, 0.15]


def test_names_come_from_the_index_of_a_frame_or_are_row_numbers():
    held = held_out(np.arange(3.0))
    assert held.names == ["0", "1", "2"]
    assert held.naming == "A case is named by its position in X, counted from 0."
    index = pd.Index(["a", "b", "two\nlines"], name="patient")
    framed = replace(held, X=pd.DataFrame({"x": [0.0, 1.0, 2.0]}, index=index))
    assert framed.names == ["a", "b", "two lines"]
    assert framed.naming == "A case is named by its patient."
