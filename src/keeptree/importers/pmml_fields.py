"""Fields of a PMML model: their columns, types and treatment of invalid values."""

from dataclasses import dataclass, replace

import numpy as np

_NUMBERS = ("integer", "float", "double")
_NOMINAL = ("categorical", "ordinal")
_TYPES = (*_NUMBERS, "string", "boolean")
OTHER = "(other)"  # stands for all labels that are not listed


@dataclass(frozen=True)
class Field:
    """A field that predicates may test.

    Attributes
    ----------
    name : str
        Name of the column.
    type : str
        ``dataType`` of its values.
    nominal, ordinal : bool
        Whether it has categories, and whether they are ordered.
    values : tuple
        Listed valid values; may be empty.
    single : bool
        Whether numbers are rounded to float32 before they are compared.
    invalid : {"returnInvalid", "asMissing", "asIs"}
        Treatment of invalid values.
    replacement : object
        Replacement of missing values, or None.
    refuses_missing : bool
        Whether missing values are refused.
    """

    name: str
    type: str
    nominal: bool
    ordinal: bool
    values: tuple
    single: bool
    invalid: str = "returnInvalid"
    replacement: object = None
    refuses_missing: bool = False

    def read(self, text):
        """Return a value of this field, parsed from text."""
        return read_value(text, self.type, self.name, self.nominal)


def read_value(text, kind, name, nominal=True):
    """Return a label or, if the field is not nominal, a finite number."""
    if text is None:
        raise ValueError(f"A test of {name!r:.80} has no value.")
    if kind == "string" and nominal:
        return text
    if kind == "boolean":
        return text.strip().lower() in ("true", "1")
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{text!r:.50} is not a number, but {name!r:.80} is numeric.") from None
    if not np.isfinite(number):
        raise ValueError(f"{name!r:.80} is compared with {text!r:.50}, which is not finite.")
    return int(number) if kind == "integer" and number.is_integer() else number


class Fields:
    """The fields of a document and of a model in it.

    Parameters
    ----------
    document : Element
        Root of the document.
    models : list of Element
        Enclosing models and the model itself, outermost first.
    """

    def __init__(self, document, models):
        dictionary = document.first("DataDictionary")
        if dictionary is None:
            raise ValueError("The PMML has no DataDictionary.")
        self._declared = {f.get("name"): f for f in dictionary.all("DataField")}
        self._derived = {}
        for place in (document.first("TransformationDictionary"), *_local(models)):
            for field in place.all("DerivedField") if place is not None else ():
                self._derived[field.get("name")] = field
        self._mining = {}
        self.names, self.target, self.lost = [], None, []
        for model in models:
            self._read_schema(model.first("MiningSchema"))
        if not self.names:
            raise ValueError("The model has no active field in its MiningSchema.")
        self._known = {}

    def _read_schema(self, schema):
        for field in schema.all("MiningField") if schema is not None else ():
            name, usage = field.get("name"), field.get("usageType", "active")
            known = self._mining.setdefault(name, {})
            known.update({key: v for key, v in field.attributes.items() if key not in known})
            if usage in ("predicted", "target"):
                self.target = name
            elif usage == "active" and name in self._declared and name not in self.names:
                self.names.append(name)

    def find(self, name):
        """Return the Field of a predicate; derived fields are traced to their column."""
        if name not in self._known:
            self._known[name] = self._resolve(name, 0)
        return self._known[name]

    def drop_unreadable(self, tested):
        """Drop columns of unsupported types that no test needs."""
        needed = {field.name for field in tested}
        for name in [name for name in self.names if name not in needed]:
            try:
                self.find(name)
            except ValueError:
                self.names.remove(name)

    def _resolve(self, name, depth):
        if name in self._derived and depth < 100:
            return self._derive(self._derived[name], depth)
        if name not in self._declared or name not in self.names:
            raise ValueError(f"A test names the field {name!r:.80}, which is not an active field.")
        return self._declare(self._declared[name], self._mining.get(name, {}))

    def _derive(self, field, depth):
        """Resolve a derived field that renames another one or rounds it to float32."""
        name, kind = field.get("name"), field.get("dataType")
        found = [child for child in field.children if child.tag not in ("Extension", "Value")]
        expression = found[0] if len(found) == 1 else None
        simple = expression is not None and expression.tag == "FieldRef"
        if not simple or expression.get("mapMissingTo") is not None:
            shown = (
                "FieldRef with mapMissingTo" if simple else getattr(expression, "tag", "nothing")
            )
            raise ValueError(
                f"The tree tests the derived field {name!r:.80} ({shown:.50}), which is computed "
                "from the columns; only renamed fields and casts to float are read."
            )
        inner = self._resolve(expression.get("field"), depth + 1)
        if kind in ("float", "double") and inner.type in _NUMBERS and not inner.nominal:
            return replace(inner, type=kind, single=inner.single or kind == "float")
        if kind != inner.type:
            raise ValueError(
                f"The derived field {name!r:.80} converts {inner.type} to {kind}, which is not "
                "supported."
            )
        return inner

    def _declare(self, field, mining):
        name, kind, optype = field.get("name"), field.get("dataType"), field.get("optype")
        if kind not in _TYPES:
            raise ValueError(
                f"{name!r:.80} holds values of type {kind!s:.50}, which is not supported."
            )
        nominal = optype in _NOMINAL or kind in ("string", "boolean")
        listed = field.all("Value")
        valid = [v for v in listed if v.get("property", "valid") == "valid"]
        values = tuple(dict.fromkeys(read_value(v.get("value"), kind, name) for v in valid))
        invalid = mining.get("invalidValueTreatment", "returnInvalid")
        if invalid not in ("returnInvalid", "asMissing", "asIs"):
            raise ValueError(
                f"invalidValueTreatment={invalid!r:.50} of {name!r:.80} is not supported."
            )
        if mining.get("outliers", "asIs") != "asIs":
            raise ValueError(f"The model changes outliers of {name!r:.80}, which is not supported.")
        if any(v.get("property") == "missing" for v in listed):
            if not nominal:
                raise ValueError(
                    f"A number represents missing values of {name!r:.80}, which a Tree cannot "
                    "represent."
                )
            invalid = "asMissing"  # an invalid label counts as a missing value
        self._check_interval(name, field.all("Interval"), invalid, nominal)
        text = mining.get("missingValueReplacement")
        return Field(
            name, kind, nominal, optype == "ordinal", values if nominal else (), kind == "float",
            invalid, None if text is None else read_value(text, kind, name, nominal),
            mining.get("missingValueTreatment") == "returnInvalid",
        )  # fmt: skip

    def _check_interval(self, name, intervals, invalid, nominal):
        if not intervals or nominal or invalid == "asIs":
            return
        if invalid == "asMissing":
            raise ValueError(
                f"Values of {name!r:.80} outside an interval count as missing, which a Tree cannot "
                "represent."
            )
        self.lost.append(
            f"The file refuses values of {name!r:.80} outside its interval; the Tree accepts them."
        )

    def classes(self):
        """Return the listed labels of the target, and its type."""
        field = self._declared.get(self.target)
        if field is None:
            return (), "string"
        kind = field.get("dataType", "string")
        listed = [v for v in field.all("Value") if v.get("property", "valid") == "valid"]
        return tuple(read_value(v.get("value"), kind, self.target) for v in listed), kind


def _local(models):
    return [model.first("LocalTransformations") for model in models]
