"""Indented lines, one per branch, into a Sketch: for every text that people or programs print."""

import warnings
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

import numpy as np

from keeptree.data.labels import sorting_order
from keeptree.importers.known import closest, did_you_mean, match_label
from keeptree.importers.sketch import Sketch, just_below
from keeptree.text import number_text
from keeptree.tree import ERROR, SHARE

_OPPOSITE = {"<=": ">", ">": "<=", "<": ">=", ">=": "<"}
_LEFT = ("<=", "<")


@dataclass
class Leaf:
    """The end of a line: a class and, where they are given, its cases.

    Attributes
    ----------
    label : object
        The class.
    column : int
        Where it stands in its line, from 1.
    weight, errors : float or None
        Cases of the leaf, and those of other classes.
    others : dict
        Cases of the classes that are named, the leaf's own included if ``weight`` is None.
    """

    label: object
    column: int
    weight: float | None = None
    errors: float | None = None
    others: dict = field(default_factory=dict)


@dataclass
class Line:
    """One branch as it was written.

    Attributes
    ----------
    number, indent : int
        Its number, from 1, and how far it is indented.
    text : str
        The condition.
    name : str or None
        The column; None for ``else``.
    sign : {"<=", ">", "<", ">=", "in", "not in", "else"}
        How the value is compared.
    value : float or tuple
        A threshold, or labels.
    columns : tuple of int
        Where name and value stand in the line, from 1.
    missing : bool
        Whether a missing value takes this branch.
    leaf : Leaf or None
        None if lines below it go on.
    """

    number: int
    indent: int
    text: str
    name: str | None
    sign: str
    value: object
    columns: tuple
    missing: bool = False
    leaf: Leaf | None = None


class OutlineError(ValueError):
    """Text that is no tree; the message names the line and the column."""

    def __init__(self, line, column, sentence):
        stop = "" if sentence.endswith("?") else "."
        super().__init__(f"line {line}, column {column}: {sentence}{stop}")


def build(lines, known=None, missing=ERROR):
    """Return the Sketch of the branches in ``lines``.

    Parameters
    ----------
    lines : list of Line
        At least two, as the text has them.
    known : Known, optional
        What the data hold: names, categories and classes are checked against it.
    missing : int
        Rule for a missing value where no branch takes it.
    """
    return _Builder(lines, known, missing).build()


def single_leaf(leaf, known=None):
    """Return the Sketch of a text that is one leaf."""
    if known is None:
        raise OutlineError(
            1, 1, "the tree is one leaf and names no column; give data, as in kt.keep(text, X, y)"
        )
    builder = _Builder([], known, ERROR)
    builder.line_of_leaf[0] = 1
    builder.leaves[0] = leaf
    return builder.finish(Sketch(known.names or len(known.categories), known.categories))


