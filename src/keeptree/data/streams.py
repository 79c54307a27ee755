"""The bytes of a text file as UTF-8, from a path or a pipe, compressed or not, in any encoding.

Nothing is read twice, so that a pipe will do. An encoding that was not given is recognised by its
byte order mark, or when the first byte comes that is not ASCII; from then on it holds.
"""

import codecs
import io
import os
import re
import sys

HEAD = 1 << 20  # bytes at the beginning that a format and a dialect are recognised by
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
_FOREIGN = re.compile(rb"[\x80-\xff]{4,}")  # no Western word has so many accents in a row


class Source(io.RawIOBase):
    """A binary file whose beginning is looked at before it is read.

    Parameters
    ----------
    file : binary file
        It need not be seekable.
    size : int, optional
        Its size, if that is known.

    Attributes
    ----------
    head : bytes
        Its beginning.
    complete : bool
        Whether that is all of it.
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
        """How much of the file was read, between 0 and 1; 0 if its size is not known."""
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
    """The content of a compressed file; its size is that of the file."""

    def __init__(self, packed, codec):
        import pyarrow as pa

        self._packed = packed
        super().__init__(pa.CompressedInputStream(pa.PythonFile(packed, "r"), codec))

    def done(self):
        return self._packed.done()


def open_source(path):
    """Open a file, or the standard input for ``-``; what is compressed is decompressed."""
    if str(path) == "-":
        source = Source(sys.stdin.buffer)
    else:
        source = Source(open(path, "rb"), os.path.getsize(path))  # noqa: SIM115
    codec = next((name for mark, name in _CODECS.items() if source.head.startswith(mark)), None)
    return source if codec is None else _Unpacked(source, codec)


class Utf8(io.RawIOBase):
    """The bytes of a text file as UTF-8, without a byte order mark.

    Parameters
    ----------
    source : Source
        The file.
    encoding : str, optional
        Its encoding; default: recognised.

    Attributes
    ----------
    recognised : str or None
        The encoding in words, if it was recognised and is not plain UTF-8.
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
        """The beginning of the file as text; the last character may be cut off."""
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
        elif not part.isascii():
            self._settle(*_byte_encoding(part, complete))

    def _settle(self, encoding, recognised=None):
        self._encoding, self.recognised = encoding, recognised
        self._decoder = codecs.getincrementaldecoder(encoding)()


def _wide_encoding(head):
    """The encoding that a byte order mark names, or that zeros between the letters betray."""
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if marked or head[:1000].count(0) <= len(head[:1000]) // 4:
        return marked
    return "utf-16-le" if head[1:2] == b"\0" else "utf-16-be"


def _byte_encoding(part, complete):
    """UTF-8, or the encoding of Western Europe if the bytes look like it; else a ValueError."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(part, complete)
        return "utf-8", None
    except UnicodeDecodeError as error:
        high = sum(byte > 127 for byte in part)
        foreign = sum(map(len, _FOREIGN.findall(part)))
        if foreign > high / 5 or re.search(rb"[\x81\x8d\x8f\x90\x9d]", part):
            raise ValueError(_undecodable("utf-8")) from error
    # Windows-1252 is Latin-1 with letters and quotes in place of control characters.
    return "cp1252", "Windows-1252" if re.search(rb"[\x80-\x9f]", part) else "Latin-1"


def _undecodable(encoding):
    tried = "UTF-8" if encoding.startswith("utf-8") else encoding
    return (
        f"it is not in {tried}; name its encoding with --encoding, for instance --encoding cp1251"
    )


def _checked(text):
    """Return text or bytes; a NUL, which no text has, is a ValueError."""
    if ("\0" if isinstance(text, str) else b"\0") in text:
        raise ValueError(
            "it holds NUL bytes, which no text has; is it damaged, or of another format?"
        )
    return text
