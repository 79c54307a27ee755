"""The graph of a model from its inputs to its outputs, and the metadata of the file."""

import json

import numpy as np
from onnx import helper

from keeptree.choice import one_of
from keeptree.encoding import sealed
from keeptree.explanation.subject import boundary_of
from keeptree.exporters.onnx.boxes import boundary_distance, class_distances
from keeptree.exporters.onnx.confdtree import add_confdtree
from keeptree.exporters.onnx.distance_kernel import add_distance_kernel, check_distance_kernel
from keeptree.exporters.onnx.experts import add_probability
from keeptree.exporters.onnx.graph import Graph
from keeptree.exporters.onnx.inputs import INPUTS, MATRIX, input_names, missing_marker, read_cases
from keeptree.exporters.onnx.rank import add_scores
from keeptree.exporters.onnx.routing import Routes, largest
from keeptree.exporters.plain import column_places, plain_decision, plain_dict
from keeptree.exporters.plain_model import check_exportable
from keeptree.importers.onnx import TREE_KEY
from keeptree.probability.confdtree import ConfDTreeClassifier
from keeptree.probability.distance_kernel import DistanceKernelClassifier
from keeptree.probability.geometric_rank import GeometricRankClassifier
from keeptree.tree import refuse_oblique

_MOST_NODES = 10_000  # loading takes quadratic time: 4 s for 4000 nodes, 19 s for 7500
OUTPUTS = ("label", "probabilities", "scores", "leaf", "distance")


def build_model(subject, inputs, leaf, distance):
    """The ONNX model of a subject; see :func:`keeptree.exporters.onnx.write`."""
    inputs = one_of(INPUTS, inputs, "kind of inputs")
    if inputs == "matrix" and subject.tree.has_nominal:
        name = next(n for n, c in zip(subject.names, subject.tree.categories, strict=True) if c)
        raise ValueError(
            f"The column {name!r} has categories, which a matrix of numbers cannot hold; give "
            'inputs="columns".'
        )
    data = _read(subject)
    names = {None: MATRIX} if inputs == "matrix" else input_names(subject, data["columns"], inputs)
    outputs = output_names(names.values())
    graph = Graph(taken=(*names.values(), *outputs.values()))
    cases = read_cases(graph, subject, data, inputs)
    routes = Routes(cases, data["tree"], subject.tree.max_depth)
    decision = _Decision(routes, data["tree"])
    place = column_places(subject.tree, subject.model)
    if type(subject.model) is GeometricRankClassifier:
        p = add_scores(cases, place, routes, subject.model, decision.code())
    elif _has_curves(subject.model):
        p = add_distance_kernel(cases, place, routes, subject.model, decision.code)
    elif type(subject.model) is ConfDTreeClassifier:
        p = add_confdtree(cases, place, subject.model)
    else:
        p = add_probability(cases, routes, data["model"], decision.code)
    p = graph.where(routes.lost.upright(), graph.constant(np.nan), p)
    code = (
        decision.code() if data["decide"] == "tree" else _decide(p, routes.n_classes, data["costs"])
    )
    graph.output(outputs["label"], _labels(graph, subject.classes, code, routes.lost))
    ranks = type(subject.model) is GeometricRankClassifier
    width = 1 if ranks and routes.n_classes == 2 else routes.n_classes
    graph.output(outputs["scores" if ranks else "probabilities"], p, width)
    if leaf:
        graph.output(outputs["leaf"], routes.leaf)
    if distance:
        refuse_oblique(
            subject.tree, "the ONNX export measures no distance to", "leave out the distance"
        )
        boundary = boundary_of(subject.tree if subject.model is None else subject.model)
        to_class = class_distances(cases, place, boundary)
        far = boundary_distance(to_class, routes.n_classes)
        graph.output(outputs["distance"], graph.where(routes.lost, graph.constant(np.nan), far))
    model = graph.model(
        "keeptree",
        producer_name="KeepTree",
        producer_version=subject.version,
        doc_string=subject.origin,
    )
    _check_size(subject, len(model.graph.node))
    helper.set_model_props(model, _metadata(subject))
    return model


def _check_size(subject, n_nodes):
    """Raise a ValueError for a graph that onnxruntime would take minutes to load."""
    if n_nodes > _MOST_NODES:
        raise ValueError(
            f"The graph of this {subject.kind} would have {n_nodes:,} nodes, and onnxruntime takes "
            f"minutes to load more than {_MOST_NODES:,}; prune the tree, or export the model to "
            "Python, JavaScript or C."
        )


def _read(subject):
    """Return the plain model; for models that this package reads itself, the plain tree."""
    check_exportable(subject.model)
    if _has_curves(subject.model):
        check_distance_kernel(subject.model)
    elif type(subject.model) not in (ConfDTreeClassifier, GeometricRankClassifier):
        return plain_dict(subject.tree, subject.model)
    return {**plain_dict(subject.tree), **plain_decision(subject.model)}


def _has_curves(model):
    """Return whether a model is a distance kernel (not a subclass) and its tree has a boundary."""
    return type(model) is DistanceKernelClassifier and model.curves_ is not None


def _decide(p, n_classes, costs):
    """Position of the most probable class, or of the one with the lowest expected cost."""
    if costs is None:
        return largest(p, range(n_classes), 0.0)
    expected = p.take([0]) * np.array(costs[0])
    for c, row in enumerate(costs[1:], 1):
        expected = expected + p.take([c]) * np.array(row)
    return largest(-expected, range(len(costs)), 0.0, least=-np.inf)


def output_names(taken):
    """Return the name of each output, with underscores appended if a column has the same name."""
    taken, names = set(taken), {}
    for output in OUTPUTS:
        name = output
        while name in taken:
            name += "_"
        names[output] = name
    return names


class _Decision:
    """The tree's decision, added to the graph when it is first asked for."""

    def __init__(self, routes, tree):
        self._routes, self._tree, self._code = routes, tree, None

    def code(self):
        if self._code is None:
            proportions = None
            if self._routes.shares_missing:
                proportions = self._routes.average(self._tree["proportions"])
            self._code = self._routes.decide(proportions)
        return self._code


def _labels(graph, classes, code, lost):
    """Labels of class positions; those of rows without a leaf are empty, NaN or the least integer.

    Booleans are 0 and 1. Labels of several types are text.
    """
    kinds = {type(label) for label in classes}
    if kinds <= {int, bool}:
        table, none = np.array(classes, dtype=np.int64), np.iinfo(np.int64).min
    elif kinds <= {int, float, bool}:
        table, none = np.array(classes, dtype=np.float64), np.nan
    else:
        table, none = np.array([str(label) for label in classes], dtype=object), ""
    code = graph.where(lost, len(classes), code)
    return graph.constant(np.append(table, none).astype(table.dtype)).take(code, axis=0)


def _metadata(subject):
    """Return the metadata of the file: text by key."""
    tree = subject.tree
    columns = []
    for name, labels in zip(subject.names, tree.categories, strict=True):
        column = {"name": name}
        if labels is not None:
            column |= {"categories": list(map(str, labels)), "missing": missing_marker(labels)}
        columns.append(column)
    return {
        "keeptree_version": subject.version,
        "keeptree_fingerprint": subject.fingerprint,
        "keeptree_model": subject.kind,
        "keeptree_classes": json.dumps(list(map(str, subject.classes))),
        "keeptree_class_names": json.dumps(list(subject.class_names)),
        "keeptree_columns": json.dumps(columns),
        TREE_KEY: json.dumps(sealed(tree.to_dict())),
    }
