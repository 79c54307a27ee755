"""Tree: validation, routing and JSON round trips."""

import copy
import dataclasses
import json
import os
import pickle
import tracemalloc
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keeptree as kt
from tests.strategies import oblique_trees, random_rows, trees

NAN = np.nan


def stump(**changes):
    """Return the tree ``age <= 2.5: no, else yes``; a missing age is an error."""
    fields = {
        "kind": [1, 0, 0],
        "feature": [0, -1, -1],
        "threshold": [2.5, NAN, NAN],
        "child_start": [0, 2, 2, 2],
        "child": [1, 2],
        "missing": [-2, -2, -2],
        "counts": [[5, 4], [5, 0], [0, 4]],
        "classes": ["no", "yes"],
        "n_features": 1,
        "feature_names": ["age"],
    }
    return kt.Tree(**{**fields, **changes})


def mixed_tree():
    """Return a tree with a nominal and a numeric test, both of which share missing values.

    Red goes to leaf 1, the other colours to a test of size <= 1 with the leaves 3 and 4.
    """
    return kt.Tree(
        kind=[2, 0, 1, 0, 0],
        feature=[1, -1, 0, -1, -1],
        threshold=[NAN, NAN, 1.0, NAN, NAN],
        child_start=[0, 2, 2, 4, 4, 4],
        child=[1, 2, 3, 4],
        category_start=[0, 3, 3, 3, 3, 3],
        category_child=[1, 2, 2],
        missing=[-1] * 5,
        counts=[[6, 6], [4, 0], [2, 6], [2, 2], [0, 4]],
        classes=["bad", "good"],
        n_features=2,
        feature_names=["size", "colour"],
        categories=[None, ["red", "green", "blue"]],
    )


def regression_stump():
    return kt.Tree(
        kind=[1, 0, 0],
        feature=[0, -1, -1],
        threshold=[0.0, NAN, NAN],
        child_start=[0, 2, 2, 2],
        child=[1, 2],
        missing=[-1, -2, -2],
        counts=[[4.0], [1.0], [3.0]],
        mean=[2.5, 1.0, 3.0],
        variance=[1.0, 0.0, NAN],
        n_features=1,
    )


def test_a_value_on_the_threshold_goes_to_the_first_child():
    above = np.nextafter(2.5, 3)
    assert stump().apply([[2.5], [above], [-1e300], [1e300]]).tolist() == [1, 2, 1, 2]


def test_float32_trees_compare_after_rounding():
    just_above = 2.5 + 1e-9  # rounds to 2.5 in float32
    assert stump().apply([[just_above]]).tolist() == [2]
    assert stump(compare_dtype="float32").apply([[just_above]]).tolist() == [1]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"size": [0.0, 0.5, 1.5], "colour": ["red", "blue", "green"]}),
        pd.DataFrame({"size": [0.0, 0.5, 1.5], "colour": pd.Categorical(["red", "blue", "green"])}),
        pl.DataFrame({"size": [0.0, 0.5, 1.5], "colour": ["red", "blue", "green"]}),
        np.array([[0.0, "red"], [0.5, "blue"], [1.5, "green"]], dtype=object),
        [[0.0, "red"], [0.5, "blue"], [1.5, "green"]],
    ],
    ids=["pandas", "pandas-categorical", "polars", "object-array", "list"],
)
def test_nominal_columns_are_read_by_label_from_any_container(frame):
    assert mixed_tree().apply(frame).tolist() == [1, 3, 4]


@pytest.mark.parametrize("missing", [None, NAN, pd.NA, "purple"])
def test_a_row_with_a_missing_or_undeclared_category_is_shared_by_branch_weights(missing):
    tree = mixed_tree()
    row = np.array([[2.0, missing]], dtype=object)
    shares = tree.leaf_weights(row).toarray()[0]
    assert shares.tolist() == [0, 4 / 12, 0, 0, 8 / 12]
    # 1/3 of the leaf (1, 0) and 2/3 of the leaf (0, 1)
    np.testing.assert_allclose(tree.predict_proba(row), [[1 / 3, 2 / 3]])
    assert tree.predict(row).tolist() == ["good"]
    assert tree.decision_path(row).toarray().tolist() == [[1, 1, 1, 0, 1]]
    assert tree.apply(row).tolist() == [4], "apply follows the heaviest branch"


