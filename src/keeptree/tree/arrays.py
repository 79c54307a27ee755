"""Prepare the arrays of a Tree: exact types, sorted classes, read-only memory."""

import operator
from types import MappingProxyType

import numpy as np

from keeptree.data.labels import sorting_order
from keeptree.tree.signature import read_signatures

_MOST_FEATURES = 10_000_000  # a larger number in a damaged file could exhaust the memory
_REQUIRED = ("kind", "feature", "threshold", "child_start", "child", "missing", "counts")
_DTYPES = {
    "kind": np.int8,
    "feature": np.int32,
    "threshold": np.float64,
    "child_start": np.int32,
    "child": np.int32,
    "category_start": np.int32,
    "category_child": np.int32,
    "term_start": np.int32,
    "term_feature": np.int32,
    "term_weight": np.float64,
    "missing": np.int32,
    "counts": np.float64,
    "label": np.int32,
    "declared": np.int32,
    "unknown": np.int32,
    "mean": np.float64,
    "variance": np.float64,
}


def complete(values):
    """Return the constructor's arguments as read-only arrays and tuples, with all defaults set."""
    done = dict(values)
    try:
        done["n_features"] = _count_features(values["n_features"])
        n_nodes = len(values["kind"])
        for name, dtype in _DTYPES.items():
            if values[name] is not None:
                done[name] = _exact(values[name], dtype)
            elif name in _REQUIRED:
                raise ValueError(f"Not a tree: {name} is missing.")
        if done["category_start"] is None:
            done["category_start"] = np.zeros(n_nodes + 1, dtype=np.int32)
            done["category_child"] = np.empty(0, dtype=np.int32)
        if done["term_start"] is None:
            done["term_start"] = np.zeros(n_nodes + 1, dtype=np.int32)
            done["term_feature"] = np.empty(0, dtype=np.int32)
            done["term_weight"] = np.empty(0)
        if values["classes"] is None:
            done["declared"] = None
        else:
            done["classes"] = _object_safe(values["classes"])
            if done["label"] is None and done["counts"].ndim == 2 and done["counts"].size:
                done["label"] = done["counts"].argmax(axis=1).astype(np.int32)
            if done["declared"] is None:
                done["declared"] = np.arange(len(done["classes"]), dtype=np.int32)
        if values["feature_names"] is not None:
            done["feature_names"] = tuple(str(name) for name in values["feature_names"])
        done["categories"] = _categories(values["categories"], done["n_features"])
        if done["unknown"] is None:
            done["unknown"] = np.full(done["n_features"], -1, dtype=np.int32)
        done["source"] = MappingProxyType(dict(values["source"]))
        done["signatures"] = read_signatures(values["signatures"])
    except (TypeError, OverflowError, AttributeError) as error:
        raise ValueError(f"Not a tree: {error}.") from error
    return {name: frozen(v) if isinstance(v, np.ndarray) else v for name, v in done.items()}


def sort_classes(tree):
    """Return the fields that change when the classes of a checked tree are sorted."""
    if tree.classes is None:
        return {}
    order = sorting_order(tree.classes)
    if (order == np.arange(len(order))).all():
        return {}
    position = np.argsort(order).astype(np.int32)
    return {
        "classes": tree.classes[order],
        "counts": np.take(tree.counts, order, axis=1),
        "label": position[tree.label],
        "declared": position[tree.declared],
    }


def _count_features(number):
    number = int(operator.index(number))
    if not 1 <= number <= _MOST_FEATURES:
        raise ValueError(f"Not a tree: n_features is {number}, not between 1 and {_MOST_FEATURES}.")
    return number


def _exact(values, dtype):
    """Return a new array of ``dtype``; raise for a number that does not fit."""
    raw = np.asarray(values)
    if np.issubdtype(dtype, np.integer):
        if raw.dtype.kind not in "iu" and raw.size:
            raise ValueError(f"Not a tree: expected whole numbers, got {raw.dtype}.")
        limits = np.iinfo(dtype)
        if raw.size and (raw.min() < limits.min or raw.max() > limits.max):
            raise ValueError(f"Not a tree: a number does not fit {np.dtype(dtype)}.")
    elif raw.dtype.kind not in "iuf":  # NumPy would parse text as numbers
        raise ValueError(f"Not a tree: expected numbers, got {raw.dtype}.")
    return np.array(raw, dtype=dtype)


def _object_safe(labels):
    """Return labels as a 1-D array; NumPy would convert labels of mixed types to text."""
    if isinstance(labels, np.ndarray):
        return labels.copy()
    labels = list(labels)
    if len({type(label) for label in labels}) > 1:
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        return array
    return np.array(labels)


def _categories(categories, n_features):
    if categories is None:
        return (None,) * n_features
    return tuple(None if labels is None else tuple(labels) for labels in categories)


def frozen(array):
    """Return a read-only copy that nobody can make writeable again.

    The array is a view of a bytes object, so NumPy refuses to set its ``writeable`` flag.
    """
    if array.dtype.hasobject:
        kept = array.copy()
        kept.flags.writeable = False
        return kept.view()
    return np.ndarray(array.shape, array.dtype, buffer=array.tobytes())
