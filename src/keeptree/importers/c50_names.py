"""Read the classes, columns and categories of a C5.0 ``.names`` file."""

import re
from dataclasses import dataclass

_CONTINUOUS = ("continuous", "date", "time", "timestamp")
_LEFT_OUT = ("ignore", "label")
_ORDERED = re.compile(r"\[\s*ordered\s*\]\s*", re.IGNORECASE)
_WEIGHT = "case weight"


@dataclass(frozen=True)
class Names:
    """Content of a ``.names`` file.

    Attributes
    ----------
    classes : list of str
        Classes, in declared order.
    columns : dict of str to (list of str or None)
        Categories of each column, in declared order; None for numbers.
    """

    classes: list
    columns: dict


def read_names(text):
    """Return the Names of the text of a ``.names`` file.

    Examples
    --------
    >>> names = read_names("risk. age: continuous. risk: low, high. id: label.  | a comment")
    >>> names.classes, names.columns
    (['low', 'high'], {'age': None})
    """
    entries = list(_entries(text))
    if not entries:
        raise ValueError("The .names file is empty.")
    (target, ends), *attributes = entries
    columns = {}
    for names, signs in attributes:
        if signs[0] != ":" or len(names) < 2:
            raise ValueError(f"The .names file has no values for {names[0]!r:.80}.")
        if names[0].startswith("attributes "):
            continue
        columns[names[0]] = _values(names[0], names[1:])
    if ends[0] == ":":
        raise ValueError("C5.0 divides a numeric class by thresholds; declare a discrete class.")
    classes = columns.pop(target[0]) if len(target) == 1 and target[0] in columns else target
    if not isinstance(classes, list) or len(classes) < 2:
        raise ValueError(
            f"The .names file names {target[0]!r:.80} as the class, but does not list its classes."
        )
    kept = {name: v for name, v in columns.items() if v is not _LEFT_OUT and name != _WEIGHT}
    return Names(classes, kept)


def _values(name, values):
    """Return the categories of a column, None for numbers, or _LEFT_OUT if C5.0 ignores it."""
    kind = values[0].casefold()
    if kind.startswith("="):
        raise ValueError(
            f"{name!r:.80} is computed from other columns, which is not supported; grow the tree "
            "on plain columns."
        )
    if len(values) == 1 and kind in _LEFT_OUT:
        return _LEFT_OUT
    if len(values) == 1 and kind in _CONTINUOUS:
        if kind != "continuous":
            raise ValueError(
                f"{name!r:.80} holds dates or times, which a Tree does not support; use numbers "
                "instead."
            )
        return None
    if len(values) == 1 and kind.startswith("discrete"):
        raise ValueError(
            f"The .names file does not list the categories of {name!r:.80}, which C5.0 found in "
            "the data; list them."
        )
    return [_ORDERED.sub("", values[0]), *values[1:]]


def _entries(text):
    """Yield the statements of the file: their names, and the delimiter after each name."""
    names, signs = [], []
    for name, sign in _tokens(text):
        if name:
            names.append(name)
            signs.append(sign)
        if sign == "." and names:
            yield names, signs
            names, signs = [], []
    if names:
        yield names, signs


def _tokens(text):
    """Yield names with the delimiter that ends them: ``,``, ``:`` or an optional ``.``.

    A bar starts a comment, a backslash escapes the next character, and a full stop inside a name
    belongs to it.
    """
    text = re.sub(r"(?<!\\)\|[^\n]*", "", text)
    name, place = "", 0
    while place < len(text):
        sign, after = text[place], text[place + 1 : place + 2]
        place += 1
        if sign == "\\":
            name, place = name + after, place + 1
        elif sign in ",:" or (sign == "." and (not after or after.isspace())):
            yield " ".join(name.split()), sign
            name = ""
        else:
            name += sign
    if name.strip():
        yield " ".join(name.split()), "."
