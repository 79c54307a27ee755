"""Kept trees of saved Spark ML models send every row to the leaf recorded from Spark."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import keeptree as kt
from keeptree import cli
from keeptree.importers.spark import live_model
from tests.importers.neighbours import assert_same_partition

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FOLDER = Path(__file__).parent.parent / "fixtures" / "spark"
MODELS = sorted(str(path.parent.relative_to(FOLDER)) for path in FOLDER.glob("*/*/rows.parquet"))
REFUSE = ("skip",)  # pipelines that leave out rows with missing values or unseen categories


def recorded(name):
    """Return the recorded rows, and Spark's prediction and leaves for each."""
    table = pq.read_table(FOLDER / name / "rows.parquet").to_pandas()
    leaves = [column for column in table if column.startswith("leaf ")]
    return table.drop(columns=["prediction", *leaves]), table["prediction"], table[leaves]


def kept(name, number=None, counted=True):
    """Return the tree of a stored model; boosted trees after the first need rows to count."""
    path = FOLDER / name / "model"
    if name.endswith("boosted") and counted:
        rows, prediction, _ = recorded(name)
        return kt.keep(path, rows, np.where(prediction == 1, "yes", "no"), tree=number)
    return kt.keep(path, tree=number)


@pytest.mark.parametrize("name", MODELS)
def test_every_row_reaches_the_leaf_and_class_of_spark(name):
    rows, prediction, leaves = recorded(name)
    for number in range(leaves.shape[1]):
        tree = kept(name, number if leaves.shape[1] > 1 else None)
        told = rows[prediction.notna()][list(tree.feature_names)]
        leaf = leaves.loc[told.index].iloc[:, number]
        assert len(told) > 100
        assert_same_partition(tree.apply(told), leaf)
        if tree.classes is None:
            np.testing.assert_array_equal(tree.predict(told), prediction[told.index])
        elif leaves.shape[1] == 1:
            codes = dict(enumerate(label_order(name)))
            expected = prediction[told.index].map(codes)
            np.testing.assert_array_equal(tree.predict(told), expected)


def label_order(name):
    """Return the class of each index, from the label's StringIndexer, which is the third stage."""
    [data] = (FOLDER / name / "model").glob("**/stages/*2_StringIndexer*/data/part-*")
    return pq.read_table(data).to_pylist()[0]["labelsArray"][0]


@pytest.mark.parametrize("name", [name for name in MODELS if name.endswith(REFUSE)])
def test_rows_that_spark_leaves_out_are_refused_by_the_tree(name):
    tree, (rows, prediction, _) = kept(name), recorded(name)
    left_out = rows[prediction.isna()][list(tree.feature_names)]
    assert len(left_out) > 20
    with pytest.raises(ValueError, match="no rule for missing values"):
        tree.predict(left_out)


def test_the_tree_has_raw_columns_categories_and_counts():
    tree = kept("4/keep")
    assert tree.feature_names == ("x", "z", "code", "colour", "size of it")
    assert set(tree.categories[3]) == {"red", "blue", "green, or so", "été"}
    assert tree.categories[0] is None
    assert sorted(tree.classes) == ["no", "yes"]
    assert tree.weight[0] == 240
    assert tree.source["library"].startswith("Spark 4")


def test_counts_of_the_first_boosted_tree_are_derived_from_its_sums():
    tree = kept("4/boosted", 0, counted=False)
    assert tree.weight[0] == 240
    assert (tree.counts == tree.counts.round()).all()
    with pytest.raises(ValueError, match="no class counts; give rows to count"):
        kept("4/boosted", 1, counted=False)
    with pytest.raises(ValueError, match="has 2 trees; choose one with tree=0 to tree=1"):
        kept("4/boosted", counted=False)


def test_a_regression_tree_cannot_count_classes():
    rows, prediction, _ = recorded("4/regression")
    with pytest.raises(ValueError, match="class counts, but this is a regression tree"):
        kt.keep(FOLDER / "4/regression/model", rows, prediction)


