"""Read a text file or pipe as UTF-8, decompressing and decoding it on the way.

Nothing is read twice, so pipes work. The encoding is detected by the byte order mark or at the
first byte that is not ASCII, unless it is given.
"""

import codecs
import io
import os
import re
import sys

HEAD = 1 << 20  # bytes at the beginning that are used to detect format and dialect
_MARKS = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
_NAMES = {
    "utf-8-sig": "UTF-8 with a byte order mark",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
}
_CODECS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
_FOREIGN = re.compile(
    rb"[\x80-\xff]{4,}"
)  # no Western word has that many accented letters in a row


class Source(io.RawIOBase):
    """A binary file whose beginning can be inspected before it is read.

    Parameters
    ----------
    file : binary file
        File to read; it need not be seekable.
    size : int, optional
        Size in bytes, if known.

    Attributes
    ----------
    head : bytes
        Beginning of the file.
    complete : bool
        Whether ``head`` is the whole file.
    """

    def __init__(self, file, size=None):
        super().__init__()
        self._file, self._size, self._place, parts = file, size, 0, []
        while self._place < HEAD and (part := file.read(HEAD - self._place)):
            parts.append(part)
            self._place += len(part)
        self.head = self._rest = b"".join(parts)
        self.complete = self._place < HEAD

    def done(self):
        """Share of the file that has been read; 0 if its size is unknown."""
        return min(self._place / self._size, 1.0) if self._size else 0.0

    def readable(self):  # noqa: D102
        return True

    def readinto(self, buffer):  # noqa: D102
        if not self._rest:
            self._rest = self._file.read(len(buffer))
            self._place += len(self._rest)
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self):  # noqa: D102
        if self._file is not sys.stdin.buffer:
            self._file.close()
        super().close()


class _Unpacked(Source):
    """Content of a compressed file; its progress is measured in compressed bytes."""

    def __init__(self, packed, codec):
        import pyarrow as pa

        self._packed = packed
        super().__init__(pa.CompressedInputStream(pa.PythonFile(packed, "r"), codec))

    def done(self):
        return self._packed.done()


def open_source(path):
    """Open a file, or standard input for ``-``, decompressing if necessary."""
    if str(path) == "-":
        source = Source(sys.stdin.buffer)
    else:
        source = Source(open(path, "rb"), os.path.getsize(path))  # noqa: SIM115
    codec = next((name for mark, name in _CODECS.items() if source.head.startswith(mark)), None)
    return source if codec is None else _Unpacked(source, codec)


class Utf8(io.RawIOBase):
    """A text file as UTF-8 bytes without a byte order mark.

    Parameters
    ----------
    source : Source
        The file.
    encoding : str, optional
        Text encoding; detected by default.

    Attributes
    ----------
    recognised : str or None
        Detected encoding in words, if it is not UTF-8.
    """

    def __init__(self, source, encoding=None):
        super().__init__()
        self._source, self._rest, self._ended = source, b"", False
        self.recognised = self._encoding = self._decoder = None
        if encoding is not None:
            self._settle(encoding)
        else:
            self._recognise(source.head, source.complete, beginning=True)

    def head(self):
        """Return the beginning of the file as text; the last character may be cut off."""
        decoder = codecs.getincrementaldecoder(self._encoding or "ascii")()
        return _checked(self._decode(decoder, self._source.head, self._source.complete))

    def readable(self):  # noqa: D102
        return True

    def readinto(self, buffer):  # noqa: D102
        while not self._rest and not self._ended:
            self._rest = self._next(max(len(buffer), 1 << 16))
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self):  # noqa: D102
        self._source.close()
        super().close()

    def _next(self, size):
        part = self._source.read(size)
        self._ended = not part
        if self._decoder is None:
            if part.isascii():
                return _checked(part)
            self._recognise(part, complete=False)
        return _checked(self._decode(self._decoder, part, self._ended).encode())

    def _decode(self, decoder, part, final):
        try:
            return decoder.decode(part, final)
        except UnicodeDecodeError as error:
            raise ValueError(_undecodable(self._encoding)) from error

    def _recognise(self, part, complete, beginning=False):
        wide = _wide_encoding(part) if beginning else None
        if wide is not None:
            self._settle(wide, _NAMES[wide])
        elif not _checked(part).isascii():
            self._settle(*_byte_encoding(part, complete))

    def _settle(self, encoding, recognised=None):
        self._encoding, self.recognised = encoding, recognised
        self._decoder = codecs.getincrementaldecoder(encoding)()


def _wide_encoding(head):
    """Return UTF-16 or UTF-32, detected by the byte order mark or zero bytes between letters."""
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if marked or head[:1000].count(0) <= len(head[:1000]) // 4:
        return marked
    return "utf-16-le" if head[1:2] == b"\0" else "utf-16-be"


def _byte_encoding(part, complete):
    """Return UTF-8 or a Western European encoding; raise a ValueError for any other."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(part, complete)
        return "utf-8", None
    except UnicodeDecodeError as error:
        high = sum(byte > 127 for byte in part)
        foreign = sum(map(len, _FOREIGN.findall(part)))
        if foreign > high / 5 or re.search(rb"[\x81\x8d\x8f\x90\x9d]", part):
            raise ValueError(_undecodable("utf-8")) from error
    # Windows-1252 has letters and quotes where Latin-1 has control characters.
    return "cp1252", "Windows-1252" if re.search(rb"[\x80-\x9f]", part) else "Latin-1"


def _undecodable(encoding):
    tried = "UTF-8" if encoding.startswith("utf-8") else encoding
    return (
        f"it is not in {tried}; name its encoding with --encoding, for instance --encoding cp1251"
    )


def _checked(text):
    """Return text or bytes unchanged; raise a ValueError if they contain NUL."""
    if ("\0" if isinstance(text, str) else b"\0") in text:
        raise ValueError("it contains NUL bytes, so it is damaged or not a text file")
    return text
