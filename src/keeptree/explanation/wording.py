"""Numbers and sentences for people: as few digits as tell the truth."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext

from keeptree.text import clean

_TOLERANCE = 0.02  # share of a move by which rounding may lengthen it
_MOST_DECIMALS = 8  # of a number written out; smaller ones as 1.5e-9


def in_100(p):
    """A probability as people read it: never 0, never 100.

    Examples
    --------
    >>> in_100(0.583), in_100(0.0), in_100(0.996)
    ('58 in 100', 'under 1 in 100', 'over 99 in 100')
    """
    if p < 0.01:
        return "under 1 in 100"
    return "over 99 in 100" if p > 0.99 else f"{100 * p:.0f} in 100"


def join(parts, last="and"):
    """Join words: ``a, b and c``.

    Examples
    --------
    >>> join(["a", "b", "c"]), join(["a", "b"], "or"), join(["a"])
    ('a, b and c', 'a or b', 'a')
    """
    *first, end = parts
    return f"{', '.join(first)} {last} {end}" if first else end


def round_outwards(before, after, inside):
    """The number with the fewest decimals that lies a little beyond ``after`` and still inside.

    Parameters
    ----------
    before, after : float
        Where a value is, and where it has to go at least.
    inside : callable
        Whether a number is allowed.

    Returns
    -------
    number : float
        ``after`` itself if no shorter number is close enough.

    Examples
    --------
    >>> round_outwards(26.1, 25.670000076, lambda value: value <= 25.670000076)
    25.67
    """
    if abs(after) >= 1e15:
        return after
    room = _TOLERANCE * abs(after - before)
    with localcontext() as context:
        context.prec = 400
        for decimals in range(18):
            unit = Decimal(1).scaleb(-decimals)
            towards = ROUND_FLOOR if after < before else ROUND_CEILING
            number = float(Decimal(after).quantize(unit, towards))
            if abs(number - after) <= room and inside(number):
                return number
    return after


def tell_move(before, after):
    """``26.10 to 25.67 (−0.43)``: both numbers with the decimals that the second needs."""
    decimals = max(_decimals(after, 0.0), _decimals(before, _TOLERANCE * abs(after - before)))
    if decimals > _MOST_DECIMALS or max(abs(before), abs(after)) >= 1e15:
        return _typeset(f"{before:.6g} to {after!r} ({after - before:+.3g})")
    before, after = f"{before:.{decimals}f}", f"{after:.{decimals}f}"
    return _typeset(f"{before} to {after} ({Decimal(after) - Decimal(before):+f})")


def tell_change(name, before, after, nominal):
    """``texture falls from 26.10 to 25.67 (−0.43)``, ``colour changes from red to blue``."""
    name = clean(name)
    if nominal:
        return f"{name} changes from {clean(before)} to {clean(after)}"
    return f"{name} {'falls' if after < before else 'rises'} from {tell_move(before, after)}"


def _decimals(number, room):
    """Decimals that give a number up to ``room``."""
    for decimals in range(_MOST_DECIMALS + 1):
        if abs(float(f"{number:.{decimals}f}") - number) <= room:
            return decimals
    return _MOST_DECIMALS + 1


def _typeset(text):
    return text.replace("-", "−")
