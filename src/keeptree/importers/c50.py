"""Read C5.0 trees from ``.tree`` and ``.names`` files or from KeepTree's R script."""

import re
from pathlib import Path

import numpy as np

from keeptree.importers.c50_names import read_names
from keeptree.importers.members import choose_tree
from keeptree.importers.sketch import Sketch
from keeptree.tree import SHARE

_NOT_APPLICABLE = "N/A"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_FIELD = re.compile(rf"\s*(\w+)=({_QUOTED}(?:,{_QUOTED})*)")
_FEW = 1e-4  # weight below which C5.0 assumes no cases
_MOST_FORKS = 1_000_000


def read_tree(source, *, tree=None):
    """Return the Sketch of a ``.tree`` file with the ``.names`` file next to it.

    Parameters
    ----------
    source : Path or str
        Path of the file; text without a ``.names`` file is refused.
    tree : int, optional
        Number of the boosting trial.
    """
    names = source.with_suffix(".names") if isinstance(source, Path) else None
    if names is None or not names.is_file():
        beside = "beside it" if names is None else f"as {names.name}"
        raise ValueError(
            "C5.0 stores the columns, categories and classes of a tree in another file; put the "
            f".names file {beside}."
        )
    return _sketch(_text(source), _text(names), tree)


def read_document(document, *, tree=None):
    """Return the Sketch of a C5.0 object written by ``keeptree_write`` in R."""
    sketch = _sketch(document["tree"], document["names"], tree)
    sketch.source["library"] = f"R C50 {document['version']}"
    return sketch


def _text(path):
    return path.read_text(encoding="utf-8-sig", errors="replace")


def _sketch(text, names, tree):
    names = read_names(names)
    head, nodes = _split_lines(text)
    if "costs" in head:
        raise ValueError(
            "This tree was grown with misclassification costs, so C5.0 does not decide by the "
            "largest class; grow it without costs."
        )
    starts = _starts(nodes)
    if int(head["entries"]) != len(starts) - 1:
        raise ValueError("The file ends unexpectedly; it may have been cut off.")
    n_trees = len(starts) - 1
    number = choose_tree(tree, n_trees, "this model")
    nodes = nodes[starts[number] : starts[number + 1]]
    what = "C5.0" if n_trees == 1 else f"trial {number} of C5.0"
    sketch = Sketch(
        tuple(names.columns),
        tuple(None if labels is None else tuple(labels) for labels in names.columns.values()),
        classes=list(names.classes),
        compare_dtype="float32",  # C5.0 reads numbers as float32
        source={"model": what, "library": "C5.0", "counts": "the model"},
    )
    _Writer(sketch, nodes).write()
    return sketch


def _split_lines(text):
    """Return the fields before the first node and those of each node: ``{name: [text, ...]}``."""
    head, nodes = {}, []
    for line in filter(str.strip, text.splitlines()):
        fields, end = {}, 0
        for found in _FIELD.finditer(line):
            if found.start() != end:
                break
            values = [re.sub(r"\\(.)", r"\1", v[1:-1]) for v in re.findall(_QUOTED, found[2])]
            fields.setdefault(found[1], []).append(values)
            end = found.end()
        if line[end:].strip():
            raise ValueError(f"The line {line.strip()!r:.60} is cut off or not from C5.0.")
        if "rules" in fields:
            raise ValueError("This model is a set of rules; grow a tree (rules = FALSE).")
        if "type" in fields:
            nodes.append(fields)
        else:
            head.update((name, values[0][0]) for name, values in fields.items())
    return head, nodes


def _one(fields, name):
    [[value]] = fields[name]
    return value


def _forks(fields):
    forks = int(_one(fields, "forks")) if _one(fields, "type") != "0" else 0
    if not 0 <= forks <= _MOST_FORKS:
        raise ValueError(f"A test has {forks:,} branches, too many for a tree.")
    return forks


def _starts(nodes):
    """Return where each tree starts among the nodes, and the end of the last one."""
    starts, place = [0], 0
    while place < len(nodes):
        wanted = 1
        while wanted:
            if place == len(nodes):
                raise ValueError("The file ends unexpectedly; it may have been cut off.")
            wanted += _forks(nodes[place]) - 1
            place += 1
        starts.append(place)
    return starts


