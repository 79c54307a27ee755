"""``keeptree export``: write a tree or model in a format that other programs can run."""

from keeptree.cli.command import Command, add_json, check_distinct, print_json, print_saved
from keeptree.exporters import FORMATS
from keeptree.progress import watch

_OPTIONS = (
    *("dialect", "table", "view", "form", "keep", "prefix", "landmarks", "curves"),
    *("inputs", "leaf", "distance", "missing"),
)


def _arguments(parser):
    endings = ", ".join(ending for found in FORMATS.values() for ending in found.endings)
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="model file, or a tree in any format that keeptree keep reads",
    )
    parser.add_argument(
        "--to",
        metavar="FILE",
        help=f"file to write, in the format of its extension: {endings} (default: print the text)",
    )
    parser.add_argument(
        "--tree",
        action="store_true",
        help="export only the tree of a model, with its leaf proportions",
    )
    parser.add_argument(
        "--format", choices=list(FORMATS), help="format, if the extension does not determine it"
    )
    parser.add_argument(
        "--check",
        metavar="ROWS",
        type=int,
        default=1000,
        help="number of rows on which the export is checked against Python (default: 1000; 0: no "
        "check)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="overwrite existing files that are written in addition to FILE",
    )
    add_json(parser, "a summary")
    for title, add in (("SQL", _sql), ("ONNX", _onnx), ("PMML", _pmml)):
        add(parser.add_argument_group(title).add_argument)


def _sql(add):
    add(
        "--dialect",
        metavar="NAME",
        help="duckdb (the default), sqlite, postgres, spark, bigquery, snowflake or tsql",
    )
    add("--table", metavar="NAME", help="table with the rows to score (default: data)")
    add("--view", metavar="NAME", help="create a view with this name")
    add(
        "--form",
        choices=["expression", "select", "view"],
        help="write expressions for your own query, a SELECT, or a view (default: select, or view "
        "if --view is given)",
    )
    add(
        "--keep",
        metavar="COLUMN",
        action="append",
        help="column to return with the predictions; repeatable (default: all columns)",
    )
    add("--prefix", metavar="TEXT", help="prefix of the output columns, or of the functions in C")
    add(
        "--landmarks",
        metavar="NAME",
        help="table for the landmarks of the kernel expert (default: landmarks)",
    )
    add(
        "--curves",
        metavar="NAME",
        help="table for the curves of a distance kernel (default: curves)",
    )


def _onnx(add):
    add(
        "--inputs",
        choices=["columns", "used", "matrix"],
        help="one input per column, one per column that the tree tests, or one numeric matrix "
        "(default: columns)",
    )
    add("--leaf", action="store_true", default=None, help="add the index of the leaf")
    add(
        "--distance",
        action="store_true",
        default=None,
        help="add the distance to the decision boundary",
    )


def _pmml(add):
    add(
        "--missing",
        choices=["majority"],
        help="send missing values to the largest child where the tree splits them among children",
    )


def _run(options):
    if options.json and options.to is None:
        raise ValueError("--json describes the written file; name one with --to.")
    if options.check < 0:
        raise ValueError(f"--check must be at least 0 rows; got {options.check}.")
    if options.to is not None:
        check_distinct(options.to, options.model, option="--to")
    from keeptree.exporters import export

    given = {name: getattr(options, name, None) for name in _OPTIONS}
    with watch("Exporting"):
        done = export(
            _tree_of(options.model) if options.tree else options.model,
            options.to,
            format=options.format,
            check=options.check,
            overwrite=options.force,
            **{name: value for name, value in given.items() if value is not None},
        )
    if options.to is None:
        _print_text(done)
    elif options.json:
        print_json(done.to_dict())
    else:
        print(f"{done.checked[0].upper()}{done.checked[1:]}.")
        print_saved(*done.paths)


def _tree_of(path):
    """The tree of a file that holds a tree or a model."""
    from keeptree.exporters.subject import subject_of

    return subject_of(path).tree


def _print_text(text):
    if not isinstance(text, str):
        raise ValueError("This format is binary or consists of several files; give --to FILE.")
    print(text, end="")


COMMAND = Command(
    "export",
    "export a tree or model to SQL, ONNX, PMML, code or a drawing, and check the result",
    _arguments,
    _run,
)
