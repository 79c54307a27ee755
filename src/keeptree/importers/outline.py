"""Build a Sketch from indented lines, one per branch."""

import sys
from graphlib import CycleError, TopologicalSorter

from keeptree.data.columns import REFUSED
from keeptree.data.labels import other_label
from keeptree.importers.known import did_you_mean, match_label
from keeptree.importers.leaves import give_classes
from keeptree.importers.line import OutlineError, check_absent
from keeptree.importers.sketch import Sketch, just_below
from keeptree.text import number_text
from keeptree.tree import ERROR, SHARE

_OPPOSITE = {
    "<=": ">", ">": "<=", "<": ">=", ">=": "<", "is known": "is missing", "is missing": "is known",
}  # fmt: skip
_LEFT = ("<=", "<", "is known")
_NUMBERS = ("<=", "<", ">", ">=")
_LISTS = ("in", "not in", "is unseen")  # signs that only nominal columns have
_IS = ("is known", "is missing")
_REST = ("else", "not in", "is known")  # signs that stand for all remaining values
_LARGEST = sys.float_info.max  # threshold of a test for missing values, because no number is larger


def build(lines, known=None, missing=ERROR, refused=(), compare_dtype="float64"):
    """Return the Sketch of the branches in ``lines``.

    Parameters
    ----------
    lines : list of Line
        Lines of the text, at least two.
    known : Known, optional
        Labels of the data, to check names, categories and classes against.
    missing : int
        Rule for a missing value where no branch takes it.
    refused : sequence of Line
        Lines that name columns whose unknown categories raise an error.
    compare_dtype : {"float64", "float32"}
        Type to which values are rounded before comparison.
    """
    sketch = _Builder(lines, known, missing, refused).build()
    sketch.compare_dtype = compare_dtype
    return sketch


def single_leaf(leaf, known=None):
    """Return the Sketch of a single leaf."""
    if known is None:
        raise OutlineError(
            1, 1, "the tree is one leaf and names no column; give data, as in kt.keep(text, X, y)"
        )
    sketch = Sketch(known.names or len(known.categories), known.categories)
    give_classes(sketch, {0: (leaf, 1)}, known)
    return sketch


