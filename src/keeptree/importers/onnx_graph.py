"""Trace the inputs and outputs of the trees through an ONNX graph."""

from dataclasses import dataclass

import numpy as np

FLOAT, INT64, STRING, DOUBLE = 1, 7, 8, 11  # codes in onnx.TensorProto.DataType
_WHOLE = (2, 3, 4, 5, 6, INT64, 9, 12, 13)  # integers and booleans
# Operators after the tree that keep the order of the scores, or the label.
_HARMLESS = ("Cast", "Identity", "Normalizer", "Reshape", "Softmax", "Squeeze", "Unsqueeze")
_ENDS = ("ZipMap",)
# Operators before the tree that keep the values.
_PASSING = ("Cast", "Concat", "FeatureVectorizer", "Identity")
_MOST_VALUES = 20_000_000


class _Attributes(dict):
    """Attributes by name; a missing one raises a ValueError."""

    def __missing__(self, name):
        raise ValueError(f"A node has no {name}, which it needs.")


def attributes(node):
    """Return the attributes of a node: arrays of numbers, lists of text, numbers and text."""
    return _Attributes((attribute.name, _value(attribute)) for attribute in node.attribute)


def _value(attribute):
    if attribute.HasField("t"):
        return tensor_values(attribute.t)
    for field, dtype in (("ints", np.int64), ("floats", np.float32)):
        values = getattr(attribute, field)
        if len(values):
            if len(values) > _MOST_VALUES:
                raise ValueError(
                    f"{attribute.name} has {len(values):,} values, too many for a tree."
                )
            return np.array(values, dtype=dtype)
    if attribute.strings:
        return [text.decode() for text in attribute.strings]
    if attribute.HasField("s"):
        return attribute.s.decode()
    if attribute.HasField("f"):
        return attribute.f
    return attribute.i if attribute.HasField("i") else np.empty(0)


def tensor_values(tensor):
    """Return the values of a stored tensor as a flat array; external data raise an error."""
    from onnx import TensorProto, numpy_helper

    if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
        raise ValueError(
            f"The values of {tensor.name or 'a tensor'!r:.80} are in another file, which is not "
            "read; save the model in one file."
        )
    if np.prod(tensor.dims, dtype=object) > _MOST_VALUES:
        raise ValueError(f"{tensor.name or 'A tensor'!r:.80} has too many values.")
    return numpy_helper.to_array(tensor).ravel()


@dataclass(frozen=True)
class Inputs:
    """Inputs of a tree.

    Attributes
    ----------
    names : tuple of str or None
        Names of the columns; None if they have none.
    width : int
        Number of columns; 0 if unknown.
    column_of : list of int
        Column of each feature of the tree; empty if feature k is column k.
    rounded : tuple of bool
        Whether each column is rounded to float32; empty if the same for all.
    compare_dtype : {"float32", "float64"}
        Type in which the tree compares, regardless of earlier rounding.
    """

    names: tuple | None
    width: int
    column_of: list
    rounded: tuple
    compare_dtype: str


@dataclass(frozen=True)
class _Part:
    """Columns on their way through the graph, with their origin and rounding."""

    columns: tuple
    rounded: bool
    whole: bool


