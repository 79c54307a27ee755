"""Read one tree of an ONNX model: TreeEnsembleClassifier, or TreeEnsemble of ai.onnx.ml 5."""

import json
from dataclasses import dataclass

import numpy as np

from keeptree.importers.boosting import describe
from keeptree.importers.members import choose_tree
from keeptree.importers.onnx_graph import Graph, attributes
from keeptree.importers.onnx_tests import MOST_NODES, read_ensemble, read_nodes, write_tests
from keeptree.importers.sketch import Sketch
from keeptree.output import require_extra
from keeptree.tree import Tree
from keeptree.tree.document import unsealed

TREE_KEY = "keeptree_tree"  # metadata key under which kt.export stores the tree as JSON
_OPERATORS = ("TreeEnsembleClassifier", "TreeEnsemble")
_UNCOUNTED = (
    "An ONNX file holds the share of each class in a leaf, not the number of cases, so the Tree "
    "has no class counts; give rows to count them: kt.keep(source, X, y), or on the command line "
    "--data and --target."
)
_NO_DIRECTIONS = (
    "skl2onnx does not export where scikit-learn sends missing values; in this file they fail "
    "every test."
)
_VAGUE = (
    "ONNX does not define how the base values of this model are added to the scores of two "
    "classes, so the Tree decides by its class counts."
)


def live_model(model, *, tree=None):
    """Return the Sketch of one tree of an ``onnx.ModelProto``, or the Tree of a KeepTree export."""
    written = next((item.value for item in model.metadata_props if item.key == TREE_KEY), None)
    if written is not None:
        choose_tree(tree, 1, "this model")
        return Tree.from_dict(unsealed(json.loads(written)))
    graph = Graph(model.graph)
    node = _tree_node(graph)
    inputs = graph.columns_of(node)
    values = attributes(node)
    nodes = read_nodes(values) if node.op_type == _OPERATORS[0] else read_ensemble(values)
    number = choose_tree(tree, len(nodes.roots), "this model")
    sketch = Sketch(
        inputs.names or max(inputs.width, int(nodes.feature.max(initial=0)) + 1),
        compare_dtype=inputs.compare_dtype,
        source={**describe(number, len(nodes.roots), "ONNX"), "library": _producer(model)},
    )
    sketch.uncounted = _UNCOUNTED
    leaves = write_tests(sketch, nodes, number, inputs)
    decisions = (_classifier if node.op_type == _OPERATORS[0] else _ensemble)(values, nodes, number)
    sketch.classes = graph.classes(node, decisions.classes)
    for place, leaf in leaves.items():
        sketch.label[place] = decisions.label(leaf)
    if decisions.vague and len(nodes.roots) == 1:
        sketch.lost.append(_VAGUE)
    if model.producer_name == "skl2onnx" and len(leaves) > 1 and not nodes.missing_true.any():
        sketch.lost.append(_NO_DIRECTIONS)
    return sketch


def read_bytes(content, *, tree=None):
    """Return the Sketch of one tree of an ``.onnx`` file."""
    require_extra("onnx", extra="onnx")
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    model = ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError:
        raise ValueError("This is not an ONNX model, or it has been cut off.") from None
    if not model.graph.node:
        raise ValueError("This ONNX model has no nodes; it may have been cut off.")
    return live_model(model, tree=tree)


def _tree_node(graph):
    found = [node for node in graph.nodes if node.op_type.startswith("TreeEnsemble")]
    if len(found) != 1:
        kinds = ", ".join(sorted({node.op_type for node in graph.nodes})[:6])
        raise ValueError(
            f"This ONNX model has {len(found) or 'no'} nodes of trees, but must have exactly "
            f"one; its nodes are {kinds:.200}."
        )
    if found[0].op_type not in _OPERATORS:
        raise ValueError(
            f"This ONNX model has a {found[0].op_type:.50}, which predicts numbers; keep a "
            "classifier."
        )
    return found[0]


def _producer(model):
    name = " ".join(filter(None, (model.producer_name, model.producer_version)))
    return f"ONNX, written by {name:.60}" if name else "ONNX"


