"""Live models of pyspark can be kept; these tests need pyspark and Java."""

import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from tests.importers.neighbours import assert_same_partition

pytest.importorskip("pyspark")
pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed")


@pytest.fixture(scope="module")
def spark():
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from tools.spark_reference import make_fixtures

    session = make_fixtures.session()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["keep", "one_hot", "scaled", "vector_indexer"])
@pytest.mark.filterwarnings("ignore:The Imputer fills in")
def test_every_row_reaches_the_leaf_of_a_live_pipeline(name, seed, spark):
    from tools.spark_reference.make_fixtures import MODELS, answers, frame, sample, tried

    build, classes, missing = MODELS[name]
    rows = sample(seed=seed, classes=classes)
    model = build().fit(frame(spark, rows))
    tree = kt.keep(model)
    asked = answers(model, spark, tried(tree, rows, missing, seed)).to_pandas()
    assert_same_partition(tree.apply(asked[list(tree.feature_names)]), asked["leaf 0"])


def test_a_model_without_a_pipeline_accepts_vectors_and_unseen_categories(spark):
    from pyspark.ml.functions import array_to_vector

    from tools.spark_reference.make_fixtures import MODELS, frame, sample, tried

    rows = sample(seed=5)
    pipeline = MODELS["keep"][0]().fit(frame(spark, rows))
    model = pipeline.stages[-1]
    tree = kt.keep(model)
    assert tree.feature_names is None
    named = kt.keep(pipeline)
    numbers = tried(named, rows, True, 5)[["x", "z", "code"]].astype(float).to_numpy()
    rng = np.random.default_rng(0)
    codes = rng.choice([0.0, 1.0, 2.0, 3.0, 4.0, 9.0, 0.5, np.nan, -0.0, -1.0], (len(numbers), 2))
    vectors = np.column_stack([numbers, codes])
    table = spark.createDataFrame([(i, row.tolist()) for i, row in enumerate(vectors)], ["i", "v"])
    told = model.transform(table.withColumn("features", array_to_vector("v")))
    told = told.select("i", "leaf", "prediction").toPandas().sort_values("i")
    assert_same_partition(tree.apply(vectors), told["leaf"])
    np.testing.assert_array_equal(tree.predict(vectors), told["prediction"])


def test_categories_of_an_indexed_numeric_column_are_matched_with_the_data(spark):
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import StringIndexer

    from tools.spark_reference.make_fixtures import assembler, frame, grown, sample

    rows = sample(seed=6)
    stages = [
        StringIndexer(inputCol="code", outputCol="indexed", handleInvalid="keep"),
        StringIndexer(inputCol="y", outputCol="label"),
        assembler("indexed", "x"),
        grown(4),
    ]
    model = Pipeline(stages=stages).fit(frame(spark, rows))
    tree = kt.keep(model, rows[["code", "x"]], rows.y)
    assert set(tree.categories[0]) == {-1.0, 0.0, 2.0, 5.5}
    told = model.transform(frame(spark, rows)).select("leaf").toPandas()["leaf"]
    assert_same_partition(tree.apply(rows[["code", "x"]]), told)
    with pytest.raises(ValueError, match="code"):
        kt.keep(model).apply(rows[["code", "x"]])


def test_a_member_of_a_live_forest_can_be_kept(spark):
    from tools.spark_reference.make_fixtures import MODELS, frame, sample

    rows = sample(seed=7, classes=3)
    pipeline = MODELS["forest"][0]().fit(frame(spark, rows))
    with pytest.raises(ValueError, match="This model has 3 trees; choose one with tree=0"):
        kt.keep(pipeline)
    tree = kt.keep(pipeline, tree=2)
    member = kt.keep(pipeline.stages[-1].trees[2])
    np.testing.assert_array_equal(tree.threshold, member.threshold)
    assert tree.weight[0] == pytest.approx(member.weight[0])


def test_a_model_without_a_tree_is_refused(spark):
    from pyspark.ml.classification import LogisticRegression

    from tools.spark_reference.make_fixtures import assembler, frame, sample

    table = assembler("x", "z").transform(frame(spark, sample()))
    table = table.withColumn("label", (table.x > 0).cast("double"))
    with pytest.raises(ValueError, match="a LogisticRegressionModel, without a decision tree"):
        kt.keep(LogisticRegression(maxIter=1).fit(table))
    assert isinstance(table.toPandas(), pd.DataFrame)
