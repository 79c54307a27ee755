"""Rows pass through the steps of a pipeline and are encoded for the tree."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.importers import unwrap
from keeptree.importers.steps import read_rows, run_steps

X = np.array([["a", "x"], ["b", "x"], ["c", "y"]] * 5, dtype=object)
PIPE = make_pipeline(OneHotEncoder(), DecisionTreeClassifier()).fit(X, [0, 1, 0] * 5)


def test_sparse_output_of_the_steps_is_made_dense():
    steps = unwrap(PIPE)[1]
    expected = PIPE[:-1].transform(X).toarray()
    np.testing.assert_array_equal(run_steps(X, steps), expected)
    np.testing.assert_array_equal(read_rows(X, kt.keep(PIPE, fold=False), steps), expected)


def test_without_steps_rows_are_unchanged_and_sparse_rows_are_refused():
    tree, rows = kt.keep(PIPE, fold=False), np.zeros((2, 5))
    assert run_steps(X, []) is X
    assert read_rows(rows, tree) is rows
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        read_rows(csr_matrix(rows), tree)
