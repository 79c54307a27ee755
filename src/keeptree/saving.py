"""Fitted models as versioned JSON documents; reading one trusts nothing and runs nothing.

A class is saved by what it names in ``_saved``, its fitted attributes that cannot be derived from
others. Its bases' are saved too. ``_restore``, if it has one, checks them and derives the rest.
"""

import hashlib
import json
from dataclasses import fields
from importlib import import_module

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from keeptree import __version__
from keeptree.data.labels import plain
from keeptree.output import write_text
from keeptree.tree import Tree
from keeptree.tree.document import labels_from_dict, labels_to_dict, read_json

FORMAT, VERSION = "keeptree.Model", 3

# Frozen dataclasses and named tuples inside fitted attributes -> the file they live in.
_PARTS = {
    "DistanceCurves": "probability.distance_curves",
    "Intervals": "probability.confdtree_statistics",
    "KernelExpert": "probability.kernel_expert",
    "KernelSpace": "probability.kernel_space",
    "KernelTables": "probability.density_gaussian",
    "MarginExpert": "probability.margin",
    "Models": "_compiled.bayes_answer",
    "NodeStatistics": "probability.confdtree_statistics",
    "Observed": "data.observed",
    "Pool": "probability.pool",
    "SoftExpert": "probability.soft",
    "SoftTests": "probability.soft_tests",
    "WindowTables": "probability.density_window",
}
_NUMBERS = ("bool", "int8", "uint8", "int32", "int64", "float32", "float64")  # types of arrays
_FLOATS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}  # which JSON does not have


def save(model, path):
    """Write a fitted model to a JSON file.

    Parameters
    ----------
    model : fitted estimator
        Any classifier, learner, :class:`~keeptree.Boundary` or :class:`~keeptree.Metric` of
        KeepTree. A :class:`~keeptree.Tree` has a ``save`` of its own.
    path : str or Path
        The file; an old one is replaced only once the new one is complete.

    See Also
    --------
    load : Read it again.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> kt.save(model, path)
    >>> bool((kt.load(path).predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    trees = []
    if isinstance(model, Tree):
        raise TypeError("A Tree is not a model; save it with tree.save(path).")
    if _public_name(model) is None:
        raise TypeError(
            f"Cannot save a {type(model).__name__}: kt.save writes KeepTree's own models; for a "
            "scikit-learn tree save kt.keep(model) or a KeepTree classifier around it."
        )
    check_is_fitted(model)
    encoded = _encode(model, trees)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "kind": type(model).__name__,
        "keeptree": __version__,
        "model": encoded,
        "trees": [tree.to_dict() for tree in trees],
    }
    write_text(path, json.dumps({**document, "digest": _digest(document)}, allow_nan=False))


def load(path):
    """Read a fitted model that :func:`save` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    model : estimator
        It predicts the same to the last bit. Its ``estimator`` is the kept tree. A file that is
        damaged, of another kind or of another version is a ValueError.
    """
    document = read_json(path)
    try:
        _check_document(document)
        trees = [_read_tree(data) for data in document["trees"]]
        model = _decode(document["model"], trees)
        if not isinstance(model, BaseEstimator) or type(model).__name__ != document["kind"]:
            raise ValueError(f"it does not hold a {document['kind']!r:.50}.")
        check_is_fitted(model)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise ValueError(f"{path} cannot be read: {_reason(error)}") from error
    except (OverflowError, RecursionError, ZeroDivisionError) as error:
        raise ValueError(f"{path} is damaged; write it again with kt.save.") from error
    return model


def _read_tree(data):
    tree = Tree.from_dict(data)
    if tree.classes is not None and data["classes"] != labels_to_dict(tree.classes):
        raise ValueError("it was written by an older KeepTree; fit and save the model again.")
    return tree


def _reason(error):
    """What is wrong, without the name of an exception's class."""
    if isinstance(error, ValueError):
        return str(error)
    return f"it is damaged ({type(error).__name__}: {error}); write it again with kt.save."


def _check_document(document):
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, dict) else None
        if found == "keeptree.Tree":
            raise ValueError("it holds a tree without a model; kt.Tree.load reads it.")
        raise ValueError("it is JSON, but not a model that kt.save or keeptree fit wrote.")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its version is {version!r:.50}, not {VERSION}: damaged.")
    if version != VERSION:
        advice = (
            "it was written by a newer KeepTree; upgrade to read it"
            if version > VERSION
            else "it was written by an older KeepTree; fit and save the model again"
        )
        raise ValueError(f"its version is {version}, not {VERSION}: {advice}.")
    digest = document.pop("digest", None)
    if digest != _digest(document):
        raise ValueError(
            "it was changed after it was saved (its digest does not fit); write it again."
        )


