"""Columns, categories and classes of the data, against which a source is checked."""

import difflib
from dataclasses import dataclass

from keeptree.data.labels import named_label, plain
from keeptree.data.table import column_names, read_table
from keeptree.data.target import read_target


@dataclass(frozen=True)
class Known:
    """Columns, categories and classes of a table.

    Attributes
    ----------
    names : tuple of str or None
        Names of the columns.
    categories : tuple
        For each column None or its labels.
    classes : tuple
        Labels of the target, in order.
    """

    names: tuple | None
    categories: tuple
    classes: tuple


def read_known(X, y, nominal=()):
    """Return the columns and labels of X and y; columns in ``nominal`` are categories."""
    names = column_names(X)
    chosen = [name for name in nominal if names is not None and name in names]
    _, categories = read_table(X, chosen or None)
    return Known(names, categories, tuple(plain(label) for label in read_target(y)[0]))


def match_label(label, labels):
    """Return the label of the data that matches a label of a source; ``"1"`` matches 1.

    Examples
    --------
    >>> match_label("1", [0, 1]), match_label(1, ["0", "1"]), match_label("x", [0, 1])
    (1, '1', 'x')
    """
    label = plain(label)
    if label in labels:
        return next(other for other in labels if other == label)
    found = named_label(str(label), labels)
    return found if found in labels else label


def did_you_mean(word, candidates):
    """Return ``; did you mean `income`?`` if a candidate is close, else "".

    Examples
    --------
    >>> did_you_mean("incom", ["age", "income"])
    '; did you mean `income`?'
    """
    close = closest(word, candidates)
    return f"; did you mean `{close}`?" if close is not None else ""


def closest(word, candidates):
    """Return the candidate closest to a misspelt word; None if none is close."""
    texts = {str(candidate).casefold(): candidate for candidate in candidates}
    found = difflib.get_close_matches(str(word).casefold(), texts, n=1, cutoff=0.75)
    return texts[found[0]] if found else None
