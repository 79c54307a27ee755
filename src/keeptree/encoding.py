"""Encode values as JSON, and decode them with full checks."""

import hashlib
import json
import math
import re
import warnings
from dataclasses import fields

import numpy as np

from keeptree.data.labels import plain
from keeptree.output import user_path, write_text
from keeptree.savable import find_part

_LABEL_KINDS = "biufUOM"  # kinds of NumPy dtypes that labels may have
LABEL_DTYPE = r"\|b1|[<>|][iu][1248]|[<>]f[248]|[<>]U\d{1,9}|\|O|[<>]M8(\[\d{0,6}[A-Za-z]{1,2}\])?"
# Types that arrays may have.
NUMBERS = ("bool", "int8", "uint8", "int32", "int64", "float32", "float64")
_FLOATS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}  # numbers that JSON cannot represent


def write_json(document, path):
    """Write a document to a file, replacing an old file only when the new one is complete."""
    write_text(path, json.dumps(document, allow_nan=False))


def read_json(path):
    """Read a JSON file; invalid JSON raises a ValueError that names the file."""
    file = user_path(path)
    if file.is_dir() or not file.exists():
        raise FileNotFoundError(f"{path} does not exist or is not a file; check the name.")
    try:
        text = file.read_text(encoding="utf-8")
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a KeepTree file: {_not_json(error)}.") from error


def _refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def check_version(version, newest, what=""):
    """Raise a ValueError unless this version of KeepTree supports ``version``."""
    if type(version) is not int or version < 1:
        raise ValueError(f"{what}its version is {version!r:.50}, not a positive whole number.")
    if version > newest:
        raise ValueError(
            f"{what}its version is {version}, and this KeepTree reads versions up to {newest}; "
            "upgrade KeepTree to read it."
        )


