"""Format numbers and sentences for people, with as few digits as possible."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext

from keeptree.text import class_text, clean, enough_digits, in_hundred, plain_number

_TOLERANCE = 0.02  # how much rounding may enlarge a move, relative to its size
_SIX_DIGITS = 5e-6  # relative error of six significant digits
_MOST_DECIMALS = 8  # maximum number of decimals; smaller numbers are written like 1.5e-9
_HAIR = 2e-7  # relative difference that is negligible: the spacing of 32-bit numbers


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
    """Return a sentence with a lower-case first letter.

    Examples
    --------
    >>> f"Or it {lower_first('Becomes benign.')}"
    'Or it becomes benign.'
    """
    return sentence[:1].lower() + sentence[1:]


def round_outwards(before, after, low, high):
    """Round ``after`` away from ``before`` to the fewest decimals, within ``low`` and ``high``.

    Parameters
    ----------
    before, after : float
        Current value, and the value that it must at least reach.
    low, high : float
        Smallest and largest allowed number.

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
            # Try the nearest first: 1.6 in binary is slightly more than 1.6 and needs no 1.61.
            for towards in (ROUND_HALF_EVEN, outwards):
                number = float(exact.quantize(unit, towards))
                if abs(number - after) <= room and low <= number <= high:
                    return number
    return after


def tell_move(before, after):
    """Format a move with the decimals that either number needs: ``26.10 to 25.67 (−0.43)``."""
    before, after, difference = tell_pair(before, after)
    sign = "" if difference.startswith("−") else "+"
    return f"{before} to {after} ({sign}{difference})"


def tell_pair(first, second):
    """Format two numbers with the same decimals, and their difference.

    The second number is exact. The first has six significant digits, or as many more as are needed
    to show the difference.

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
    """Format a number with up to six significant digits, like thresholds in ``tree.to_text()``.

    The outline of a report and the story of a case use the same format.

    Examples
    --------
    >>> tell_number(44.8), tell_number(-2.50), tell_number(25.670000076), tell_number(1234567.0)
    ('44.8', '−2.5', '25.67', '1234567')
    """
    return plain_number(number, enough_digits(number))


def tell_branch(branch):
    """Format the condition of a branch: ``age ≤ 40``, ``colour is red or blue``."""
    if branch.is_numeric:
        return f"{clean(branch.name)} {branch.symbol} {tell_number(branch.threshold)}"
    return f"{clean(branch.name)} is {' or '.join(map(clean, branch.labels))}"


def tell_side(value, sign, threshold):
    """Format a comparison such as ``2.5 ≤ 44.8, by 42.3``, rounding only the difference.

    More than six digits are used where six would not show the difference. A value that equals the
    threshold is said to be on it.

    Examples
    --------
    >>> tell_side(2.5, "≤", 44.8), tell_side(0.1234562, ">", 0.1234561)
    ('2.5 ≤ 44.8, by 42.3', '0.1234562 > 0.1234561, by 1e−7')
    """
    texts = tell_number(value), tell_number(threshold)
    if value == threshold:
        return f" {sign} ".join(texts) + ", on the threshold"
    if texts[0] == texts[1]:
        texts = (repr(number).replace("-", "−") for number in (value, threshold))
    by = plain_number(float(f"{abs(value - threshold):.3g}"), 3)
    return f" {sign} ".join(texts) + f", by {by}"


def tell_change(name, before, after, nominal):
    """Describe the change of an attribute: ``texture falls from 26.10 to 25.67 (−0.43)``.

    Examples
    --------
    >>> tell_change("texture", 25.67, 25.670000000000005, False)
    'texture rises to just above 25.67'
    """
    name = clean(name)
    if nominal:
        return f"{name} changes from {clean(before)} to {clean(after)}"
    # The next float after a threshold is enough, and its digits mean nothing to a reader.
    if abs(after - before) <= _HAIR * abs(before) and _decimals(after, 0.0) > _MOST_DECIMALS // 2:
        moved = "falls to just below" if after < before else "rises to just above"
        return f"{name} {moved} {tell_number(before)}"
    return f"{name} {'falls' if after < before else 'rises'} from {tell_move(before, after)}"


def tell_estimate(label, probability, names=None):
    """Describe the estimate after a change, with a hint if another class is more probable.

    Parameters
    ----------
    label : label
        Decision of the tree after the change.
    probability : dict
        Class -> probability after the change.
    names : dict, optional
        Class -> display name.

    Examples
    --------
    >>> tell_estimate("died", {"died": 0.13, "lived": 0.87})
    'The tree would then decide died, but our estimate for it would be only 13 in 100.'
    >>> tell_estimate(1, {1: 0.003, 0: 0.997})
    'The tree would then decide class 1, but our estimate for it would be under 1 in 100.'
    >>> tell_estimate("died", {"died": 0.68, "lived": 0.32})
    'The estimate for died would then be 68 in 100.'
    """
    p, name = probability[label], class_text(clean((names or {}).get(label, label)))
    if p < max(probability.values()):
        told = in_hundred(p)
        told = told if told.startswith("under") else f"only {told}"
        return f"The tree would then decide {name}, but our estimate for it would be {told}."
    return f"The estimate for {name} would then be {in_hundred(p)}."


def _decimals(number, room):
    """Return the fewest decimals that show a number with an error of at most ``room``."""
    for decimals in range(_MOST_DECIMALS + 1):
        if abs(float(f"{number:.{decimals}f}") - number) <= room:
            return decimals
    return _MOST_DECIMALS + 1
