"""A kept ONNX tree sends every row to the leaf that onnxruntime finds."""

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import keeptree as kt
from keeptree.cli import main
from tests.importers.neighbours import assert_same_partition, trying_rows

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper  # noqa: E402

from tests.importers import onnx_models as made  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:keeptree")
# Values of a nominal column: known and unseen categories, and numbers that are not categories.
CODES = [-1, 0, 1, 2, 3, 4, 5, 6, 99, 1.5, -0.0, np.nan, 1e300]


def rows_for(tree, seed, dtype):
    """Return rows at the thresholds in float64, and the same rows in the dtype of the model."""
    rng = np.random.default_rng(seed)
    rows = trying_rows(tree, rng.normal(size=(200, tree.n_features)), seed)
    for j, labels in enumerate(tree.categories):
        if labels is not None:
            rows[:, j] = rng.choice(CODES, len(rows))
    with np.errstate(over="ignore"):
        return rows, rows.astype(dtype)


def assert_refines(ours, theirs):
    """Check that rows that share one of our leaves also share one of theirs."""
    assert len(set(zip(ours.tolist(), theirs.tolist(), strict=True))) == len(set(ours.tolist()))


DTYPES = st.sampled_from([np.float32, np.float64])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**16), DTYPES, st.booleans(), st.sampled_from([2, 3]))
def test_random_classifiers_keep_their_leaves_and_decisions(seed, dtype, equality, n_classes):
    rng = np.random.default_rng(seed)
    modes = made.LESS + made.EQUAL if equality else made.LESS
    nodes = made.random_nodes(rng, 3, modes, dtype, whole=(2,) if seed % 2 else ())
    weights = made.leaf_weights(rng, nodes, n_classes)
    classes = [5, 7, 9] if seed % 3 else ["x", "y", "z"]
    model = made.classifier(nodes, weights, classes[:n_classes], dtype)
    tree = kt.keep(model)
    rows, given = rows_for(tree, seed, dtype)
    check = assert_refines if equality else assert_same_partition
    check(tree.apply(rows), made.leaves_of(model, given))
    label, scores = made.run(model, given)
    # onnxruntime returns the wrong one of two labels if both have a weight (its issue 28557).
    label = label if n_classes == 3 else np.array(classes)[scores.argmax(axis=1)]
    np.testing.assert_array_equal(tree.predict(rows), label)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**16), DTYPES, st.booleans())
def test_random_ensembles_of_ai_onnx_ml_5_keep_their_leaves_and_decisions(seed, dtype, equality):
    rng = np.random.default_rng(seed)
    modes = made.MODES if equality else made.LESS
    values, n = made.random_ensemble(rng, 3, modes, dtype, whole=(2,) if seed % 2 else ())
    targets, labels = rng.integers(3, size=n), ["x", "y", "z"] if seed % 3 else None
    model = made.ensemble(values, targets, rng.random(n), 3, dtype, labels=labels)
    tree = kt.keep(model)
    rows, given = rows_for(tree, seed, dtype)
    assert_refines(tree.apply(rows), made.ensemble_leaves(values, n, given, dtype))
    np.testing.assert_array_equal(tree.predict(rows), made.run(model, given)[0])


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"])
@pytest.mark.parametrize("base", [[], [0.3]])
@pytest.mark.parametrize("margin", [False, True])
def test_a_single_weight_for_two_classes_is_the_score_of_the_second(post, base, margin):
    rng = np.random.default_rng(3)
    nodes = made.random_nodes(rng, 3)
    leaves = [i for i, mode in enumerate(nodes["nodes_modes"]) if mode == "LEAF"]
    weights = rng.normal(size=len(leaves)) if margin else rng.random(len(leaves))
    entries = [(0, i, 0, float(w)) for i, w in zip(leaves, weights, strict=True)]
    more = {"base_values": base} if base else {}
    model = made.classifier(nodes, entries, ["no", "yes"], post_transform=post, **more)
    X = rng.normal(size=(300, 3)).astype(np.float32) * 10
    np.testing.assert_array_equal(kt.keep(model).predict(X), made.run(model, X)[0])


def test_undefined_base_values_require_rows_to_count():
    nodes = made.random_nodes(np.random.default_rng(1), 2)
    weights = made.leaf_weights(np.random.default_rng(1), nodes, 2)
    model = made.classifier(nodes, weights, [0, 1], base_values=[0.1, 0.2])
    with pytest.raises(ValueError, match="no class counts; give rows to count"):
        kt.keep(model)
    with pytest.warns(UserWarning, match="does not define how the base values"):
        kt.keep(model, np.zeros((2, 3)), [0, 1])


