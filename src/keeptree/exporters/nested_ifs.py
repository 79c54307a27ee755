"""Write the decision of a tree as readable nested ifs in any of the languages."""

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass

from keeptree.text import clean, count_text
from keeptree.tree import SHARE

_DEEPEST = 12  # ifs within each other; what is below has a function of its own
_LONGEST = 60  # characters of a comment
_TABS = "    "


@dataclass(frozen=True)
class Syntax:
    """The syntax of a language, as format strings.

    Parameters
    ----------
    function, function_end : str
        Opens the function ``name``, and closes it.
    read : str
        Assigns column ``at`` of a row to the variable ``name``.
    round : str
        Rounds ``value`` to float32.
    below, not_above, above : str
        Compares ``value`` with the threshold ``at``; they differ for NaN.
    one_of : callable
        Returns the condition that a variable is one of some category codes.
    test, other, rest, end : str
        Opens an if statement on ``condition``, its further branches and the last one; closes it.
    answer : str
        Returns the number of a ``leaf``.
    call : str
        Returns the result of the function ``name``.
    fail : str
        Reports that the value of column ``at`` is missing.
    comment : str
        Holds ``text`` at the end of a line.
    reserved : frozenset of str
        Words that no variable may have as its name.
    """

    function: str
    read: str
    round: str
    below: str
    not_above: str
    above: str
    one_of: Callable
    test: str
    other: str
    rest: str
    end: str
    answer: str
    call: str
    fail: str
    function_end: str
    comment: str
    reserved: frozenset


BRACES = {  # what the languages with C's braces have in common
    "test": "if ({condition}) {{",
    "other": "}} else if ({condition}) {{",
    "rest": "}} else {{",
    "end": "}",
    "answer": "return {leaf};",
    "call": "return {name}(x);",
    "function_end": "}",
}


def write_ifs(subject, data, syntax, name):
    """Return the functions that find the leaf of a row, callees first.

    Parameters
    ----------
    subject : Subject
        What is exported: gives the comments.
    data : dict
        From :func:`keeptree.exporters.plain.plain_dict`.
    syntax : Syntax
        Of the language.
    name : str
        Of the function; others have the number of their node after it.

    Returns
    -------
    text : str
    """
    writer = _Writer(subject, data, syntax, name)
    functions, roots = [], [0]
    while roots:
        text, below = writer.function(roots.pop())
        functions.append(text)
        roots += below
    return "\n\n".join(functions[::-1])


def comment_text(value, longest=_LONGEST):
    """Return text from the data as one line that cannot end a comment."""
    text = "".join(c for c in clean(value) if c.isprintable())
    text = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return text.replace("*/", "* /").replace("/*", "/ *")


def identifiers(names, reserved):
    """Return a unique variable name for each text: letters, digits and underscores.

    Examples
    --------
    >>> identifiers(["petal width (cm)", "petal_width_cm", "class", "größe", "2x"], {"row"})
    ['petal_width_cm', 'petal_width_cm_2', 'class_', 'gr_e', 'x_2x']
    """
    taken, made = set(reserved), []
    for text in names:
        stem = re.sub("[^0-9A-Za-z]+", "_", str(text)).strip("_")[:40].lower() or "column"
        stem = f"x_{stem}" if stem[0].isdigit() else stem
        stem = f"{stem}_" if stem in reserved or keyword.iskeyword(stem) else stem
        name, number = stem, 1
        while name in taken:
            number += 1
            name = f"{stem}_{number}"
        taken.add(name)
        made.append(name)
    return made


