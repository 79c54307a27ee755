"""Read one tree of a PMML document: a TreeModel, alone or in a MiningModel."""

import numpy as np

from keeptree.data.columns import AS_MISSING, REFUSED
from keeptree.importers.boosting import describe
from keeptree.importers.members import choose_tree
from keeptree.importers.pmml_fields import OTHER, Fields, read_value
from keeptree.importers.pmml_nodes import NodeWriter
from keeptree.importers.pmml_predicates import (
    PREDICATES,
    known_labels,
    read_predicate,
    tested_fields,
)
from keeptree.importers.pmml_xml import parse_xml
from keeptree.importers.sketch import Sketch

_NO_MODELS = (
    "Header", "MiningBuildTask", "DataDictionary", "TransformationDictionary", "Extension",
)  # fmt: skip
_STRATEGIES = (
    "none", "lastPrediction", "nullPrediction", "defaultChild", "weightedConfidence",
    "aggregateNodes",
)  # fmt: skip
_INSIDE = ("Regression", "DecisionTree", "EmbeddedModel")
_SHARES = (
    "The file holds the share of each class in a leaf, not the number of cases, so the Tree has "
    "no class counts; give rows to count them: kt.keep(source, X, y), or on the command line "
    "--data and --target."
)
# Names of R's pmml package before version 1.5 and since.
_R_WRITERS = ("Rattle/PMML", "SoftwareAG PMML Generator")
_DIGITS = (
    "R's pmml prints thresholds with 7 digits and separates labels by commas, so rows very close "
    "to a threshold may reach another leaf than in R."
)
_COPIES = (
    "Some branches of the file appear several times in the Tree, so their class counts are "
    "unknown; give rows to count them: kt.keep(source, X, y), or on the command line --data and "
    "--target."
)


def read_xml(content, *, tree=None):
    """Return the Sketch of one tree of a document, given as bytes or text."""
    document = parse_xml(content)
    if document.tag != "PMML":
        raise ValueError(f"This is XML of another kind (<{document.tag:.50}>), not PMML.")
    models, number, n_trees = _find_tree(document, tree)
    model = models[-1]
    fields = Fields(document, models)
    root = model.first("Node")
    if root is None:
        raise ValueError("The TreeModel has no Node.")
    nodes = list(_all_nodes(root))
    tested = {fields.find(n) for node in nodes for p in _predicates(node) for n in tested_fields(p)}
    numbers = [field for field in tested if not field.nominal]
    fields.drop_unreadable(tested)
    single = bool(numbers) and all(field.single for field in numbers)
    top = _build(root, fields, not single)
    other, asked = set(), None
    while asked is None or not asked <= other:
        other |= asked or set()
        sketch = _empty_sketch(fields, tested, top, other, single)
        sketch.source.update(describe(number, n_trees, "PMML"), library=_producer(document))
        writer = NodeWriter(
            sketch,
            dict(zip(sketch.names, sketch.categories, strict=True)),
            other, _strategy(model), model.get("noTrueChildStrategy", "returnNullPrediction"),
        )  # fmt: skip
        writer.write(top)
        asked = writer.needs_other
    _answer(sketch, writer, fields)
    sketch.lost += fields.lost
    if any(name in sketch.source["library"] for name in _R_WRITERS):
        sketch.lost.append(_DIGITS)
    return sketch


def _find_tree(document, tree):
    """Return the chosen TreeModel with its enclosing models, its index and the number of trees."""
    model = next((m for m in document.children if m.tag not in _NO_MODELS), None)
    if model is None:
        raise ValueError("The PMML has no model.")
    if model.tag == "TreeModel":
        _check_function(model)
        return [model], choose_tree(tree, 1), 1
    segmentation = model.first("Segmentation") if model.tag == "MiningModel" else None
    if segmentation is None:
        raise ValueError(f"The PMML has a {model.tag:.50}, which is not a tree; keep a TreeModel.")
    segments = segmentation.all("Segment")
    number = choose_tree(tree, len(segments), "this model")
    inside = next((m for m in segments[number].children if m.tag.endswith("Model")), None)
    if inside is None or inside.tag != "TreeModel":
        raise ValueError(f"Segment {number} has a {getattr(inside, 'tag', 'missing model'):.50}.")
    _check_function(inside)
    condition = segments[number].first(*PREDICATES)
    if condition is None or condition.tag != "True":
        raise ValueError(f"Segment {number} answers only some rows, but a Tree answers all.")
    return [model, inside], number, len(segments)


def _check_function(model):
    if model.get("functionName") != "classification":
        raise ValueError(
            f"The TreeModel has functionName={model.get('functionName')!r:.50}, which predicts "
            "numbers; keep a classification."
        )


def _strategy(model):
    strategy = model.get("missingValueStrategy", "none")
    if strategy not in _STRATEGIES:
        raise ValueError(f"missingValueStrategy={strategy!r:.50} is not in the PMML standard.")
    return strategy


def _producer(document):
    header = document.first("Header")
    application = header.first("Application") if header is not None else None
    parts = [application.get(key) for key in ("name", "version")] if application else []
    name = " ".join(filter(None, parts))
    return f"PMML, written by {name:.60}" if name else "PMML"


def _all_nodes(root):
    stack = [root]
    while stack:
        node = stack.pop()
        if (inside := node.first(*_INSIDE)) is not None:
            raise ValueError(
                f"A node has a model inside ({inside.tag}), which a Tree cannot represent."
            )
        yield node
        stack += node.all("Node")


def _predicates(node):
    found = node.all(*PREDICATES)
    if len(found) != 1:
        raise ValueError(f"Node {node.get('id')!r:.50} has {len(found)} predicates, not one.")
    return found


