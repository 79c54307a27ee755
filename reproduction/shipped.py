"""Read the data sets in ``data_files``, and a user's own copies of them.

No package has these sets as the UCI repository publishes them. ``data_files/README.md`` states
where they come from, and ``SHA256SUMS`` contains their checksums.
"""

import csv
import hashlib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).with_name("data_files")


@dataclass(frozen=True)
class Layout:
    """Expected content of a data file.

    Attributes
    ----------
    file : str
        Name of the file, here and in the user's folder.
    columns : int
        Number of columns without the class.
    labels : tuple of str
        The classes.
    codes : dict
        Other spellings of the classes.
    numeric : bool
        Whether all columns are numeric.
    """

    file: str
    columns: int
    labels: tuple
    codes: dict
    numeric: bool = True


LAYOUTS = {
    "autos": Layout("autos.csv", 25, ("-2", "-1", "0", "1", "2", "3"), {}, numeric=False),
    "glass": Layout("glass.csv", 9, ("1", "2", "3", "5", "6", "7"), {}),
    "ionosphere": Layout("ionosphere.csv", 34, ("g", "b"), {"0": "g", "1": "b"}),
    "new-thyroid": Layout("new-thyroid.csv", 5, ("1", "2", "3"), {}),
    "segment-210": Layout(
        "segmentation-210.csv",
        19,
        ("BRICKFACE", "CEMENT", "FOLIAGE", "GRASS", "PATH", "SKY", "WINDOW"),
        {},
    ),
    "sonar": Layout("sonar.csv", 60, ("M", "R"), {"0": "M", "1": "R"}),
}


def read_shipped(name):
    """Read a data set of :data:`LAYOUTS` from the repository.

    Parameters
    ----------
    name : str
        One of :data:`LAYOUTS`.

    Returns
    -------
    frame : pandas.DataFrame
        The columns, as text.
    labels : list of str
        The classes.

    Raises
    ------
    ValueError
        If the file differs from the one published with this repository.
    """
    layout = LAYOUTS[name]
    path = FOLDER / layout.file
    if hashlib.sha256(path.read_bytes()).hexdigest() != list_checksums()[layout.file]:
        raise ValueError(
            f"{path} was changed: its checksum is not the one in SHA256SUMS. Restore it, or put "
            "your own version in a folder and give that with --data-dir."
        )
    return read_file(path, layout)


def list_checksums():
    """Return the checksum of each file, as ``sha256sum`` prints it."""
    lines = (FOLDER / "SHA256SUMS").read_text("utf-8").splitlines()
    return {file: checksum for checksum, file in (line.split() for line in lines)}


def read_file(path, layout):
    """Read a file with the class in the last column or, as in some UCI files, in the first.

    A header line and lines that begin with a semicolon are skipped.

    Parameters
    ----------
    path : Path
        File to read.
    layout : Layout
        What the file must contain.

    Returns
    -------
    frame : pandas.DataFrame
        The columns, as text.
    labels : list of str
        The classes.

    Raises
    ------
    ValueError
        If the file has another layout.
    """
    lines = path.read_text("utf-8-sig").splitlines()
    rows = [[field.strip() for field in row] for row in csv.reader(lines) if "".join(row).strip()]
    rows = [row for row in rows if not row[0].startswith(";")]
    names = [f"x{j + 1}" for j in range(layout.columns)]
    if rows and not any(_is_number(field) for field in rows[0]):
        header = rows.pop(0)
        names = header[:-1] if header[-1] == "class" else names
    width = layout.columns + 1
    wrong = next((row for row in rows if len(row) != width), None)
    if not rows or wrong is not None:
        found = f"a line of {len(wrong)} fields" if rows else "no data"
        raise ValueError(f"{path} has {found}; expected lines of {width} fields.")
    columns, labels = _take_labels(path, rows, layout)
    if layout.numeric:
        _check_numbers(path, columns)
    return import_module("pandas").DataFrame(columns, columns=names), labels


def _take_labels(path, rows, layout):
    """Return the columns and the classes of rows."""
    for place in (-1, 0):
        labels = [layout.codes.get(row[place], row[place]) for row in rows]
        if set(labels) == set(layout.labels):
            return [row[:-1] if place else row[1:] for row in rows], labels
    found = ", ".join(sorted({row[-1] for row in rows})[:6])
    raise ValueError(
        f"{path} has the classes {found} in its last column; expected "
        f"{', '.join(layout.labels)} in the last column or in the first."
    )


def _check_numbers(path, rows):
    for number, row in enumerate(rows, start=1):
        wrong = next((field for field in row if not _is_number(field)), None)
        if wrong is not None:
            raise ValueError(
                f"{path} has {wrong!r} in row {number}; expected numbers, or ? where missing."
            )


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return text == "?"
    return True
