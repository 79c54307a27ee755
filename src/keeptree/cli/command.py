"""The parts that the subcommands share."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from keeptree.output import check_writable, require_extra, shown_path, user_path
from keeptree.progress import watch

JSON_SCHEMA = 1
_DATA = "a .csv, .tsv, .jsonl, .xlsx, .parquet, .feather or .arff file, or - for standard input"


@dataclass(frozen=True)
class Command:
    """A subcommand.

    Parameters
    ----------
    name : str
        Name that the user types.
    help : str
        One-line description for ``keeptree --help``.
    arguments : callable
        Adds the options to a parser.
    run : callable
        Does the work, given the parsed options. Errors are printed as one sentence. May
        return an exit code.
    """

    name: str
    help: str
    arguments: Callable
    run: Callable


def add_data(parser, positional=True):
    """Add the options for training data: DATA, or an optional ``--data``."""
    if positional:
        parser.add_argument("data", metavar="DATA", help=_DATA)
    else:
        parser.add_argument("--data", metavar="DATA", help=_DATA)
    parser.add_argument(
        "--target", metavar="COLUMN", required=positional, help="column with the class labels"
    )
    add_columns(parser)
    add_file(parser)


def add_columns(parser):
    """Add the options that mark columns as nominal or drop them."""
    parser.add_argument(
        "--nominal",
        metavar="COLUMN",
        action="append",
        default=[],
        help="treat a column of numbers as categories; repeatable",
    )
    parser.add_argument(
        "--drop",
        metavar="COLUMN",
        action="append",
        default=[],
        help="ignore a column, such as an identifier; repeatable",
    )


FILE_OPTIONS = ("sep", "decimal", "thousands", "encoding", "sheet", "dates")  # of add_file


def add_file(parser):
    """Add the options for the file format; those not given are detected."""
    group = parser.add_argument_group("format of DATA (detected by default)")
    group.add_argument(
        "--sep", metavar="MARK", help="column separator: one character, or comma, tab, space, ..."
    )
    group.add_argument("--decimal", metavar="MARK", help="decimal mark: . or ,")
    group.add_argument(
        "--thousands", metavar="MARK", help="thousands separator, such as . or space"
    )
    group.add_argument(
        "--encoding", metavar="NAME", help="text encoding, such as utf-8, latin-1 or utf-16"
    )
    group.add_argument("--sheet", metavar="NAME", help="name or number of the Excel sheet")
    group.add_argument(
        "--dates",
        choices=["days", "dmy", "mdy", "drop"],
        help="read dates as days since 1970-01-01 (dmy, mdy: with the day or month first), or drop "
        "these columns",
    )


def add_model(parser):
    """Add the options for a saved model and a data file; return the argument DATA."""
    parser.add_argument("model", metavar="MODEL", help="model file written by keeptree fit")
    data = parser.add_argument("data", metavar="DATA", help=_DATA)
    add_file(parser)
    return data


def add_engine(parser, engines):
    """Add the options that choose the engine; DATA may then be several files."""
    parser.add_argument(
        "--engine",
        choices=engines,
        default="local",
        help="engine that reads the rows (default: %(default)s); DATA may also be a "
        "folder, or a quoted pattern such as 'new/*.parquet'",
    )
    parser.add_argument(
        "--option",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="option passed to the engine's reader, or the address of its cluster (scheduler= for "
        "dask, address= for ray, master= for spark); repeatable",
    )


def read_options(options):
    """The engine's options as a dict; values are parsed as JSON where possible."""
    found = {}
    for text in options.option:
        key, mark, value = text.partition("=")
        if not (key and mark):
            raise ValueError(f"--option {text!r} is not of the form KEY=VALUE.")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
        if options.engine == "spark" or isinstance(found[key], list | dict):
            found[key] = value  # Spark takes strings
    return found


