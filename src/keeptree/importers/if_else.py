"""Rewrite lines of ``IF test THEN class`` and ``ELSE class`` as branches of an outline."""

import re
from itertools import pairwise

from keeptree.importers.line import OutlineError

_IF = re.compile(r"(?:(?P<other>else\s*if|elif|elsif)|if)\s+(?=\S)", re.IGNORECASE)
_ELSE = re.compile(r"else\s(?=\s*[^\s:])(?!\s*or\s+(?:missing|unseen)\b)", re.IGNORECASE)
_THEN = re.compile(r'("(?:[^"\\]|\\.)*")|(?<=\s)then(?:\s*:|(?!\S))', re.IGNORECASE)

_INNER_ELSE = re.compile(
    r'("(?:[^"\\]|\\.)*")|(?<=\s)(?<!\sor\s)(?:else(?:\s*if)?|elif|elsif)(?=\s+\S)', re.IGNORECASE
)
_LAST_ELSE = re.compile(r"(?<=\s)(?<!\sor\s)else\s*:?\s*$", re.IGNORECASE)
_END = re.compile(r"\s*(?<!\S)end\s*if\s*;?$", re.IGNORECASE)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_AFTER = re.compile(r"(?<=\s)then\b|:", re.IGNORECASE)  # a test
_JOINED = re.compile(r"\)\s*(?:and|or|&&|\|\||&|\|)\s*\(", re.IGNORECASE)


def starts_if(text):
    """Return whether a line starts with ``if``, in any case.

    Examples
    --------
    >>> starts_if("IF age <= 45 THEN refuse"), starts_if("iffy <= 45: refuse")
    (True, False)
    """
    found = _IF.match(text)
    return found is not None and found["other"] is None


def outline_lines(lines):
    """Yield the branches of lines with ``if`` and ``else``; texts keep their positions.

    ``else if`` becomes ``else`` and a test below it. The lines that follow at its indentation are
    branches of that test, so they move one step to the right. A line such as ``IF a <= 1 THEN x
    ELSE y`` holds several branches. The last ``ELSE`` of a line may have its branches below it.
    ``END IF`` and brackets around a test are left out.

    Parameters
    ----------
    lines : iterable of (int, int, str)
        Number, start and text of each line.

    Yields
    ------
    number, indent, text : int, int and str
        Line number, indentation and text of a branch.

    Examples
    --------
    >>> lines = ["IF (a <= 1) THEN x", "ELSE IF b <= 2 THEN y ELSE z", "END IF"]
    >>> for _, indent, text in outline_lines((k, 0, line) for k, line in enumerate(lines)):
    ...     print(indent, " ".join(text.split()))
    0 a <= 1 : x
    0 else
    1 b <= 2 : y
    1 else:z
    """
    chained = []  # indentations of the `else if` lines above whose tests are still open
    for number, start, at, text in _split_lines(lines):
        while chained and start < chained[-1]:
            chained.pop()
        found = _IF.match(text, at)
        if found is None:
            other = _ELSE.match(text, at)
            branch = text if other is None else f"{text[:at]}else:{text[other.end() :]}"
        else:
            test = _without_brackets(number, text, found.end())
            branch = " " * found.end() + _THEN.sub(_as_colon, test)
            if found["other"]:
                yield number, start + len(chained), " " * start + "else"
                chained.append(start)
        yield number, start + len(chained), branch.rstrip().removesuffix(":")


def _split_lines(lines):
    """Yield number, indentation, start and text of each branch; texts keep their positions."""
    lines = list(lines)
    next_starts = [*(start for _, start, _ in lines[1:]), 0]
    for (number, start, text), next_start in zip(lines, next_starts, strict=True):
        ended = _END.search(text, start)
        text = text if ended is None else text[: ended.start()]
        cuts = [start, *_inner_branches(text, start, next_start > start), len(text)]
        for at, end in pairwise(cuts):
            if text[at:end].strip():
                yield number, start, at, " " * at + text[at:end].rstrip()


def _inner_branches(text, start, has_block):
    """Return where branches begin after the first one of a line.

    Without an indented block below the line, an ``else`` at its end is part of a class.
    """
    then = next((found for found in _THEN.finditer(text, start) if found[1] is None), None)
    if then is None:
        return []
    inner = [found.start() for found in _INNER_ELSE.finditer(text, then.end()) if found[1] is None]
    last = _LAST_ELSE.search(text, then.end()) if has_block else None
    return inner if last is None else [*inner, last.start()]


def _without_brackets(number, text, at):
    """Return the text from ``at`` on, with spaces for the brackets around the test there."""
    plain = _QUOTED.sub(lambda found: "_" * len(found[0]), text)
    end = _AFTER.search(plain, at)
    end = len(text) if end is None else end.start()
    test = text[at:end]
    while test.lstrip().startswith("("):
        plain = _QUOTED.sub(lambda found: "_" * len(found[0]), test)
        first, last = len(test) - len(test.lstrip()), len(test.rstrip()) - 1
        if plain.count("(") != plain.count(")"):
            raise OutlineError(number, at + first + 1, "the brackets of this test do not match")
        if _closing(plain, first) == last:
            test = f"{test[:first]} {test[first + 1 : last]} {test[last + 1 :]}"
        elif _JOINED.search(plain):  # the error about two tests says what to write
            test = test.replace("(", " ").replace(")", " ")
        else:
            break
    return test + text[end:]


def _closing(text, at):
    """Return the position of the bracket that closes the one at a position."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place
    return len(text)


def _as_colon(found):
    return found[1] or ":".ljust(len(found[0]))