def test_dates_are_refused():
    frame = pd.DataFrame({"size": pd.to_datetime(["2020-01-01", None]), "colour": ["red", "blue"]})
    with pytest.raises(ValueError, match="'size' holds dates or times; convert them to numbers"):
        mixed_tree().apply(frame)


@pytest.mark.parametrize(
    "name", ["kind", "feature", "threshold", "child_start", "missing", "counts"]
)
def test_a_file_without_a_required_array_raises_a_value_error(name):
    with pytest.raises(ValueError, match="Not a tree"):
        kt.Tree.from_dict({**stump().to_dict(), name: None})


def test_decoding_restores_the_labels():
    tree = mixed_tree()
    rows = np.array([[0.0, "red"], [np.nan, "blue"], [1.5, None]], dtype=object)
    again = tree.decode(tree.encode(rows))
    assert again[:, 1].tolist() == ["red", "blue", None]
    np.testing.assert_array_equal(tree.encode(again), tree.encode(rows))
    numbers = np.array([[1.0]])
    assert stump().decode(numbers) is numbers


def test_text_never_rounds_the_integer_part():
    assert stump(threshold=[20230115.5, NAN, NAN]).to_text().startswith("age <= 20230115.5:")
    assert stump(threshold=[1.25e-7, NAN, NAN]).to_text().startswith("age <= 1.25e-07:")
    assert stump(threshold=[1 / 3, NAN, NAN]).to_text(3).startswith("age <= 0.333:")


def test_shares_multiply_if_two_values_are_missing():
    shares = mixed_tree().leaf_weights([[NAN, None]]).toarray()[0]
    np.testing.assert_allclose(shares, [0, 1 / 3, 0, 1 / 3, 1 / 3])


def test_rows_without_missing_values_are_not_affected_by_rows_with_them():
    tree = mixed_tree()
    rows = [[0.0, "red"], [NAN, "blue"], [1.5, "green"]]
    assert tree.predict(rows).tolist() == ["bad", "good", "good"]
    np.testing.assert_allclose(tree.predict_proba(rows), [[1, 0], [0.25, 0.75], [0, 1]])


def test_a_missing_value_without_a_rule_raises_an_error_that_names_row_and_column():
    with pytest.raises(ValueError, match=r"Row 1 has no value for 'age'"):
        stump().apply([[1.0], [NAN]])


def test_a_node_without_training_weight_has_the_probabilities_of_its_parent():
    tree = stump(counts=[[5, 4], [5, 4], [0, 0]])
    np.testing.assert_allclose(tree.predict_proba([[3.0]]), [[5 / 9, 4 / 9]])


def test_the_label_decides_even_against_the_counts():
    tree = stump(label=[1, 1, 1])
    assert tree.predict([[0.0]]).tolist() == ["yes"]


def two_orders(**more):
    """Return the same stump twice, once with classes in declared order and once sorted."""
    counts = np.array([[3.0, 2, 3], [1, 2, 1], [2, 0, 2]])
    structure = {
        "kind": [1, 0, 0], "feature": [0, -1, -1], "threshold": [2.5, np.nan, np.nan],
        "child_start": [0, 2, 2, 2], "child": [1, 2], "missing": [-1, -1, -1], "n_features": 1,
    }  # fmt: skip
    declared = kt.Tree(counts=counts, classes=["c", "a", "b"], **structure, **more)
    ordered = kt.Tree(counts=counts[:, [1, 2, 0]], classes=["a", "b", "c"], **structure, **more)
    return declared, ordered