class _Node:
    """A PMML node: its predicate, children, default child and class."""

    def __init__(self, element, predicate):
        self.element, self.predicate, self.children = element, predicate, []
        self.distribution = element.all("ScoreDistribution")
        self.score = element.get("score")
        self.answers = self.score is not None or bool(self.distribution)
        self.default = None
        name = element.get("id")
        self.told = f"for some values below node {name!r:.50}" if name else "for some values"

    def set_default(self):
        """Set the default child, which must be one of the children."""
        name = self.element.get("defaultChild")
        ids = [child.element.get("id") for child in self.children]
        if name is not None:
            if name not in ids:
                raise ValueError(f"The default child {name!r:.50} is not a child of its node.")
            self.default = ids.index(name)


def _build(root, fields, double):
    """Return the nodes below an element, with their predicates."""
    top = _Node(root, read_predicate(_predicates(root)[0], fields, double))
    if _predicates(root)[0].tag != "True":
        raise ValueError("The first node answers only some rows, but a Tree answers all.")
    stack = [top]
    while stack:
        node = stack.pop()
        for element in node.element.all("Node"):
            predicate = read_predicate(_predicates(element)[0], fields, double)
            node.children.append(_Node(element, predicate))
        node.set_default()
        stack += node.children
    return top


def _walk(top):
    stack = [top]
    while stack:
        node = stack.pop()
        yield node
        stack += node.children[::-1]


def _empty_sketch(fields, tested, top, other, single):
    """Return a Sketch with the model's columns; nominal ones may have a category for the rest."""
    predicates = [node.predicate for node in _walk(top)]
    categories, unknown = [None] * len(fields.names), {}
    for column, name in enumerate(fields.names):
        field = fields.find(name)
        if field.nominal:
            labels = known_labels(field, predicates)
            if name in other or not labels:
                labels = (*labels, OTHER)
                unknown[column] = len(labels) - 1
            elif field.invalid == "asMissing" or field not in tested:
                unknown[column] = AS_MISSING
            else:
                unknown[column] = REFUSED
            categories[column] = labels
    return Sketch(
        tuple(fields.names),
        tuple(categories),
        compare_dtype="float32" if single else "float64",
        unknown=unknown,
    )


def _answer(sketch, writer, fields):
    """Set the classes of the leaves and, if available, their counts."""
    listed, kind = fields.classes()
    classes = dict.fromkeys(listed)
    leaves = {place: _Leaf(node, own, kind) for place, (node, own) in writer.leaves.items()}
    for leaf in leaves.values():
        classes.update(dict.fromkeys([leaf.label, *leaf.counts]))
    sketch.classes = list(classes)
    position = {label: k for k, label in enumerate(sketch.classes)}
    for place, leaf in leaves.items():
        sketch.label[place] = position[leaf.label]
    sketch.uncounted = _SHARES
    copied = any(times > 1 for times in writer.visits.values())
    if not all(leaf.counted for leaf in leaves.values()):
        return
    totals = [sum(leaf.counts.values()) for leaf in leaves.values() if not leaf.own]
    if copied or all(abs(total - 1.0) < 1e-6 for total in totals):
        sketch.uncounted = _COPIES if copied else _SHARES
        return
    sketch.uncounted = None
    for place, leaf in leaves.items():
        counts = np.zeros(len(sketch.classes))
        for label, count in leaf.counts.items():
            counts[position[label]] = count
        sketch.counts[place] = counts
    sketch.source["counts"] = "the file"


class _Leaf:
    """The class of a leaf and its cases by class.

    ``own`` marks a leaf for rows that no child takes; its training cases are those not in the
    children.
    """

    def __init__(self, node, own, kind):
        if not node.answers:
            raise ValueError(
                f"The file gives no answer {node.told}, which a Tree cannot represent."
            )
        self.own = own
        self.counts, self.counted = _counts(node, kind)
        if own:
            self.counts = _left_over(self.counts, node, kind)
        if node.score is not None:
            self.label = read_value(node.score, kind, "the score")
        else:
            self.label = max(self.counts, key=self.counts.get)


def _counts(node, kind):
    """Return the cases by class, and whether they are counts; shares are scaled by the total."""
    counts, known = {}, bool(node.distribution)
    for entry in node.distribution:
        label = read_value(entry.get("value"), kind, "a ScoreDistribution")
        record, share = entry.get("recordCount"), entry.get("probability", entry.get("confidence"))
        known = known and record is not None
        counts[label] = _number(record if record is not None else share)
    total = sum(counts.values())
    cases = node.element.get("recordCount")
    if cases is not None and abs(total - 1.0) < 1e-6 and _number(cases) > 1.0:
        # Some files give shares as counts, beside the number of cases of the node.
        counts = {label: _whole(share * _number(cases)) for label, share in counts.items()}
        known = True
    return counts, known


def _whole(count):
    """Return share x number, rounded to an integer if it is one up to rounding error."""
    return float(round(count)) if abs(count - round(count)) <= 1e-6 * max(count, 1.0) else count


def _left_over(counts, node, kind):
    left = dict(counts)
    for child in node.children:
        for label, count in _counts(child, kind)[0].items():
            left[label] = left.get(label, 0.0) - count
    fits = all(count >= -1e-6 for count in left.values())
    return {label: max(count, 0.0) if fits else 0.0 for label, count in left.items()}


def _number(text):
    number = float(text if text is not None else "nan")
    if not (np.isfinite(number) and number >= 0):
        raise ValueError(f"A count or share is {text!r:.50}, which is not a number of cases.")
    return number
