"""``keeptree report``: one HTML file about a tree and its probabilities on a data file."""

from keeptree.cli.command import (
    Command,
    add_data,
    add_json,
    load_model,
    load_tree,
    output_path,
    print_json,
    require_files,
    say,
)
from keeptree.output import require_extra


def _arguments(parser):
    add_data(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--tree", metavar="FILE", help="a tree to keep; default: grow one (C4.5)")
    which.add_argument(
        "--model", metavar="FILE", help="report on this model; DATA are cases it has not seen"
    )
    parser.add_argument(
        "--out", metavar="FILE", default="report.html", help="the page (default: %(default)s)"
    )
    parser.add_argument("--title", help="of the page")
    parser.add_argument(
        "--no-rows", action="store_true", help="put no values of single cases into the page"
    )
    add_json(parser, "the figures")


def _run(options):
    require_files(options.data)
    require_extra("jinja2", *(() if options.json else ("rich",)), extra="report")
    out = output_path(options.out, options.data, options.tree, options.model)
    say("Measuring the model ..." if options.model else "Fitting and measuring a model ...")
    from keeptree.reporting.from_data import report_file

    data = report_file(
        options.data,
        options.target,
        tree=load_tree(options.tree),
        model=load_model(options.model) if options.model else None,
        out=out,
        title=options.title,
        rows=not options.no_rows,
        nominal=options.nominal,
        drop=options.drop,
    )
    print_result(data, options.json)


def print_result(data, as_json):
    """Print what a report found: tables, or the figures as JSON."""
    from keeptree.reporting.terminal import figures, print_report

    if as_json:
        print_json(figures(data))
    else:
        print_report(data)


COMMAND = Command(
    "report",
    "grow or keep a tree, measure its probabilities on held-out data and write one HTML page",
    _arguments,
    _run,
)
