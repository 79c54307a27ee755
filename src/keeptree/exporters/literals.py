"""Values of a model as literals of a programming language, wrapped at 100 characters."""

import json

_WIDTH = 100
_TABS = "    "


def python_literal(value, indent=0):
    """Return a value as Python writes it.

    Examples
    --------
    >>> print(python_literal({"a": [1, None], "b": "it's"}))
    {"a": [1, None], "b": "it's"}
    """
    return _lines(value, indent, _python_scalar)


def script_literal(value, indent=0):
    r"""Return a value as JavaScript writes it; text cannot end a script element.

    Examples
    --------
    >>> print(script_literal([True, None, "</script>"]))
    [true, null, "\u003c/script\u003e"]
    """
    return _lines(value, indent, script_scalar)


def script_scalar(value):
    """Return text, a number, a boolean or None as a JavaScript literal."""
    text = json.dumps(value, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _python_scalar(value):
    if not isinstance(value, str):
        return repr(value)
    text = repr(value)
    return text if '"' in value or "\\" in text else f'"{text[1:-1]}"'


def _lines(value, indent, scalar):
    """Write a dict or list on one line if it fits, otherwise wrapped."""
    inner, outer = _TABS * (indent + 1), _TABS * indent
    if not isinstance(value, dict | list | tuple):
        return scalar(value)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, dict):
        parts = [f"{scalar(key)}: {_lines(v, indent + 1, scalar)}" for key, v in value.items()]
    else:
        parts = [_lines(part, indent + 1, scalar) for part in value]
    flat = f"{opening}{', '.join(parts)}{closing}"
    if len(flat) + len(inner) <= _WIDTH and "\n" not in flat:
        return flat
    if isinstance(value, dict) or any("\n" in part for part in parts):
        return f"{opening}\n{''.join(f'{inner}{part},{chr(10)}' for part in parts)}{outer}{closing}"
    return f"{opening}\n{_wrap(parts, inner)}{outer}{closing}"


def _wrap(parts, margin):
    """Wrap the parts of a list, each with its comma, at the line width."""
    lines, line = [], margin
    for part in parts:
        if len(line) + len(part) + 2 > _WIDTH and line != margin:
            lines.append(line.rstrip())
            line = margin
        line += f"{part}, "
    return "".join(f"{text}\n" for text in [*lines, line.rstrip()])