class _Writer:
    """Writes the nodes of one tree, parents first, into a Sketch."""

    def __init__(self, sketch, nodes):
        self.sketch, self.nodes = sketch, nodes
        # C5.0 breaks ties by the root's class, then by order; a Tree by declared order.
        root = sketch.classes.index(_one(nodes[0], "class"))
        self.order = sorted(range(len(sketch.classes)), key=lambda code: (code != root, code))
        sketch.classes = [sketch.classes[code] for code in self.order]

    def write(self):
        tests = {1: self._multiway, 2: self._threshold, 3: self._subsets}
        # Node of the sketch (None for a "not applicable" branch), and the counts of its parent.
        stack = [(0, None)]
        for fields in self.nodes:
            node, above = stack.pop()
            counts = self._counts(fields)
            if node is None:
                self._check_unused(fields, counts)
                continue
            kind = int(_one(fields, "type"))
            if kind == 0:
                self._leaf(node, counts, above)
                continue
            children = tests[kind](node, fields, counts)
            if len(children) != _forks(fields):
                raise ValueError(
                    f"A test of {_one(fields, 'att')!r:.80} has too few branches; the file may be "
                    "damaged."
                )
            stack += [(child, counts) for child in reversed(children)]

    def _counts(self, fields):
        if "freq" not in fields:
            return None
        counts = np.array(_one(fields, "freq").split(","), dtype=np.float64)
        if len(counts) != len(self.order):
            raise ValueError(
                f"A node has {len(counts)} counts, but the .names file has {len(self.order)} "
                "classes."
            )
        return counts[self.order]

    def _leaf(self, node, counts, above):
        """Add a leaf; a leaf without cases decides like its parent, as in a Tree."""
        empty = counts is None or counts.sum() < _FEW
        deciding = above if empty else counts
        self.sketch.counts[node] = np.zeros(len(self.order)) if empty else counts
        self.sketch.label[node] = 0 if deciding is None else int(np.argmax(deciding))

    def _check_unused(self, fields, counts):
        if _one(fields, "type") != "0" or (counts is not None and counts.any()):
            raise ValueError(
                "This tree has cases to which an attribute did not apply (N/A), a third outcome "
                "of its tests, which a Tree does not support; grow it without N/A values."
            )

    def _column(self, fields):
        return self.sketch.names.index(_one(fields, "att"))

    def _multiway(self, node, fields, counts):
        del counts
        column = self._column(fields)
        labels = self.sketch.categories[column]
        return [None, *self.sketch.nominal(node, column, range(len(labels)), SHARE)]

    def _threshold(self, node, fields, counts):
        del counts
        if "mid" in fields:
            raise ValueError(
                "This tree has fuzzy thresholds, which divide cases between both sides; grow it "
                "without them."
            )
        cut = float(np.float32(_one(fields, "cut")))
        return [None, *self.sketch.numeric(node, self._column(fields), cut, SHARE)]

    def _subsets(self, node, fields, counts):
        """Add a subset test; other categories reach an empty leaf that decides like this node."""
        column = self._column(fields)
        labels = self.sketch.categories[column]
        subsets = [subset for subset in fields["elts"] if subset != [_NOT_APPLICABLE]]
        branch = {label: k for k, subset in enumerate(subsets) for label in subset}
        if not set(branch) - {_NOT_APPLICABLE} <= set(labels):
            raise ValueError(
                f"A test of {_one(fields, 'att')!r:.80} has categories that the .names file "
                "does not list."
            )
        reached = self.sketch.reachable(node, column)
        stops = any(label in reached and label not in branch for label in labels)
        other = len(subsets) if stops else 0
        children = self.sketch.nominal(
            node, column, [branch.get(label, other) for label in labels], SHARE,
            width=len(subsets) + stops,
        )  # fmt: skip
        if stops:
            self._leaf(children[-1], None, counts)
        unused = [None] * (len(fields["elts"]) - len(subsets))
        return [*unused, *children[: len(subsets)]]
