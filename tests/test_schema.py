"""The shipped JSON Schema agrees with the classes, accepts every file and rejects hostile ones."""

import json

import pytest
from jsonschema import Draft202012Validator

from tests.test_compatibility import STORED
from tools.format import PATH as FORMAT
from tools.format import with_table
from tools.schema import PATH, TREE_FIELDS, TREE_OPTIONAL, make_schema

SCHEMA = json.loads(PATH.read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
SHIPPED = [path for path in STORED if path.parent.name in ("model-4", "tree-1", "tree-2", "tree-3")]


def test_the_schema_matches_the_classes():
    """If this fails after saved fields have changed, run python -m tools.schema."""
    Draft202012Validator.check_schema(SCHEMA)
    assert make_schema() == SCHEMA


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_kind_of_file_is_valid(path):
    assert VALIDATOR.is_valid(json.loads(path.read_text()))


HOSTILE = {
    "another format": lambda d: d.update(format="pickle"),
    "a newer version": lambda d: d.update(version=99),
    "an unknown entry": lambda d: d.update(code="import os"),
    "no digest": lambda d: d.pop("digest"),
    "another class": lambda d: d["model"].update(model="os.system"),
    "an unknown attribute": lambda d: d["model"]["fitted"].update(evil_=1),
    "a missing attribute": lambda d: d["model"]["fitted"].pop("tree_"),
    "an unknown parameter": lambda d: d["model"]["parameters"].update(evil=1),
    "a negative count": lambda d: d["trees"][0]["counts"][0].__setitem__(0, -1),
    "a signature without a name": lambda d: d["trees"][0].update(signatures=[{"by": ""}]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_edits_are_invalid(name):
    (path,) = (path for path in SHIPPED if path.stem == "soft" and path.parent.name == "model-4")
    document = json.loads(path.read_text())
    HOSTILE[name](document)
    assert not VALIDATOR.is_valid(document)


def test_every_field_is_documented():
    """If this fails after saved fields have changed, run python -m tools.format."""
    assert with_table(FORMAT.read_text()) == FORMAT.read_text()
    missing = {name for name in (*TREE_FIELDS, *TREE_OPTIONAL) if name not in FORMAT.read_text()}
    assert not missing
