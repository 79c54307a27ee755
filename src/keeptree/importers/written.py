"""Read trees written by hand or by ``Tree.to_text``: one indented branch per line."""

import json
import re

from keeptree.importers.if_else import outline_lines, starts_if
from keeptree.importers.line import Leaf, Line, OutlineError
from keeptree.importers.outline import build, single_leaf
from keeptree.tree.text import ROUNDED, is_number_text, label_value, starts_sum

_SIGNS = {
    "<=": "<=", "≤": "<=", "<": "<", ">=": ">=", "≥": ">=", ">": ">",
    "=": "in", "==": "in", "in": "in", "!=": "not in", "≠": "not in", "not in": "not in",
    "is known": "is known", "is missing": "is missing", "is unseen": "is unseen",
}  # fmt: skip
_ALSO = r"(?:or\s+(?:missing|unseen)\b\s*)*"  # words that may follow a condition
_OPERATOR = re.compile(
    r"<=|>=|!=|==|[≤≥≠<>=]|(?<=[\s\"])(?:not\s+)?in(?=\s*\{)"
    rf"|(?<=[\s\"])is\s+(?:known|missing|unseen)(?=\s*{_ALSO}(?::|$))"
)
_TERM = re.compile(r"\s*([+-]?)\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)\s*[*×]\s*")
_NEXT_TERM = re.compile(rf"\s*(?:(?=[+-]){_TERM.pattern}|{_OPERATOR.pattern})")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_NEW_LINE = re.compile(r"\r\n|\r|\n")
_MARGIN = re.compile(r"[\s|]*")
_OR_MISSING = re.compile(r"(\s+or\s+(missing|unseen))+$")
_REFUSE = re.compile(r"refuse\s+unseen\s+(?=\S)")
_PLAIN_LABEL = re.compile(r"[^,:(){}\"]*")
_ASSIGNED = re.compile(
    r'(?P<name>"(?:[^"\\]|\\.)*"|[^,:(){}"=<>!]*[^,:(){}"=<>!\s])\s*={1,2}\s*(?=[^\s=])'
)
_CASES = re.compile(r"\s*([0-9.eE+-]+)\s*(?:/\s*([0-9.eE+-]+))?\s*")
_JOINED = re.compile(
    r"[^:\"{}]*?(?<!\S)(?P<word>and|or|&+)\s+(?P<test>(?!(?:missing|unseen)\b)[^:]*?"
    rf"(?:{_OPERATOR.pattern})[^:]*)",
    re.IGNORECASE,
)
_EXPECTED = "expected a test such as `age <= 45`, `owner = yes` or `owner in {no, unknown}`"
_WEIGHTED = "expected weighted columns such as `0.8 * age - 1.2 * income <= 3.4`"


def read_written(text, *, known=None):
    r"""Return the Sketch of a tree in the text format of :meth:`keeptree.Tree.to_text`.

    Parameters
    ----------
    text : str
        One branch per line, indented by depth, or the same with ``if``, ``then``, ``else`` and
        ``else if``. Also supported are ``|`` as indentation, ``<`` and ``>=``, ``!=`` and ``not
        in``, a last branch ``else``, and comment lines with ``#``;
        ``or missing``, ``or unseen``, ``is missing``, ``is known`` and ``is unseen``; weighted sums
        such as ``0.8 * age - 1.2 * income <= 3.4``; and before the tree lines such as ``refuse
        unseen colour``, or ``round to float32`` if sums are computed in it.
    known : Known, optional
        Labels of the data, to check names, categories and classes against.

    Examples
    --------
    >>> sketch = read_written("age <= 45: refuse\nage > 45: grant")
    >>> sketch.tree()
    Tree(2 leaves, depth 1, 2 classes, 1 feature, from text)
    """
    lines = [_Reader(number, raw) for number, raw in enumerate(_NEW_LINE.split(text), start=1)]
    lines = [reader for reader in lines if not reader.is_blank]
    if not lines:
        raise ValueError(f"The text holds no tree: {_EXPECTED} in each line.")
    if len(lines) == 1 and lines[0].is_leaf_alone:
        return single_leaf(lines[0].leaf(), known)
    rounded = [reader for reader in lines if reader.raw.strip() == ROUNDED]
    lines = [reader for reader in lines if reader not in rounded]
    refusals = [reader for reader in lines if reader.is_refusal]
    branches = [reader for reader in lines if not reader.is_refusal]
    if not branches:
        (rounded + lines)[0].fail(f"{_EXPECTED} below this line")
    refused = [reader.refused() for reader in refusals]
    dtype = "float32" if rounded else "float64"
    in_words = starts_if(branches[0].raw[branches[0].start :])
    if in_words:
        written = outline_lines((r.number, r.start, r.raw) for r in branches)
        branches = [_Reader(number, raw, indent, in_words) for number, indent, raw in written]
    parsed = [r.line() for r in branches]
    _read_assignments([line.leaf for line in parsed if line.leaf is not None], known)
    sketch = build(parsed, known, refused=refused, compare_dtype=dtype)
    sketch.source.update(model="text")
    return sketch


