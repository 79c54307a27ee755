"""Store small Spark ML models with Spark's predictions, for tests/importers/test_spark.py.

    PYSPARK_PYTHON=$(which python) python -m tools.spark_reference.make_fixtures

needs pyspark and Java. It writes tests/fixtures/spark/<version>/<name>/model, the folder that Spark
writes but without checksums, and rows.parquet. This file has rows on every threshold and beside it,
with missing values and unseen categories, and Spark's prediction for each. ``--only NAME`` writes
only that model again. The folders of version 3 were written with pyspark 3.5.
"""

import argparse
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.ml import Pipeline
from pyspark.ml.classification import (
    DecisionTreeClassifier,
    GBTClassifier,
    RandomForestClassifier,
)
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import (
    Imputer,
    IndexToString,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
    StringIndexer,
    VectorAssembler,
    VectorIndexer,
)
from pyspark.ml.regression import DecisionTreeRegressor
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import DoubleType, StringType, StructField, StructType

import keeptree as kt
from tests.importers.neighbours import trying_rows

FOLDER = Path(__file__).parents[2] / "tests" / "fixtures" / "spark"
NUMBERS, LABELS = ("x", "z", "code"), ("colour", "size of it")
SCHEMA = StructType(
    [StructField("row", DoubleType())]
    + [StructField(name, DoubleType()) for name in NUMBERS]
    + [StructField(name, StringType()) for name in (*LABELS, "y")]
)


def session():
    """Return a local Spark session."""
    return (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )


def sample(n=240, seed=0, classes=2):
    """Return rows of numbers, codes and labels with a class."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({
        "x": rng.normal(size=n) / 3, "z": rng.normal(size=n).round(1) * 100,
        "code": rng.choice([-1.0, 0.0, 2.0, 5.5], n),
        "colour": rng.choice(["red", "blue", "green, or so", "été"], n, p=[0.4, 0.3, 0.2, 0.1]),
        "size of it": rng.choice(["S", "M", "L"], n),
    })  # fmt: skip
    score = (rows.x > 0.1).astype(int) + rows.colour.isin(["red", "été"]) + (rows.code > 1)
    noise = rng.integers(3, size=n) * (rng.random(n) < 0.2) + (rows["size of it"] == "L")
    rows["y"] = np.array(["no", "yes", "?"])[(score + noise) % classes]
    return rows


def frame(spark, rows):
    """Return rows as a Spark table that keeps None and NaN apart."""
    values = [
        [float(i), *(None if v is None else v for v in row)]
        for i, row in enumerate(rows[[*NUMBERS, *LABELS, "y"]].itertuples(index=False, name=None))
    ]
    return spark.createDataFrame(values, SCHEMA)


def indexers(rule):
    """Return indexers of the two text columns and of the class."""
    return [
        StringIndexer(inputCol="colour", outputCol="colour index", handleInvalid=rule),
        StringIndexer(inputCols=["size of it"], outputCols=["size index"], handleInvalid=rule),
        StringIndexer(inputCol="y", outputCol="label", handleInvalid="skip"),
    ]


def assembler(*columns, rule="keep", output="features"):
    """Return the stage that assembles some columns into a vector."""
    return VectorAssembler(inputCols=list(columns), outputCol=output, handleInvalid=rule)


def grown(depth=4, kind=DecisionTreeClassifier, **options):
    """Return a learner that also returns the leaf of each row."""
    return kind(maxDepth=depth, leafCol="leaf", seed=1, **options)


def scaled(scaler, column, **options):
    """Return stages that scale a column as a separate vector."""
    vector = assembler(column, output=f"{column} vector")
    return [vector, scaler(inputCol=f"{column} vector", outputCol=f"{column} scaled", **options)]


ALL = ("x", "z", "code", "colour index", "size index")


def searched():
    """Return a pipeline inside a cross-validated search."""
    tree = grown()
    pipeline = Pipeline(stages=[*indexers("keep"), assembler(*ALL), tree])
    grid = ParamGridBuilder().addGrid(tree.maxDepth, [2, 3]).build()
    return CrossValidator(
        estimator=pipeline, estimatorParamMaps=grid, numFolds=2, seed=1,
        evaluator=MulticlassClassificationEvaluator(),
    )  # fmt: skip


# Name -> estimator, number of classes, whether to try missing values and unseen categories.
MODELS = {
    "keep": (lambda: Pipeline(stages=[*indexers("keep"), assembler(*ALL), grown(6)]), 2, True),
    "skip": (
        lambda: Pipeline(
            stages=[*indexers("skip"), assembler(*ALL, rule="skip"),
                    grown(5).setThresholds([0.2, 0.5, 0.3])]
        ), 3, True,
    ),
    "vector_indexer": (
        lambda: Pipeline(stages=[
            *indexers("keep"), assembler(*ALL, output="raw"),
            VectorIndexer(
                inputCol="raw", outputCol="features", maxCategories=4, handleInvalid="keep"
            ),
            grown(5),
            IndexToString(inputCol="prediction", outputCol="told", labels=["a", "b", "c"]),
        ]), 3, True,
    ),
    "one_hot": (
        lambda: Pipeline(stages=[
            *indexers("keep"),
            OneHotEncoder(inputCols=["colour index"], outputCols=["colour hot"]),
            OneHotEncoder(inputCols=["size index"], outputCols=["size hot"], dropLast=False),
            assembler("colour hot", "x", "size hot", "z"), grown(5, impurity="entropy"),
        ]), 2, True,
    ),
    "scaled": (
        lambda: Pipeline(stages=[
            *indexers("keep"), Imputer(inputCols=["x"], outputCols=["x filled"]),
            *scaled(StandardScaler, "x filled", withMean=True), *scaled(StandardScaler, "x"),
            *scaled(MinMaxScaler, "z", min=-3.0, max=7.0), *scaled(MaxAbsScaler, "code"),
            assembler("x filled scaled", "x scaled", "z scaled", "code scaled", "colour index"),
            grown(6),
        ]), 2, True,
    ),
    "forest": (
        lambda: Pipeline(stages=[
            *indexers("keep"), assembler(*ALL), grown(4, RandomForestClassifier, numTrees=3)
        ]), 3, True,
    ),
    "boosted": (
        lambda: Pipeline(stages=[
            *indexers("keep"), assembler(*ALL), grown(3, GBTClassifier, maxIter=2)
        ]), 2, True,
    ),
    "regression": (
        lambda: Pipeline(stages=[
            *indexers("keep"), assembler("z", "code", "colour index"),
            grown(4, DecisionTreeRegressor, labelCol="x"),
        ]), 2, True,
    ),
    "searched": (searched, 2, True),
}  # fmt: skip


def tried(tree, rows, missing, seed=0):
    """Return rows that exercise the tests of a tree, as a data frame of raw columns."""
    rng = np.random.default_rng(seed)
    known = pd.concat([rows] * 2, ignore_index=True)
    made = known.copy()
    columns = [name for name in NUMBERS if name in tree.feature_names]
    for k, name in enumerate(columns):
        j = tree.feature_names.index(name)
        if tree.categories[j] is None:
            encoded = np.zeros((len(known), tree.n_features))
            encoded[:, j] = known[name]
            made[name] = trying_rows(tree, encoded, seed + k, missing)[:, j]
        else:
            other = [0.5, -0.0, 99.0, np.nan]
            change = rng.random(len(known)) < 0.3
            made.loc[change, name] = rng.choice(other, change.sum())
    made = made.astype(dict.fromkeys((*NUMBERS, *LABELS), object))
    if missing:
        for name in (*NUMBERS, *LABELS):
            made.loc[rng.random(len(made)) < 0.1, name] = None
        for name in LABELS:
            made.loc[rng.random(len(made)) < 0.1, name] = "never seen"
    return made


def answers(fitted, spark, rows):
    """Return rows with Spark's predictions and leaves; NaN where Spark drops a row."""
    table = frame(spark, rows)
    told = fitted.transform(table.withColumn("y", sql.lit(rows.y.iloc[0])))
    leaf = "leaf" if dict(told.dtypes)["leaf"] == "double" else None
    if leaf is None:
        from pyspark.ml.functions import vector_to_array

        told = told.withColumn("leaf", vector_to_array("leaf"))
    told = told.select("row", "prediction", "leaf").toPandas().set_index("row")
    kept = told.reindex(np.arange(len(rows), dtype=float))
    width = 1 if leaf else len(told.leaf.iloc[0])
    leaves = [
        np.full(width, np.nan) if np.isscalar(v) and np.isnan(v) else np.atleast_1d(v)
        for v in kept.leaf
    ]
    columns = {
        name: pa.array(list(rows[name]), pa.float64(), from_pandas=False) for name in NUMBERS
    }
    columns |= {name: pa.array(list(rows[name]), pa.string()) for name in LABELS}
    columns["prediction"] = pa.array(kept.prediction)
    for k in range(width):
        columns[f"leaf {k}"] = pa.array([float(leaf[k]) for leaf in leaves])
    return pa.table(columns)