def test_classes_are_sorted_and_their_declared_order_is_stored():
    tree, _ = two_orders()
    assert tree.classes.tolist() == ["a", "b", "c"]
    assert tree.classes[tree.declared].tolist() == ["c", "a", "b"]
    assert tree.counts[1].tolist() == [2, 1, 1]
    assert tree.predict_proba([[3.0]]).tolist() == [[0, 0.5, 0.5]]


def test_ties_go_to_the_first_declared_class_whatever_the_order_of_the_columns():
    tree, ordered = two_orders()
    assert tree.predict([[3.0], [2.0], [np.nan]]).tolist() == ["c", "a", "c"]
    assert ordered.predict([[3.0], [2.0], [np.nan]]).tolist() == ["b", "a", "b"]


def test_a_declared_order_is_saved_only_if_it_is_not_sorted(tmp_path):
    tree, ordered = two_orders()
    assert "declared" not in ordered.to_dict()
    tree.save(tmp_path / "tree.json")
    again = kt.Tree.load(tmp_path / "tree.json")
    for name in ("classes", "declared", "counts", "label"):
        np.testing.assert_array_equal(getattr(again, name), getattr(tree, name))
    assert (
        dataclasses.replace(tree, feature_names=["x"]).declared.tolist() == tree.declared.tolist()
    )


def test_a_file_with_classes_in_declared_order_is_read():
    tree, ordered = two_orders()
    old = ordered.to_dict()
    old |= {"classes": {"dtype": "<U1", "values": ["c", "a", "b"]}, "label": [0, 1, 0]}
    old["counts"] = [[3, 2, 3], [1, 2, 1], [2, 0, 2]]
    assert kt.Tree.from_dict(old).to_dict() == tree.to_dict()


def test_labels_that_cannot_be_compared_keep_their_order():
    tree = dataclasses.replace(two_orders()[0], classes=["x", 2, "y"], declared=None)
    assert tree.classes.tolist() == ["x", 2, "y"]
    assert tree.declared.tolist() == [0, 1, 2]


@pytest.mark.parametrize("declared", [[0, 1], [0, 0, 1], [1, 2, 3], [[0, 1, 2]]])
def test_an_invalid_declared_order_raises_a_clear_error(declared):
    with pytest.raises(ValueError, match="declared must hold the position of every class once"):
        two_orders(declared=declared)


def test_a_regression_tree_predicts_means_and_has_no_probabilities():
    tree = regression_stump()
    assert tree.predict([[0.0], [1.0]]).tolist() == [1.0, 3.0]
    assert tree.predict([[NAN]]).tolist() == [2.5], "the row is shared in the ratio 1 to 3"
    with pytest.raises(ValueError, match="no class probabilities"):
        tree.predict_proba([[0.0]])


def test_text_shows_tests_weights_and_errors():
    assert mixed_tree().to_text() == (
        "colour = red: bad (4)\n"
        "colour in {green, blue}\n"
        "  size <= 1: bad (4/2)\n"
        "  size > 1: good (4)"
    )
    single = kt.Tree(
        kind=[0], feature=[-1], threshold=[NAN], child_start=[0, 0], child=[], missing=[-2],
        counts=[[3, 1]], classes=[0, 1], n_features=2,
    )  # fmt: skip
    assert single.to_text() == ": 0 (4/1 of 1)"
    assert regression_stump().to_text() == "x[0] <= 0: 1 (1)\nx[0] > 0: 3 (3)"


def test_a_tree_reports_its_shape():
    tree = mixed_tree()
    assert (tree.n_nodes, tree.n_leaves, tree.max_depth) == (5, 3, 2)
    assert tree.depth.tolist() == [0, 1, 1, 2, 2]
    assert tree.parent.tolist() == [-1, 0, 0, 2, 2]
    assert tree.preorder.tolist() == [0, 1, 2, 3, 4]
    assert tree.path(4) == [0, 2, 4]
    assert repr(tree) == "Tree(3 leaves, depth 2, 2 classes, 2 features)"


