"""Generate small random PMML documents with every kind of test, reproducible by seed."""

from xml.sax.saxutils import escape, quoteattr

import numpy as np

from tests.importers.neighbours import EXTREMES, beside

COLOURS = ["red", "green", "blue", 'a "b", c']
SIZES = ["S", "M", "L"]
# name -> optype, dataType, listed values
FIELDS = {
    "a": ("continuous", "double", ()),
    "b": ("continuous", "float", ()),
    "n": ("continuous", "integer", ()),
    "colour": ("categorical", "string", COLOURS),
    "shape": ("categorical", "string", ()),
    "size": ("ordinal", "string", SIZES),
}
CLASSES = ["no", "yes", "maybe"]
STRATEGIES = [None, "none", "lastPrediction", "nullPrediction", "defaultChild"]


class RandomDocument:
    """A random tree; ``cuts`` holds the thresholds of its tests."""

    def __init__(self, seed, depth=3, version="4.4"):
        self.rng = np.random.default_rng(seed)
        self.strategy = self.rng.choice(STRATEGIES)
        self.last = self.rng.random() < 0.4
        self.cuts = {name: [] for name in FIELDS}
        self.ids = 0
        root = self._node("<True/>", depth, 1000)
        self.text = _document(root, self._fields(), self._mining(), self._model(), version)

    def _pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def _model(self):
        strategy = f' missingValueStrategy="{self.strategy}"' if self.strategy else ""
        return strategy + (' noTrueChildStrategy="returnLastPrediction"' if self.last else "")

    def _fields(self):
        return "".join(
            f'<DataField name={quoteattr(name)} optype="{optype}" dataType="{kind}">'
            + "".join(f"<Value value={quoteattr(v)}/>" for v in values)
            + "</DataField>\n"
            for name, (optype, kind, values) in FIELDS.items()
        )

    def _mining(self):
        text = ""
        for name, (optype, _, values) in FIELDS.items():
            more = ""
            if self.rng.random() < 0.2:
                value = self._pick(values or ["round"]) if optype != "continuous" else "1"
                more += f" missingValueReplacement={quoteattr(value)}"
            if values and self.rng.random() < 0.6:
                more += f' invalidValueTreatment="{self._pick(["asIs", "asMissing"])}"'
            text += f"<MiningField name={quoteattr(name)}{more}/>\n"
        return text

    def _node(self, predicate, depth, cases):
        self.ids += 1
        name, score = f"n{self.ids}", self._pick(CLASSES)
        shares = self.rng.multinomial(cases, self.rng.dirichlet(np.ones(3)))
        distribution = "".join(
            f'<ScoreDistribution value="{c}" recordCount="{k}"/>'
            for c, k in zip(CLASSES, shares, strict=True)
        )
        below, default = "", ""
        if depth and self.rng.random() < 0.85:
            predicates = self._pick(self._KINDS)(self)
            children = [self._node(p, depth - 1, cases // 2) for p in predicates]
            below = "".join(children)
            if self.strategy == "defaultChild":
                ids = [child.split('"')[1] for child in children]
                default = f' defaultChild="{self._pick(ids)}"'
        return (
            f'<Node id="{name}" score="{score}" recordCount="{cases}"{default}>'
            f"{predicate}{distribution}{below}</Node>\n"
        )

    def _value(self, name):
        if name == "n":
            value = str(int(self.rng.integers(-3, 4)))
        else:
            value = repr(float(np.round(self.rng.normal(), int(self.rng.integers(1, 17)))))
        self.cuts[name].append(float(value))
        return value

    def _simple(self, name, operator, value):
        value = quoteattr(value)
        return f'<SimplePredicate field="{name}" operator="{operator}" value={value}/>'

    def _set(self, name, labels, operator="isIn"):
        escaped = (label.replace('"', '\\"') for label in labels)
        listed = " ".join(f'"{label}"' for label in escaped)
        return (
            f'<SimpleSetPredicate field={quoteattr(name)} booleanOperator="{operator}">'
            f'<Array n="{len(labels)}" type="string">{escape(listed)}</Array></SimpleSetPredicate>'
        )

    def _join(self, operator, *parts):
        return (
            f'<CompoundPredicate booleanOperator="{operator}">{"".join(parts)}</CompoundPredicate>'
        )

    def _number(self):
        return self._pick(["a", "b", "n"])

    def _binary(self):
        name = self._number()
        value = self._value(name)
        pair = self._pick([("lessOrEqual", "greaterThan"), ("lessThan", "greaterOrEqual")])
        pair = pair[:: self._pick([1, -1])]
        return [self._simple(name, operator, value) for operator in pair]

    def _otherwise(self):
        name = self._number()
        return [
            self._simple(name, self._pick(["lessThan", "greaterThan"]), self._value(name)),
            "<True/>",
        ]

    def _incomplete(self):
        return self._otherwise()[:1] if self.last else self._binary()

    def _band(self):
        name = self._number()
        low, high = sorted((self._value(name), self._value(name)), key=float)
        inside = self._join(
            "and", self._simple(name, "greaterThan", low), self._simple(name, "lessOrEqual", high)
        )
        return [inside, "<True/>"]

    def _two_fields(self):
        first, second = self._number(), self._number()
        parts = [self._simple(f, "lessOrEqual", self._value(f)) for f in (first, second)]
        return [self._join(self._pick(["and", "or", "xor"]), *parts), "<True/>"]

    def _exact(self):
        return [self._simple("n", self._pick(["equal", "notEqual"]), self._value("n")), "<True/>"]

    def _sets(self):
        name, labels = self._pick([("colour", COLOURS), ("shape", ["round", "flat", "long"])])
        k = int(self.rng.integers(1, len(labels)))
        if self.rng.random() < 0.5:
            return [self._set(name, labels[:k]), self._set(name, labels[:k], "isNotIn")]
        return [self._set(name, labels[:k]), self._set(name, labels[k:])]

    def _multiway(self):
        return [self._simple("colour", "equal", label) for label in COLOURS]

    def _ordered(self):
        value = self._pick(SIZES[:-1])
        return [self._simple("size", s, value) for s in ("lessOrEqual", "greaterThan")]

    def _or_missing(self):
        name = self._pick(["a", "b", "colour"])
        missing = f'<SimplePredicate field="{name}" operator="isMissing"/>'
        if name == "colour":
            test = self._set(name, COLOURS[:2])
        else:
            test = self._simple(name, "lessOrEqual", self._value(name))
        return [self._join("or", missing, test), "<True/>"]

    def _apart(self):
        name = self._pick(["a", "b", "shape"])
        missing = f'<SimplePredicate field="{name}" operator="isMissing"/>'
        return [missing, f'<SimplePredicate field="{name}" operator="isNotMissing"/>']

    _KINDS = (
        _binary, _binary, _binary, _otherwise, _incomplete, _band, _two_fields, _exact, _sets,
        _sets, _multiway, _ordered, _or_missing, _apart,
    )  # fmt: skip

    def rows(self, n=150):
        """Return rows that exercise each test: dicts, without keys for missing values."""
        values = {}
        for name, (optype, kind, listed) in FIELDS.items():
            if optype != "continuous":
                values[name] = [*(listed or ["round", "flat", "long"]), "unseen", None]
            elif kind == "integer":
                near = {int(c) + d for c in self.cuts[name] for d in (-1, 0, 1)}
                values[name] = [*sorted(near), 0, 10**6, None]
            else:
                near = [x for cut in self.cuts[name] for x in beside(cut)]
                values[name] = [*near, *EXTREMES, *self.rng.normal(size=5).tolist(), None]
        return [
            {name: v for name, found in values.items() if (v := self._pick(found)) is not None}
            for _ in range(n)
        ]


def _document(root, fields, mining, model, version):
    classes = "".join(f'<Value value="{label}"/>' for label in CLASSES)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<PMML xmlns="http://www.dmg.org/PMML-{version.replace(".", "_")}" version="{version}">\n'
        '<Header><Application name="KeepTree tests"/></Header>\n'
        f"<DataDictionary>\n{fields}"
        f'<DataField name="class" optype="categorical" dataType="string">{classes}</DataField>\n'
        "</DataDictionary>\n"
        f'<TreeModel functionName="classification" splitCharacteristic="multiSplit"{model}>\n'
        f'<MiningSchema>\n{mining}<MiningField name="class" usageType="target"/>\n</MiningSchema>\n'
        f"{root}</TreeModel>\n</PMML>\n"
    )
