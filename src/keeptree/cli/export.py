"""``keeptree export``: a tree or model in a format that other programs run."""

from keeptree.cli.command import Command, add_json, check_distinct, print_json
from keeptree.exporters import FORMATS
from keeptree.progress import watch

_OPTIONS = (
    *("dialect", "table", "view", "form", "keep", "prefix", "landmarks"),
    *("inputs", "leaf", "distance", "missing"),
)


def _arguments(parser):
    endings = ", ".join(found.suffix for found in FORMATS.values())
    parser.add_argument(
        "model", metavar="MODEL", help="a model that keeptree fit saved, or any tree (see keep)"
    )
    parser.add_argument(
        "--to",
        metavar="FILE",
        help=f"file to write; its ending chooses the format: {endings} (default: print the text)",
    )
    parser.add_argument("--format", choices=list(FORMATS), help="if the ending does not tell")
    parser.add_argument(
        "--check",
        metavar="ROWS",
        type=int,
        default=1000,
        help="rows on which the export is compared with Python (default: 1000; 0: none)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace files beside FILE that exist and were not named",
    )
    add_json(parser, "what was written")
    group = parser.add_argument_group("SQL")
    group.add_argument(
        "--dialect",
        metavar="NAME",
        help="duckdb (the default), sqlite, postgres, spark, bigquery, snowflake or tsql",
    )
    group.add_argument("--table", metavar="NAME", help="the table with the rows (default: data)")
    group.add_argument("--view", metavar="NAME", help="create a view of this name")
    group.add_argument(
        "--form",
        choices=["expression", "select", "view"],
        help="expressions for a query of your own, a query, or a view (default: a query, or a view "
        "if it has a name)",
    )
    group.add_argument(
        "--keep",
        metavar="COLUMN",
        action="append",
        help="a column of the table beside the answers; may be repeated (default: all columns)",
    )
    group.add_argument(
        "--prefix", metavar="TEXT", help="begins the names of the answers; in C of the functions"
    )
    group.add_argument(
        "--landmarks",
        metavar="NAME",
        help="the table of landmarks that a kernel expert needs (default: landmarks)",
    )
    group = parser.add_argument_group("ONNX")
    group.add_argument(
        "--inputs",
        choices=["columns", "used", "matrix"],
        help="an input for every column, for those that the tree tests, or one matrix of numbers "
        "(default: columns)",
    )
    group.add_argument(
        "--leaf", action="store_true", default=None, help="add the number of the leaf"
    )
    group.add_argument(
        "--distance",
        action="store_true",
        default=None,
        help="add the distance to the decision boundary",
    )
    group = parser.add_argument_group("PMML")
    group.add_argument(
        "--missing",
        choices=["majority"],
        help="let missing values follow the heaviest child where the tree shares them among all",
    )


def _run(options):
    if options.json and options.to is None:
        raise ValueError("--json prints what was written; give a file to write with --to.")
    if options.check < 0:
        raise ValueError(f"--check is a number of rows, at least 0; got {options.check}.")
    if options.to is not None:
        check_distinct(options.to, options.model)
    from keeptree.exporters import export

    given = {name: getattr(options, name, None) for name in _OPTIONS}
    with watch("Exporting"):
        done = export(
            options.model,
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
        print(f"Saved as {' and '.join(str(path) for path in done.paths)}.")


def _print_text(text):
    if not isinstance(text, str):
        raise ValueError("This format has several files, or is not text; give --to FILE.")
    print(text, end="")


COMMAND = Command(
    "export",
    "write a tree or model as SQL, code or a drawing, checked against Python",
    _arguments,
    _run,
)
