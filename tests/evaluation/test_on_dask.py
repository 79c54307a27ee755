"""Studies on a Dask cluster run on its workers and continue where they stopped."""

from functools import partial

import pytest
from joblib import parallel_config
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.evaluation import compare, learning_curve
from tests.engines.clusters import dask_cluster

TREE = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0)
MODELS = {"tree": TREE, "laplace": kt.SmoothedTreeClassifier(TREE)}
STUDIES = {
    "compare": partial(compare, n_splits=3),
    "learning_curve": partial(learning_curve, sizes=[20, 60], n_splits=2),
}


def transitions(dask_scheduler):
    """Return the number of task transitions that the scheduler has counted."""
    return dask_scheduler.transition_counter


@pytest.fixture(scope="module")
def cluster():
    with dask_cluster() as client:
        yield client


@pytest.mark.parametrize("name", STUDIES)
def test_an_interrupted_study_continues_on_the_cluster(name, cluster, tmp_path):
    results = tmp_path / "results.jsonl"
    study = partial(STUDIES[name], MODELS, *load_iris(return_X_y=True), progress=False)
    here = study(n_jobs=1, results=results)
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join(lines[:2]))  # as if it had been interrupted
    before = cluster.run_on_scheduler(transitions)
    with parallel_config(backend="dask"):
        there = study(results=results)
    again = results.read_bytes().splitlines(keepends=True)
    assert again[:2] == lines[:2]
    assert len(again) == len(lines)
    assert there.rows == here.rows
    assert there.failures == []
    assert cluster.run_on_scheduler(transitions) > before  # the workers did the rest
