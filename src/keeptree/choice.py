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
