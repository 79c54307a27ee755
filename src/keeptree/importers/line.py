"""One branch of a tree in text form, and errors that name its position."""

import warnings
from dataclasses import dataclass, field

from keeptree.importers.known import closest


@dataclass
class Leaf:
    """A class at the end of a line, with optional counts.

    Attributes
    ----------
    label : object
        The class.
    column : int
        Position in the line, from 1.
    weight, errors : float or None
        Cases of the leaf, and how many belong to other classes.
    others : dict
        Cases by class. If there is no ``weight``, they include the leaf's own class.
    assigned : tuple or None
        Name and class of a leaf such as ``risk = high``, whose ``label`` is the whole text.
    """

    label: object
    column: int
    weight: float | None = None
    errors: float | None = None
    others: dict = field(default_factory=dict)
    assigned: tuple | None = None


@dataclass
class Line:
    """A branch in text form.

    Attributes
    ----------
    number, indent : int
        Line number, from 1, and indentation.
    text : str
        Text of the condition.
    name : str or None
        Name of the tested column; None for ``else``.
    sign : {"<=", ">", "<", ">=", "in", "not in", "is known", "is missing", "is unseen", "else"}
        How the value is compared.
    value : float or tuple
        A threshold, or labels.
    columns : tuple of int
        Positions of name and value in the line, from 1.
    missing, unseen : bool
        Whether missing values and unknown categories take this branch.
    leaf : Leaf or None
        Class at the end of the line; None if there are branches below it.
    terms : tuple
        For a weighted sum, whose text is the ``name``: pairs of a column name and its weight.
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
    terms: tuple = ()

    @property
    def names(self):
        """Return the columns that the line names: none, one, or those of a weighted sum."""
        alone = () if self.name is None else (self.name,)
        return tuple(name for name, _ in self.terms) or alone

    def fail(self, sentence, part=0):
        """Raise an error at the name (0) or the value (1) of the line."""
        raise OutlineError(self.number, self.columns[part], sentence)


class OutlineError(ValueError):
    """Raised for invalid text; the message gives line and column."""

    def __init__(self, line, column, sentence):
        stop = "" if sentence.endswith("?") else "."
        super().__init__(f"line {line}, column {column}: {sentence}{stop}")


def check_absent(label, what, labels, candidates, line, column):
    """Raise an error for a label that is probably misspelt; warn about any other absent label.

    Parameters
    ----------
    label : object
        Category or class that is not in the data.
    what : str
        Column name, for the message.
    labels : sequence
        Labels of the data.
    candidates : iterable
        Those of them that the text does not mention.
    line, column : int
        Position in the text.
    """
    meant = closest(label, candidates)
    absent = f"`{label}` is not a value of {what}"
    if meant is not None:
        raise OutlineError(line, column, f"{absent}; did you mean `{meant}`?")
    listed = ", ".join(map(str, labels[:10])) + (", ..." if len(labels) > 10 else "")
    warnings.warn(f"line {line}: {absent} in the data, which has {listed}.", stacklevel=2)