def make(name, spark):
    """Fit one model, save it and store its predictions."""
    build, classes, missing = MODELS[name]
    rows = sample(classes=classes)
    fitted = build().fit(frame(spark, rows))
    major = "4" if int(spark.version.split(".")[0]) >= 4 else "3"
    target = FOLDER / major / name
    shutil.rmtree(target, ignore_errors=True)
    fitted.write().overwrite().save((target / "model").as_uri())
    for path in [*target.rglob(".*.crc"), *target.rglob("_SUCCESS")]:
        path.unlink()
    if name == "searched":  # the unfitted estimator is not needed
        for part in ("estimator", "evaluator", "subModels"):
            shutil.rmtree(target / "model" / part, ignore_errors=True)
    n_trees = {"forest": 3, "boosted": 2}.get(name, 1)
    count = (rows, rows.y) if name == "boosted" else ()
    trees = [
        kt.keep(target / "model", *count, tree=k if n_trees > 1 else None) for k in range(n_trees)
    ]
    table = pa.concat_tables(
        [answers(fitted, spark, tried(tree, rows, missing, k)) for k, tree in enumerate(trees)]
    )
    pq.write_table(table, target / "rows.parquet", compression="zstd")
    print(name, table.num_rows, sum(p.stat().st_size for p in target.rglob("*") if p.is_file()))


def main():
    """Make all models, or those named by ``--only``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=MODELS, action="append")
    spark = session()
    spark.sparkContext.setLogLevel("ERROR")
    for name in parser.parse_args().only or MODELS:
        make(name, spark)
    spark.stop()


if __name__ == "__main__":
    main()