def test_a_tree_is_immutable():
    tree = mixed_tree()
    with pytest.raises(AttributeError):
        tree.n_features = 3
    for name in ("kind", "threshold", "counts", "classes", "proportions", "preorder"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 1


CACHED = ("parent", "depth", "preorder", "weight", "proportions", "filled_counts", "shares")


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", 7]], ids=["text", "objects"])
def test_no_array_of_a_tree_can_be_made_writeable_again(classes):
    tree = stump(classes=classes)
    arrays = [getattr(tree, field.name) for field in dataclasses.fields(tree)]
    arrays += [getattr(tree, name) for name in CACHED] + [*tree.levels, tree.children(0)]
    arrays = [array for array in arrays if isinstance(array, np.ndarray)]
    assert len(arrays) > 15
    for array in arrays:
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_the_source_is_read_only_and_survives_pickle_and_json():
    given = {"model": "CART"}
    tree = stump(source=given)
    given["model"] = "changed"
    with pytest.raises(TypeError):
        tree.source["model"] = "changed"
    assert tree.source == {"model": "CART"}
    assert pickle.loads(pickle.dumps(tree)).source == {"model": "CART"}
    assert json.loads(json.dumps(tree.to_dict()))["source"] == {"model": "CART"}
    assert dataclasses.replace(tree, feature_names=["x"]).source == {"model": "CART"}


def test_changing_the_input_arrays_does_not_change_the_tree():
    counts = np.array([[5.0, 4.0], [5.0, 0.0], [0.0, 4.0]])
    tree = stump(counts=counts)
    counts[:] = 0
    assert tree.counts[0].tolist() == [5, 4]


def test_copies_are_the_tree_itself_and_pickles_are_equal():
    tree = mixed_tree()
    assert copy.copy(tree) is tree
    assert copy.deepcopy(tree) is tree
    again = pickle.loads(pickle.dumps(tree))
    assert again.to_dict() == tree.to_dict()
    assert not again.counts.flags.writeable


LABELS = [
    np.array(["no", "yes"]),
    np.array([0, 1]),
    np.array([-1.5, 2.5], dtype=np.float32),
    np.array([False, True]),
    np.array(["a", 7], dtype=object),
    np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
]


@pytest.mark.parametrize("classes", LABELS, ids=lambda labels: labels.dtype.str)
def test_json_restores_every_array_and_label_exactly(tmp_path, classes):
    tree = stump(classes=classes, threshold=[0.1 + 0.2, NAN, NAN], source={"model": "CART"})
    tree.save(tmp_path / "tree.json")
    again = kt.Tree.load(tmp_path / "tree.json")
    assert again.classes.dtype == classes.dtype
    assert again.classes.tolist() == classes.tolist()
    assert again.threshold[0] == 0.1 + 0.2
    assert again.to_dict() == tree.to_dict()


@pytest.mark.parametrize("make", [mixed_tree, regression_stump])
def test_json_is_strict_and_all_kinds_of_trees_round_trip(tmp_path, make):
    tree = make()
    tree.save(tmp_path / "tree.json")
    document = json.loads(
        (tmp_path / "tree.json").read_text(), parse_constant=lambda name: pytest.fail(name)
    )
    assert document.pop("digest")
    assert document == tree.to_dict()
    assert kt.Tree.from_dict(document).to_text() == tree.to_text()


def test_labels_that_json_cannot_hold_raise_an_error_and_leave_the_old_file(tmp_path):
    path = tmp_path / "tree.json"
    stump(classes=np.array(["a", "b"], dtype=object)).save(path)  # text in an object array is fine
    odd = np.empty(2, dtype=object)
    odd[:] = [("a",), ("b",)]
    with pytest.raises(ValueError, match="cannot be saved"):
        stump(classes=odd).save(path)
    assert json.loads(path.read_text())["classes"]["values"] == ["a", "b"]


@pytest.mark.parametrize("step", ["write", "replace"])
def test_saving_replaces_a_file_only_once_it_is_complete(tmp_path, monkeypatch, step):
    path = tmp_path / "tree.json"
    stump().save(path)
    before = path.read_text()

    def full(*_):
        raise OSError(28, "No space left on device")

    really_open = open

    def open_on_a_full_disk(*args, **kwargs):
        file = really_open(*args, **kwargs)
        write = file.write
        disk = MagicMock(wraps=file)
        disk.__enter__.return_value = disk
        disk.__exit__.side_effect = lambda *_: file.close()
        disk.write.side_effect = lambda text: (write(text[:20]), full())
        return disk

    if step == "write":
        monkeypatch.setattr(Path, "open", open_on_a_full_disk)
        monkeypatch.setattr("builtins.open", open_on_a_full_disk)
    else:
        monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        mixed_tree().save(path)
    monkeypatch.undo()
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["tree.json"], "no temporary file is left"


BROKEN = {
    "no node": {"kind": [], "feature": [], "threshold": [], "missing": [], "counts": []},
    "cycle": {
        "kind": [0, 1, 0, 1, 0],
        "feature": [-1, 0, -1, 0, -1],
        "threshold": [NAN, 0.0, NAN, 0.0, NAN],
        "child_start": [0, 0, 2, 2, 4, 4],
        "child": [3, 2, 1, 4],
        "missing": [-2] * 5,
        "counts": [[1, 1]] * 5,
    },
    "child listed twice": {"child": [1, 1]},
    "child out of range": {"child": [1, 7]},
    "root as a child": {"child": [1, 0]},
    "leaf with children": {"kind": [1, 0, 0], "child_start": [0, 1, 2, 2]},
    "three children": {"child_start": [0, 3, 3, 3]},
    "decreasing starts": {"child_start": [0, 2, 1, 2]},
    "infinite threshold": {"threshold": [np.inf, NAN, NAN]},
    "NaN threshold": {"threshold": [NAN, NAN, NAN]},
    "unknown kind": {"kind": [3, 0, 0]},
    "column out of range": {"feature": [1, -1, -1]},
    "negative column": {"feature": [-1, -1, -1]},
    "nominal test of a numeric column": {"kind": [2, 0, 0]},
    "counts do not add up": {"counts": [[5, 4], [5, 0], [0, 3]]},
    "negative counts": {"counts": [[4, 4], [5, 0], [-1, 4]]},
    "NaN counts": {"counts": [[NAN, 4], [5, 0], [0, 4]]},
    "wrong number of classes": {"classes": ["no"]},
    "same label twice": {"classes": ["no", "no"]},
    "label out of range": {"label": [0, 0, 2]},
    "missing values sent to no child": {"missing": [0, -2, -2]},
    "unknown rule for missing values": {"missing": [-3, -2, -2]},
    "wrong number of names": {"feature_names": ["a", "b"]},
    "unknown dtype": {"compare_dtype": "float16"},
    "fractional children": {"child": [1.5, 2]},
    "too large for its type": {"child": [1, 2**40]},
    "counts as text": {"counts": [["5", "4"], ["5", "0"], ["0", "4"]]},
    "counts too large to add": {"counts": [[1e308, 1e308], [1e308, 0], [0, 1e308]]},
    "threshold as text": {"threshold": ["2.5", "nan", "nan"]},
    "threshold of a leaf": {"threshold": [2.5, 0.0, NAN]},
    "missing label": {"classes": ["no", None]},
    "NaN as a label": {"classes": [NAN, float("nan")]},
    "list as a label": {"classes": np.array([["a"], "b"], dtype=object)},
    "no columns": {"n_features": 0, "feature_names": []},
}


@pytest.mark.parametrize("changes", BROKEN.values(), ids=BROKEN.keys())
def test_arrays_that_do_not_form_a_tree_raise_a_clear_error(changes):
    with pytest.raises(ValueError, match=r"Not a tree: .+\."):
        stump(**changes)


NOMINAL_BROKEN = {
    "a category without a child": {"category_start": [0, 2, 2, 2, 2, 2], "category_child": [1, 2]},
    "a category sent to a child of another node": {"category_child": [1, 2, 3]},
    "a child that nothing reaches": {"category_child": [1, 1, 1], "missing": [-2] * 5},
    "unseen categories mapped to no category": {"unknown": [-1, 3]},
    "a column without a rule for unseen categories": {"unknown": [-1]},
    "same category twice": {"categories": [None, ["red", "red", "blue"]]},
    "a list as a category": {"categories": [None, [["red"], ["g"], ["b"]]]},
    "a missing category": {"categories": [None, ["red", None, "blue"]]},
    "a threshold of a nominal test": {"threshold": [0.5, None, 1.0, None, None]},
    "categories of a leaf": {"category_start": [0, 2, 3, 3, 3, 3]},
}


@pytest.mark.parametrize("changes", NOMINAL_BROKEN.values(), ids=NOMINAL_BROKEN.keys())
def test_invalid_nominal_tests_raise_a_clear_error(changes):
    data = mixed_tree().to_dict()
    data.update(changes)
    with pytest.raises(ValueError, match=r"Not a tree: .+\."):
        kt.Tree.from_dict(data)


HOSTILE = [
    "",
    "{",
    "[]",
    "null",
    "3",
    '{"format": "keeptree.Tree"}',
    '{"format": "keeptree.Tree", "version": 2, "digest": 1}',
    '{"format": "keeptree.Tree", "version": 4}',
    '{"format": "other", "version": 1}',
    "[" * 100_000,
    '{"format": "keeptree.Tree", "version": 1, "kind": ' + "9" * 5000 + "}",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_file_that_is_not_a_tree_raises_a_value_error(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ValueError, match=r"Not a tree|not a KeepTree file|digest does not match"):
        kt.Tree.load(tmp_path / "x.json")


VERSIONS = [True, 1.0, "1", None, [1]]


@pytest.mark.parametrize("version", VERSIONS, ids=repr)
def test_a_version_that_is_not_an_integer_raises_a_value_error(version):
    with pytest.raises(ValueError, match="Not a tree: its version is"):
        kt.Tree.from_dict({**stump().to_dict(), "version": version})


@pytest.mark.parametrize("variance", [[1.0, np.inf, 0.0], [-1.0, 0.0, 0.0], ["1", "0", "0"]])
def test_a_variance_that_is_infinite_negative_or_text_is_refused(variance):
    with pytest.raises(ValueError, match="Not a tree"):
        kt.Tree.from_dict({**regression_stump().to_dict(), "variance": variance})


ALTERED = {
    "truncated": {"dtype": "<U1", "values": ["bad", "good"]},
    "too wide": {"dtype": "<U9", "values": ["bad", "good"]},
    "numbers as text": {"dtype": "<U1", "values": [1, 2]},
    "rounded": {"dtype": "<i8", "values": [1.5, 2]},
    "wrapped": {"dtype": "|u1", "values": [1, 257]},
    "rounded to float32": {"dtype": "<f4", "values": [0.1, 0.2]},
    "text as booleans": {"dtype": "|b1", "values": ["a", ""]},
    "numbers as booleans": {"dtype": "|b1", "values": [0, 1]},
    "time of day lost": {"dtype": "<M8[D]", "values": ["2020-01-01T12", "2020-01-02"]},
    "not a date": {"dtype": "<M8[D]", "values": ["x", "y"]},
    "NaN": {"dtype": "<f8", "values": [NAN, NAN]},
    "NaN objects": {"dtype": "|O", "values": [NAN, float("nan")]},
    "not a dtype": {"dtype": "(1", "values": ["a", "b"]},
}


@pytest.mark.parametrize("classes", ALTERED.values(), ids=ALTERED.keys())
def test_labels_that_their_dtype_would_alter_raise_a_value_error(classes):
    with pytest.raises(ValueError, match="Not a tree"):
        kt.Tree.from_dict({**stump().to_dict(), "classes": classes})


def test_a_huge_text_width_allocates_no_memory():
    classes = {"dtype": "<U10000000", "values": ["no", "yes"]}
    tracemalloc.start()
    with pytest.raises(ValueError, match="do not fit"):
        kt.Tree.from_dict({**stump().to_dict(), "classes": classes})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_text_dtype_wider_than_its_labels_survives_json():
    tree = stump(classes=np.array(["no", "yes"], dtype="<U40"))
    assert kt.Tree.from_dict(tree.to_dict()).to_dict() == tree.to_dict()


TREES = {"stump": (stump(), [[1.0]]), "mixed": (mixed_tree(), [[1.0, "red"]])}


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("name", sorted(set(stump().to_dict()) - {"format", "version"}))
@pytest.mark.parametrize(
    "junk",
    [
        *(7, "x", [], [[[]]], {"a": 1}, True, [None], 1e308, [10**400], 10**12),
        *([None, [["red"], ["g"], ["b"]]], [None, {"a": 1}], [NAN, "x"]),
    ],
)
def test_a_field_of_another_type_raises_a_value_error_or_is_harmless(name, junk, tree):
    tree, row = TREES[tree]
    data = {**tree.to_dict(), name: junk}
    try:
        tree = kt.Tree.from_dict(data)
    except ValueError:
        return
    # Whatever is accepted must work, for example a source without known keys, or n_features = True.
    assert tree.predict(row).shape == (1,)


def test_a_file_truncated_at_any_length_raises_a_value_error(tmp_path):
    mixed_tree().save(tmp_path / "whole.json")
    text = (tmp_path / "whole.json").read_text()
    for length in range(0, len(text), 37):
        (tmp_path / "cut.json").write_text(text[:length])
        with pytest.raises(ValueError, match="KeepTree file"):
            kt.Tree.load(tmp_path / "cut.json")


def test_wrong_columns_are_named():
    with pytest.raises(ValueError, match=r"X has 2 columns, but the tree expects 1"):
        stump().apply([[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"X lacks the column 'age', .* did you mean 'agee'"):
        stump().apply(pd.DataFrame({"agee": [1.0]}))
    with pytest.raises(ValueError, match="in another order"):
        mixed_tree().apply(pd.DataFrame({"colour": ["red"], "size": [1.0]}))
    with pytest.raises(ValueError, match="0 sample"):
        stump().apply(np.empty((0, 1)))
    with pytest.raises(ValueError, match="no row"):
        mixed_tree().apply(np.empty((0, 2), dtype=object))


@pytest.mark.parametrize("names", [[0], [("a", "b")]], ids=["integer", "tuple"])
def test_column_names_that_are_not_all_text_are_ignored(names):
    frame = pd.DataFrame([[1.0], [3.0]])
    frame.columns = pd.Index(names, tupleize_cols=False)
    assert stump().apply(frame).tolist() == [1, 2]


def test_save_and_load_expand_a_tilde_to_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    stump().save("~/tree.json")
    assert kt.Tree.load("~/tree.json").to_dict() == stump().to_dict()
    assert (tmp_path / "tree.json").exists()


def test_a_chain_of_ten_thousand_tests_does_not_overflow_the_stack(tmp_path):
    n = 10_000
    inner = np.arange(0, 2 * n, 2)  # inner node 2i has the leaf 2i + 1 and the next inner node
    kind = np.zeros(2 * n + 1, dtype=int)
    kind[inner] = 1
    counts = np.ones((2 * n + 1, 2))
    counts[inner] = np.arange(n, 0, -1)[:, None] + 1
    tree = kt.Tree(
        kind=kind,
        feature=np.where(kind, 0, -1),
        threshold=np.where(kind, np.arange(2 * n + 1) / 2, NAN),
        child_start=np.concatenate([[0], np.cumsum(2 * kind)]),
        child=np.column_stack([inner + 1, inner + 2]).ravel(),
        missing=np.full(2 * n + 1, -2),
        counts=counts,
        classes=[0, 1],
        n_features=1,
    )
    assert tree.max_depth == n
    assert tree.apply([[n + 1.0]]).tolist() == [2 * n]
    assert tree.decision_path([[n + 1.0]]).nnz == n + 1
    assert len(tree.to_text().splitlines()) == 2 * n
    tree.save(tmp_path / "chain.json")
    assert kt.Tree.load(tmp_path / "chain.json").n_leaves == n + 1


@settings(max_examples=60, deadline=None)
@given(trees(max_leaves=25))
def test_the_preorder_equals_that_of_a_naive_walk(tree):
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(tree.children(node)[::-1].tolist())
    assert tree.preorder.tolist() == order


def test_a_shared_row_is_refused_if_any_branch_lacks_a_rule_for_missing_values():
    """The row has every value that the heaviest branch tests, but not that of the other branch."""
    tree = kt.Tree(
        kind=[1, 1, 0, 0, 1, 0, 0],
        feature=[0, 1, -1, -1, 2, -1, -1],
        threshold=[0, 0, NAN, NAN, 0, NAN, NAN],
        child_start=[0, 2, 4, 4, 4, 6, 6, 6],
        child=[1, 4, 2, 3, 5, 6],
        missing=[-1, -2, -2, -2, -2, -2, -2],
        counts=[[6, 6], [1, 1], [1, 0], [0, 1], [5, 5], [5, 0], [0, 5]],
        classes=["no", "yes"],
        n_features=3,
    )
    assert tree.route_shares(np.array([[NAN, 1.0, 1.0]])).sum() == 1
    with pytest.raises(ValueError, match=r"Row 0 has no value for 'x\[1\]'"):
        tree.route_shares(np.array([[NAN, NAN, 1.0]]))


@settings(max_examples=150, deadline=None)
@given(st.one_of(trees(missing=("share", "mixed")), oblique_trees(missing=("share",))))
def test_single_rows_have_exactly_the_averages_of_a_table(tree):
    """Few shared rows are walked one by one; many are multiplied as a sparse matrix."""
    X = random_rows(tree, 3, n=30, missing=0.3)
    values = np.random.default_rng(4).random((tree.n_nodes, 3))
    table = tree.leaf_average(X, values)
    single = np.concatenate([tree.leaf_average(row[None], values) for row in X])
    np.testing.assert_array_equal(single, table)
    sums = tree.leaf_average(X, values, normalise=False)
    shared = tree.shared_rows(X)
    np.testing.assert_array_equal(sums[shared], (tree.route_shares(X) @ values)[shared])


@settings(max_examples=60, deadline=None)
@given(st.one_of(trees(missing=("share", "mixed")), oblique_trees(missing=("share", "child"))))
def test_a_missing_value_that_the_path_does_not_read_changes_no_decision(tree):
    X = random_rows(tree, 5, n=20)
    for row, leaf in zip(X, tree.route(X), strict=True):
        tests = tree.path(leaf)[:-1]
        read = {f for node in tests for f, _ in tree.terms(node)} | set(tree.feature[tests])
        unread = [f for f in range(tree.n_features) if f not in read]
        row[unread] = np.nan
        assert tree.decide(row[None]) == tree.label[leaf]
        np.testing.assert_array_equal(tree.mix_proportions(row[None])[0], tree.proportions[leaf])


def test_a_single_row_without_a_rule_is_refused_as_in_a_table():
    tree = dataclasses.replace(mixed_tree(), missing=[-1, -2, -2, -2, -2])
    with pytest.raises(ValueError, match="has no value for"):
        tree.leaf_average(tree.encode([[NAN, None]]), tree.proportions)