class _Writer:
    def __init__(self, subject, data, syntax, name):
        self.subject, self.tree, self.syntax, self.name = subject, data["tree"], syntax, name
        self.columns = [*data["columns"], *data["sums"]]
        self.n_columns = len(data["columns"])
        texts = [column["name"] for column in self.columns]
        self.variables = identifiers(texts, syntax.reserved | {name})

    def function(self, root):
        """Return the function that decides from a node on, and the roots of further functions."""
        lines, used, below = [], {}, []
        tasks = [(root, 1, None)]
        while tasks:
            node, depth, line = tasks.pop()
            if line is not None:
                lines.append(f"{_TABS * depth}{line}")
            elif not self.tree["children"][node]:
                lines.append(f"{_TABS * depth}{self._answer(node)}")
            elif depth > _DEEPEST:
                called = self.syntax.call.format(name=f"{self.name}_{node}")
                lines.append(f"{_TABS * depth}{called}")
                below.append(node)
            else:
                used[self.tree["attribute"][node]] = None
                tasks += reversed(self._branches(node, depth))
        name = self.name if root == 0 else f"{self.name}_{root}"
        head = [self.syntax.function.format(name=name)]
        head += [f"{_TABS}{self._read(at)}" for at in sorted(used)]
        end = [self.syntax.function_end] if self.syntax.function_end else []
        return "\n".join(head + lines + end), below

    def _read(self, at):
        column = self.columns[at]
        value = self.syntax.read.format(name=self.variables[at], at=at)
        if self.tree["float32"] and at < self.n_columns and column["categories"] is None:
            left, _, right = value.partition(" = ")
            value = f"{left} = {self.syntax.round.format(value=right.rstrip(';'))}"
            value += ";" if right.endswith(";") else ""
        same = self.variables[at] == column["name"]
        return value + ("" if same else self._comment(comment_text(column["name"])))

    def _comment(self, text):
        return self.syntax.comment.format(text=text) if text else ""

    def _answer(self, node):
        tree, label = self.subject.tree, self.tree["label"][node]
        text = comment_text(self.subject.class_names[label])
        if tree.weight[0] > 0:
            cases = count_text(tree.weight[node])
            text += f", {cases} case{'' if cases == '1' else 's'}"
        return self.syntax.answer.format(leaf=node) + self._comment(text)

    def _branches(self, node, depth):
        """Return the lines of an if statement and, between them, the nodes they lead to."""
        syntax, at = self.syntax, self.tree["attribute"][node]
        tests = self._nominal(node) if str(node) in self.tree["table"] else self._numeric(node)
        if len(tests) == 1:
            return [(tests[0][1], depth, None)]
        tasks = []
        for position, (condition, child, text) in enumerate(tests):
            form = syntax.rest if condition is None else syntax.other if position else syntax.test
            line = form.format(condition=condition) + self._comment(text)
            tasks.append((None, depth, line))
            if child is None:
                fail = syntax.fail.format(at=at)
                tasks.append((None, depth + 1, fail))
            else:
                tasks.append((child, depth + 1, None))
        return tasks + ([(None, depth, syntax.end)] if syntax.end else [])

    def _numeric(self, node):
        """Return condition, child and comment of each branch; comparisons with NaN are false."""
        first, second = self.tree["children"][node]
        values = {
            "value": self.variables[self.tree["attribute"][node]],
            "at": repr(self.tree["threshold"][node]),
        }
        following, below = self.tree["following"][node], self.syntax.below.format(**values)
        missing = self._missing(node)
        if following == second:
            return [(below, first, ""), (None, second, missing)]
        if following == first:
            not_above = self.syntax.not_above.format(**values)
            return [(not_above, first, missing), (None, second, "")]
        above = self.syntax.above.format(**values)
        return [(below, first, ""), (above, second, ""), (None, None, "missing")]

    def _missing(self, node):
        return "or missing (shared)" if self.tree["missing"][node] == SHARE else "or missing"

    def _nominal(self, node):
        at, following = self.tree["attribute"][node], self.tree["following"][node]
        labels, goes = self.columns[at]["categories"], self.tree["table"][str(node)]
        tests, rest = [], (None, None, "missing")
        for child in self.tree["children"][node]:
            codes = [code for code, taken in enumerate(goes) if taken == child]
            text = comment_text(", ".join(str(labels[code]) for code in codes)) if codes else ""
            if child == following:
                rest = (None, child, f"{text} {self._missing(node)}".strip())
            elif codes:
                tests.append((self.syntax.one_of(self.variables[at], codes), child, text))
        return [*tests, rest]
