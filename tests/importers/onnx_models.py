"""Small ONNX models with random trees of every mode, and what onnxruntime returns for them."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

LESS = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"]
EQUAL = ["BRANCH_EQ", "BRANCH_NEQ"]
MODES = [*LESS, *EQUAL, "BRANCH_MEMBER"]
TYPES = {np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE}


def model_of(nodes, outputs, dtype=np.float32, width=3, ml=3, inputs=None, stored=()):
    inputs = inputs or [helper.make_tensor_value_info("X", TYPES[dtype], [None, width])]
    outs = [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()]
    graph = helper.make_graph(nodes, "g", inputs, outs, list(stored))
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", ml)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def run(model, X):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    feed = X if isinstance(X, dict) else {session.get_inputs()[0].name: X}
    return session.run(None, feed)


def random_nodes(rng, depth=3, modes=LESS, dtype=np.float32, width=3, whole=()):
    """Return the attributes ``nodes_*`` of a random tree.

    Columns in ``whole`` are compared with integers.
    """
    nodes = {name: [] for name in ("featureids", "modes", "values", "truenodeids", "falsenodeids")}

    def grow(left):
        i = len(nodes["modes"])
        for column in nodes.values():
            column.append(0)
        if left == 0 or (i and rng.random() < 0.2):
            nodes["modes"][i] = "LEAF"
            return i
        feature = int(rng.integers(width))
        exact = feature in whole
        nodes["featureids"][i] = feature
        nodes["modes"][i] = str(rng.choice(EQUAL if exact else modes))
        value = rng.integers(-1, 3) if exact else rng.normal() * 10.0 ** rng.integers(-3, 4)
        nodes["values"][i] = float(dtype(value))
        below = [grow(left - 1), grow(left - 1)]
        nodes["truenodeids"][i], nodes["falsenodeids"][i] = rng.permutation(below).tolist()
        return i

    grow(depth)
    n = len(nodes["modes"])
    nodes.update(treeids=[0] * n, nodeids=list(range(n)))
    nodes["missing_value_tracks_true"] = rng.integers(2, size=n).tolist()
    return {f"nodes_{name}": values for name, values in nodes.items()}


def classifier(nodes, weights, classes=(0, 1, 2), dtype=np.float32, width=3, **more):
    """Return a TreeEnsembleClassifier; ``weights`` are tuples (tree, node, class, weight)."""
    nodes = dict(nodes)
    if dtype is np.float64:
        nodes["nodes_values_as_tensor"] = tensor(nodes.pop("nodes_values"), np.float64)
    names = ("class_treeids", "class_nodeids", "class_ids", "class_weights")
    entries = dict(zip(names, map(list, zip(*weights, strict=True)), strict=True))
    if dtype is np.float64:
        entries["class_weights_as_tensor"] = tensor(entries.pop("class_weights"), np.float64)
    kind = "classlabels_strings" if isinstance(classes[0], str) else "classlabels_int64s"
    node = helper.make_node(
        "TreeEnsembleClassifier", ["X"], ["label", "scores"], domain="ai.onnx.ml",
        **{kind: list(classes)}, **nodes, **entries, **more,
    )  # fmt: skip
    label = TensorProto.STRING if isinstance(classes[0], str) else TensorProto.INT64
    return model_of([node], {"label": label, "scores": TensorProto.FLOAT}, dtype, width)


def leaf_weights(rng, nodes, n_classes=3):
    """Return the shares of each class in each leaf, as converters write them."""
    leaves = [i for i, mode in enumerate(nodes["nodes_modes"]) if mode == "LEAF"]
    shares = rng.dirichlet(np.ones(n_classes), len(leaves)).astype(np.float32)
    tree = nodes["nodes_treeids"]
    return [
        (tree[i], nodes["nodes_nodeids"][i], k, float(shares[row, k]))
        for row, i in enumerate(leaves)
        for k in range(n_classes)
    ]


def leaves_of(model, X, tree=0):
    """Return the leaf of each row, found by a model with the same tests and leaf numbers."""
    values = {a.name: helper.get_attribute_value(a) for a in model.graph.node[0].attribute}
    keep = {name: v for name, v in values.items() if name.startswith("nodes_")}
    chosen = [i for i, t in enumerate(keep["nodes_treeids"]) if t == tree]
    for name, column in keep.items():
        if not isinstance(column, onnx.TensorProto):
            keep[name] = [column[i] for i in chosen]
    leaves = [i for i, mode in enumerate(keep["nodes_modes"]) if mode == b"LEAF"]
    answers = {
        "target_treeids": [tree] * len(leaves), "target_ids": [0] * len(leaves),
        "target_nodeids": [keep["nodes_nodeids"][i] for i in leaves],
    }  # fmt: skip
    weights = [float(keep["nodes_nodeids"][i]) for i in leaves]
    double = "nodes_values_as_tensor" in keep
    answers["target_weights_as_tensor" if double else "target_weights"] = (
        tensor(weights, np.float64) if double else weights
    )
    node = helper.make_node(
        "TreeEnsembleRegressor", ["X"], ["leaf"], domain="ai.onnx.ml", n_targets=1,
        **keep, **answers,
    )  # fmt: skip
    twin = model_of([node], {"leaf": TensorProto.FLOAT}, inputs=list(model.graph.input))
    return run(twin, X)[0].ravel().astype(int)


def tensor(values, dtype):
    return numpy_helper.from_array(np.array(values, dtype=dtype), "t")


def random_ensemble(rng, depth=3, modes=MODES, dtype=np.float64, width=3, whole=()):
    """Return the attributes of a random TreeEnsemble (ai.onnx.ml 5), and its number of leaves."""
    columns = {name: [] for name in ("featureids", "modes", "splits")}
    below = {name: [] for name in ("truenodeids", "trueleafs", "falsenodeids", "falseleafs")}
    sets, leaves = {}, []

    def grow(left):
        """Return the index of a node or leaf, and whether it is a leaf."""
        if left == 0 or (columns["modes"] and rng.random() < 0.2):
            leaves.append(len(leaves))
            return len(leaves) - 1, 1
        i = len(columns["modes"])
        feature = int(rng.integers(width))
        exact = feature in whole
        mode = int(rng.choice([4, 5, 6] if exact else [MODES.index(m) for m in modes]))
        columns["featureids"].append(feature)
        columns["modes"].append(mode)
        value = rng.integers(-1, 3) if exact else rng.normal() * 10.0 ** rng.integers(-3, 4)
        columns["splits"].append(float(dtype(value)))
        if mode == 6:
            # onnxruntime accepts only whole numbers here.
            sets[i] = rng.choice(7, size=rng.integers(1, 4), replace=False).astype(float).tolist()
        for column in below.values():
            column.append(0)
        for side in ("true", "false"):
            below[f"{side}nodeids"][i], below[f"{side}leafs"][i] = grow(left - 1)
        return i, 0

    grow(depth)
    values = {f"nodes_{name}": v for name, v in {**below, **columns}.items()}
    values["nodes_modes"] = tensor(columns["modes"], np.uint8)
    values["nodes_splits"] = tensor(columns["splits"], dtype)
    if sets:
        flat = [x for i in sorted(sets) for x in [*sets[i], np.nan]]
        values["membership_values"] = tensor(flat, dtype)
    n = len(columns["modes"])
    values["nodes_missing_value_tracks_true"] = rng.integers(2, size=n).tolist()
    return {**values, "tree_roots": [0]}, len(leaves)


def ensemble(values, targets, weights, n_targets, dtype=np.float64, width=3, labels=None):
    """Return a TreeEnsemble followed by an ArgMax, and by a lookup of labels if any are given."""
    nodes = [
        helper.make_node(
            "TreeEnsemble", ["X"], ["scores"], domain="ai.onnx.ml", n_targets=n_targets,
            leaf_targetids=list(targets), leaf_weights=tensor(weights, dtype), **values,
        ),
        helper.make_node("ArgMax", ["scores"], ["index"], axis=1, keepdims=0),
    ]  # fmt: skip
    outputs, stored = {"index": TensorProto.INT64}, []
    if labels is not None:
        stored = [numpy_helper.from_array(np.array(labels, dtype=object), "labels")]
        nodes.append(helper.make_node("Gather", ["labels", "index"], ["label"]))
        outputs = {"label": TensorProto.STRING}
    return model_of(nodes, outputs, dtype, width, 5, stored=stored)


def ensemble_leaves(values, n_leaves, X, dtype=np.float64):
    """Return the leaf that onnxruntime finds for each row."""
    node = helper.make_node(
        "TreeEnsemble", ["X"], ["leaf"], domain="ai.onnx.ml", n_targets=1,
        leaf_targetids=[0] * n_leaves, leaf_weights=tensor(range(n_leaves), dtype), **values,
    )  # fmt: skip
    model = model_of([node], {"leaf": TYPES[dtype]}, dtype, X.shape[1], 5)
    return run(model, X)[0].ravel().astype(int)
