"""A data file and the user's options for reading it."""

import codecs
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from keeptree.data.dates import CHOICES
from keeptree.data.dialect import SEPARATORS

_PACKED = (".gz", ".zst", ".bz2")
_BY_NAME = {name: mark for mark, name in SEPARATORS.items()} | {"\\t": "\t", "point": "."}


@dataclass(frozen=True)
class DataFile:
    r"""A data file and options for reading it; options that are not given are detected.

    Every function that reads a data file accepts a DataFile in place of a path.

    Parameters
    ----------
    path : str or Path
        Path of the file; ``"-"`` is standard input.
    sep : str, optional
        Column separator of a text file: one character, or ``"comma"``,
        ``"semicolon"``, ``"tab"``, ``"pipe"`` or ``"space"``.
    decimal : {".", ","}, optional
        Decimal mark.
    thousands : str, optional
        Thousands separator, such as ``"."`` or ``"space"``.
    encoding : str, optional
        Text encoding, by its Python name.
    sheet : str or int, optional
        Excel sheet, by name or by number from 1.
    dates : {"days", "dmy", "mdy", "drop"}, optional
        Convert date columns to days since 1970-01-01 (``"dmy"`` and ``"mdy"`` also give the order
        of day and month) or drop them. By default date columns raise an error.

    Examples
    --------
    >>> from pathlib import Path
    >>> import keeptree as kt
    >>> rows = [f"{x},50;{'good' if x > 30 else 'bad'}" for x in range(60)]
    >>> _ = Path("loans.csv").write_text("\n".join(["income;class", *rows]))
    >>> data = kt.DataFile("loans.csv", sep=";", decimal=",")
    >>> kt.fit_file(data, "class", method="smoothed").tree_.threshold[0].item()
    30.5
    """

    path: str | Path
    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    sheet: str | int | None = None
    dates: str | None = None

    def __post_init__(self):
        for name in ("sep", "decimal", "thousands"):
            mark = getattr(self, name)
            object.__setattr__(self, name, _BY_NAME.get(mark, mark))
            if mark is not None and len(getattr(self, name)) != 1:
                raise ValueError(
                    f"--{name} must be one character or a name such as tab or space, not "
                    f"{mark!r:.50}."
                )
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"--decimal must be a point or a comma, not {self.decimal!r}.")
        if self.sep is not None and (self.sep in "\"'\r\n" or self.sep.isalnum()):
            raise ValueError(f"--sep {self.sep!r} cannot separate columns; give another character.")
        mark = self.thousands
        if mark is not None and (mark in "+-" or mark.isalnum() or mark == self.decimal):
            raise ValueError(
                f"--thousands {mark!r} cannot be distinguished from the rest of a number; give "
                f"another character."
            )
        if self.dates not in (None, *CHOICES):
            raise ValueError(f"--dates is {self.dates!r:.50}; choose one of {', '.join(CHOICES)}.")
        _check_encoding(self.encoding)

    @property
    def name(self) -> str:
        """Display name of the file."""
        return "standard input" if self.is_stdin else Path(self.path).name

    @property
    def is_stdin(self) -> bool:
        """Whether this is standard input."""
        return str(self.path) == "-"

    @property
    def ending(self) -> str:
        """Extension that determines the format, without the extension of a compression."""
        path = Path(self.path)
        if path.suffix.lower() in _PACKED:
            path = path.with_suffix("")
        return path.suffix.lower()

    def __fspath__(self):
        return str(self.path)

    def __str__(self):
        return self.name if self.is_stdin else str(self.path)

    def given(self) -> dict[str, Any]:
        """Return the options that the user gave, by name."""
        options = {field.name: getattr(self, field.name) for field in fields(self)[1:]}
        return {name: value for name, value in options.items() if value is not None}


def as_data_file(data):
    """Convert a path to a :class:`DataFile`; return a DataFile unchanged."""
    return data if isinstance(data, DataFile) else DataFile(data)


def _check_encoding(name):
    if name is None:
        return
    try:
        text = isinstance(b"".decode(name), str)
        codecs.getincrementaldecoder(name)
    except (LookupError, TypeError, ValueError):
        text = False
    if not text:
        raise ValueError(
            f"--encoding {name!r:.50} is not an encoding that Python knows; try utf-8, latin-1, "
            "cp1252 or utf-16."
        )
