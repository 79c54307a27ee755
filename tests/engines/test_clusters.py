"""Clusters on this machine give the predictions of a single process, even if a worker dies."""

import os
from pathlib import Path

import pytest

import keeptree as kt
from tests.engines.clusters import CLUSTERS
from tests.engines.tables import check_scored, fitted, new_cases


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture(scope="module", params=CLUSTERS)
def cluster(request):
    start, to_table, to_frame = CLUSTERS[request.param]
    with start() as running:
        yield request.param, lambda parts: to_table(running, parts), to_frame


def test_partitions_of_any_size_are_scored_exactly_and_in_order(cluster, model):
    _, to_table, to_frame = cluster
    cases = new_cases(300)
    parts = [cases[:100], cases[100:100], cases[100:101], cases[101:]]
    check_scored(to_frame(kt.score(model, to_table(parts))), model, cases)


def test_only_kept_columns_are_returned(cluster, model):
    _, to_table, to_frame = cluster
    cases = new_cases(40)
    found = to_frame(kt.score(model, to_table([cases[:20], cases[20:]]), keep=["id"]))
    check_scored(found, model, cases, kept=["id"])


def test_unsuitable_tables_are_refused_before_anything_runs(cluster, model):
    _, to_table, _ = cluster
    cases = new_cases(20)
    text = cases.assign(age=cases["age"].astype(str).astype("string"))
    for table, sentence in [
        (cases.drop(columns="area"), "The table lacks the column 'area', which the model needs"),
        (text, "The column 'age' holds text, where the model expects numbers; convert it."),
        (cases.rename(columns={"id": "prediction"}), "a column 'prediction', which scoring adds"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            kt.score(model, to_table([table]))


def test_a_killed_worker_loses_no_rows(cluster, model, tmp_path):
    name, to_table, to_frame = cluster
    if name != "dask":
        pytest.skip(
            f"{name} takes long to notice a dead worker; run python -m tools.kill_worker {name}"
        )
    cases, mark = new_cases(300), tmp_path / "killed"
    table = to_table([cases[:100], cases[100:200], cases[200:]])
    dying = table.map_partitions(_die_once, str(mark), meta=cases.iloc[:0])
    check_scored(to_frame(kt.score(model, dying)), model, cases)
    assert mark.exists()


def _die_once(frame, mark):
    """End the worker process once, as if its machine had failed."""
    if frame["id"].iloc[0] == "case 100" and not Path(mark).exists():
        Path(mark).touch()
        os._exit(1)
    return frame
