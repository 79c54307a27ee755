"""Check names given by a user, with suggestions for unknown ones."""

import difflib

_CLOSE = 0.65  # least similarity of a suggestion: one wrong letter in three


def one_of(known, name, kind, most=None):
    """Return a name if it is valid, otherwise raise a ValueError with a suggestion.

    Parameters
    ----------
    known : iterable
        Valid names.
    name : object
        Name to check.
    kind : str
        Kind of name, for the message.
    most : int, optional
        Maximum number of valid names to list.

    Examples
    --------
    >>> one_of(["holdout", "k-fold"], "kfold", "protocol")
    Traceback (most recent call last):
    ...
    ValueError: There is no protocol 'kfold'; did you mean 'k-fold'?
    """
    known = list(known)
    if name in known:
        return name
    names = [str(entry) for entry in known]
    advice = did_you_mean(names, name) or f"choose from {', '.join(names[:most])}."
    raise ValueError(f"There is no {kind} {name!r}; {advice}")


def tell_absent(absent, names, expected):
    """Return which columns a table lacks, and which of its other columns may be meant.

    Parameters
    ----------
    absent : sequence of str
        Columns that the model needs and the table lacks.
    names : sequence of str
        Columns of the table.
    expected : sequence of str
        All columns that the model needs.

    Examples
    --------
    >>> tell_absent(["income"], ["age", "Income"], ["age", "income"])
    "the column 'income', which the model needs; did you mean 'Income'? If so, rename it."
    >>> tell_absent(["income"], ["age"], ["age", "income"])
    "the column 'income', which the model needs; it has 'age'."
    """
    shown = ", ".join(map(repr, absent[:5])) + (" and others" if len(absent) > 5 else "")
    told = f"the column{'s' if len(absent) > 1 else ''} {shown}, which the model needs"
    free = [str(name) for name in names if name not in set(expected)]
    meant = [_closest(free, str(name)) for name in absent[:5]]
    if all(meant):
        them = "it" if len(meant) == 1 else "them"
        return f"{told}; did you mean {', '.join(map(repr, meant))}? If so, rename {them}."
    # Columns that the model does not know come first: one of them may be meant.
    others = sorted(map(str, names), key=lambda name: name not in free)
    return f"{told}; it has {', '.join(map(repr, others[:10]))}."


def _closest(names, name):
    """Return the name that is most similar regardless of case, or None if none is close."""
    folded = {other.casefold(): other for other in reversed(names)}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=_CLOSE)
    return folded[close[0]] if close else None


def did_you_mean(names, name):
    """Return the question "did you mean ...?" if a valid name is close, else an empty string.

    Examples
    --------
    >>> did_you_mean(["age", "income"], "incom")
    "did you mean 'income'?"
    >>> did_you_mean(["age", "income"], "nope")
    ''
    """
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=_CLOSE)
    return f"did you mean {close[0]!r}?" if close else ""