class _Builder:
    def __init__(self, lines, known, missing):
        self.lines, self.known, self.missing = lines, known, missing
        self.leaves, self.line_of_leaf = {}, {}

    def build(self):
        if self.known is not None:
            self._check_names()
        names = self._names()
        self.nominal = {line.name for line in self.lines if line.sign in ("in", "not in")}
        self.categories = {name: self._labels(name) for name in names if name in self.nominal}
        place = {name: j for j, name in enumerate(names)}
        sketch = Sketch(tuple(names), self._all_categories(names), open_columns=self.known is None)
        # Number of the node, the lines below it and what the tests above leave of each column.
        stack = [(0, 0, len(self.lines), {})]
        while stack:
            node, start, stop, above = stack.pop()
            groups = self._siblings(start, stop)
            first = self.lines[groups[0][0]]
            if first.name is None:
                self._fail(first, "expected a test; `else` can only come after one")
            for begin, _ in groups[1:]:
                self._check_sibling(first, self.lines[begin])
            split = self._nominal if first.name in self.nominal else self._numeric
            children, below = split(sketch, node, place[first.name], groups, above)
            for child, (begin, end), limits in zip(children, groups, below, strict=True):
                line = self.lines[begin]
                if line.leaf is None and begin + 1 == end:
                    self._fail(
                        line,
                        f"`{line.text}` leads nowhere; expected `: class` at its end or branches "
                        "indented below it",
                    )
                if line.leaf is not None and begin + 1 < end:
                    self._fail(
                        self.lines[begin + 1],
                        f"unexpected indentation; line {line.number} ends in the class "
                        f"`{line.leaf.label}` already",
                    )
                if line.leaf is None:
                    stack.append((child, begin + 1, end, limits))
                else:
                    self.leaves[child], self.line_of_leaf[child] = line.leaf, line.number
        return self.finish(sketch)

    def _fail(self, line, sentence, part=None):
        column = line.indent + 1 if part is None else line.columns[part]
        raise OutlineError(line.number, column, sentence)

    def _siblings(self, start, stop):
        """Ranges of lines, each a branch and what is indented below it."""
        indent = self.lines[start].indent
        begins = [start]
        for i in range(start + 1, stop):
            line = self.lines[i]
            if line.indent < indent:
                self._fail(
                    line,
                    "the indentation matches no line above; expected that of a sibling branch",
                )
            if line.indent == indent:
                begins.append(i)
        return list(zip(begins, [*begins[1:], stop], strict=True))

    def _check_names(self):
        names = self.known.names
        if names is None:
            raise ValueError("A tree written as text names its columns; give X as a data frame.")
        for line in self.lines:
            if line.name is not None and line.name not in names:
                guess = did_you_mean(line.name, names)
                listed = "" if guess else f"; the columns are {', '.join(map(repr, names[:10]))}"
                more = ", ..." if listed and len(names) > 10 else ""
                self._fail(line, f"`{line.name}` is no column{guess}{listed}{more}", 0)

    def _names(self):
        if self.known is not None:
            return list(self.known.names)
        return list(dict.fromkeys(line.name for line in self.lines if line.name is not None))

    def _all_categories(self, names):
        data = self.known.categories if self.known is not None else (None,) * len(names)
        tested = {line.name for line in self.lines}
        return tuple(
            self.categories.get(name, None if name in tested else labels)
            for name, labels in zip(names, data, strict=True)
        )

    def _labels(self, name):
        """Labels of a nominal column: those of the text in order, then the other ones of X."""
        found, lines = {}, [line for line in self.lines if line.name == name]
        for line in lines:
            if line.sign not in ("in", "not in"):
                other = next(other for other in lines if other.sign in ("in", "not in"))
                self._fail(
                    line,
                    f"`{line.text}` compares numbers, but line {other.number} lists categories "
                    f"of `{name}`",
                    1,
                )
        if any(isinstance(label, str) for line in lines for label in line.value):
            for line in lines:
                line.value = tuple(map(str, line.value))
        if self.known is None:
            return _common_order([line.value for line in lines])
        data = self.known.categories[self.known.names.index(name)]
        if data is None:  # numbers that the text takes for categories
            return _common_order([line.value for line in lines])
        for line in lines:
            line.value = tuple(match_label(label, data) for label in line.value)
        mentioned = {label for line in lines for label in line.value}
        for line in lines:
            for label in line.value:
                if label not in data and label not in found:
                    self._check_unseen(line, label, f"`{name}`", set(data) - mentioned)
                found[label] = None
        listed = _common_order([line.value for line in lines])
        return (*listed, *(label for label in data if label not in found))

    def _check_unseen(self, line, label, what, candidates):
        meant = closest(label, candidates)
        if meant is not None:
            self._fail(line, f"`{label}` is no value of {what}; did you mean `{meant}`?", 1)
        warnings.warn(
            f"line {line.number}: no row of the data has the value `{label}` of {what}.",
            stacklevel=2,
        )

    def _check_sibling(self, first, line):
        if line.name is not None and line.name != first.name:
            self._fail(
                line,
                f"expected another branch of `{first.name}`, as in line {first.number}, not a test "
                f"of `{line.name}`",
                0,
            )

    def _numeric(self, sketch, node, feature, groups, above):
        first = self.lines[groups[0][0]]
        wanted = f"{first.name} {_OPPOSITE[first.sign]} {number_text(first.value, 17)}"
        if len(groups) == 1:
            self._fail(
                first, f"`{first.text}` has no counterpart; expected a branch `{wanted}` as well"
            )
        second = self.lines[groups[1][0]]
        if second.sign != "else" and (second.sign, second.value) != (
            _OPPOSITE[first.sign],
            first.value,
        ):
            self._fail(second, f"{_misfit(first, second)}; expected `{wanted}`")
        if len(groups) > 2:
            third = self.lines[groups[2][0]]
            self._fail(third, f"`{first.name}` has its two branches already, `{third.text}` is one")
        threshold = first.value if first.sign in ("<=", ">") else just_below(first.value)
        if first.sign not in _LEFT:
            groups[:] = groups[::-1]
        missing = self._missing_branch([self.lines[begin] for begin, _ in groups])
        return sketch.numeric(node, feature, threshold, missing), [above, above]

    def _nominal(self, sketch, node, feature, groups, above):
        lines = [self.lines[begin] for begin, _ in groups]
        name, labels = lines[0].name, self.categories[lines[0].name]
        reachable = above.get(name, labels)
        taken, rest = {}, None
        for branch, line in enumerate(lines):
            if line.sign in ("else", "not in"):
                if rest is not None:
                    self._fail(line, f"line {lines[rest].number} takes all other values already")
                rest = branch
                continue
            for label in line.value:
                if label in taken:
                    other = lines[taken[label]]
                    self._fail(
                        line,
                        f"`{name} = {label}` is covered by line {other.number} already; the "
                        "branches of a test must not overlap",
                        1,
                    )
                taken[label] = branch
        if rest is not None and lines[rest].sign == "not in":
            self._check_complement(lines[rest], taken, lines)
        uncovered = [x for x in reachable if x not in taken] if rest is None else []
        if uncovered:
            listed = ", ".join(f"`{label}`" for label in uncovered[:5])
            self._fail(
                lines[0],
                f"no branch of `{name}` takes {listed}; add it to one of the branches, or add "
                "`else`",
            )
        usual = rest
        if usual is None:  # whatever cannot come here goes with a branch that can be taken
            usual = next((taken[x] for x in reachable if x in taken), 0)
        branch_of = [taken.get(label, usual) for label in labels]
        goes = dict(zip(labels, branch_of, strict=True))
        for branch, line in enumerate(lines):
            # Without data, the rest may be values that the text does not name.
            if branch not in branch_of and (branch != rest or self.known is not None):
                self._fail(line, f"no value of `{name}` is left for `{line.text}`")
        missing = self._missing_branch(lines)
        below = [
            {**above, name: tuple(x for x in reachable if goes[x] == branch)}
            for branch in range(len(lines))
        ]
        return sketch.nominal(node, feature, branch_of, missing, len(lines)), below

    def _check_complement(self, line, taken, lines):
        for label in line.value:
            if label not in taken:
                self._fail(line, f"`{line.text}` leaves out `{label}`; expected a branch for it", 1)
        for label, branch in taken.items():
            if label not in line.value:
                self._fail(
                    line,
                    f"`{line.text}` overlaps line {lines[branch].number}, which takes `{label}`",
                    1,
                )

    def _missing_branch(self, lines):
        takes = [branch for branch, line in enumerate(lines) if line.missing]
        if not takes:
            return self.missing
        if len(takes) == 1:
            return takes[0]
        if len(takes) < len(lines):
            self._fail(
                lines[takes[1]],
                "a missing value goes to one branch, or is shared among all of them; expected "
                "`or missing` on one branch or on every one",
            )
        return SHARE

    def finish(self, sketch):
        """Give the leaves their classes and, where the text has them all, their counts."""
        self._read_classes(sketch)
        position = {label: code for code, label in enumerate(sketch.classes)}
        for node, leaf in self.leaves.items():
            sketch.label[node] = position[leaf.label]
        given = [leaf.weight is not None or bool(leaf.others) for leaf in self.leaves.values()]
        if not any(given):
            return sketch
        counts = {node: _leaf_counts(leaf, position) for node, leaf in self.leaves.items()}
        if all(given) and not any(values is None for values in counts.values()):
            for node, values in counts.items():
                sketch.counts[node] = values
            sketch.source["counts"] = "the text"
        elif all(given):
            sketch.lost.append(
                "The text says how many cases of a leaf are of other classes, but not of which "
                "ones, so that its counts are not used; X and y would give them."
            )
        else:
            sketch.lost.append("Some leaves have no counts, so that those of the others are lost.")
        return sketch

    def _read_classes(self, sketch):
        data = self.known.classes if self.known is not None else ()
        found, leaves = {}, self.leaves.values()
        labels = [label for leaf in leaves for label in (leaf.label, *leaf.others)]
        # One label that is text makes all of them text, whatever they look like.
        read = str if any(isinstance(label, str) for label in labels) else (lambda label: label)
        for leaf in leaves:
            leaf.label = match_label(read(leaf.label), data)
            leaf.others = {match_label(read(label), data): n for label, n in leaf.others.items()}
        mentioned = {leaf.label for leaf in self.leaves.values()}
        for node in sorted(self.leaves, key=self.line_of_leaf.get):
            leaf = self.leaves[node]
            if self.known is not None and leaf.label not in data and leaf.label not in found:
                line = Line(self.line_of_leaf[node], 0, "", None, "", None, (0, leaf.column))
                self._check_unseen(line, leaf.label, "the target", set(data) - mentioned)
            found[leaf.label] = None
            found.update(dict.fromkeys(leaf.others))
        if self.known is None:
            labels = list(found)
            sketch.classes = [labels[i] for i in sorting_order(np.array(labels, dtype=object))]
        else:
            sketch.classes = [*data, *(label for label in found if label not in data)]


