"""PMML 4.4: the tree with its class counts as a TreeModel."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from copy import copy
from dataclasses import replace
from importlib.util import find_spec
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from keeptree.choice import one_of
from keeptree.data.columns import AS_MISSING, REFUSED
from keeptree.exporters.check import Answers
from keeptree.exporters.plain_model import TREE_ALONE, check_exportable
from keeptree.importers.counting import set_missing
from keeptree.probability.costs import cheapest
from keeptree.probability.smoothing import SmoothedTreeClassifier
from keeptree.text import xml_safe
from keeptree.tree import ERROR, LEAF, NUMERIC, SHARE, refuse_oblique

FORMAT = "PMML"
_MOST_INDENTS = 50  # a chain of tests would be mostly blanks
_INTEGERS = 2**31  # whole numbers from here on are text: JPMML has 32 bits for them
_ENTITIES = {"\r": "&#13;"}  # a parser would read a carriage return as a line feed
_TYPES = {bool: "boolean", int: "integer", float: "double", str: "string"}


def prepare(subject, *, missing=None):
    """Return the subject with the rule for missing values to export; see :func:`write`."""
    if missing is None:
        return subject
    one_of(["majority"], missing, "rule for missing values of PMML")
    tree = subject.tree
    tree = set_missing(replace(tree, missing=tree.missing_child), "majority")
    model = copy(subject.model)
    if model is not None:
        model.tree_ = tree
    return replace(subject, tree=tree, model=model, fingerprint=tree.digest)


def write(subject, *, missing=None):
    """Return the tree as PMML.

    Parameters
    ----------
    subject : Subject
        A tree, or a model whose probabilities are constant over each leaf.
    missing : {"majority"}, optional
        By default missing values go where the tree sends them. Trees that share them among all
        children have the strategy ``weightedConfidence``, which few programs support; with
        ``"majority"`` they follow the heaviest child, which all support. That is another tree,
        with a fingerprint of its own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> from keeptree.exporters.subject import subject_of
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> text = write(subject_of(kt.C45Classifier(max_depth=1).fit(X, y)))[".pmml"]
    >>> print(text[text.index("    <Node"):])
        <Node id="0" score="0" recordCount="150">
          <True/>
    ...
          <Node id="1" score="0" recordCount="50">
            <SimplePredicate field="petal width (cm)" operator="lessOrEqual" value="0.6"/>
    ...
    """
    instead = "export to SQL, ONNX, Python, JavaScript or C"
    refuse_oblique(subject.tree, "the PMML export cannot express", instead)
    document = _Document(prepare(subject, missing=missing))
    return {".pmml": "\n".join(document.lines()) + "\n"}


def run(files, subject, rows, *, missing=None):
    """Score rows with JPMML: :class:`~keeptree.exporters.check.Answers`, or why it cannot."""
    if find_spec("jpmml_evaluator") is None:
        return "jpmml_evaluator is not installed"
    if shutil.which("java") is None:
        return "Java is not installed"
    if _strategy(subject.tree) == "weightedConfidence":
        return (
            "JPMML does not share missing values among all children, as this tree does; "
            'missing="majority" exports a tree that it can run'
        )
    document = _Document(subject)
    columns = dict(zip(subject.names, map(rows.column, range(len(subject.names))), strict=True))
    asked = {"pmml": files[".pmml"], "columns": columns}
    done = subprocess.run(
        [sys.executable, "-c", _JPMML], input=json.dumps(asked), capture_output=True, text=True
    )
    if done.returncode:
        reason = (done.stderr.strip() or "no message").splitlines()[-1]
        if done.returncode != _REJECTED:
            return f"JPMML does not run: {reason:.300}"
        raise ValueError(f"JPMML rejects the export, so nothing was written: {reason:.300}")
    answers = json.loads(done.stdout.splitlines()[-1])
    leaf = np.array([-1 if node is None else int(node) for node in answers[document.leaf]])
    p = np.array([answers[name] for name in document.probabilities], dtype=float).T
    position = {text: code for code, text in enumerate(document.classes)}
    label = [position.get(_text(value), -1) for value in answers[document.label]]
    return Answers(np.array(label), leaf, p)


# In a process of its own: a Java machine cannot be started twice in one.
_REJECTED = 3  # exit code if JPMML runs, but not with this file
_JPMML = f"""
import json, sys
import jpmml_evaluator, pandas
asked = json.load(sys.stdin)
java = jpmml_evaluator.make_backend("jpype")
try:
    evaluator = jpmml_evaluator.make_evaluator(asked["pmml"].encode(), java)
    columns = {{name: pandas.Series(v, dtype=object) for name, v in asked["columns"].items()}}
    found = evaluator.evaluateAll(pandas.DataFrame(columns))
    if "errors" in found and found["errors"].notna().any():
        raise ValueError(found["errors"].dropna().iloc[0])
except Exception as error:
    print(" ".join(str(error).split()), file=sys.stderr)
    sys.exit({_REJECTED})
