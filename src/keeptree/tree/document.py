"""A Tree as a versioned JSON document; reading one trusts nothing."""

from dataclasses import MISSING

import numpy as np

from keeptree.data.labels import plain
from keeptree.encoding import check_scalars, decode_labels, encode_labels, is_scalar

FORMAT, VERSION = "keeptree.Tree", 1


def fields_to_dict(values):
    """Return the fields of a Tree as plain values: lists, numbers, text, None for NaN."""
    encoded = {
        name: _ENCODERS.get(name, _to_plain)(value)
        for name, value in values.items()
        if name != "declared" or not _is_sorted(value)
    }
    return {"format": FORMAT, "version": VERSION, **encoded}


def dict_to_fields(data, declared):
    """Return the constructor's arguments from a dictionary, or raise a ValueError.

    Parameters
    ----------
    data : object
        What a file holds.
    declared : sequence of dataclasses.Field
        The fields of a Tree; those without a default must be there.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"Not a tree: expected a dictionary with format {FORMAT!r}.")
    version = data.get("version")
    if type(version) is not int or version != VERSION:
        newer = type(version) is int and version > VERSION
        advice = "; it was written by a newer KeepTree, upgrade to read it" if newer else ""
        raise ValueError(f"Not a tree: version {version!r} is not {VERSION}{advice}.")
    values = {f.name: data[f.name] for f in declared if data.get(f.name) is not None}
    required = (f.name for f in declared if f.default is f.default_factory is MISSING)
    if absent := [name for name in required if name not in values]:
        raise ValueError(f"Not a tree: the file is incomplete, {', '.join(absent)} is missing.")
    try:
        return {name: _DECODERS.get(name, _as_it_is)(value) for name, value in values.items()}
    except (TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ValueError(f"Not a tree: {error}.") from error


def _is_sorted(declared):
    """Whether the declared order of the classes, if there are any, is that of the sorted ones."""
    return declared is None or bool((np.diff(declared) == 1).all())


def _to_plain(value):
    if isinstance(value, np.ndarray):
        numbers = value.tolist()
        missing = value.dtype.kind == "f" and np.isnan(value).any()
        return [None if v != v else v for v in numbers] if missing else numbers
    return list(value) if isinstance(value, tuple) else value


def _encode_categories(categories):
    return [
        None if labels is None else check_scalars([plain(label) for label in labels])
        for labels in categories
    ]


_ENCODERS = {
    "classes": lambda classes: None if classes is None else encode_labels(classes),
    "categories": _encode_categories,
    "source": dict,
}


def _as_it_is(value):
    return value  # the constructor checks it


def _decode_numbers(values):
    return [np.nan if value is None else _number(value) for value in values]


def _number(value):
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"expected a number, got {value!r:.50}")
    return float(value)


def _decode_names(names):
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise TypeError("feature_names must be a list of text")
    return names


def _decode_source(source):
    if not (isinstance(source, dict) and all(isinstance(v, str) for v in source.values())):
        raise TypeError("source must map text to text")
    return source


def _decode_categories(categories):
    if not isinstance(categories, list):
        raise TypeError("categories must be a list")
    for labels in categories:
        if labels is not None and not isinstance(labels, list):
            raise TypeError("categories must hold lists of labels")
        if labels is not None and not all(map(is_scalar, labels)):
            raise TypeError("a category must be a number or text")
    return categories


_DECODERS = {
    "threshold": _decode_numbers,
    "mean": _decode_numbers,
    "variance": _decode_numbers,
    "classes": decode_labels,
    "feature_names": _decode_names,
    "source": _decode_source,
    "categories": _decode_categories,
}