def add_json(parser, what):
    """Add the option ``--json``."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON")


def print_json(value, indent=2):
    """Print a dict as JSON, starting with its schema version; infinite values raise an error.

    The version is the dict's own ``schema``, or else ``JSON_SCHEMA``. Incompatible changes raise
    it.
    """
    print(json.dumps({"schema": JSON_SCHEMA, **value}, indent=indent, allow_nan=False))


def print_saved(*paths):
    """Print where a command saved its files."""
    print(f"Saved as {' and '.join(shown_path(path) for path in paths)}.")


def output_path(out, *inputs, default=None):
    """Return the file to write; raise if that is impossible or the same command reads the file.

    Parameters
    ----------
    out : str or None
        Name given by the user; if None, the default is used, which must not replace a file.
    *inputs : str or None
        Files that are read.
    default : str, optional
        Default name of the output.
    """
    if out is None and Path(default).exists():
        raise ValueError(f"{default} already exists; choose another file with --out.")
    path = check_writable(out or default)
    check_distinct(path, *inputs)
    return path


def check_distinct(out, *inputs, option="--out"):
    """Raise a ValueError if the output of an option is one of the files that are read."""
    out = user_path(out)
    for path in (user_path(name) for name in inputs if name):
        if out.exists() and path.exists() and out.samefile(path):
            raise ValueError(f"{out} is read by this command; choose another file for {option}.")


def starting():
    """Show on a terminal that libraries are being loaded; a log file needs no such line."""
    return watch("Starting", wanted=sys.stderr.isatty())


def data_file(options, several=False, option="data"):
    """Return the data of a command as a :class:`~keeptree.DataFile`; check that it is readable.

    With ``several`` it may be a folder, a glob, or anything that an engine can open.
    """
    with starting():
        require_extra("pandas", "pyarrow", extra="files")
        from keeptree.data.parts import is_table_of_files
        from keeptree.data.source import DataFile

    given = getattr(options, option)
    file = DataFile(given, **{name: getattr(options, name) for name in FILE_OPTIONS})
    if several and is_table_of_files(file):
        return file
    if file.ending == ".arff":
        require_extra("arff", extra="files")
    if file.ending in (".xlsx", ".xlsm"):
        require_extra("openpyxl", extra="excel")
    return file


def check_order(model, data):
    """Raise a ValueError if a model and a data file were given in the wrong order."""
    if Path(data).suffix.lower() == ".json" and Path(model).suffix.lower() != ".json":
        raise ValueError(f"The model comes first, then the data: {data} {model}.")


def name_options(text):
    """Replace argument names in a message of :func:`keeptree.keep` by options of ``keeptree keep``.

    Examples
    --------
    >>> name_options("choose one with tree=0 to tree=8 (keeptree keep --number).")
    'choose one with --number 0 to --number 8.'
    >>> name_options("refused unless missing='majority' is chosen.")
    'refused unless --missing majority is chosen.'
    """
    text = re.sub(r"\btree=(-?\d+)", r"--number \1", text)
    text = re.sub(r"(kt\.keep\(tree, )?\bmissing='(\w+)'\)?", r"--missing \2", text)
    text = text.replace("--missing majority or keeptree keep --missing", "keeptree keep --missing")
    return text.replace(" (keeptree keep --number)", "")


def load_tree(options):
    """Read the tree of ``--tree``, in any format that ``keeptree keep`` reads."""
    from keeptree.importers.with_data import is_foreign, keep_with_data
    from keeptree.saving import load
    from keeptree.tree import Tree

    path = options.tree
    if is_foreign(path):
        try:
            return keep_with_data(
                Path(path), options.data, options.target, nominal=options.nominal, drop=options.drop
            )
        except ValueError as error:
            text = name_options(str(error))
            if text == str(error):
                raise
            raise ValueError(
                f"{text} These are options of keeptree keep: first run keeptree keep {path} --out "
                f"tree.json, then give --tree tree.json."
            ) from error
    tree = load(path)
    if not isinstance(tree, Tree):
        raise ValueError(
            f"{path} is a model, not a tree; keeptree report takes it as --model, and "
            "kt.load(path).tree_.save(...) in Python saves its tree."
        )
    return tree


def load_model(path):
    """Read a model; raise a ValueError if the file holds only a tree."""
    from keeptree.saving import load
    from keeptree.tree import Tree

    model = load(path)
    if isinstance(model, Tree):
        raise ValueError(
            f"{path} is a tree, not a model; keeptree fit, report and explain take it as --tree."
        )
    return model
