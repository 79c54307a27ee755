"""Which cases a person should check, and what the file contains about each."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.explanation import unseen
from keeptree.importers import keep
from keeptree.reporting.cases import choose_rows, collect_cases
from keeptree.reporting.held_out import HeldOut


def held_out(risk, decision=0):
    """Return cases with given probabilities that the tree is wrong."""
    n, risk = len(risk), np.asarray(risk, dtype=float)
    p = np.column_stack([1 - risk, risk]) if decision == 0 else np.column_stack([risk, 1 - risk])
    stump = keep(DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1]))
    rows, inside = np.zeros((n, 1)), np.full((n, 2), np.arange(n)[:, None], dtype=float)
    return HeldOut(stump, rows, rows, None, np.full(n, decision), inside, p, p)


@pytest.mark.parametrize("decision", [0, 1])
def test_the_riskiest_tenth_of_the_cases_is_checked(decision):
    held = held_out(np.linspace(0, 0.4, 40), decision)
    assert not held.disagrees.any()
    assert np.flatnonzero(held.checked).tolist() == [36, 37, 38, 39]
    assert held.by_risk[:2].tolist() == [39, 38]


def test_every_case_on_which_the_estimate_disagrees_is_checked():
    held = held_out([0.9] * 7 + [0.1] * 13)
    assert np.flatnonzero(held.checked).tolist() == list(range(7)) == held.by_risk[:7].tolist()


def test_the_list_is_limited_to_fifty_cases():
    assert held_out(np.linspace(0.6, 0.9, 2000)).checked.sum() == 50


def test_a_tie_is_not_a_disagreement():
    assert not held_out([0.5, 0.5]).disagrees.any()


def test_a_file_contains_the_riskiest_cases_and_a_spread_of_others():
    held = held_out(np.linspace(0, 1, 1000))
    chosen = choose_rows(held, 300)
    assert len(chosen) == len(set(chosen)) == 300
    assert chosen[:150] == list(range(999, 849, -1))
    assert min(chosen[150:]) == 0
    assert sorted(choose_rows(held_out(np.linspace(0, 1, 7)), 300)) == list(range(7))


def test_a_case_contains_its_risk_and_its_values_unless_rows_is_false():
    case = collect_cases(held_out([0.7]), [0])[0]
    assert case["risk"] == pytest.approx(0.7)
    assert case["disagrees"]
    assert case["check"]
    assert case["values"] == [0.0]
    assert collect_cases(held_out([0.7]), [0], rows=False)[0]["values"] is None


def test_names_come_from_the_index_of_a_frame_or_are_row_numbers():
    held = held_out(np.arange(3.0) / 3)
    assert held.names == ["0", "1", "2"]
    assert held.naming == "A case is named by its position in X, counted from 0."
    index = pd.Index(["a", "b", "two\nlines"], name="patient")
    framed = replace(held, X=pd.DataFrame({"x": [0.0, 1.0, 2.0]}, index=index))
    assert framed.names == ["a", "b", "two lines"]
    assert framed.naming == "A case is named by its patient."


def test_labels_are_read_only_of_the_cases_on_the_page(monkeypatch, tmp_path):
    read = []

    def column_values(table, f, rows):
        read.append(len(rows))
        return table_values(table, f, rows)

    table_values = unseen.column_values
    monkeypatch.setattr(unseen, "column_values", column_values)
    X, y = pd.DataFrame({"colour": ["red", "blue"] * 1000}), ["a", "b"] * 1000
    model = kt.SmoothedTreeClassifier(kt.keep("colour = red: a\nelse: b")).fit(X, y)
    data = kt.report(model, X, y, tmp_path / "page.html")
    assert max(read) <= len(data["cases"])
    assert {label for case in data["cases"] for label in case["unseen"].values()} == {"blue"}