def digest_of(document):
    """Return the digest of JSON content, which does not depend on its layout."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(document):
    """Return a document with its digest, which reveals later changes."""
    return {**document, "digest": digest_of(document)}


def check_seal(document):
    """Return a document without its digest; a wrong digest raises a ValueError."""
    content = {name: value for name, value in document.items() if name != "digest"}
    if document.get("digest") != digest_of(content):
        raise ValueError(
            "it was changed after it was saved (its digest does not match); restore the original "
            "file."
        )
    return content


def _not_json(error):
    """Return in plain words why a file is not JSON."""
    text = getattr(error, "doc", None)
    if text is None:
        return "it is not JSON"
    if not text.strip():
        return "it is empty"
    if text.lstrip()[0] not in "{[":
        return "it is not JSON"
    rest = text[error.pos :].rstrip()
    # The text ends inside a number or a literal.
    is_last = len(rest) < 10 and not set(rest) & set('[]{}:,"')
    if error.msg.startswith("Unterminated") or (is_last and error.msg != "Extra data"):
        return "it ends unexpectedly; it may have been cut off"
    return f"it is not JSON in line {error.lineno}, column {error.colno}"


def encode(value, encode_object):
    """Convert a value to JSON-compatible data.

    Parameters
    ----------
    value : object
        Numbers, text, None, arrays, parts (:func:`~keeptree.savable.saved_part`), and tuples, lists
        and dicts of these.
    encode_object : callable
        Encodes all other values, including those inside containers, or raises an error.
    """
    value = plain(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        return _encode_array(value)
    if find_part(type(value).__name__) is type(value):
        names = getattr(value, "_fields", None) or [field.name for field in fields(value)]
        parts = {name: encode(getattr(value, name), encode_object) for name in names}
        return {"part": type(value).__name__, "fields": parts}
    if isinstance(value, tuple):
        return {"tuple": [encode(item, encode_object) for item in value]}
    if isinstance(value, list):
        return [encode(item, encode_object) for item in value]
    if isinstance(value, dict):
        pairs = value.items()
        return {"dict": [[encode(k, encode_object), encode(v, encode_object)] for k, v in pairs]}
    return encode_object(value)


def decode(data, decoders):
    """Invert :func:`encode`; any other data raise an error.

    Parameters
    ----------
    data : object
        Content of a JSON file.
    decoders : dict of str to callable
        Tag -> function that decodes a dictionary with this tag, as written by ``encode_object``.
    """
    if isinstance(data, list):
        return [decode(item, decoders) for item in data]
    if not isinstance(data, dict):
        return data
    known = [tag for tag in (*_DECODERS, *decoders) if tag in data]
    if len(known) != 1:
        raise ValueError(f"it has an entry of an unknown kind: {str(list(data))!s:.80}.")
    if known[0] in decoders:
        return decoders[known[0]](data)
    return _DECODERS[known[0]](data, decoders)


def _encode_array(array):
    if array.dtype.name not in NUMBERS:
        return {"labels": encode_labels(array)}
    values = array.ravel()
    if array.dtype == np.float32:
        values = [
            float(text) for text in values.astype(str)
        ]  # shortest text that reads back exactly
    elif array.dtype.kind == "f":
        values = values.tolist()
    else:
        values = values.astype(int).tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        values = [value if np.isfinite(value) else repr(value) for value in values]
    return {"array": array.dtype.name, "shape": list(array.shape), "values": values}


def _decode_array(data):
    name, shape, values = data["array"], data["shape"], data["values"]
    if name not in NUMBERS:
        raise ValueError(f"an array has the unknown type {name!r:.50}.")
    whole = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    if not (whole and isinstance(values, list) and len(values) == math.prod(shape)):
        raise ValueError("an array does not have its declared shape.")
    if name.startswith("float"):
        values = [_FLOATS[value] if type(value) is str else value for value in values]
    array = np.array(values) if values else np.empty(0, name)
    if values and array.dtype.kind not in ("iuf" if name.startswith("float") else "iu"):
        raise ValueError(f"an array of type {name} holds values of another type.")
    with np.errstate(over="ignore"):
        done = array.astype(name)
    fits = np.isfinite(done) == np.isfinite(array) if done.dtype.kind == "f" else done == array
    if not fits.all():
        raise ValueError(f"an array of type {name} holds a number that does not fit.")
    return done.reshape(shape)


def _decode_part(data, decoders):
    kind = find_part(data["part"])
    if kind is None:
        raise ValueError(f"it has a part {data['part']!r:.50} that this version does not know.")
    return kind(**{key: decode(value, decoders) for key, value in data["fields"].items()})


def _decode_dict(data, decoders):
    return {decode(key, decoders): decode(value, decoders) for key, value in data["dict"]}


_DECODERS = {
    "array": lambda data, _: _decode_array(data),
    "dict": _decode_dict,
    "float": lambda data, _: _FLOATS[data["float"]],
    "labels": lambda data, _: decode_labels(data["labels"]),
    "part": _decode_part,
    "tuple": lambda data, decoders: tuple(decode(item, decoders) for item in data["tuple"]),
}


def encode_labels(labels):
    """Return the type and the plain values of labels."""
    if labels.dtype.kind not in _LABEL_KINDS:
        raise ValueError(
            f"Class labels of type {labels.dtype} cannot be saved; use numbers or text."
        )
    values = check_scalars(_label_values(labels))
    # The dtype of text has the width of the longest label, so that readers can check it.
    dtype = np.array(values, dtype=str).dtype if labels.dtype.kind == "U" else labels.dtype
    return {"dtype": dtype.str, "values": values}


def decode_labels(data):
    """Return labels of the declared type; a value that the type cannot hold raises a ValueError."""
    name, values = data["dtype"], data["values"]
    if not (isinstance(name, str) and re.fullmatch(LABEL_DTYPE, name) and isinstance(values, list)):
        raise TypeError("classes must have a plain dtype and a list of values")
    if not all(map(is_scalar, values)):
        raise TypeError("a class must be a number or text")
    labels = _filled(name, values)
    same = _label_values(labels) == values and all(
        isinstance(read, bool) == isinstance(value, bool)
        for read, value in zip(labels.tolist(), values, strict=True)
    )
    if not same:
        raise TypeError(f"the classes do not fit their type {name}")
    return labels


def check_scalars(values):
    """Return plain labels; those that JSON cannot represent raise a ValueError."""
    for value in values:
        if not is_scalar(value):
            raise ValueError(
                f"The label {value!r} cannot be saved: JSON has no {type(value).__name__}; "
                "use numbers or text."
            )
    return values


def is_scalar(value):
    """Return whether a value is a number, text or None."""
    return isinstance(value, bool | int | float | str | None)


def _label_values(labels):
    return np.datetime_as_string(labels).tolist() if labels.dtype.kind == "M" else labels.tolist()


def _filled(name, values):
    try:
        if "U" not in name:
            labels = np.empty(len(values), dtype=name)
            with warnings.catch_warnings():
                # NumPy 1 wraps integers that are too large, so the caller compares the values
                warnings.simplefilter("ignore", DeprecationWarning)
                labels[:] = values
            return labels
        labels = np.array(values, dtype=str)  # a damaged width could otherwise exhaust the memory
    except ValueError as error:
        raise TypeError(f"the classes do not fit their type {name}: {error}") from error
    if labels.dtype.itemsize != np.dtype(name).itemsize:
        raise TypeError(f"the classes do not fit their type {name}")
    return labels