@dataclass(frozen=True)
class _Decisions:
    """How the weights of a leaf determine its class.

    Attributes
    ----------
    classes : list
        Labels, before later nodes of the graph rename them.
    scores : dict
        For each leaf, the weights of its classes.
    base : ndarray
        Values added to the class scores; may be empty.
    single : bool
        Whether two classes share one weight, the score of the second.
    vague : bool
        Whether ONNX leaves open how the base values of two classes are added.
    margin : bool
        Whether weights are margins, so that a single one is compared with 0 instead of 0.5.
    n_trees : int
        Number of trees.
    """

    classes: list
    scores: dict
    base: np.ndarray
    single: bool
    vague: bool
    margin: bool
    n_trees: int

    def label(self, leaf):
        """Return the index of the class of a leaf; None if the tree alone does not determine it."""
        scores = self.scores.get(leaf, {})
        if self.vague or (self.n_trees > 1 and self.margin):
            return None
        if self.single:
            # onnxruntime assumes that weights are probabilities if none is negative. The weights of
            # a forest are shares of its vote.
            half = np.float32(0.0 if self.margin else 0.5 / self.n_trees)
            added = np.float32(self.base[0] if len(self.base) else 0.0)
            return int(np.float32(next(iter(scores.values()), 0.0)) + added > half)
        if len(self.base):
            scores = {k: added + scores.get(k, 0.0) for k, added in enumerate(self.base)}
        return max(sorted(scores), key=scores.get, default=0)


def _classifier(values, nodes, number):
    """Return the decisions of a tree of a TreeEnsembleClassifier."""
    classes = [int(label) for label in values.get("classlabels_int64s", ())]
    classes = classes or values.get("classlabels_strings")
    if not classes:
        raise ValueError("The TreeEnsembleClassifier names no classes.")
    trees, places, ids = (values[f"class_{name}"] for name in ("treeids", "nodeids", "ids"))
    weights = values.get("class_weights_as_tensor", values.get("class_weights"))
    if len({len(weights), len(trees), len(places), len(ids)}) != 1:
        raise ValueError("The weights of the leaves have lists of different lengths.")
    if len(ids) and not (ids.min() >= 0 and ids.max() < len(classes)):
        raise ValueError("A leaf names a class that does not exist.")
    here = trees == nodes.tree_ids[number]
    scores = {}
    columns = (column[here].tolist() for column in (places, ids, weights))
    for place, k, weight in zip(*columns, strict=True):
        leaf = scores.setdefault(place, {})
        leaf[k] = leaf.get(k, 0.0) + weight
    base = values.get("base_values_as_tensor", values.get("base_values", np.empty(0)))
    if len(base) not in (0, 1, len(classes)):
        raise ValueError(f"There are {len(base)} base values for {len(classes)} classes.")
    single = len(classes) == 2 and len(np.unique(ids)) == 1
    vague = 0 < len(base) < len(classes) if len(classes) > 2 else len(base) > 0
    if single and len(base) == 1 and ids[0] == 0:
        vague = False
    margin = bool((weights < 0).any())
    return _Decisions(classes, scores, base, single, vague, margin, len(nodes.roots))


def _ensemble(values, nodes, number):
    """Return the decisions of a tree of a TreeEnsemble; each leaf adds its weight to one target."""
    n_targets = int(values.get("n_targets", 1))
    targets, weights = values["leaf_targetids"], values["leaf_weights"]
    if len(targets) != len(weights):
        raise ValueError("The weights of the leaves have lists of different lengths.")
    if len(targets) and not (targets.min() >= 0 and targets.max() < n_targets):
        raise ValueError("A leaf names a target that does not exist.")
    scores = {
        leaf: {target: weight}
        for leaf, (target, weight) in enumerate(
            zip(targets.tolist(), weights.tolist(), strict=True)
        )
    }
    zeros = np.zeros(min(n_targets, MOST_NODES))  # all other targets have score 0
    classes = list(range(len(zeros)))
    several = len(nodes.roots) > 1
    return _Decisions(classes, scores, zeros, False, False, several, len(nodes.roots))