print(json.dumps({{name: found[name].tolist() for name in found}}, default=str))
"""


class _Document:
    """The tree as lines of XML, written without recursion: a chain of tests is a tree too."""

    def __init__(self, subject):
        self.subject, self.tree = subject, subject.tree
        self.values = _node_values(subject)
        self.strategy = _strategy(self.tree)
        _check_names(subject)
        self.classes = _distinct(subject.classes, "Classes")
        self.categories = [
            None if labels is None else _distinct(labels, f"Column {name!r}")
            for name, labels in zip(subject.names, self.tree.categories, strict=True)
        ]
        taken = set(subject.names)
        self.target, self.label, self.leaf = (
            _free(name, taken) for name in ("target", "label", "leaf")
        )
        self.probabilities = [_free(f"probability({text})", taken) for text in self.classes]
        check_exportable(subject.model)
        if subject.decides_by_tree:
            self.score = self.tree.label
        elif (costs := subject.model.cost_matrix) is not None:
            self.score = cheapest(self.values, costs)
        else:
            self.score = self.values.argmax(axis=1)

    def lines(self):
        """All lines of the file."""
        origin = self.subject.origin
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield f"<!-- {origin} -->"
        yield '<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">'
        yield _open("  ", "Header", description=origin)
        fingerprint = {"name": "keeptree_fingerprint", "value": self.subject.fingerprint}
        yield _element("    ", "Extension", **fingerprint)
        yield _element("    ", "Application", name="KeepTree", version=self.subject.version)
        yield "  </Header>"
        yield from self._dictionary()
        yield from self._model()
        yield "</PMML>"

    def _dictionary(self):
        yield _open("  ", "DataDictionary", numberOfFields=self.tree.n_features + 1)
        number = "float" if self.tree.compare_dtype == "float32" else "double"
        for f, (name, labels) in enumerate(
            zip(self.subject.names, self.tree.categories, strict=True)
        ):
            if labels is None:
                yield _element("    ", "DataField", name=name, optype="continuous", dataType=number)
            else:
                yield from _categorical(name, self.categories[f], _type(labels))
        yield from _categorical(self.target, self.classes, _type(self.subject.classes))
        yield "  </DataDictionary>"

    def _model(self):
        widths = np.diff(self.tree.child_start)[self.tree.kind != LEAF]
        yield _open(
            "  ",
            "TreeModel",
            modelName=self.subject.kind,
            functionName="classification",
            missingValueStrategy=self.strategy,
            splitCharacteristic="binarySplit" if (widths == 2).all() else "multiSplit",
        )
        yield "    <MiningSchema>"
        for f in range(self.tree.n_features):
            yield _element("      ", "MiningField", **self._mining(f))
        yield _element("      ", "MiningField", name=self.target, usageType="target")
        yield "    </MiningSchema>"
        yield "    <Output>"
        yield from self._output()
        yield "    </Output>"
        yield from self._nodes()
        yield "  </TreeModel>"

    def _mining(self, f):
        """Declare how a column is used and how an unseen category is treated."""
        unknown, labels = int(self.tree.unknown[f]), self.tree.categories[f]
        field = {"name": self.subject.names[f]}
        if labels is None or unknown == REFUSED:
            return {**field, "invalidValueTreatment": "returnInvalid"}
        if unknown == AS_MISSING:
            return {**field, "invalidValueTreatment": "asMissing"}
        replacement = {"invalidValueReplacement": _text(labels[unknown])}
        return {**field, "invalidValueTreatment": "asValue", **replacement}

    def _output(self):
        kind, number = _type(self.subject.classes), {"optype": "continuous", "dataType": "double"}
        label = {"optype": "categorical", "dataType": kind, "feature": "predictedValue"}
        yield _element("      ", "OutputField", name=self.label, **label)
        for name, text in zip(self.probabilities, self.classes, strict=True):
            feature = {"feature": "probability", "value": text}
            yield _element("      ", "OutputField", name=name, **number, **feature)
        leaf = {"optype": "categorical", "dataType": "string", "feature": "entityId"}
        yield _element("      ", "OutputField", name=self.leaf, **leaf)

    def _nodes(self):
        """Return the lines of the nodes, each inside its parent."""
        stack = [(0, False)]
        while stack:
            node, done = stack.pop()
            indent = "  " * (2 + min(int(self.tree.depth[node]), _MOST_INDENTS))
            if done:
                yield f"{indent}</Node>"
                continue
            yield from self._node(node, indent)
            stack.append((node, True))
            stack.extend((child, False) for child in self.tree.children(node)[::-1].tolist())

    def _node(self, node, indent):
        tree, about = self.tree, {}
        if self.strategy == "defaultChild" and tree.kind[node] != LEAF and tree.missing[node] >= 0:
            about["defaultChild"] = int(tree.missing[node])
        yield _open(
            indent,
            "Node",
            id=node,
            score=self.classes[self.score[node]],
            recordCount=_number(tree.weight[node]),
            **about,
        )
        yield f"{indent}  {self._predicate(node)}"
        for text, n, p in zip(self.classes, tree.counts[node], self.values[node], strict=True):
            shares = {"confidence": _number(p), "probability": _number(p)}
            yield _element(
                f"{indent}  ", "ScoreDistribution", value=text, recordCount=_number(n), **shares
            )

    def _predicate(self, node):
        tree = self.tree
        if node == 0:
            return "<True/>"
        above = int(tree.parent[node])
        f = int(tree.feature[above])
        name = self.subject.names[f]
        if tree.kind[above] == NUMERIC:
            operator = "lessOrEqual" if node == tree.children(above)[0] else "greaterThan"
            return _simple(name, operator, self._threshold(above))
        codes = np.flatnonzero(tree.category_children(above) == node)
        taken = [self.categories[f][code] for code in codes.tolist()]
        if not taken:
            return "<False/>"  # only missing values go there
        if len(taken) == 1:
            return _simple(name, "equal", taken[0])
        quoted = " ".join(f'"{_escaped(text)}"' for text in taken)
        array = f'<Array n="{len(taken)}" type="string">{escape(quoted, _ENTITIES)}</Array>'
        if _type(tree.categories[f]) == "integer":
            array = f'<Array n="{len(taken)}" type="int">{" ".join(taken)}</Array>'
        return (
            f'<SimpleSetPredicate field={quoteattr(name)} booleanOperator="isIn">{array}'
            "</SimpleSetPredicate>"
        )

    def _threshold(self, node):
        """A threshold with all digits; a float field compares with the next smaller float32."""
        threshold = self.tree.threshold[node]
        if self.tree.compare_dtype != "float32":
            return _number(threshold)
        with np.errstate(over="ignore"):
            single = np.float32(threshold)
        if single > threshold:
            single = np.nextafter(single, np.float32(-np.inf))
        return _number(single)


def _node_values(subject):
    """Return node probabilities; raise a ValueError if they are not constant over leaves."""
    if subject.model is None:
        return subject.tree.proportions
    if type(subject.model) is SmoothedTreeClassifier:
        return subject.model.node_probabilities_
    raise ValueError(
        f"PMML can only express leaf probabilities, not a {subject.kind}; export "
        f"{TREE_ALONE} or a SmoothedTreeClassifier, or export this model to ONNX."
    )


def _strategy(tree):
    """Return the PMML strategy for missing values; raise a ValueError if the tree has several."""
    rules = {int(min(rule, 0)) for rule in tree.missing[tree.kind != LEAF]}
    if not rules or rules == {ERROR}:
        return "nullPrediction"
    if rules == {SHARE}:
        return "weightedConfidence"
    if rules == {0}:
        return "defaultChild"
    raise ValueError(
        "The tests of this tree have different rules for missing values, but PMML has one for the "
        'whole tree; use missing="majority" (--missing majority).'
    )


def _check_names(subject):
    """Raise a ValueError for a name, category or class that XML cannot hold, or a name twice."""
    for labels in (subject.names, subject.classes, *filter(None, subject.tree.categories)):
        for label in labels:
            if xml_safe(str(label)) != str(label):
                raise ValueError(f"PMML is XML, which cannot hold {label!r:.80}; rename it.")
    if "" in subject.names:
        raise ValueError("A column has an empty name, which PMML does not allow; rename it.")
    name, times = Counter(subject.names).most_common(1)[0]
    if times > 1:
        raise ValueError(
            f"Two columns are called {name!r}, but PMML fields need unique names; rename one."
        )


def _distinct(labels, what):
    """Labels as text; a ValueError if two read the same."""
    texts = [_text(label) for label in labels]
    text, times = Counter(texts).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{what}: two labels read {text!r} in PMML; give them different names.")
    return texts


def _text(label):
    return str(label).lower() if isinstance(label, bool) else str(label)


def _type(labels):
    kinds = {type(label) for label in labels}
    is_large = kinds == {int} and max(map(abs, labels)) >= _INTEGERS
    return "string" if len(kinds) > 1 or is_large else _TYPES.get(kinds.pop(), "string")


def _number(value):
    """The shortest text that reads back as the same number."""
    if np.isinf(value):
        return "INF" if value > 0 else "-INF"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value)) if value or not np.signbit(value) else "-0.0"
    return str(value)


def _free(name, taken):
    """Return a name that no field has yet."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _escaped(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _simple(name, operator, value):
    return _element("", "SimplePredicate", field=name, operator=operator, value=value)


def _categorical(name, texts, kind):
    yield _open("    ", "DataField", name=name, optype="categorical", dataType=kind)
    for text in texts:
        yield _element("      ", "Value", value=text)
    yield "    </DataField>"


def _open(indent, tag, **attributes):
    told = "".join(f" {name}={quoteattr(str(value))}" for name, value in attributes.items())
    return f"{indent}<{tag}{told}>"


def _element(indent, tag, **attributes):
    return f"{_open(indent, tag, **attributes)[:-1]}/>"