def test_columns_in_single_and_double_precision_can_be_mixed():
    """A float input stays rounded when it is cast to double; a double input is not rounded."""
    nodes = {
        "nodes_treeids": [0] * 5, "nodes_nodeids": list(range(5)),
        "nodes_featureids": [0, 1, 1, 0, 0], "nodes_modes": ["BRANCH_LEQ"] * 2 + ["LEAF"] * 3,
        "nodes_truenodeids": [1, 2, 0, 0, 0], "nodes_falsenodeids": [4, 3, 0, 0, 0],
        "nodes_values_as_tensor": made.tensor([0.1, 0.1, 0, 0, 0], np.float64),
    }  # fmt: skip
    tree_node = helper.make_node(
        "TreeEnsembleClassifier", ["both"], ["label", "scores"], domain="ai.onnx.ml",
        class_treeids=[0] * 3, class_nodeids=[2, 3, 4], class_ids=[0, 1, 2],
        class_weights=[1.0] * 3, classlabels_int64s=[0, 1, 2], **nodes,
    )  # fmt: skip
    steps = [
        helper.make_node("Cast", ["a"], ["wide"], to=TensorProto.DOUBLE),
        helper.make_node("Concat", ["wide", "b"], ["both"], axis=1),
        tree_node,
    ]
    inputs = [
        helper.make_tensor_value_info("a", TensorProto.FLOAT, [None, 1]),
        helper.make_tensor_value_info("b", TensorProto.DOUBLE, [None, 1]),
    ]
    model = made.model_of(steps, {"label": TensorProto.INT64}, inputs=inputs)
    tree = kt.keep(model)
    assert tree.feature_names == ("a", "b")
    rows = trying_rows(tree, np.random.default_rng(0).normal(size=(300, 2)), 0)
    with np.errstate(over="ignore"):
        given = {"a": rows[:, :1].astype(np.float32), "b": rows[:, 1:]}
    np.testing.assert_array_equal(tree.predict(rows), made.run(model, given)[0])


def test_labels_that_are_renamed_after_the_tree_are_read():
    nodes = made.random_nodes(np.random.default_rng(2), 2)
    model = made.classifier(nodes, made.leaf_weights(np.random.default_rng(2), nodes))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("name", TensorProto.STRING, None))
    names = ["low", "mid", "high"]
    model.graph.node.append(
        helper.make_node(
            "LabelEncoder", ["label"], ["name"], domain="ai.onnx.ml",
            keys_int64s=[0, 1, 2], values_strings=names,
        )
    )  # fmt: skip
    X = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    np.testing.assert_array_equal(kt.keep(model).predict(X), made.run(model, X)[0])
    model.graph.node[-1].op_type = "Mul"
    with pytest.raises(ValueError, match=r"The node \(Mul\) changes the label after the tree"):
        kt.keep(model)


def sample(seed, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    return X, np.digitize(X[:, 0] + rng.normal(size=n) / 3, [-0.5, 0.5])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**16), st.integers(1, 5), st.booleans())
def test_scikit_learn_trees_from_skl2onnx_keep_their_leaves_and_decisions(seed, depth, two):
    skl2onnx = pytest.importorskip("skl2onnx")
    X, y = sample(seed)
    labels = np.array(["a", "b", "b"] if two else ["a", "b", "c"])[y]
    fitted = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, labels)
    model = skl2onnx.to_onnx(fitted, X[:1].astype(np.float32), options={"zipmap": bool(seed % 2)})
    tree = kt.keep(model.SerializeToString(), X, labels)
    rows, given = rows_for(tree, seed, np.float32)
    assert_same_partition(tree.apply(rows), made.leaves_of(model, given))
    np.testing.assert_array_equal(tree.predict(rows), made.run(model, given)[0])
    assert tree.weight[0] == len(X)
    assert "does not export where scikit-learn sends missing values" in tree.source["lost"]


def test_a_member_of_a_forest_votes_as_in_scikit_learn():
    skl2onnx = pytest.importorskip("skl2onnx")
    X, y = sample(0)
    for target in (y, y == 1):
        forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, target)
        model = skl2onnx.to_onnx(forest, X[:1].astype(np.float32))
        with pytest.raises(ValueError, match="has 3 trees; choose one with tree=0 to tree=2"):
            kt.keep(model)
        for number, member in enumerate(forest.estimators_):
            tree = kt.keep(model, tree=number)
            assert_same_partition(tree.apply(X), member.apply(X))
            np.testing.assert_array_equal(tree.predict(X), member.predict(X).astype(int))


def test_columns_keep_the_names_and_order_of_the_inputs():
    skl2onnx = pytest.importorskip("skl2onnx")
    from sklearn.compose import ColumnTransformer

    X, y = sample(1)
    X = pd.DataFrame(X, columns=["a", "b", "c"])
    chosen = ColumnTransformer([("p", "passthrough", ["c", "a"]), ("q", "passthrough", ["b"])])
    pipeline = make_pipeline(chosen, DecisionTreeClassifier(max_depth=3)).fit(X, y)
    tree = kt.keep(skl2onnx.to_onnx(pipeline, X[:1]), X, y)
    assert tree.feature_names == ("a", "b", "c")
    np.testing.assert_array_equal(tree.predict(X), pipeline.predict(X))


