"""Parse the subset of Universal Binary JSON that XGBoost writes."""

import struct

_NUMBERS = {
    b"i": ">b", b"U": ">B", b"I": ">h", b"l": ">i", b"L": ">q", b"d": ">f", b"D": ">d",
}  # fmt: skip
_CONSTANTS = {b"Z": None, b"T": True, b"F": False}
_MOST_VALUES = 8_000_000
_DEEPEST = 100


def parse_ubjson(content):
    r"""Parse UBJSON bytes; damaged data raise a ValueError.

    Examples
    --------
    >>> parse_ubjson(b"{U\x01a[$U#U\x02\x07\x08}")
    {'a': [7, 8]}
    """
    try:
        return _Parser(bytes(content)).value(0)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError("The file ends unexpectedly, or is damaged.") from error


class _Parser:
    def __init__(self, content):
        self.content, self.at, self.values = content, 0, 0

    def value(self, depth, kind=None):
        self.values += 1
        if self.values > _MOST_VALUES:
            raise ValueError("The file holds more values than a tree has; save one tree alone.")
        if depth > _DEEPEST:
            raise ValueError("The file is nested too deeply to be a tree.")
        kind = self._take(1) if kind is None else kind
        if kind in _NUMBERS:
            return self._number(kind)
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        if kind in (b"S", b"H", b"C"):
            return self._text() if kind != b"C" else self._take(1).decode()
        if kind == b"[":
            return self._array(depth + 1)
        if kind == b"{":
            return self._object(depth + 1)
        raise ValueError("The file is damaged: it is not UBJSON.")

    def _take(self, n):
        if n < 0 or self.at + n > len(self.content):
            raise ValueError("The file ends unexpectedly; it may have been cut off.")
        self.at += n
        return self.content[self.at - n : self.at]

    def _peek(self):
        return self.content[self.at : self.at + 1]

    def _number(self, kind):
        size = struct.calcsize(_NUMBERS[kind])
        return struct.unpack(_NUMBERS[kind], self._take(size))[0]

    def _length(self):
        kind = self._take(1)
        if kind not in _NUMBERS or kind in (b"d", b"D"):
            raise ValueError("The file is damaged: a length is not an integer.")
        return self._number(kind)

    def _text(self):
        return self._take(self._length()).decode()

    def _array(self, depth):
        kind = None
        if self._peek() == b"$":
            self._take(1)
            kind = self._take(1)
        if self._peek() != b"#":
            found = []
            while self._peek() != b"]":
                found.append(self.value(depth, kind))
            self._take(1)
            return found
        self._take(1)
        n = self._length()
        if kind in _NUMBERS:
            size = struct.calcsize(_NUMBERS[kind])
            self.values += max(n, 0)
            if self.values > _MOST_VALUES:
                raise ValueError("The file holds more values than a tree has; save one tree alone.")
            return list(struct.unpack(f">{n}{_NUMBERS[kind][1]}", self._take(n * size)))
        return [self.value(depth, kind) for _ in range(n)]

    def _object(self, depth):
        found = {}
        while self._peek() != b"}":
            name = self._text()
            found[name] = self.value(depth)
        self._take(1)
        return found
