"""Text of C files: strings from the data, and the prefix of public names."""

import re

_PUBLIC = "leaf|probability|score|predict|category|columns|classes"


def prefixed(code, prefix, answer):
    """Give the public names of C code the prefix that the user has chosen.

    Only for our own code: text from the data may hold the same words.

    Parameters
    ----------
    code : str
        Its public functions are called ``prefix_leaf``, ..., its macros ``PREFIX_API``.
    prefix : str
        For instance ``"tree"``.
    answer : {"probability", "score"}
        Name of the function beside ``predict``.

    Examples
    --------
    >>> prefixed("PREFIX_API int prefix_probability(const double *row)", "loan", "score")
    'LOAN_API int loan_score(const double *row)'
    """
    code = re.sub(r"\bprefix_probability\b", f"prefix_{answer}", code)
    code = re.sub(rf"\bprefix_(?={_PUBLIC})", f"{prefix}_", code)
    return re.sub(r"\bPREFIX_", f"{prefix.upper()}_", code)


def c_string(value):
    r"""Return text as a C string in UTF-8, special characters as octal escapes.

    Examples
    --------
    >>> print(c_string('a "b"?'))
    "a \042b\042\077"
    """
    plain = re.compile(rb"[ -!#->@-\[\]-~]")  # neither quotes nor backslashes nor ?, of trigraphs
    text = (bytes([byte]) for byte in utf8(value))
    return f'"{"".join(b.decode() if plain.match(b) else f"{chr(92)}{b[0]:03o}" for b in text)}"'


def utf8(value):
    """Return a label as the bytes of its text."""
    return str(value).encode("utf-8", "surrogatepass")
