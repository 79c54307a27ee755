"""A Tree as a versioned JSON document; reading one trusts nothing."""

import json
import os
import tempfile
from pathlib import Path

import numpy as np

FORMAT, VERSION = "keeptree.Tree", 1

_REQUIRED = (
    "kind",
    "feature",
    "threshold",
    "child_start",
    "child",
    "missing",
    "counts",
    "n_features",
)
_OPTIONAL = (
    "category_start",
    "category_child",
    "label",
    "mean",
    "variance",
    "classes",
    "feature_names",
    "categories",
    "compare_dtype",
    "source",
)
_LABEL_KINDS = "biufUOM"  # of NumPy dtypes whose labels JSON can carry


def fields_to_dict(values):
    """Return the fields of a Tree as plain values: lists, numbers, text, None for NaN."""
    done = {"format": FORMAT, "version": VERSION}
    for name, value in values.items():
        if name == "classes":
            done[name] = None if value is None else _labels_to_dict(value)
        elif name == "categories":
            done[name] = [_categories_to_list(labels) for labels in value]
        elif isinstance(value, np.ndarray):
            done[name] = _to_list(value)
        else:
            done[name] = list(value) if isinstance(value, tuple) else value
    return done


def dict_to_fields(data):
    """Return the constructor's arguments from a dictionary, or raise a ValueError."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"Not a tree: expected a dictionary with format {FORMAT!r}.")
    version = data.get("version")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        advice = "; it was written by a newer KeepTree, upgrade to read it" if newer else ""
        raise ValueError(f"Not a tree: version {version!r} is not {VERSION}{advice}.")
    absent = [name for name in _REQUIRED if name not in data]
    if absent:
        raise ValueError(f"Not a tree: the file is incomplete, {', '.join(absent)} is missing.")
    values = {name: data[name] for name in (*_REQUIRED, *_OPTIONAL) if name in data}
    try:
        for name in ("threshold", "mean", "variance"):
            if values.get(name) is not None:
                values[name] = [np.nan if v is None else float(v) for v in values[name]]
        if values.get("classes") is not None:
            values["classes"] = _labels_from_dict(values["classes"])
        if values.get("source") is None:
            values["source"] = {}
        _check_text(values)
    except (TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ValueError(f"Not a tree: {error}.") from error
    return values


def write_json(data, path):
    """Write ``data`` to ``path``; the old file stays until the new one is complete."""
    path = Path(path)
    text = json.dumps(data, allow_nan=False)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp's files are private
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read_json(path):
    """Read a JSON file; one that is not JSON is a ValueError that names it."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a KeepTree file: {error}.") from error


def _check_text(values):
    """Reject what would pass as text or be coerced silently."""
    names = values.get("feature_names")
    if names is not None and not (
        isinstance(names, list) and all(isinstance(n, str) for n in names)
    ):
        raise TypeError("feature_names must be a list of text")
    source = values["source"]
    if not (isinstance(source, dict) and all(isinstance(v, str) for v in source.values())):
        raise TypeError("source must map text to text")
    categories = values.get("categories")
    if categories is not None:
        if not isinstance(categories, list):
            raise TypeError("categories must be a list")
        for labels in categories:
            if labels is not None and not isinstance(labels, list):
                raise TypeError("categories must hold lists of labels")


def _to_list(array):
    if array.dtype.kind == "f" and np.isnan(array).any():
        return [None if np.isnan(v) else v for v in array.tolist()]
    return array.tolist()


def _categories_to_list(labels):
    if labels is None:
        return None
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    _require_scalars(plain)
    return plain


def _labels_to_dict(labels):
    if labels.dtype.kind not in _LABEL_KINDS:
        raise ValueError(
            f"Class labels of type {labels.dtype} cannot be saved; use numbers or text."
        )
    values = np.datetime_as_string(labels).tolist() if labels.dtype.kind == "M" else labels.tolist()
    _require_scalars(values)
    return {"dtype": labels.dtype.str, "values": values}


def _require_scalars(values):
    for value in values:
        if not isinstance(value, bool | int | float | str | None):
            raise ValueError(
                f"The label {value!r} cannot be saved: JSON has no {type(value).__name__}; "
                "use numbers or text."
            )


def _labels_from_dict(data):
    dtype = np.dtype(str(data["dtype"]))
    if dtype.kind not in _LABEL_KINDS or not isinstance(data["values"], list):
        raise TypeError("classes must have a plain dtype and a list of values")
    _require_scalars(data["values"])
    labels = np.empty(len(data["values"]), dtype=dtype)
    labels[:] = data["values"]
    return labels
