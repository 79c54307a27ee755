"""The sample that mypy checks also runs, and every public name is annotated."""

import ast
import inspect
from importlib import import_module
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from sklearn.datasets import load_iris

import keeptree as kt
from keeptree import evaluation
from tests.typing import sample

PACKAGE = Path(kt.__file__).parent
PUBLIC = [getattr(kt, name) for name in kt.__all__]
PUBLIC += [getattr(evaluation, name) for name in evaluation.__all__]
CLASSES = [thing for thing in PUBLIC if inspect.isclass(thing)]
FUNCTIONS = [thing for thing in PUBLIC if inspect.isfunction(thing)]


def own_methods(kind):
    """Return the public functions, methods and properties of a class that KeepTree defines."""
    for name, member in inspect.getmembers(kind):
        function = getattr(member, "fget", None) or getattr(member, "func", None) or member
        function = inspect.unwrap(getattr(function, "__func__", function))
        public = name == "__init__" or name[0] != "_"
        if inspect.isfunction(function) and function.__module__.startswith("keeptree") and public:
            yield function


METHODS = sorted({method for kind in CLASSES for method in own_methods(kind)}, key=repr)


def missing_annotations(function):
    signature = inspect.signature(function)
    names = [p.name for p in signature.parameters.values() if p.annotation is p.empty]
    missing = [name for name in names if name not in ("self", "cls")]
    return missing + ["return"] * (signature.return_annotation is signature.empty)


@pytest.mark.parametrize("function", [*FUNCTIONS, *METHODS], ids=lambda f: f.__qualname__)
def test_every_public_function_is_annotated(function):
    assert missing_annotations(function) == []


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_annotations_list_the_text_values_that_a_parameter_allows(kind):
    constraints = getattr(kind, "_parameter_constraints", {})
    annotated = get_type_hints(kind.__init__) if constraints else {}
    for name, hint in annotated.items():
        options = [one.options for one in constraints.get(name, []) if hasattr(one, "options")]
        # ArrayLike includes text, so the annotation need not list "from_dtype".
        allowed = set().union(*options) - {"from_dtype"}
        assert {word for word in words(hint) if isinstance(word, str)} == allowed, name


def words(hint):
    """Return the values of the Literals in an annotation."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return [word for part in get_args(hint) for word in words(part)]


def test_the_stub_imports_every_public_name_from_its_module():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    seen = {
        alias.asname: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen.pop("evaluation") == "keeptree"
    assert sorted(seen) == kt.__all__
    for name, module in seen.items():
        assert getattr(kt, name) is getattr(import_module(module), name)
    assert (PACKAGE / "py.typed").exists()


def test_the_sample_runs(tmp_path):
    X, y = load_iris(return_X_y=True)
    tree = sample.keep_a_tree(X, y)
    assert sample.files(tmp_path, tree).digest == tree.digest
    p = sample.score_cases(tree, X, y)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
