"""Small clusters on this machine: Dask with two processes, Ray, and Spark with two threads."""

import os
import shutil
import sys
from contextlib import contextmanager
from functools import partial

import pandas as pd
import pytest


@contextmanager
def dask_cluster(retries=False):
    """Start two worker processes, which are restarted if they end."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def ray_cluster(retries=False):
    """Start Ray on two cores, without its dashboard and terminal output."""
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        yield ray
    finally:
        ray.shutdown()


@contextmanager
def spark_cluster(retries=False):
    """Start Spark with two task threads; in local mode it retries only if configured to."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2, 3]" if retries else "local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def _dask_table(_, parts):
    import dask.dataframe

    make = partial(_piece, pd.concat(parts, ignore_index=True), _ends(parts))
    return dask.dataframe.from_map(make, range(len(parts)), meta=parts[0].iloc[:0])


def _piece(frame, ends, number):
    return frame.iloc[ends[number] : ends[number + 1]]


def _ends(parts):
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + len(part))
    return ends


def _ray_table(ray, parts):
    return ray.data.from_pandas(parts)


def _spark_table(session, parts):
    """Return a table with one partition for each part."""
    rows = [[tuple(map(_plain, row)) for row in part.itertuples(index=False)] for part in parts]
    schema = session.createDataFrame(parts[0]).schema
    pieces = session.sparkContext.parallelize(range(len(rows)), len(rows))
    return session.createDataFrame(pieces.flatMap(lambda number: rows[number]), schema)


def _plain(value):
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime()
    return None if isinstance(value, float) and value != value else value


# Name -> functions that start the cluster, make a table of partitions, and return a data frame.
CLUSTERS = {
    "dask": (dask_cluster, _dask_table, lambda table: table.compute()),
    "ray": (ray_cluster, _ray_table, lambda table: table.to_pandas()),
    "spark": (spark_cluster, _spark_table, lambda table: table.toPandas()),
}