def test_unsupported_models_raise_an_error_that_names_the_node():
    skl2onnx = pytest.importorskip("skl2onnx")
    X, y = sample(0)
    first = X[:1].astype(np.float32)
    scaled = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(X, y)
    with pytest.raises(ValueError, match=r"'Scaler' \(Scaler\) changes the columns before"):
        kt.keep(skl2onnx.to_onnx(scaled, first))
    with pytest.raises(ValueError, match="TreeEnsembleRegressor, which predicts numbers"):
        kt.keep(skl2onnx.to_onnx(DecisionTreeRegressor(max_depth=2).fit(X, y), first))
    with pytest.raises(ValueError, match=r"has no nodes of trees.*Scaler"):
        kt.keep(skl2onnx.to_onnx(StandardScaler().fit(X), first))


@pytest.fixture
def model():
    nodes = made.random_nodes(np.random.default_rng(4), 3)
    return made.classifier(nodes, made.leaf_weights(np.random.default_rng(4), nodes))


def test_without_rows_a_warning_reports_the_lost_counts(model, tmp_path, capsys):
    with pytest.warns(UserWarning, match="holds the share of each class in a leaf, not the number"):
        tree = kt.keep(model)
    assert tree.weight[0] == 0
    assert "no class counts" in tree.source["lost"]
    source, out = tmp_path / "model.onnx", tmp_path / "tree.json"
    onnx.save(model, source)
    assert main(["keep", str(source), "--out", str(out)]) == 0
    assert "from ONNX." in capsys.readouterr().out
    assert kt.Tree.load(out).to_dict() == tree.to_dict()


def attribute(model, name):
    return next(a for a in model.graph.node[0].attribute if a.name == name)


def cycle(model):
    attribute(model, "nodes_truenodeids").ints[0] = 0


def short(model):
    del attribute(model, "nodes_values").floats[-1]


def no_class(model):
    attribute(model, "class_ids").ints[0] = 9


def no_column(model):
    attribute(model, "nodes_featureids").ints[0] = 77


def no_node(model):
    attribute(model, "nodes_truenodeids").ints[0] = 1000


def no_mode(model):
    attribute(model, "nodes_modes").strings[0] = b"BRANCH_MAYBE"


def missing_list(model):
    attribute(model, "nodes_treeids").name = "x"


def not_a_number(model):
    attribute(model, "nodes_values").floats[0] = np.inf
    attribute(model, "nodes_modes").strings[0] = b"BRANCH_LEQ"
    attribute(model, "nodes_missing_value_tracks_true").ints[0] = 0


def text_input(model):
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING


def elsewhere(model):
    tensor = attribute(model, "nodes_values")
    tensor.name, tensor.type = "nodes_values_as_tensor", onnx.AttributeProto.TENSOR
    tensor.t.data_location = TensorProto.EXTERNAL
    tensor.t.external_data.add(key="location", value="/etc/passwd")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (cycle, "form a cycle"), (short, "different lengths"), (no_class, "class that does not"),
        (no_column, "column 77, which does not exist"), (no_node, "damaged|does not exist"),
        (no_mode, "BRANCH_MAYBE|damaged"), (missing_list, "has no nodes_treeids"),
        (not_a_number, "threshold inf, which a Tree cannot represent"), (text_input, "holds text"),
        (elsewhere, "in another file, which is not read"),
    ],
)  # fmt: skip
def test_a_damaged_model_raises_a_one_line_error(model, tmp_path, capsys, damage, sentence):
    damage(model)
    source, out = tmp_path / "bad.onnx", tmp_path / "tree.json"
    source.write_bytes(model.SerializeToString())
    with pytest.raises(ValueError, match=sentence) as error:
        kt.keep(source)
    assert "\n" not in str(error.value)
    assert main(["keep", str(source), "--out", str(out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not out.exists()


def test_truncated_and_foreign_files_raise_an_error_that_names_the_file(model, tmp_path):
    content = model.SerializeToString()
    path = tmp_path / "bad.onnx"
    for cut in (1, 5, len(content) // 3, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:cut])
        with pytest.raises(ValueError, match=r"bad\.onnx"):
            kt.keep(path)
    for bad in (b"", b"\x08\x09\x12" + b"x" * 100, np.random.default_rng(0).bytes(1000)):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=r"bad\.onnx"):
            kt.keep(path)


def test_a_hostile_model_is_refused_quickly(model, tmp_path):
    # Field 8, packed: the length 1.5 * 2^25 as a varint, followed by that many zeros.
    packed = b"\x42\x80\x80\x80\x18" + bytes(3 * 2**24)
    attribute(model, "nodes_treeids").MergeFromString(packed)
    path = tmp_path / "bad.onnx"
    path.write_bytes(model.SerializeToString())
    start = time.process_time()
    with pytest.raises(ValueError, match=r"nodes_treeids has 50,.* values, too many for a tree"):
        kt.keep(path)
    assert time.process_time() - start < 20