def looks_written(text):
    """Return whether some line looks like a branch in this format."""
    lines = (line for line in _NEW_LINE.split(text) if line.strip() and line.strip()[0] != "#")
    return any(_OPERATOR.search(line) or line.lstrip().startswith(":") for line in lines)


def _read_assignments(leaves, known):
    """Read ``risk = high`` as the class ``high`` if all leaves assign to the same name.

    If the data have a class with the whole text, the leaves stay as they are.
    """
    names = {None if leaf.assigned is None else leaf.assigned[0] for leaf in leaves}
    if len(names) != 1 or None in names:
        return
    if known is None or not any(leaf.label in known.classes for leaf in leaves):
        for leaf in leaves:
            leaf.label = leaf.assigned[1]


class _Reader:
    """Reads one line from left to right; ``at`` is the current position in it.

    The text begins at ``start``, which is also the indentation unless one is given. ``in_words``
    tells whether the tree is written with ``if`` and ``then``, where a leaf may be an assignment.
    """

    def __init__(self, number, raw, indent=None, in_words=False):
        self.number, self.raw = number, raw.expandtabs(8).rstrip()
        self.in_words = in_words
        self.start = self.at = _MARGIN.match(self.raw).end()
        self.indent = self.start if indent is None else indent

    @property
    def is_blank(self):
        return self.at == len(self.raw) or self.raw[self.at] == "#"

    @property
    def is_leaf_alone(self):
        return self.raw[self.at] == ":"

    @property
    def is_refusal(self):
        """Whether the line is ``refuse unseen COLUMN``."""
        found = _REFUSE.match(self.raw, self.at)
        if found is None:
            return False
        quoted = _QUOTED.match(self.raw, found.end())
        if quoted is not None:
            return quoted.end() == len(self.raw)
        return not (_OPERATOR.search(self.raw, self.at) or ":" in self.raw)

    def refused(self):
        """Return the column of a line ``refuse unseen COLUMN``, as a Line without a test."""
        start = self.at = _REFUSE.match(self.raw, self.at).end()
        name = self._quoted() if self.raw[start] == '"' else self.raw[start:]
        return Line(self.number, self.indent, self.raw, name, "", (), (start + 1, start + 1))

    def fail(self, sentence, at=None):
        raise OutlineError(self.number, (self.at if at is None else at) + 1, sentence)

    def line(self):
        if re.fullmatch(rf"(?i:else)\s*{_ALSO}(:.*)?", self.raw[self.at :]):
            self.at += len("else")
            return self._finish(None, "else", (), (self.start + 1, self.start + 1))
        terms = self._terms() if starts_sum(self.raw[self.at :]) else ()
        name = self.raw[self.start : self.at].strip() if terms else self._name()
        sign = self._sign()
        self._skip()
        value_at = self.at
        if sign.startswith("is "):
            value = ()
        else:
            value = self._labels() if sign in ("in", "not in") else self._threshold()
        return self._finish(name, sign, value, (self.start + 1, value_at + 1), terms)

    def leaf(self):
        """Read the class after a colon, and its cases."""
        self.at += 1
        self._skip()
        start = self.at
        if start == len(self.raw):
            self.fail("expected a class after the colon")
        if self.in_words and starts_if(self.raw[start:]):
            self.fail(
                "an IF inside a branch needs a line of its own, as in `IF age <= 45 THEN` and, "
                "indented below, `IF owner = yes THEN grant` and `ELSE refuse`"
            )
        found = _ASSIGNED.match(self.raw, start) if self.in_words else None
        if found is None:
            leaf = Leaf(self._label("class"), start + 1)
        else:
            self.at = found.end()
            label, name = self._label("class"), found["name"].strip('"')
            leaf = Leaf(self.raw[start : self.at], start + 1, assigned=(name, label))
        self._skip()
        if self.at < len(self.raw):
            self._cases(leaf)
        return leaf

    def _finish(self, name, sign, value, columns, terms=()):
        self._skip()
        also = re.compile(_ALSO).match(self.raw, self.at)
        marks = set(also.group().split()) - {"or"}
        if marks and sign == "is known":
            self.fail(f"unexpected `{also.group().strip()}`; expected `: class` or nothing")
        self.at = also.end()
        text = self.raw[self.start : self.at].rstrip()
        leaf = None
        if self.at < len(self.raw):
            if self.raw[self.at] != ":":
                self._check_one_test()
                form = "`THEN class`" if self.in_words else "`: class`"
                self.fail(f"unexpected `{self.raw[self.at :]:.30}`; expected {form} or nothing")
            leaf = self.leaf()
        return Line(
            number=self.number,
            indent=self.indent,
            text=text,
            name=name,
            sign=sign,
            value=value,
            columns=columns,
            missing="missing" in marks or sign == "is missing",
            unseen="unseen" in marks or sign == "is unseen",
            leaf=leaf,
            terms=terms,
        )

    def _terms(self):
        """Return the columns and weights of a weighted sum."""
        terms = []
        while (found := _TERM.match(self.raw, self.at)) and (found.group(1) or not terms):
            weight = float(found.group(1) + found.group(2))
            if not 0 < abs(weight) < float("inf"):
                self.fail(f"the weight `{found.group(2)}` must be a finite number and not 0")
            self.at = found.end()
            terms.append((self._term_name(), weight))
        return tuple(terms)

    def _term_name(self):
        if self.raw[self.at : self.at + 1] == '"':
            return self._quoted()
        found = _NEXT_TERM.search(self.raw, self.at)
        name = "" if found is None else self.raw[self.at : found.start()].strip()
        if not name:
            self.fail(_WEIGHTED)
        if re.search(r"\s[+-]\s", name):
            self.fail(f"a column of `{name}` has no weight; {_WEIGHTED}, or quote the name")
        self.at = found.start()
        return name

    def _skip(self):
        while self.at < len(self.raw) and self.raw[self.at].isspace():
            self.at += 1

    def _name(self):
        if self.raw[self.at] == '"':
            return self._quoted()
        found = _OPERATOR.search(self.raw, self.at)
        if found is None or not self.raw[self.at : found.start()].strip():
            form = "THEN or ELSE" if self.in_words else "a colon"
            example = "IF age > 45 THEN grant" if self.in_words else "age > 45: grant"
            self.fail(f"{_EXPECTED}; a class follows {form}, as in `{example}`")
        name = self.raw[self.at : found.start()].strip()
        self.at = found.start()
        return name

    def _sign(self):
        self._skip()
        found = _OPERATOR.match(self.raw, self.at)
        if found is None:
            self.fail("expected `<=`, `>`, `<`, `>=`, `=` or `in {...}` after the name")
        self.at = found.end()
        return _SIGNS[" ".join(found.group().split())]

    def _threshold(self):
        found = re.compile(r"[^\s:]*").match(self.raw, self.at)
        if not is_number_text(found.group()):
            self.fail(f"expected a number, not `{found.group() or 'the end of the line'}`")
        self.at = found.end()
        number = float(found.group())
        if abs(number) == float("inf"):
            self.fail(f"`{found.group()}` is too large for a number", found.start())
        return number

    def _labels(self):
        if self.at == len(self.raw):
            self.fail("expected a category, not the end of the line")
        if self.raw[self.at] != "{":
            self._check_one_test()
            return (self._label("category"),)
        self.at += 1
        labels = []
        while True:
            self._skip()
            labels.append(self._label("category"))
            self._skip()
            if self.at < len(self.raw) and self.raw[self.at] in ",}":
                self.at += 1
                if self.raw[self.at - 1] == "}":
                    break
                continue
            self.fail("expected `,` or `}` in the list of categories")
        if len(set(labels)) < len(labels):
            self.fail("a category is listed twice")
        return tuple(labels)

    def _check_one_test(self):
        """Raise an error if the rest of a condition contains a second test."""
        found = _JOINED.match(self.raw, self.at)
        if found is None:
            return
        word, test = found["word"], found["test"].strip()
        first = self.raw[self.start : found.start("word")].strip()
        below = "else" if word.lower() == "or" else first
        self.fail(
            f"`{word}` joins two tests, but a branch has one; write `{test}` in a line of its own, "
            f"indented below `{below}`",
            found.start("word"),
        )

    def _label(self, what):
        if self.at < len(self.raw) and self.raw[self.at] == '"':
            return self._quoted()
        found = _PLAIN_LABEL.match(self.raw, self.at)
        text = _OR_MISSING.sub("", found.group().rstrip())
        if not text:
            self.fail(f"expected a {what}")
        self.at += len(text)
        return label_value(text)

    def _quoted(self):
        found = _QUOTED.match(self.raw, self.at)
        try:
            text = json.loads(found.group(), strict=False) if found else None
        except ValueError:
            text = None
        if text is None:
            self.fail("the quotation mark is never closed")
        self.at = found.end()
        return text

    def _cases(self, leaf):
        start = self.at
        if self.raw[self.at] != "(" or not self.raw.endswith(")"):
            self.fail(f"unexpected `{self.raw[self.at :]:.30}` after the class")
        self.at += 1
        found = _CASES.match(self.raw, self.at)
        try:
            first, second = (None if x is None else float(x) for x in found.groups())
            self.at = found.end()
            if self.raw[self.at] == ")":
                leaf.weight, leaf.errors = first, second
            else:
                leaf.weight = first if second is not None else None
                leaf.others = self._by_class(first if second is None else second)
        except (AttributeError, ValueError):
            self.fail(
                "expected cases such as `(12)`, `(12/3)` or `(12/2 of no, 1 of unknown)`", start
            )
        if self.at != len(self.raw) - 1:
            self.fail("expected the end of the line after the cases", self.at + 1)
        numbers = [leaf.weight or 0, leaf.errors or 0, *leaf.others.values()]
        of_others = sum(leaf.others.values()) if leaf.weight is not None else 0
        if min(numbers) < 0 or max(leaf.errors or 0, of_others) > (leaf.weight or of_others):
            self.fail("the leaf has more cases of other classes than cases in all", start)

    def _by_class(self, first):
        """Read cases by class such as ``2 of no, 1 of unknown``, after the first number."""
        cases = {}
        while True:
            self.at = re.compile(r"of\s+").match(self.raw, self.at).end()
            label = self._label("class")
            cases[label] = cases.get(label, 0.0) + first
            self._skip()
            if self.raw[self.at] != ",":
                return cases
            found = re.compile(r",\s*([0-9.eE+-]+)\s*").match(self.raw, self.at)
            first, self.at = float(found.group(1)), found.end()
