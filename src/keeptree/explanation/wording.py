"""Numbers and sentences for people: as few digits as tell the truth."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext

from keeptree.text import clean, enough_digits, in_hundred, plain_number

_TOLERANCE = 0.02  # share of a move by which rounding may lengthen it
_SIX_DIGITS = 5e-6  # share of a number by which six significant digits may miss it
_MOST_DECIMALS = 8  # of a number written out; smaller ones as 1.5e-9
_HAIR = 2e-7  # share of a number that is next to nothing: the spacing of 32-bit numbers


def join(parts, last="and"):
    """Join words: ``a, b and c``.

    Examples
    --------
    >>> join(["a", "b", "c"]), join(["a", "b"], "or"), join(["a"])
    ('a, b and c', 'a or b', 'a')
    """
    *first, end = parts
    return f"{', '.join(first)} {last} {end}" if first else end


def lower_first(sentence):
    """Return a sentence that goes on after other words.

    Examples
    --------
    >>> f"Or it {lower_first('Becomes benign.')}"
    'Or it becomes benign.'
    """
    return sentence[:1].lower() + sentence[1:]


def round_outwards(before, after, low, high):
    """The number with the fewest decimals a little beyond ``after``, from ``low`` to ``high``.

    Parameters
    ----------
    before, after : float
        Where a value is, and where it has to go at least.
    low, high : float
        The least and the largest number allowed.

    Returns
    -------
    number : float
        ``after`` itself if no shorter number is close enough.

    Examples
    --------
    >>> round_outwards(26.1, 25.670000076, 0.0, 25.670000076)
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
                if abs(number - after) <= room and low <= number <= high:
                    return number
    return after


def tell_move(before, after):
    """``26.10 to 25.67 (−0.43)``: both numbers with the decimals that either needs."""
    before, after, difference = tell_pair(before, after)
    sign = "" if difference.startswith("−") else "+"
    return f"{before} to {after} ({sign}{difference})"


def tell_pair(first, second):
    """Two numbers with the same decimals, and their difference.

    The second is told exactly, the first in six significant digits, or more if it takes more to
    show the difference.

    Examples
    --------
    >>> tell_pair(26.1, 25.67)
    ('26.10', '25.67', '−0.43')
    """
    span = abs(second - first)
    room = min(_TOLERANCE * span, _SIX_DIGITS * abs(first))
    decimals = max(_decimals(second, 0.0), _decimals(first, room))
    if decimals > _MOST_DECIMALS or max(abs(first), abs(second)) >= 1e15:
        texts = f"{first:.6g}", f"{second!r}", f"{second - first:.3g}"
    else:
        a, b = f"{first:.{decimals}f}", f"{second:.{decimals}f}"
        texts = a, b, f"{Decimal(b) - Decimal(a):.{decimals}f}"
    return tuple(text.replace("-", "−") for text in texts)


def tell_number(number):
    """A number as it is, up to six significant digits as ``tree.to_text()`` prints thresholds.

    The outline of a report and the story of a case tell thresholds so, too.

    Examples
    --------
    >>> tell_number(44.8), tell_number(-2.50), tell_number(25.670000076), tell_number(1234567.0)
    ('44.8', '−2.5', '25.67', '1234567')
    """
    return plain_number(number, enough_digits(number))


def tell_branch(branch):
    """The condition of a branch: ``age ≤ 40``, ``colour is red or blue``."""
    if branch.is_numeric:
        return f"{clean(branch.name)} {branch.symbol} {tell_number(branch.threshold)}"
    return f"{clean(branch.name)} is {' or '.join(map(clean, branch.labels))}"


def tell_side(value, sign, threshold):
    """``2.5 ≤ 44.8, by 42.3``: only the difference is rounded, to what shows it.

    More digits where six would show two numbers as one.

    Examples
    --------
    >>> tell_side(2.5, "≤", 44.8), tell_side(0.1234562, ">", 0.1234561)
    ('2.5 ≤ 44.8, by 42.3', '0.1234562 > 0.1234561, by 1e−7')
    """
    texts = tell_number(value), tell_number(threshold)
    if texts[0] == texts[1] and value != threshold:
        texts = (repr(number).replace("-", "−") for number in (value, threshold))
    by = plain_number(float(f"{abs(value - threshold):.3g}"), 3)
    return f" {sign} ".join(texts) + f", by {by}"


def tell_change(name, before, after, nominal):
    """``texture falls from 26.10 to 25.67 (−0.43)``, ``colour changes from red to blue``.

    Examples
    --------
    >>> tell_change("texture", 25.67, 25.670000000000005, False)
    'texture rises to just above 25.67'
    """
    name = clean(name)
    if nominal:
        return f"{name} changes from {clean(before)} to {clean(after)}"
    # On a threshold the next number there is does it; its digits would tell nothing.
    if abs(after - before) <= _HAIR * abs(before) and _decimals(after, 0.0) > _MOST_DECIMALS // 2:
        moved = "falls to just below" if after < before else "rises to just above"
        return f"{name} {moved} {tell_number(before)}"
    return f"{name} {'falls' if after < before else 'rises'} from {tell_move(before, after)}"


def tell_estimate(label, probability, names=None):
    """What is estimated after a change: said to be little where another class is likelier.

    Parameters
    ----------
    label : label
        What the tree would then decide.
    probability : dict
        Class -> probability after the change.
    names : dict, optional
        Class -> what people call it.

    Examples
    --------
    >>> tell_estimate("died", {"died": 0.13, "lived": 0.87})
    'The tree would then say died; our estimate for it would still be only 13 in 100.'
    >>> tell_estimate("died", {"died": 0.68, "lived": 0.32})
    'The estimate for died would then be 68 in 100.'
    """
    p, name = probability[label], clean((names or {}).get(label, label))
    if p < max(probability.values()):
        return (
            f"The tree would then say {name}; our estimate for it would still be only "
            f"{in_hundred(p)}."
        )
    return f"The estimate for {name} would then be {in_hundred(p)}."


def _decimals(number, room):
    """Decimals that give a number up to ``room``."""
    for decimals in range(_MOST_DECIMALS + 1):
        if abs(float(f"{number:.{decimals}f}") - number) <= room:
            return decimals
    return _MOST_DECIMALS + 1
