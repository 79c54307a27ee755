"""Save and load trees and fitted models as versioned JSON, without executing any code.

Classes declare what they save (:mod:`keeptree.savable`); values are written by
:mod:`keeptree.encoding`.
"""

import json
from importlib import import_module
from inspect import signature
from textwrap import shorten
from typing import Any

from sklearn.utils.validation import check_is_fitted

from keeptree import __version__
from keeptree.annotations import Filename
from keeptree.encoding import (
    check_seal,
    check_version,
    decode,
    encode,
    read_json,
    sealed,
    write_json,
)
from keeptree.savable import Savable
from keeptree.tree import Tree
from keeptree.tree.document import FORMAT as TREE_FORMAT
from keeptree.tree.document import unsealed
from keeptree.tree.signature import warn_foreign_signatures

FORMAT, VERSION = "keeptree.Model", 4
_OLDEST = 3  # earlier versions of the format were never released
OPTIONAL = {
    "feature_names_in_",
    "calibration_",
    "class_names_",
    "expected_",
    "grid_",
    "notation_",
    "profiles_",
    "reference_",
    "spread_",
}  # fitted attributes that a file may lack
_RENAMED = {("smoothing", "raw"): "leaves"}  # new names of parameter values in older files


def save(model: Any, path: Filename) -> None:
    """Write a tree or a fitted model to a JSON file.

    Parameters
    ----------
    model : Tree or fitted estimator
        A :class:`~keeptree.Tree`, or any classifier, learner, :class:`~keeptree.Boundary` or
        :class:`~keeptree.Metric` of KeepTree.
    path : str or Path
        File to write; an old file is replaced only when the new one is complete.

    See Also
    --------
    load : Read the file.

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
    write_json(sealed(to_document(model)), path)


def load(path: Filename) -> Any:
    """Read a tree or a fitted model written by :func:`save`.

    Parameters
    ----------
    path : str or Path
        File written by :func:`save`.

    Returns
    -------
    model : Tree or estimator
        The saved object, whose predictions are the same to the last bit. The ``estimator`` of a
        loaded classifier is the kept tree.

    Raises
    ------
    ValueError
        If the file is damaged, or of another kind or version.

    See Also
    --------
    save : Write the file.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> model = kt.C45Classifier().fit(*load_iris(return_X_y=True))
    >>> kt.save(model, "model.json")
    >>> kt.load("model.json").tree_
    Tree(5 leaves, depth 4, 3 classes, 4 features, from C45Classifier)
    """
    return _read_document(read_json(path), path)


def to_json(model):
    """Return the text that :func:`save` writes for a tree or a fitted model."""
    return json.dumps(sealed(to_document(model)), allow_nan=False)


def from_json(text):
    """Return the tree or model from a text of :func:`to_json`."""
    return _read_document(json.loads(text), "The model")


def _read_document(document, path):
    try:
        is_tree = isinstance(document, dict) and document.get("format") == TREE_FORMAT
        model = Tree.from_dict(unsealed(document)) if is_tree else _dict_to_model(document)
        tree = tree_of(model)
        if tree is not None:
            warn_foreign_signatures(tree, path)
        return model
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise ValueError(f"{path} cannot be read: {_reason(error)}") from error
    except (OverflowError, RecursionError, ZeroDivisionError) as error:
        raise ValueError(f"{path} is damaged; write it again with kt.save.") from error


def to_document(model):
    """Return the JSON document of a tree or a fitted model, without the digest."""
    return model.to_dict() if isinstance(model, Tree) else _model_to_dict(model)


def tree_of(model):
    """Return the Tree that a model keeps; None if it has several."""
    return model if isinstance(model, Tree) else getattr(model, "tree_", None)


def _reason(error):
    """Describe an error in one line, without the name of the exception."""
    if isinstance(error, ValueError):
        return shorten(" ".join(str(error).split()), 300, placeholder=" ...")
    return f"it is damaged ({type(error).__name__}: {error}); write it again with kt.save."


def _model_to_dict(model):
    if not _is_savable(model):
        raise TypeError(
            f"Cannot save a {type(model).__name__}: kt.save writes KeepTree's own models; for a "
            "scikit-learn tree save kt.keep(model) or a KeepTree classifier around it."
        )
    check_is_fitted(model)
    trees = []
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": type(model).__name__,
        "keeptree": __version__,
        "model": _Encoder(trees)(model),
        "trees": [tree.to_dict() for tree in trees],
    }


def _dict_to_model(document):
    content = _check_document(document)
    trees = [Tree.from_dict(data) for data in content["trees"]]
    model = _Decoder(trees, content["version"])(content["model"])
    if not isinstance(model, Savable) or type(model).__name__ != content["kind"]:
        raise ValueError(f"its content is not a {content['kind']!r:.50}.")
    check_is_fitted(model)
    return model


def _check_document(document):
    """Return the content of an intact model file of a supported version."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError("it is JSON, but not a model that kt.save or keeptree fit wrote.")
    version = document.get("version")
    check_version(version, VERSION)
    if version < _OLDEST:
        raise ValueError(
            f"its version is {version}, which was never released; fit and save the model again."
        )
    return check_seal(document)