class _Builder:
    def __init__(self, lines, known, missing, refused):
        self.lines, self.known, self.missing, self.refused = lines, known, missing, refused
        self.leaves = {}

    def build(self):
        if self.known is not None:
            self._check_names()
        names = self._names()
        self.place = {name: j for j, name in enumerate(names)}
        self.nominal = self._nominal_names()
        self.categories = {name: self._labels(name) for name in names if name in self.nominal}
        # The last category of a column stands for unknown ones. _close removes it if no branch
        # takes them, or if a test that they reach has no branch for them.
        self.other = {name: other_label(labels) for name, labels in self.categories.items()}
        self.categories = {n: (*labels, self.other[n]) for n, labels in self.categories.items()}
        self.open, self.closed = set(), set()
        self.marked = {line.name: line for line in reversed(self.lines) if line.unseen}
        sketch = Sketch(tuple(names), self._all_categories(names), open_columns=self.known is None)
        # Each task is a node, the lines below it, and the values of each column that can reach it.
        stack = [(0, 0, len(self.lines), {})]
        while stack:
            node, start, stop, above = stack.pop()
            groups = self._siblings(start, stop)
            children, below = self._split(sketch, node, groups, above)
            for child, (begin, end), limits in zip(children, groups, below, strict=True):
                if self._leads_on(begin, end):
                    stack.append((child, begin + 1, end, limits))
                else:
                    line = self.lines[begin]
                    self.leaves[child] = line.leaf, line.number
        self._close(sketch)
        give_classes(sketch, self.leaves, self.known)
        return sketch

    def _split(self, sketch, node, groups, above):
        """Set the test of a node; return its children and the values that can reach them."""
        first = self.lines[groups[0][0]]
        if first.name is None:
            first.fail("expected a test; `else` can only come after one")
        for begin, _ in groups[1:]:
            self._check_sibling(first, self.lines[begin])
        if first.terms:
            self._check_sum(first)
            return self._numeric(sketch, node, None, groups, above)
        split = self._nominal if first.name in self.nominal else self._numeric
        return split(sketch, node, self.place[first.name], groups, above)

    def _check_sum(self, line):
        """Raise an error unless a weighted sum uses numeric columns, each only once."""
        for name in line.names:
            if name in self.nominal:
                line.fail(f"`{name}` has categories, which cannot be added", 0)
        if len(set(line.names)) < len(line.names):
            line.fail(f"a column occurs twice in `{line.name}`", 0)
        if line.sign not in _NUMBERS:
            line.fail(f"a weighted sum is compared by <= or >, not by `{line.sign}`", 0)

    def _leads_on(self, begin, end):
        """Return whether a branch has branches below it."""
        line, alone = self.lines[begin], begin + 1 == end
        if line.leaf is None and alone:
            line.fail(
                f"`{line.text}` leads nowhere; expected `: class` at its end or branches "
                "indented below it"
            )
        if line.leaf is not None and not alone:
            self.lines[begin + 1].fail(
                f"unexpected indentation; line {line.number} already ends in the class "
                f"`{line.leaf.label}`"
            )
        return line.leaf is None

    def _nominal_names(self):
        """Return the names of the nominal columns, by their tests or by the data."""
        names = {line.name for line in self.lines if line.sign in _LISTS and not line.terms}
        if self.known is not None:
            asked = {line.name for line in self.lines if line.sign in _IS}
            compared = {line.name for line in self.lines if line.sign in _NUMBERS}
            names |= {
                name
                for name, labels in zip(self.known.names, self.known.categories, strict=True)
                if labels is not None and name in asked - compared
            }
        return names

    def _siblings(self, start, stop):
        """Yield ranges of lines, each of which is a branch with its subtree."""
        indent = self.lines[start].indent
        begins = [start]
        for i in range(start + 1, stop):
            line = self.lines[i]
            if line.indent < indent:
                line.fail(
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
            for name in line.names:
                if name in names:
                    continue
                guess = did_you_mean(name, names)
                listed = "" if guess else f"; the columns are {', '.join(map(repr, names[:10]))}"
                more = ", ..." if listed and len(names) > 10 else ""
                line.fail(f"`{name}` is not a column{guess}{listed}{more}", 0)

    def _names(self):
        if self.known is not None:
            return list(self.known.names)
        return list(dict.fromkeys(name for line in self.lines for name in line.names))

    def _all_categories(self, names):
        data = self.known.categories if self.known is not None else (None,) * len(names)
        tested = {name for line in self.lines for name in line.names}
        return tuple(
            self.categories.get(name, None if name in tested else labels)
            for name, labels in zip(names, data, strict=True)
        )

    def _labels(self, name):
        """Return the labels of a nominal column: those of the text in order, then others of X."""
        lines = [line for line in self.lines if line.name == name]
        listing = next((line for line in lines if line.sign in _LISTS), None)
        for line in lines:
            if line.sign in _NUMBERS:
                line.fail(
                    f"`{line.text}` compares numbers, but line {listing.number} lists categories "
                    f"of `{name}`",
                    1,
                )
        if any(isinstance(label, str) for line in lines for label in line.value):
            for line in lines:
                line.value = tuple(map(str, line.value))
        data = None if self.known is None else self.known.categories[self.place[name]]
        if data is None:  # numbers that the text treats as categories are labels too
            return _common_order([line.value for line in lines])
        for line in lines:
            line.value = tuple(match_label(label, data) for label in line.value)
        listed = {label: line for line in reversed(lines) for label in line.value}
        for label, line in reversed(listed.items()):
            if label not in data:
                candidates = set(data) - set(listed)
                check_absent(label, f"`{name}`", data, candidates, line.number, line.columns[1])
        in_order = _common_order([line.value for line in lines])
        return (*in_order, *(label for label in data if label not in listed))

    def _check_sibling(self, first, line):
        if line.name is not None and line.name != first.name:
            line.fail(
                f"expected another branch of `{first.name}`, as in line {first.number}, not a test "
                f"of `{line.name}`",
                0,
            )

    def _numeric(self, sketch, node, feature, groups, above):
        lines = [self.lines[begin] for begin, _ in groups]
        _check_numeric(lines)
        first = lines[0]
        if first.sign not in _LEFT:
            groups[:], lines = groups[::-1], lines[::-1]
        if first.sign in _IS:
            return sketch.numeric(node, feature, _LARGEST, 1), [above, above]
        threshold = first.value if first.sign in ("<=", ">") else just_below(first.value)
        missing = self._missing_branch(lines)
        if first.terms:
            terms = [(self.place[name], weight) for name, weight in first.terms]
            return sketch.oblique(node, terms, threshold, missing), [above, above]
        return sketch.numeric(node, feature, threshold, missing), [above, above]

    def _nominal(self, sketch, node, feature, groups, above):
        lines = [self.lines[begin] for begin, _ in groups]
        name, labels = lines[0].name, self.categories[lines[0].name]
        reachable = above.get(name, labels)
        taken, rest = _taken(lines, self.other[name])
        if rest is not None and lines[rest].sign == "not in":
            _check_complement(lines[rest], lines)
        usual = rest
        if rest is None:
            self._check_covered(lines, taken, reachable)
            # Values that cannot occur join a branch that can be taken.
            usual = next((taken[x] for x in reachable if x in taken), 0)
        if rest is not None or self.other[name] in taken:
            self.open.add(name)
        goes = {label: taken.get(label, usual) for label in labels}
        for branch, line in enumerate(lines):
            if branch not in goes.values() and line.sign != "is missing":
                line.fail(f"no value of `{name}` is left for `{line.text}`")
        missing = self._missing_branch(lines)
        below = [
            {**above, name: tuple(x for x in reachable if goes[x] == branch)}
            for branch in range(len(lines))
        ]
        return sketch.nominal(node, feature, goes.values(), missing, len(lines)), below

    def _check_covered(self, lines, taken, reachable):
        """Raise an error if no branch takes a possible category.

        A test without a branch for unknown categories is only noted.
        """
        name = lines[0].name
        uncovered = [x for x in reachable if x not in taken]
        unseen = self.other[name] in uncovered
        listed = ", ".join(f"`{x}`" for x in [x for x in uncovered if x != self.other[name]][:5])
        if listed:
            lines[0].fail(
                f"no branch of `{name}` takes {listed}; add it to one of the branches, or add "
                "`else`"
            )
        if unseen and name in self.marked:
            lines[0].fail(
                f"no branch of `{name}` takes unseen categories, as line "
                f"{self.marked[name].number} does; add `or unseen` to one of the branches, or add "
                "`else`"
            )
        if unseen:
            self.closed.add(name)

    def _missing_branch(self, lines):
        takes = [branch for branch, line in enumerate(lines) if line.missing]
        if not takes:
            return self.missing
        if len(takes) == 1:
            return takes[0]
        if len(takes) < len(lines):
            lines[takes[1]].fail(
                "a missing value goes to one branch, or is shared among all of them; expected "
                "`or missing` on one branch or on every one"
            )
        return SHARE

    def _close(self, sketch):
        """Set the rule for unknown categories, and remove the last category if it is unused."""
        for line in self.refused:
            if line.name not in self.nominal:
                line.fail(f"the tree tests no categories of `{line.name}`", 0)
            if line.name in self.marked:
                self.marked[line.name].fail(f"line {line.number} refuses unseen categories")
            sketch.unknown[self.place[line.name]] = REFUSED
        refused = {line.name for line in self.refused}
        for name in self.open - self.closed - refused:
            sketch.unknown[self.place[name]] = len(self.categories[name]) - 1
        useless = {self.place[name] for name in self.nominal} - {
            feature for feature, code in sketch.unknown.items() if code != REFUSED
        }
        sketch.categories = tuple(
            labels[:-1] if feature in useless else labels
            for feature, labels in enumerate(sketch.categories)
        )
        for node, feature in enumerate(sketch.feature):
            if feature in useless:
                sketch.branch_of[node] = sketch.branch_of[node][:-1]


def _taken(lines, other):
    """Return the branch of each listed label, and the branch of all others or None."""
    taken, rest = {}, None
    for branch, line in enumerate(lines):
        if line.sign in _REST:
            if rest is not None:
                line.fail(f"line {lines[rest].number} takes all other values already")
            rest = branch
        listed = () if line.sign in _REST else line.value
        for label in (*listed, *([other] if line.unseen else [])):
            if label in taken:
                what = "unseen categories are" if label == other else f"`{line.name} = {label}` is"
                line.fail(
                    f"{what} covered by line {lines[taken[label]].number} already; the branches "
                    "of a test must not overlap",
                    1,
                )
            taken[label] = branch
    return taken, rest


def _check_complement(line, lines):
    """Raise an error unless ``not in {...}`` lists exactly the categories of other branches."""
    listed = {label: other for other in lines if other is not line for label in other.value}
    for label in line.value:
        if label not in listed:
            line.fail(f"`{line.text}` leaves out `{label}`; expected a branch for it", 1)
    for label, other in listed.items():
        if label not in line.value:
            line.fail(f"`{line.text}` overlaps line {other.number}, which takes `{label}`", 1)


def _check_numeric(lines):
    """Raise an error unless two lines divide the numbers in two."""
    first = lines[0]
    wanted = f"{first.name} {_OPPOSITE[first.sign]}"
    wanted += "" if first.sign in _IS else f" {number_text(first.value, 17)}"
    if len(lines) == 1:
        first.fail(f"`{first.text}` has no counterpart; expected a branch `{wanted}` as well")
    second = lines[1]
    fits = (second.sign, second.value) == (_OPPOSITE[first.sign], first.value)
    if not fits and second.sign != "else":
        second.fail(f"{_misfit(first, second)}; expected `{wanted}`")
    if len(lines) > 2:
        line = lines[2]
        line.fail(f"`{first.name}` already has its two branches; `{line.text}` is one too many")
    if first.sign == "is missing" and second.sign == "else" and second.missing:
        second.fail(f"`{second.text}` overlaps `{first.text}` of line {first.number}")
    for line in lines:
        if line.unseen:
            line.fail(f"`or unseen` is for categories, but `{first.name}` is compared as a number")


def _common_order(lists):
    """Return labels in an order consistent with every list, or else by first appearance."""
    sorter = TopologicalSorter()
    for labels in lists:
        for label, before in zip(labels, (None, *labels), strict=False):
            sorter.add(label, *(() if before is None else (before,)))
    try:
        return tuple(sorter.static_order())
    except CycleError:
        return tuple(dict.fromkeys(label for labels in lists for label in labels))


def _misfit(first, second):
    """Return why two numeric branches do not divide the numbers in two."""
    overlap = f"`{second.text}` overlaps `{first.text}` of line {first.number}"
    if first.sign in _IS or second.sign in _IS:
        return f"`{second.text}` is not a counterpart of `{first.text}` in line {first.number}"
    if (first.sign in _LEFT) == (second.sign in _LEFT):
        return overlap
    left, right = (first, second) if first.sign in _LEFT else (second, first)
    apart = right.value > left.value or (
        right.value == left.value and (left.sign, right.sign) == ("<", ">")
    )
    if apart:
        return f"`{second.text}` and line {first.number} leave out values between them"
    return overlap
