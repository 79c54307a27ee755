"""Generate the JSON Schema of KeepTree's files from the classes: python -m tools.schema.

The schema is stored in src/keeptree/schema.json; tests/test_schema.py checks that it is current.
"""

import json
from dataclasses import fields
from inspect import signature
from pathlib import Path

import keeptree as kt
from keeptree.encoding import LABEL_DTYPE, NUMBERS
from keeptree.savable import Savable, all_parts
from keeptree.saving import OPTIONAL, VERSION
from keeptree.tree.document import VERSION as TREE_VERSION

PATH = Path(kt.__file__).parent / "schema.json"

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
SCALAR = {"type": ["number", "string", "boolean", "null"]}
DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
VALUE = {"$ref": "#/$defs/value"}
NUMBER = {"type": ["number", "null"]}


def listed(items, **more):
    """Return the schema of a list of items."""
    return {"type": "array", "items": items, **more}


def record(required, optional=(), **more):
    """Return the schema of a dictionary with exactly these entries."""
    properties = {**required, **dict(optional)}
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


TREE_FIELDS = {
    "kind": listed({"enum": [0, 1, 2, 3]}, minItems=1),
    "feature": listed({"type": "integer", "minimum": -1}),
    "threshold": listed(NUMBER),
    "child_start": listed({"type": "integer", "minimum": 0}),
    "child": listed({"type": "integer", "minimum": 1}),
    "missing": listed({"type": "integer", "minimum": -2}),
    "counts": listed(listed({"type": "number", "minimum": 0})),
    "n_features": {"type": "integer", "minimum": 1, "maximum": 10_000_000},
}
TREE_OPTIONAL = {
    "category_start": listed({"type": "integer", "minimum": 0}),
    "category_child": listed({"type": "integer", "minimum": 1}),
    "term_start": listed({"type": "integer", "minimum": 0}),
    "term_feature": listed({"type": "integer", "minimum": 0}),
    "term_weight": listed({"type": "number"}),
    "label": {"anyOf": [listed({"type": "integer", "minimum": 0}), {"type": "null"}]},
    "mean": {"anyOf": [listed({"type": "number"}), {"type": "null"}]},
    "variance": {"anyOf": [listed(NUMBER), {"type": "null"}]},
    "classes": {"anyOf": [{"$ref": "#/$defs/labels"}, {"type": "null"}]},
    "declared": listed({"type": "integer", "minimum": 0}),
    "feature_names": {"anyOf": [listed(TEXT), {"type": "null"}]},
    "categories": listed({"anyOf": [listed(SCALAR, minItems=1), {"type": "null"}]}),
    "unknown": listed({"type": "integer", "minimum": -2}),
    "compare_dtype": {"enum": ["float64", "float32"]},
    "source": {"type": "object", "additionalProperties": TEXT},
    "signatures": listed({"$ref": "#/$defs/signature"}),
}


def make_schema():
    """Return the schema as a dictionary."""
    kinds = sorted(name for name in kt.__all__ if is_savable(getattr(kt, name)))
    definitions = {
        "tree": record(
            {
                "format": {"const": "keeptree.Tree"},
                "version": {"type": "integer", "minimum": 1, "maximum": TREE_VERSION},
                **TREE_FIELDS,
            },
            {**TREE_OPTIONAL, "digest": DIGEST},
        ),
        "signature": record(
            {
                "by": {**TEXT, "minLength": 1, "maxLength": 200},
                "at": TEXT,
                "note": {**TEXT, "maxLength": 2000},
                "digest": DIGEST,
            }
        ),
        "labels": record(
            {"dtype": {**TEXT, "pattern": f"^({LABEL_DTYPE})$"}, "values": listed(SCALAR)}
        ),
        "value": {
            "anyOf": [
                SCALAR,
                listed(VALUE),
                record({"float": {"enum": ["nan", "inf", "-inf"]}}),
                record({"labels": {"$ref": "#/$defs/labels"}}),
                record({"tuple": listed(VALUE)}),
                record({"dict": listed(listed(VALUE, minItems=2, maxItems=2))}),
                record({"tree": {"type": "integer", "minimum": 0}}),
                {"$ref": "#/$defs/array"},
                *({"$ref": f"#/$defs/{name}"} for name in kinds),
                *({"$ref": f"#/$defs/{name}"} for name in sorted(all_parts())),
            ]
        },
        "array": record(
            {
                "array": {"enum": list(NUMBERS)},
                "shape": listed({"type": "integer", "minimum": 0}),
                "values": listed({"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}),
            }
        ),
        **{name: model_schema(getattr(kt, name)) for name in kinds},
        **{name: part_schema(kind) for name, kind in sorted(all_parts().items())},
    }
    model = record(
        {
            "format": {"const": "keeptree.Model"},
            "version": {"type": "integer", "minimum": 3, "maximum": VERSION},
            "kind": {"enum": kinds},
            "keeptree": TEXT,
            "model": {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]},
            "trees": listed({"$ref": "#/$defs/tree"}),
            "digest": DIGEST,
        }
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Files of KeepTree: a Tree, or a fitted model",
        "anyOf": [{"$ref": "#/$defs/tree"}, model],
        "$defs": definitions,
    }


def is_savable(kind):
    """Return whether a public name is a class of models that can be saved."""
    return isinstance(kind, type) and issubclass(kind, Savable)


def model_schema(kind):
    """Return the schema of a model: its parameters and its fitted attributes, by name."""
    fitted = kind.all_saved_fields()
    full = record(
        {name: VALUE for name in fitted if name not in OPTIONAL},
        {name: VALUE for name in fitted if name in OPTIONAL},
    )
    return record(
        {
            "model": {"const": kind.__name__},
            "parameters": record({}, dict.fromkeys(signature(kind).parameters, VALUE)),
            "fitted": {"anyOf": [full, record({})]},  # a parameter may be an unfitted model
        }
    )


def part_schema(kind):
    """Return the schema of a part; fields with a default are newer and may be absent."""
    names = getattr(kind, "_fields", None) or [field.name for field in fields(kind)]
    given = signature(kind).parameters
    optional = {name for name in names if given[name].default is not given[name].empty}
    return record(
        {
            "part": {"const": kind.__name__},
            "fields": record(
                {name: VALUE for name in names if name not in optional},
                {name: VALUE for name in names if name in optional},
            ),
        }
    )


if __name__ == "__main__":
    PATH.write_text(json.dumps(make_schema(), indent=1) + "\n")