def _is_savable(value):
    """Return whether a value is an instance of a savable public class, not of a subclass."""
    return isinstance(value, Savable) and _find_class(type(value).__name__) is type(value)


def _find_class(name):
    """Return the public class of a model by its name, or None."""
    package = import_module("keeptree")
    kind = getattr(package, name) if name in package.__all__ else None
    return kind if isinstance(kind, type) and issubclass(kind, Savable) else None


def _renamed(name, value):
    """Return the current name of a parameter value of an older file."""
    return _RENAMED.get((name, value), value) if isinstance(value, str) else value


class _Encoder:
    """Encodes values that contain models and Trees; each Tree is stored once."""

    def __init__(self, trees):
        self.trees = trees

    def __call__(self, value):
        return encode(value, self.encode_object)

    def encode_object(self, value):
        if isinstance(value, Tree):
            return {"tree": self.place(value)}
        if _is_savable(value):
            return self.encode_model(value)
        raise ValueError(
            f"A value of type {type(value).__name__} cannot be saved as JSON ({value!r:.50}); give "
            "the model numbers, text, arrays or a keeptree object instead."
        )

    def place(self, tree):
        found = next((k for k, other in enumerate(self.trees) if other is tree), len(self.trees))
        if found == len(self.trees):
            self.trees.append(tree)
        return found

    def encode_model(self, model):
        fitted = {n: vars(model)[n] for n in model.all_saved_fields() if n in vars(model)}
        return {
            "model": type(model).__name__,
            "parameters": {name: self(value) for name, value in model.saved_parameters.items()},
            "fitted": {name: self(value) for name, value in fitted.items()},
        }


class _Decoder:
    """Decodes values, given the Trees and the version of the file."""

    def __init__(self, trees, version):
        self.trees, self.version = trees, version

    def __call__(self, data):
        return decode(data, {"tree": self.decode_tree, "model": self.decode_model})

    def decode_tree(self, data):
        place = data["tree"]
        if type(place) is not int or not 0 <= place < len(self.trees):
            raise ValueError(f"it refers to tree {place!r:.50}, but has {len(self.trees)} trees.")
        return self.trees[place]

    def decode_model(self, data):
        kind = _find_class(data["model"])
        if kind is None:
            raise ValueError(f"{data['model']!r:.50} is not a model that this version knows.")
        if set(data) != {"model", "parameters", "fitted"}:
            raise ValueError(f"it has a {kind.__name__} with missing or unexpected entries.")
        given = {name: _renamed(name, self(value)) for name, value in data["parameters"].items()}
        fitted = {name: self(value) for name, value in data["fitted"].items()}
        if self.version < VERSION:
            given, fitted = kind.upgrade(given, fitted, self.version)
        unknown = sorted(set(given) - set(signature(kind).parameters))
        if unknown:
            raise ValueError(
                f"{kind.__name__} has no parameter {unknown[0]!r:.50} in this version of KeepTree; "
                "fit and save the model again."
            )
        model = kind(**given)
        model.check_parameters()
        if fitted:  # a metric that is only a parameter is not fitted
            _set_fitted(model, fitted)
        return model


def _set_fitted(model, fitted):
    kind = type(model)
    names = kind.all_saved_fields()
    wrong = set(names) ^ set(fitted)
    if wrong - (OPTIONAL & set(names)):
        raise ValueError(
            f"{kind.__name__} has missing or unexpected fitted attributes: {sorted(wrong)}."
        )
    for name in names:
        if name in fitted:
            setattr(model, name, fitted[name])
    model.check_loaded()
