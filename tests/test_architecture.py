"""Imports point one way, and the public names are fixed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import keeptree

SOURCE = Path(keeptree.__file__).parent

# A file may import from its own layer and from those before it.
LAYERS = [
    {
        "_compiled",
        "annotations",
        "blocks",
        "choice",
        "notebook",
        "output",
        "plotting",
        "progress",
        "savable",
        "temporary",
        "terminal",
        "text",
    },
    {"data", "encoding", "tree"},
    {"importers", "learners", "geometry"},
    {"probability", "explanation", "saving", "signing"},
    {"evaluation", "exporters"},
    {"reporting", "engines"},
    {"auditing"},
    {"cli", "__main__"},
]
FILES = sorted(SOURCE.rglob("*.py"))


def layer_of(part):
    return next((level for level, names in enumerate(LAYERS) if part in names), None)


def imported_modules(path):
    """Yield the modules that a file imports, at module level or inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: use absolute imports"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_parts(path):
    """Return the top-level parts of keeptree that a file imports."""
    names = [name.split(".") for name in imported_modules(path)]
    return [name[1] for name in names if name[0] == "keeptree"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if part == "__init__":
        assert imported_parts(path) == []
        return
    assert layer_of(part) is not None, f"{part} has no place in the architecture"
    for other in imported_parts(path):
        if other == "__version__":
            continue
        assert layer_of(other) is not None, f"{path.name} imports keeptree.{other}"
        assert layer_of(other) <= layer_of(part), f"{path.name} imports keeptree.{other}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_the_package_imports_nothing_from_the_rest_of_the_repository(path):
    outside = {"benchmarks", "docs", "reproduction", "tests", "tools"}
    assert outside.isdisjoint(name.split(".")[0] for name in imported_modules(path))


def test_only_modules_about_samples_import_the_tree():
    knowing = {p.stem for p in (SOURCE / "data").glob("*.py") if "tree" in imported_parts(p)}
    assert knowing <= {"observed", "reference", "sample"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_file_imports_a_private_name_of_another(path):
    ours = [name.split(".") for name in imported_modules(path) if name.startswith("keeptree.")]
    private = [name for name in ours if name[-1].startswith("_")]
    assert [name for name in private if name[-1] not in ("_compiled", "__version__")] == []


# Private names of scikit-learn and numba without a public counterpart, and the files that may use
# them.
FOREIGN = {
    "_cache": {"_compiled/jit.py"},  # numba looks for compiled code there
    "_categories": {"importers/oblique.py"},  # the categories that obliquetree has seen
    # scikit-learn checks parameters this way
    "_parameter_constraints": {"savable.py", "probability"},
}
ITSELF = {"self", "cls", "super()"}
NAMED_TUPLE = {"_fields", "_replace"}  # public despite their names


def is_private(name):
    return name.startswith("_") and not name.endswith("__") and name not in NAMED_TUPLE


def own_private_names(module):
    """Yield the private names of functions, methods, fields and attributes of a file."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield from [node.attr] if ast.unparse(node.value) == "self" else []


def asked_private_names(module):
    """Yield private names of other objects: x._name, getattr(x, "_name"), f(_name=x)."""
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ITSELF:
            yield node.attr
        elif isinstance(node, ast.Call):
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)
            if ast.unparse(node.func) in {"getattr", "hasattr", "setattr", "delattr"}:
                yield getattr(node.args[1], "value", None)


def foreign_private_names(source):
    """Return the private names that a file uses but does not define itself."""
    module = ast.parse(source)
    asked = {name for name in asked_private_names(module) if isinstance(name, str)}
    return {name for name in asked if is_private(name)} - set(own_private_names(module))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_file_uses_a_private_attribute_of_another(path):
    place = path.relative_to(SOURCE).as_posix()
    for name in foreign_private_names(path.read_text()):
        allowed = FOREIGN.get(name, set())
        assert place in allowed or path.parent.name in allowed, f"{place} uses {name}"


def test_private_attributes_are_found_however_they_are_accessed():
    asked = "x._a; getattr(x, '_b'); f(_c=1); g()._d; hasattr(self, '_e'); x._f = 1"
    assert foreign_private_names(asked) == {"_a", "_b", "_c", "_d", "_e", "_f"}
    assert not foreign_private_names("self._a; cls._b; super()._c; x._fields; x.__dict__; x.a")
    assert not foreign_private_names("def _a(x): return x._a")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_the_compiled_functions_import_numba(path):
    if "_compiled" not in path.parts:
        assert not any(name.split(".")[0] == "numba" for name in imported_modules(path))


def test_the_public_names_are_sorted_and_complete():
    assert keeptree.__all__ == sorted(keeptree.__all__)
    for name in keeptree.__all__:
        assert getattr(keeptree, name).__name__ == name
    assert set(dir(keeptree)) == {*keeptree.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'Forest'"):
        keeptree.Forest  # noqa: B018


def test_importing_the_package_loads_no_heavy_library():
    heavy = ("numpy", "sklearn", "numba")
    code = f"import sys, keeptree; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
