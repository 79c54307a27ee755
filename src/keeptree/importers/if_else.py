"""Rewrite lines of ``IF test THEN class`` and ``ELSE class`` as branches of an outline."""

import re
from itertools import pairwise

_IF = re.compile(r"(?:(?P<other>else\s+if|elif|elsif)|if)\s+(?=\S)", re.IGNORECASE)
_ELSE = re.compile(r"else\s(?=\s*[^\s:])(?!\s*or\s+(?:missing|unseen)\b)", re.IGNORECASE)
_THEN = re.compile(r'("(?:[^"\\]|\\.)*")|(?<=\s)then(?:\s*:|(?!\S))', re.IGNORECASE)

_INNER_ELSE = re.compile(r'("(?:[^"\\]|\\.)*")|(?<=\s)else(?=\s+\S)', re.IGNORECASE)
_END = re.compile(r"\s*(?<!\S)end\s*if\s*;?$", re.IGNORECASE)
_BRACKETS = re.compile(
    r"\((?P<test>(?:[^()\"]|\([^()\"]*\)|\"(?:[^\"\\]|\\.)*\")*)\)(?=\s*(?:then\b|:|$))",
    re.IGNORECASE,
)


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
    ELSE y`` holds several branches. ``END IF`` and brackets around a test are left out.

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
            test = _BRACKETS.sub(r" \g<test> ", text[found.end() :], count=1)
            test = text[found.end() :] if text[found.end()] != "(" else test
            branch = " " * found.end() + _THEN.sub(_as_colon, test)
            if found["other"]:
                yield number, start + len(chained), " " * start + "else"
                chained.append(start)
        yield number, start + len(chained), branch.rstrip().removesuffix(":")


def _split_lines(lines):
    """Yield number, indentation, start and text of each branch; texts keep their positions."""
    for number, start, text in lines:
        ended = _END.search(text, start)
        text = text if ended is None else text[: ended.start()]
        then = next((found for found in _THEN.finditer(text, start) if found[1] is None), None)
        inner = () if then is None else _INNER_ELSE.finditer(text, then.end())
        cuts = [start, *(found.start() for found in inner if found[1] is None), len(text)]
        for at, end in pairwise(cuts):
            if text[at:end].strip():
                yield number, start, at, " " * at + text[at:end].rstrip()


def _as_colon(found):
    return found[1] or ":".ljust(len(found[0]))
