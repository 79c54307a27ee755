"""Clean and shorten text from data sets, and format numbers."""

import re
import unicodedata
from math import ceil, floor

# Characters not allowed in XML 1.0, and bidirectional control characters.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
_TITLE_LENGTH = 300  # maximum number of characters in a tooltip

# Widths in em of a wide sans-serif font (DejaVu, Verdana), as an upper bound.
_WIDTHS = {
    **dict.fromkeys(" .,:;|!'ijlI", 0.32),
    **dict.fromkeys("()[]{}ftr/\\-", 0.41),
    **dict.fromkeys("ckszvxy", 0.57),
    **dict.fromkeys("mwMW%@…—", 1.0),
    **dict.fromkeys("≤≥<>=+−←→", 0.84),
}


def xml_safe(text):
    """Replace characters that are not allowed in XML."""
    return _NOT_XML.sub("\ufffd", text)


def clean(value):
    r"""Return a label as one line of safe text.

    Control characters and direction marks are removed. Right-to-left text is isolated, so that it
    does not reorder neighbouring numbers. An empty label is described as empty.

    Examples
    --------
    >>> clean("two\nlines\x00")
    'two lines\ufffd'
    """
    text = xml_safe(_REORDERING.sub("", " ".join(str(value).split()))) or "(no name)"
    if any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in text):
        return f"{_ISOLATE}{text}{_END_ISOLATE}"
    return text


def text_width(text, size):
    """Return the estimated width, in pixels, of text at a font size of ``size`` pixels."""
    return size * sum(map(_em, text))


def shorten(text, width, size):
    """Shorten text to ``width`` pixels at font size ``size``, with an ellipsis.

    Examples
    --------
    >>> shorten("worst concave points", 80, 13)
    'worst co…'
    """
    room = width / size - 1e-9
    used = 0.0
    for position, char in enumerate(text):
        used += _em(char)
        if used > room:
            return _cut(text[:position], room)
    return text


def shorten_title(text):
    """Shorten text for a tooltip."""
    return text if len(text) <= _TITLE_LENGTH else text[: _TITLE_LENGTH - 1] + "…"


def plain_number(value, digits=4):
    """Return a number with at most ``digits`` significant digits, whole numbers in full.

    Examples
    --------
    >>> plain_number(16.795000076), plain_number(12345.0), plain_number(-1.5e-7)
    ('16.8', '12345', '−1.5e−7')
    """
    text = str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.{digits}g}"
    text = re.sub(r"e([+-])0*", lambda match: "e" + match[1].replace("+", ""), text)
    return text.replace("-", "−")


def enough_digits(value, least=6):
    """Return how many significant digits to show: at least ``least``, and all integer digits.

    A threshold such as 20230115.5 is not rounded, because readers must be able to follow the tree.

    Examples
    --------
    >>> enough_digits(16.795), enough_digits(20230115.5)
    (6, 9)
    """
    return max(least, len(str(int(abs(value)))) + 1) if abs(value) < 1e15 else least


def number_text(value, precision=6):
    """Return a number with ``precision`` significant digits, or more to show all integer digits.

    Examples
    --------
    >>> number_text(16.795), number_text(20230115.5)
    ('16.795', '20230115.5')
    """
    return f"{value:.{enough_digits(value, precision)}g}"


def count_text(cases):
    """Return a number of cases, with one decimal for fractional cases unless it is 0.

    Examples
    --------
    >>> count_text(12345.0), count_text(5.512), count_text(247.99999999999997), count_text(266.96)
    ('12,345', '5.5', '248', '267')
    """
    tenths = f"{cases:,.1f}"
    return tenths.removesuffix(".0") if cases >= 0.05 or _is_whole(cases) else tenths


def training_cases(weight):
    """Return the number of training cases in a node, and whether they were weighted or divided.

    Examples
    --------
    >>> training_cases(24.0), training_cases(1.0), training_cases(73.6), training_cases(1.04)
    ('24 training cases', '1 training case', '73.6 weighted cases', '1 weighted case')
    """
    told = count_text(weight)
    kind = "training" if _is_whole(weight) else "weighted"
    return f"{told} {kind} case" + ("" if told == "1" else "s")


def plural(number, one, many=None):
    """Return a number with its noun: ``3 leaves`` or ``1 leaf``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def class_text(label):
    """Return a label for use before a number: ``malignant``, ``class 1``.

    Examples
    --------
    >>> class_text("malignant"), class_text("1")
    ('malignant', 'class 1')
    """
    return f"class {label}" if label[:1] in "+-.0123456789" else label


def of_class_text(label):
    """Return a label for use after a number: ``8 malignant``, ``8 of class 1``.

    Examples
    --------
    >>> of_class_text("malignant"), of_class_text("1")
    ('malignant', 'of class 1')
    """
    told = class_text(label)
    return label if told == label else f"of {told}"


def in_hundred(p):
    """Return a probability as "n in 100"; estimates are never shown as 0 or 100.

    Examples
    --------
    >>> in_hundred(0.578), in_hundred(0.003), in_hundred(0.999)
    ('58 in 100', 'under 1 in 100', 'over 99 in 100')
    """
    if p < 0.01:
        return "under 1 in 100"
    return "over 99 in 100" if p > 0.99 else f"{int(100 * p + 0.5)} in 100"


def between_text(low, high):
    """Return an interval of a probability in hundredths, rounded outwards.

    Examples
    --------
    >>> between_text(0.9152, 0.988), between_text(0.003, 0.2)
    ('between 91 and 99', 'between 0 and 20')
    """
    return f"between {floor(100 * low + 1e-9)} and {ceil(100 * high - 1e-9)}"


def _is_whole(cases):
    # Shares of a case may sum to slightly less than 1.
    return abs(cases - round(cases)) <= 1e-9 * abs(cases)


def _cut(text, room):
    room -= _em("…")
    used = sum(map(_em, text))
    while text and used > room:
        used -= _em(text[-1])
        text = text[:-1]
    closing = _END_ISOLATE if text.startswith(_ISOLATE) else ""
    return f"{text.rstrip()}…{closing}"


def _em(char):
    if unicodedata.combining(char) or unicodedata.category(char) == "Cf":
        return 0.0
    if char in _WIDTHS:
        return _WIDTHS[char]
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    return 0.75 if char.isupper() else 0.64
