"""One branch of a tree as a text has it, and what can be wrong with it."""

import warnings
from dataclasses import dataclass, field

from keeptree.importers.known import closest


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
        Cases by class; without ``weight`` they include those of the leaf's own class.
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
    sign : {"<=", ">", "<", ">=", "in", "not in", "is known", "is missing", "is unseen", "else"}
        How the value is compared.
    value : float or tuple
        A threshold, or labels.
    columns : tuple of int
        Where name and value stand in the line, from 1.
    missing, unseen : bool
        Whether missing values, and categories that the tree does not know, take this branch.
    leaf : Leaf or None
        None if further branches are indented below it.
    """

    number: int
    indent: int
    text: str
    name: str | None
    sign: str
    value: object
    columns: tuple
    missing: bool = False
    unseen: bool = False
    leaf: Leaf | None = None

    def fail(self, sentence, part=None):
        """Raise an error at the start of the line, or at its name (0) or value (1)."""
        column = self.indent + 1 if part is None else self.columns[part]
        raise OutlineError(self.number, column, sentence)


class OutlineError(ValueError):
    """Text that is no tree; the message names the line and the column."""

    def __init__(self, line, column, sentence):
        stop = "" if sentence.endswith("?") else "."
        super().__init__(f"line {line}, column {column}: {sentence}{stop}")


def check_absent(label, what, candidates, line, column):
    """Raise an error for a label that is probably misspelt; warn of any other that data lack.

    Parameters
    ----------
    label : object
        A category or class that no row of the data has.
    what : str
        The name of its column, for the message.
    candidates : iterable
        Labels of the data that the text does not mention.
    line, column : int
        Where it stands.
    """
    meant = closest(label, candidates)
    absent = f"`{label}` is no value of {what}"
    if meant is not None:
        raise OutlineError(line, column, f"{absent}; did you mean `{meant}`?")
    warnings.warn(f"line {line}: {absent} in the data.", stacklevel=2)
