"""The space of the kernel expert on trees with tens of thousands of thresholds."""

import tracemalloc

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.data.sample import Sample
from keeptree.probability import kernel_space
from keeptree.probability.kernel_space import embed


@pytest.fixture(scope="module")
def large():
    """Return a sample of three attributes and its tree with several thousand leaves."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3)) * [1.0, 1e-6, 1e9]
    y = rng.integers(2, size=len(X))
    return Sample(kt.keep(DecisionTreeClassifier(random_state=0).fit(X, y)), X, y)


def test_merging_thresholds_hardly_moves_a_coordinate(large, monkeypatch):
    merged = embed(large, large.observed.columns)[0]
    monkeypatch.setattr(kernel_space, "_MOST_BENDS", np.inf)
    exact = embed(large, large.observed.columns)[0]
    assert merged.bends.shape[1] < 500 < 5000 < exact.bends.shape[1]
    rows = large.X[:200]
    np.testing.assert_allclose(merged.coordinates(rows), exact.coordinates(rows), atol=1e-3)


def test_a_tree_with_few_thresholds_keeps_them_all(large):
    small = DecisionTreeClassifier(max_leaf_nodes=60, random_state=0).fit(large.X, large.y)
    tree = kt.keep(small)
    bends = embed(Sample(tree, large.X, large.y), large.observed.columns)[0].bends
    np.testing.assert_array_equal(np.sort(bends[0]), np.sort(tree.threshold[tree.feature >= 0]))


def test_memory_does_not_grow_with_rows_times_thresholds(large):
    embed(large, large.observed.columns)  # fills the caches
    tracemalloc.start()
    embed(large, large.observed.columns)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * large.X.nbytes + 20 * kernel_space._BLOCK * 8
    assert peak < large.X.nbytes * large.tree.n_leaves / 100