def _common_order(lists):
    """An order of all labels in which every list is in order, else that of their appearance."""
    sorter = TopologicalSorter()
    for labels in lists:
        for label, before in zip(labels, (None, *labels), strict=False):
            sorter.add(label, *(() if before is None else (before,)))
    try:
        return tuple(sorter.static_order())
    except CycleError:
        return tuple(dict.fromkeys(label for labels in lists for label in labels))


def _misfit(first, second):
    """How two numeric branches fail to divide all numbers between them."""
    if (first.sign in _LEFT) == (second.sign in _LEFT):
        return f"`{second.text}` overlaps `{first.text}` of line {first.number}"
    left, right = (first, second) if first.sign in _LEFT else (second, first)
    if right.value < left.value:
        return f"`{second.text}` overlaps `{first.text}` of line {first.number}"
    if right.value > left.value or (left.sign, right.sign) == ("<", ">"):
        return f"`{second.text}` and line {first.number} leave out values between them"
    return f"`{second.text}` overlaps `{first.text}` of line {first.number}"


def _leaf_counts(leaf, position):
    """Cases by class in the order of ``position``; None if the text does not say them all."""
    counts = [0.0] * len(position)
    for label, cases in leaf.others.items():
        counts[position[label]] = cases
    if leaf.weight is None:
        return counts
    errors = sum(leaf.others.values()) if leaf.others else leaf.errors or 0.0
    counts[position[leaf.label]] = leaf.weight - errors
    if errors and not leaf.others:
        if len(position) != 2:
            return None
        counts[1 - position[leaf.label]] = errors
    return counts
