"""Numbers and sentences for people: as few digits as tell the truth."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext

from keeptree.text import clean

_TOLERANCE = 0.02  # share of a move by which rounding may lengthen it
_MOST_DECIMALS = 8  # of a number written out; smaller ones as 1.5e-9


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
        exact, outwards = Decimal(after), ROUND_FLOOR if after < before else ROUND_CEILING
        for decimals in range(18):
            unit = Decimal(1).scaleb(-decimals)
            # To the nearest first: 1.6 is a little more than 1.6 in binary, and needs no 1.61.
            for towards in (ROUND_HALF_EVEN, outwards):
                number = float(exact.quantize(unit, towards))
                if abs(number - after) <= room and inside(number):
                    return number
    return after


def tell_move(before, after):
    """``26.10 to 25.67 (−0.43)``: both numbers with the decimals that the second needs."""
    before, after, difference = tell_pair(before, after, room=0.0)
    sign = "" if difference.startswith("−") else "+"
    return f"{before} to {after} ({sign}{difference})"


def tell_pair(first, second, room=_TOLERANCE):
    """Two numbers with as few decimals as show their difference, and that.

    ``room`` is the share of the difference by which the second may be rounded.

    Examples
    --------
    >>> tell_pair(26.1034, 25.67)
    ('26.10', '25.67', '−0.43')
    """
    span = abs(second - first)
    decimals = max(_decimals(second, room * span), _decimals(first, _TOLERANCE * span))
    if decimals > _MOST_DECIMALS or max(abs(first), abs(second)) >= 1e15:
        texts = f"{first:.6g}", f"{second!r}", f"{second - first:.3g}"
    else:
        a, b = f"{first:.{decimals}f}", f"{second:.{decimals}f}"
        texts = a, b, f"{Decimal(b) - Decimal(a):.{decimals}f}"
    return tuple(text.replace("-", "−") for text in texts)


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
