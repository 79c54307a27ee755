"""Rewrite lines of ``IF test THEN class`` and ``ELSE class`` as branches of an outline."""

import re

_IF = re.compile(r"(?:(?P<other>else\s+if|elif|elsif)|if)\s+(?=\S)", re.IGNORECASE)
_ELSE = re.compile(r"else\s(?=\s*[^\s:])(?!\s*or\s+(?:missing|unseen)\b)", re.IGNORECASE)
_THEN = re.compile(r'("(?:[^"\\]|\\.)*")|(?<=\s)then(?:\s*:|(?!\S))', re.IGNORECASE)


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
    branches of that test, so they move one step to the right.

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
    >>> lines = ["IF a <= 1 THEN x", "ELSE IF b <= 2 THEN y", "ELSE z"]
    >>> for _, indent, text in outline_lines((k, 0, line) for k, line in enumerate(lines)):
    ...     print(indent, " ".join(text.split()))
    0 a <= 1 : x
    0 else
    1 b <= 2 : y
    1 else:z
    """
    chained = []  # indentations of the `else if` lines above whose tests are still open
    for number, start, text in lines:
        while chained and start < chained[-1]:
            chained.pop()
        found = _IF.match(text, start)
        if found is None:
            other = _ELSE.match(text, start)
            branch = text if other is None else f"{text[:start]}else:{text[other.end() :]}"
        else:
            branch = " " * found.end() + _THEN.sub(_as_colon, text[found.end() :])
            if found["other"]:
                yield number, start + len(chained), " " * start + "else"
                chained.append(start)
        yield number, start + len(chained), branch.rstrip().removesuffix(":")


def _as_colon(found):
    return found[1] or ":".ljust(len(found[0]))