class Graph:
    """Looks up the nodes of a graph by their inputs and outputs."""

    def __init__(self, graph):
        self.nodes = list(graph.node)
        self._stored = {tensor.name: tensor for tensor in graph.initializer}
        self._maker = {name: node for node in self.nodes for name in node.output if name}
        self._takers = {}
        for node in self.nodes:
            for name in node.input:
                self._takers.setdefault(name, []).append(node)
        self._outputs = {output.name for output in graph.output}
        self._inputs = {}
        first = 0
        for given in graph.input:
            if given.name not in self._stored:
                kind, width = _type_of(given)
                self._inputs[given.name] = kind, range(first, first + width)
                first += width

    def columns_of(self, node):
        """Return the Inputs of a node; steps that change values raise an error."""
        parts = self._follow_back(node.input[0], 0)
        if len(self._inputs) == 1 and len(parts) == 1 and not parts[0].columns:
            dtype = "float32" if parts[0].rounded or parts[0].whole else "float64"
            return Inputs(None, 0, [], (), dtype)
        width = sum(len(columns) for _, columns in self._inputs.values())
        # onnxruntime compares integers with thresholds in float32.
        single = all(part.rounded or part.whole for part in parts)
        rounded = [False] * width
        for part in parts:
            for column in part.columns:
                rounded[column] = part.rounded
        mixed = not single and any(rounded)
        return Inputs(
            self._names(),
            width,
            [column for part in parts for column in part.columns],
            tuple(rounded) if mixed else (),
            "float32" if single else "float64",
        )

    def _names(self):
        if len(self._inputs) == 1 and len(next(iter(self._inputs.values()))[1]) != 1:
            return None
        return tuple(
            name if len(columns) == 1 else f"{name}[{k}]"
            for name, (_, columns) in self._inputs.items()
            for k in range(len(columns))
        )

    def _follow_back(self, name, depth):
        if name in self._inputs:
            kind, columns = self._inputs[name]
            if not len(columns) and len(self._inputs) > 1:
                raise ValueError(f"The model does not tell how many columns {name!r:.80} has.")
            return [_Part(tuple(columns), *_rounding(kind, name))]
        node = self._maker.get(name)
        if node is None or depth > len(self.nodes):
            raise ValueError(f"The model does not tell where {name!r:.80} comes from.")
        values = attributes(node)
        if node.op_type not in _PASSING or values.get("axis", 1) not in (1, -1):
            raise ValueError(
                f"{_told(node)} changes the columns before the tree; convert the tree without "
                f"preprocessing, or keep the fitted pipeline itself."
            )
        parts = [part for each in node.input for part in self._follow_back(each, depth + 1)]
        if node.op_type == "FeatureVectorizer":
            return [_Part(part.columns, True, part.whole) for part in parts]
        if node.op_type == "Cast":
            rounded, whole = _rounding(values["to"], name)
            if whole and not all(part.whole for part in parts):
                raise ValueError(f"{_told(node)} truncates decimals before the tree.")
            return [_Part(p.columns, p.rounded or rounded, p.whole and whole) for p in parts]
        return parts

    def classes(self, node, labels):
        """Return the class labels at the output of the graph, which may rename them."""
        found = []
        if node.op_type == "TreeEnsembleClassifier":
            self._follow_label(node.output[0], labels, found)
            self._follow_scores(node.output[1] if len(node.output) > 1 else "", len(labels), [])
            return found[0] if found else labels
        self._follow_scores(node.output[0], len(labels), found)
        if not found:
            raise ValueError(
                "This model has no ArgMax after its TreeEnsemble, so it predicts numbers; keep a "
                "classifier."
            )
        return found[0]

    def _follow_scores(self, name, n_classes, found):
        for node in self._takers.get(name, ()):
            if node.op_type == "ArgMax":
                self._follow_label(node.output[0], list(range(n_classes)), found)
            elif node.op_type in _HARMLESS:
                self._follow_scores(node.output[0], n_classes, found)
            elif node.op_type not in _ENDS:
                raise ValueError(f"{_told(node)} changes the scores after the tree.")

    def _follow_label(self, name, labels, found):
        if name in self._outputs:
            found.append(labels)
        for node in self._takers.get(name, ()):
            self._follow_label(node.output[0], self._renamed(node, name, labels), found)

    def _renamed(self, node, name, labels):
        values = attributes(node)
        if node.op_type == "Cast" and values["to"] == STRING:
            return [str(label) for label in labels]
        if node.op_type in _HARMLESS:
            return labels
        if node.op_type == "LabelEncoder":
            return [_encoded(label, values) for label in labels]
        if node.op_type in ("ArrayFeatureExtractor", "Gather") and node.input[0] in self._stored:
            table = tensor_values(self._stored[node.input[0]])
            return [_plain(table[int(label)]) for label in labels]
        raise ValueError(f"{_told(node)} changes the label after the tree.")


def _type_of(given):
    """Return the type and number of columns of an input; 0 columns if unknown."""
    tensor = given.type.tensor_type
    dims = tensor.shape.dim
    if len(dims) > 2:
        raise ValueError(f"The input {given.name!r:.80} has {len(dims)} dimensions, not 2.")
    return tensor.elem_type, int(dims[1].dim_value) if len(dims) == 2 else 0


def _rounding(kind, name):
    """Return whether a type rounds to float32, and whether it is an integer type."""
    if kind not in (FLOAT, DOUBLE, *_WHOLE):
        wrong = "text" if kind == STRING else f"numbers of another type ({kind})"
        raise ValueError(f"{name!r:.80} holds {wrong}; expected float, double or whole numbers.")
    return kind == FLOAT, kind in _WHOLE


def _encoded(label, values):
    """Return the label that a LabelEncoder assigns to a label."""
    for source, keys in values.items():
        if source.startswith("keys_"):
            for target, found in values.items():
                if target.startswith("values_"):
                    table = dict(zip(map(_plain, keys), map(_plain, found), strict=True))
                    if label not in table:
                        raise ValueError(f"The LabelEncoder does not know the class {label!r:.80}.")
                    return table[label]
    raise ValueError("The LabelEncoder after the tree has no keys and values.")


def _plain(value):
    value = value.item() if isinstance(value, np.generic) else value
    return value.decode() if isinstance(value, bytes) else value


def _told(node):
    name = f" {node.name!r:.80}" if node.name else ""
    return f"The node{name} ({node.op_type:.50})"
