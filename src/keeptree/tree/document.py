"""A Tree as a versioned JSON document; reading one trusts nothing."""

import json
import re
from pathlib import Path

import numpy as np

from keeptree.data.labels import plain
from keeptree.output import write_text

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
    "declared",
    "feature_names",
    "categories",
    "compare_dtype",
    "source",
)
_LABEL_KINDS = "biufUOM"  # of NumPy dtypes whose labels JSON can carry
_LABEL_DTYPE = re.compile(
    r"\|b1|[<>|][iu][1248]|[<>]f[248]|[<>]U\d{1,9}|\|O|[<>]M8(\[\d{0,6}[A-Za-z]{1,2}\])?"
)


def fields_to_dict(values):
    """Return the fields of a Tree as plain values: lists, numbers, text, None for NaN."""
    done = {"format": FORMAT, "version": VERSION}
    for name, value in values.items():
        if name == "declared" and (value is None or (np.diff(value) == 1).all()):
            continue  # the order of the classes
        if name == "classes":
            done[name] = None if value is None else labels_to_dict(value)
        elif name == "categories":
            done[name] = [_categories_to_list(labels) for labels in value]
        elif isinstance(value, np.ndarray):
            done[name] = _to_list(value)
        elif name == "source":
            done[name] = dict(value)
        else:
            done[name] = list(value) if isinstance(value, tuple) else value
    return done


def dict_to_fields(data):
    """Return the constructor's arguments from a dictionary, or raise a ValueError."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"Not a tree: expected a dictionary with format {FORMAT!r}.")
    version = data.get("version")
    if type(version) is not int or version != VERSION:
        newer = type(version) is int and version > VERSION
        advice = "; it was written by a newer KeepTree, upgrade to read it" if newer else ""
        raise ValueError(f"Not a tree: version {version!r} is not {VERSION}{advice}.")
    absent = [name for name in _REQUIRED if name not in data]
    if absent:
        raise ValueError(f"Not a tree: the file is incomplete, {', '.join(absent)} is missing.")
    values = {name: data[name] for name in (*_REQUIRED, *_OPTIONAL) if name in data}
    try:
        for name in ("threshold", "mean", "variance"):
            if values.get(name) is not None:
                values[name] = [_number(v) for v in values[name]]
        if values.get("classes") is not None:
            values["classes"] = labels_from_dict(values["classes"])
        if values.get("source") is None:
            values["source"] = {}
        _check_text(values)
    except (TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ValueError(f"Not a tree: {error}.") from error
    return values


def write_json(data, path):
    """Write ``data`` to ``path``; the old file stays until the new one is complete."""
    write_text(path, json.dumps(data, allow_nan=False))


def read_json(path):
    """Read a JSON file; one that is not JSON is a ValueError that names it."""
    try:
        return json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a KeepTree file: {_not_json(error)}.") from error


def _not_json(error):
    """Why a file is not JSON; the decoder's own words are for programmers."""
    text = getattr(error, "doc", None)
    if text is None:
        return "it is not JSON"
    if not text.strip():
        return "it is empty"
    if error.pos >= len(text.rstrip()):
        return "it ends in the middle, as if it had been cut off"
    return f"it is not JSON in line {error.lineno}, column {error.colno}"


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
            if labels is not None and not all(map(_is_scalar, labels)):
                raise TypeError("a category must be a number or text")


def _number(value):
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"expected a number, got {value!r:.50}")
    return float(value)


def _to_list(array):
    if array.dtype.kind == "f" and np.isnan(array).any():
        return [None if np.isnan(v) else v for v in array.tolist()]
    return array.tolist()


def _categories_to_list(labels):
    if labels is None:
        return None
    values = [plain(label) for label in labels]
    _require_scalars(values)
    return values


def labels_to_dict(labels):
    """Labels, numbers or text or both, as their type and plain values."""
    if labels.dtype.kind not in _LABEL_KINDS:
        raise ValueError(
            f"Class labels of type {labels.dtype} cannot be saved; use numbers or text."
        )
    values = _label_values(labels)
    _require_scalars(values)
    # Text is as wide as its longest label: what a reader can check before it allocates.
    dtype = np.array(values, dtype=str).dtype if labels.dtype.kind == "U" else labels.dtype
    return {"dtype": dtype.str, "values": values}


def _label_values(labels):
    return np.datetime_as_string(labels).tolist() if labels.dtype.kind == "M" else labels.tolist()


def _require_scalars(values):
    for value in values:
        if not _is_scalar(value):
            raise ValueError(
                f"The label {value!r} cannot be saved: JSON has no {type(value).__name__}; "
                "use numbers or text."
            )


def _is_scalar(value):
    return isinstance(value, bool | int | float | str | None)


def labels_from_dict(data):
    """Labels of the declared type, which must hold every value as it stands in the file."""
    name, values = data["dtype"], data["values"]
    if not (isinstance(name, str) and _LABEL_DTYPE.fullmatch(name) and isinstance(values, list)):
        raise TypeError("classes must have a plain dtype and a list of values")
    if not all(map(_is_scalar, values)):
        raise TypeError("a class must be a number or text")
    labels = _filled(name, values)
    same = _label_values(labels) == values and all(
        isinstance(read, bool) == isinstance(value, bool)
        for read, value in zip(labels.tolist(), values, strict=True)
    )
    if not same:
        raise TypeError(f"the classes do not fit their type {name}")
    return labels


def _filled(name, values):
    try:
        if "U" not in name:
            labels = np.empty(len(values), dtype=name)
            labels[:] = values
            return labels
        labels = np.array(values, dtype=str)  # a damaged width must not ask for all the memory
    except ValueError as error:
        raise TypeError(f"the classes do not fit their type {name}: {error}") from error
    if labels.dtype.itemsize != np.dtype(name).itemsize:
        raise TypeError(f"the classes do not fit their type {name}")
    return labels
