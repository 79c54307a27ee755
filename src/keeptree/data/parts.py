"""Find the files of a table in a folder or by a pattern."""

from collections import Counter
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path

from keeptree.data.files import check_data_file, is_known_ending
from keeptree.data.source import as_data_file
from keeptree.output import user_path


def find_parts(data):
    """Return the files of a table, sorted by name.

    Parameters
    ----------
    data : str, Path or DataFile
        A data file; a folder, read recursively (names that start with a dot or an underscore are
        skipped); or a pattern such as
        ``"2024-*.parquet"``.

    Returns
    -------
    parts : list of DataFile
        Files of one format. No files, or files of several formats, raise an error.

    Examples
    --------
    >>> from pathlib import Path
    >>> for name in ("b.csv", "a.csv", "_SUCCESS"):
    ...     _ = Path(name).write_text("x,y")
    >>> [part.path.name for part in find_parts(".")]
    ['a.csv', 'b.csv']
    """
    file = as_data_file(data)
    if file.is_stdin:
        return [check_data_file(file)]
    path = user_path(file.path)
    if path.is_dir():
        found = [place for place in sorted(path.rglob("*")) if _is_part(place, path)]
        what = f"The folder {path} holds no data file"
    elif has_magic(str(path)) and not path.exists():
        found = [Path(name) for name in sorted(glob(str(path), recursive=True))]
        found = [place for place in found if place.is_file()]
        what = f"No file matches {path}"
    else:
        return [check_data_file(replace(file, path=path))]
    if not found:
        raise FileNotFoundError(f"{what}; check the name.")
    parts = [check_data_file(replace(file, path=place)) for place in found]
    _check_one_format(parts, path)
    return parts


def is_table_of_files(data):
    """Return whether data is a folder or a pattern instead of one file."""
    file = as_data_file(data)
    path = user_path(file.path)
    return not file.is_stdin and (path.is_dir() or (has_magic(str(path)) and not path.exists()))


def _is_part(place, folder):
    hidden = any(name.startswith((".", "_")) for name in place.relative_to(folder).parts)
    return not hidden and place.is_file() and is_known_ending(as_data_file(place).ending)


def _check_one_format(parts, path):
    endings = Counter(part.ending for part in parts)
    if len(endings) > 1:
        shown = " and ".join(f"{count} {ending}" for ending, count in endings.most_common())
        raise ValueError(
            f"{path} matches files of several formats ({shown}); choose one with a pattern such as "
            f"'*{endings.most_common()[0][0]}'."
        )