def _digest(document):
    """Fingerprint of the content, whatever its layout: one changed digit of a number shows."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _public_name(value):
    """Name of a public estimator class of which the value is an instance (not of a subclass)."""
    name = type(value).__name__
    package = import_module("keeptree")
    known = name in package.__all__ and getattr(package, name) is type(value)
    return name if known and _saved_names(type(value)) else None


def _saved_names(kind):
    """Fitted attributes of a class and its bases."""
    return [name for base in kind.__mro__ for name in vars(base).get("_saved", ())]


def _encode(value, trees):
    """A value as JSON; Trees go to the list ``trees``, each once."""
    value = plain(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, Tree):
        place = next((k for k, tree in enumerate(trees) if tree is value), len(trees))
        if place == len(trees):
            trees.append(value)
        return {"tree": place}
    if isinstance(value, np.ndarray):
        return _encode_array(value)
    if _is_part(value):
        names = getattr(value, "_fields", None) or [field.name for field in fields(value)]
        parts = {name: _encode(getattr(value, name), trees) for name in names}
        return {"part": type(value).__name__, "fields": parts}
    if isinstance(value, tuple):
        return {"tuple": [_encode(item, trees) for item in value]}
    if isinstance(value, list):
        return [_encode(item, trees) for item in value]
    if isinstance(value, dict):
        return {"dict": [[_encode(k, trees), _encode(v, trees)] for k, v in value.items()]}
    if _public_name(value) is not None:
        return _encode_model(value, trees)
    raise ValueError(
        f"A value of type {type(value).__name__} cannot be saved as JSON ({value!r:.50}); give the "
        "model numbers, text, arrays or a keeptree object instead."
    )


def _encode_array(array):
    if array.dtype.name not in _NUMBERS:
        return {"labels": labels_to_dict(array)}
    values = array.ravel()
    if array.dtype == np.float32:
        values = [float(text) for text in values.astype(str)]  # shortest that reads back the same
    elif array.dtype.kind == "f":
        values = values.tolist()
    else:
        values = values.astype(int).tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        values = [value if np.isfinite(value) else repr(value) for value in values]
    return {"array": array.dtype.name, "shape": list(array.shape), "values": values}


def _encode_model(model, trees):
    if getattr(model, "preprocessing_", None):
        raise ValueError(
            f"The tree of this {type(model).__name__} stands at the end of a pipeline, whose steps "
            "cannot be saved as JSON; fit it to kt.keep(pipeline) and transformed columns."
        )
    parameters = getattr(model, "_parameters_to_save", model.get_params(deep=False))
    saved = _saved_names(type(model))
    fitted = {name: getattr(model, name) for name in saved if hasattr(model, name)}
    return {
        "model": type(model).__name__,
        "parameters": {name: _encode(value, trees) for name, value in parameters.items()},
        "fitted": {name: _encode(value, trees) for name, value in fitted.items()},
    }


def _is_part(value):
    home = _PARTS.get(type(value).__name__)
    return home is not None and type(value).__module__ == f"keeptree.{home}"


def _decode(data, trees):
    """The value of what :func:`_encode` wrote; anything else is a ValueError or a TypeError."""
    if isinstance(data, list):
        return [_decode(item, trees) for item in data]
    if not isinstance(data, dict):
        return data
    known = [tag for tag in _DECODERS if tag in data]
    if len(known) != 1:
        raise ValueError(f"it has an entry that is no value: {str(list(data))!s:.80}.")
    return _DECODERS[known[0]](data, trees)


def _decode_array(data, trees):
    name, shape, values = data["array"], data["shape"], data["values"]
    if name not in _NUMBERS:
        raise ValueError(f"an array of {name!r:.50} is not known.")
    whole = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    if not (whole and isinstance(values, list) and len(values) == _product(shape)):
        raise ValueError("an array does not have the shape it claims.")
    if name.startswith("float"):
        values = [_FLOATS[value] if type(value) is str else value for value in values]
    array = np.array(values) if values else np.empty(0, name)
    if values and array.dtype.kind not in ("iuf" if name.startswith("float") else "iu"):
        raise ValueError(f"an array of {name} holds something else.")
    with np.errstate(over="ignore"):
        done = array.astype(name)
    fits = np.isfinite(done) == np.isfinite(array) if done.dtype.kind == "f" else done == array
    if not fits.all():
        raise ValueError(f"an array of {name} holds a number that does not fit.")
    return done.reshape(shape)


def _product(shape):
    product = 1
    for n in shape:
        product *= n
    return product


def _decode_tree(data, trees):
    place = data["tree"]
    if type(place) is not int or not 0 <= place < len(trees):
        raise ValueError(f"it names tree {place!r:.50}, but has {len(trees)} trees.")
    return trees[place]


def _decode_part(data, trees):
    name = data["part"]
    if name not in _PARTS:
        raise ValueError(f"it has a part {name!r:.50} that this version does not know.")
    kind = getattr(import_module(f"keeptree.{_PARTS[name]}"), name)
    return kind(**{key: _decode(value, trees) for key, value in data["fields"].items()})


def _decode_model(data, trees):
    kind = _find_model(data["model"])
    given = {name: _decode(value, trees) for name, value in data["parameters"].items()}
    unknown = sorted(set(given) - set(kind._get_param_names()))
    if unknown:
        raise ValueError(f"{kind.__name__} has no parameter {unknown[0]!r:.50}.")
    model = kind(**given)
    if hasattr(kind, "_parameter_constraints"):
        model._validate_params()
    fitted = data["fitted"]
    if not fitted:
        return model  # a parameter that is an estimator, such as a metric
    names = _saved_names(kind)
    optional = {"feature_names_in_"}
    absent, unknown = set(names) - set(fitted) - optional, set(fitted) - set(names)
    if absent or unknown:
        raise ValueError(f"{kind.__name__} has not the attributes it should: {absent | unknown}.")
    for name in names:
        if name in fitted:
            setattr(model, name, _decode(fitted[name], trees))
    if hasattr(model, "_restore"):
        model._restore()
    return model


def _find_model(name):
    package = import_module("keeptree")
    kind = getattr(package, name, None) if name in package.__all__ else None
    if not isinstance(kind, type) or not _saved_names(kind):
        raise ValueError(f"{name!r:.50} is not a model that this version knows.")
    return kind


_DECODERS = {
    "array": _decode_array,
    "dict": lambda data, trees: {
        _decode(key, trees): _decode(value, trees) for key, value in data["dict"]
    },
    "float": lambda data, trees: _FLOATS[data["float"]],
    "labels": lambda data, trees: labels_from_dict(data["labels"]),
    "model": _decode_model,
    "part": _decode_part,
    "tree": _decode_tree,
    "tuple": lambda data, trees: tuple(_decode(item, trees) for item in data["tuple"]),
}