def copy_of(name, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(FOLDER / name / "model", folder)
    return folder


def rewrite(path, change):
    """Change the rows of a Parquet file."""
    rows = change(pq.read_table(path).to_pylist())
    pq.write_table(pa.Table.from_pylist(rows), path)


def test_the_layout_of_spark_2_is_read(tmp_path):
    folder = copy_of("4/keep", tmp_path)
    for path in folder.glob("**/metadata/part-*"):
        path.rename(path.with_name("part-00000"))
    for path in folder.glob("**/*_StringIndexer*/data/part-*"):
        rewrite(path, lambda rows: [{"labels": rows[0]["labelsArray"][0]}])
    [nodes] = folder.glob("**/*_DecisionTree*/data/part-*")
    rows = pq.read_table(nodes).drop_columns("rawCount")
    half = rows.num_rows // 2
    pq.write_table(rows.slice(half), nodes.with_name("part-00000-a.snappy.parquet"))
    pq.write_table(rows.slice(0, half), nodes.with_name("part-00001-a.snappy.parquet"))
    nodes.unlink()
    assert kt.keep(folder).to_dict() == kept("4/keep").to_dict()


def test_a_fill_value_that_rounding_moves_across_a_threshold_raises_a_warning(tmp_path):
    folder = copy_of("4/scaled", tmp_path)
    [data] = folder.glob("**/*_Imputer*/data/part-*")
    # In a column of integers, Spark would round this fill value to 0.
    rewrite(data, lambda rows: [{**rows[0], "x": 0.4}])
    with pytest.warns(UserWarning, match="The Imputer fills in 'x' as a double"):
        kt.keep(folder)


def metadata_of(folder, stage):
    [path] = folder.glob(f"**/*_{stage}*/metadata/part-*")
    return path


def test_a_stage_that_cannot_be_folded_is_named(tmp_path):
    folder = copy_of("4/keep", tmp_path)
    path = metadata_of(folder, "VectorAssembler")
    document = json.loads(path.read_text())
    document["class"] = "org.apache.spark.ml.feature.PCAModel"
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r"tests what the stage PCAModel \(VectorAssembler_\w+\)"):
        kt.keep(folder)
    document["class"] = "org.apache.spark.ml.feature.SQLTransformer"
    document["paramMap"] = {"statement": "SELECT * FROM __THIS__"}
    document["defaultParamMap"] = {}
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r"stage SQLTransformer .* may change any column"):
        kt.keep(folder)


def test_folders_without_a_tree_are_refused(tmp_path):
    [indexer] = (FOLDER / "4/keep/model/stages").glob("0_*")
    with pytest.raises(ValueError, match="a StringIndexerModel, without a decision tree"):
        kt.keep(indexer)
    (tmp_path / "metadata").mkdir()
    with pytest.raises(ValueError, match="has no metadata of Spark ML"):
        kt.keep(tmp_path)
    shutil.rmtree(tmp_path / "metadata")
    with pytest.raises(ValueError, match="is a folder; give the path of a file"):
        kt.keep(tmp_path)


def cut_off(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def foreign(path):
    pq.write_table(pa.table({"a": [1, 2]}), path)


def cyclic(path):
    rewrite(path, lambda rows: [{**row, "leftChild": 0, "rightChild": 0} for row in rows])


def hostile(path):
    def change(rows):
        split = {**rows[0]["split"], "featureIndex": 0, "numCategories": 2**31 - 1}
        return [{**row, "split": split} for row in rows]

    rewrite(path, change)


def endless(path):
    table = pa.table({"id": pa.array(np.zeros(3_000_000, dtype=np.int8))})
    pq.write_table(table, path)


DAMAGES = [(cyclic, "DecisionTree"), (hostile, "DecisionTree")] + [
    (damage, stage)
    for damage in (cut_off, foreign, endless, Path.unlink)
    for stage in ("StringIndexer", "DecisionTree")
]


@pytest.mark.parametrize(("damage", "stage"), DAMAGES)
def test_damaged_data_give_a_one_line_error_and_write_nothing(damage, stage, tmp_path, capsys):
    folder = copy_of("4/keep", tmp_path)
    damage(sorted(folder.glob(f"**/*_{stage}*/data/part-*"))[0])
    with pytest.raises(ValueError) as error:  # noqa: PT011, the sentences differ
        kt.keep(folder)
    assert "\n" not in str(error.value)
    assert str(folder) in str(error.value)
    out = tmp_path / "tree.json"
    assert cli.main(["keep", str(folder), "--out", str(out)]) == 2
    assert not out.exists()
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"class": 3}', '{"class": "PipelineModel"}', "[" * 100_000]
)
def test_damaged_metadata_raise_a_one_line_error(text, tmp_path):
    folder = copy_of("4/keep", tmp_path)
    [path] = (folder / "metadata").glob("part-*")
    path.write_text(text)
    with pytest.raises(ValueError, match="model") as error:
        kt.keep(folder)
    assert "\n" not in str(error.value)


def test_a_model_that_spark_saves_on_another_machine_is_refused():
    class Model:
        """A model on a cluster whose workers write to their own disks."""

        def save(self, path):
            assert path.startswith("file:///")

    with pytest.raises(ValueError, match="on another machine; save it to a folder"):
        live_model(Model())


def test_a_model_with_a_missing_stage_is_refused(tmp_path):
    folder = copy_of("4/keep", tmp_path)
    [stage] = (folder / "stages").glob("3_*")
    shutil.rmtree(stage)
    with pytest.raises(ValueError, match="has 5 stages, but 'stages' holds 4 of them"):
        kt.keep(folder)


def test_the_command_keeps_the_model_in_a_folder(tmp_path, capsys):
    out = tmp_path / "tree.json"
    assert cli.main(["keep", str(FOLDER / "4/keep/model"), "--out", str(out)]) == 0
    assert "from DecisionTreeClassificationModel" in capsys.readouterr().out
    assert kt.Tree.load(out).to_dict() == kept("4/keep").to_dict()
