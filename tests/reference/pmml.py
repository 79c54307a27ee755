"""Naive evaluator of PMML tree models, written from the specification (PMML 4.4)."""

import xml.etree.ElementTree as ElementTree

import numpy as np

NAMESPACE = "{http://www.dmg.org/PMML-4_4}"


class Evaluator:
    """Scores one row at a time."""

    def __init__(self, text):
        root = ElementTree.fromstring(text.encode())
        self.model = root.find(f"{NAMESPACE}TreeModel")
        self.fields = {field.get("name"): field for field in root.iter(f"{NAMESPACE}DataField")}
        self.mining = {field.get("name"): field for field in root.iter(f"{NAMESPACE}MiningField")}
        self.strategy = self.model.get("missingValueStrategy", "none")

    def score(self, row):
        """Return the label, class probabilities and leaf id of a row; None without a prediction."""
        self.row = {name: self._prepare(name, value) for name, value in row.items()}
        return self._descend(self.model.find(f"{NAMESPACE}Node"))

    def _prepare(self, name, value):
        field, mining = self.fields[name], self.mining[name]
        if value is None:
            return None
        if field.get("optype") == "continuous":
            with np.errstate(over="ignore"):
                return float(np.float32(value)) if field.get("dataType") == "float" else value
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if text in [child.get("value") for child in field]:
            return text
        treatment = mining.get("invalidValueTreatment")
        assert treatment in ("asMissing", "asValue")
        return mining.get("invalidValueReplacement") if treatment == "asValue" else None

    def _descend(self, node):
        children = node.findall(f"{NAMESPACE}Node")
        if not children:
            parts = node.findall(f"{NAMESPACE}ScoreDistribution")
            p = {part.get("value"): float(part.get("probability")) for part in parts}
            return node.get("score"), p, node.get("id")
        verdicts = [self._holds(child[0]) for child in children]
        unknown = None in verdicts
        if unknown and self.strategy == "nullPrediction":
            return None
        if unknown and self.strategy == "defaultChild":
            return self._descend(
                next(child for child in children if child.get("id") == node.get("defaultChild"))
            )
        if unknown:
            assert self.strategy == "weightedConfidence"
            open_children = [
                c for c, verdict in zip(children, verdicts, strict=True) if verdict is None
            ]
            return self._mix(open_children)
        return self._descend(children[verdicts.index(True)])

    def _mix(self, children):
        weights = np.array([float(child.get("recordCount")) for child in children])
        # The specification leaves this open, so all children count equally.
        weights = weights if weights.any() else None
        scored = [self._descend(child)[1] for child in children]
        p = {value: np.average([p[value] for p in scored], weights=weights) for value in scored[0]}
        return max(p, key=p.get), p, None

    def _holds(self, predicate):
        """Return True, False or None for unknown."""
        kind = predicate.tag.removeprefix(NAMESPACE)
        if kind in ("True", "False"):
            return kind == "True"
        value = self.row[predicate.get("field")]
        if value is None:
            return None
        if kind == "SimpleSetPredicate":
            assert predicate.get("booleanOperator") == "isIn"
            return value in items(predicate[0].text)
        operator, threshold = predicate.get("operator"), predicate.get("value")
        if operator == "equal":
            return value == threshold
        single = self.fields[predicate.get("field")].get("dataType") == "float"
        threshold = float(np.float32(threshold)) if single else float(threshold)
        return value <= threshold if operator == "lessOrEqual" else value > threshold


def items(text):
    r"""Return the items of an Array: separated by blanks, or quoted, with \ before inner quotes.

    >>> items('"a \\"b\\"" c')
    ['a "b"', 'c']
    """
    found, at = [], 0
    while at < len(text):
        if text[at] == '"':
            item, at = "", at + 1
            while text[at] != '"':
                at += text[at] == "\\"
                item, at = item + text[at], at + 1
            found.append(item)
            at += 2
        else:
            end = text.find(" ", at)
            end = len(text) if end < 0 else end
            found.append(text[at:end])
            at = end + 1
    return found
