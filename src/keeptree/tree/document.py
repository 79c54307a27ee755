"""Convert a Tree to and from a versioned JSON document; everything is checked on reading."""

from dataclasses import MISSING

import numpy as np

from keeptree.data.labels import plain
from keeptree.encoding import (
    check_scalars,
    check_seal,
    check_version,
    decode_labels,
    encode_labels,
    is_scalar,
)

FORMAT, VERSION = "keeptree.Tree", 3
_OBLIQUE = ("term_start", "term_feature", "term_weight")  # since version 3
# version of trees without oblique tests, so that older versions of KeepTree can read them
_BEFORE = 2
_UNSEALED = 1  # the last version whose files have no digest
_NOT_THE_TREE = ("format", "version", "source", "signatures", "digest")


def fields_to_dict(values):
    """Return the fields of a Tree as plain values: lists, numbers, text, and None for NaN."""
    encoded = {
        name: _ENCODERS.get(name, _to_plain)(value)
        for name, value in values.items()
        if name not in _USUAL or not _USUAL[name](value)
    }
    version = VERSION if encoded.keys() & set(_OBLIQUE) else _BEFORE
    return {"format": FORMAT, "version": version, **encoded}


def identity(data):
    """Return the part of a tree's dictionary that the digest is computed from.

    Fields that are not set are left out, so a field added by a later version does not change the
    digest of trees that do not use it.
    """
    return {name: v for name, v in data.items() if v is not None and name not in _NOT_THE_TREE}


def unsealed(document):
    """Check the digest of a file's dictionary and return it without the digest.

    Files of format version 1 need not have a digest.
    """
    _check_kind(document)
    if "digest" not in document and document["version"] == _UNSEALED:
        return document
    return check_seal(document)


def dict_to_fields(data, declared):
    """Return the constructor's arguments from a dictionary, or raise a ValueError.

    Parameters
    ----------
    data : object
        Content of a file.
    declared : sequence of dataclasses.Field
        The fields of a Tree; those without a default are required.
    """
    _check_kind(data)
    data = check_seal(data) if "digest" in data else data
    known = {"format", "version", *(f.name for f in declared)}
    if unknown := sorted(set(data) - known):
        raise ValueError(f"Not a tree: it has an unknown field {unknown[0]!r:.50}.")
    values = {f.name: data[f.name] for f in declared if data.get(f.name) is not None}
    required = (f.name for f in declared if f.default is f.default_factory is MISSING)
    if absent := [name for name in required if name not in values]:
        raise ValueError(f"Not a tree: the file is incomplete, {', '.join(absent)} is missing.")
    try:
        return {name: _DECODERS.get(name, _as_it_is)(value) for name, value in values.items()}
    except (TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ValueError(f"Not a tree: {error}.") from error


def _check_kind(data):
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"Not a tree: expected a dictionary with format {FORMAT!r}.")
    check_version(data.get("version"), VERSION, "Not a tree: ")


def _is_sorted(declared):
    """Return whether the classes, if any, were declared in sorted order."""
    return declared is None or bool((np.diff(declared) == 1).all())


# A document leaves these fields out if they have their default values.
_USUAL = {
    "declared": _is_sorted,
    "signatures": lambda signatures: not signatures,
    "term_start": lambda start: start[-1] == 0,
    "term_feature": lambda feature: not len(feature),
    "term_weight": lambda weight: not len(weight),
    "unknown": lambda unknown: bool((unknown == -1).all()),
}


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
    "signatures": lambda signatures: [signature.to_dict() for signature in signatures],
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
    "term_weight": _decode_numbers,
    "mean": _decode_numbers,
    "variance": _decode_numbers,
    "classes": decode_labels,
    "feature_names": _decode_names,
    "source": _decode_source,
    "categories": _decode_categories,
}
