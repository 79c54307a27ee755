"""``keeptree report``: one HTML file about a tree and its probabilities on a data file."""

import json

from keeptree.cli.command import Command, add_data, check_distinct, load_tree, require_files, say


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
    parser.add_argument(
        "--json", action="store_true", help="print the figures as JSON instead of the table"
    )


def _run(options):
    from keeptree.output import check_writable, require_extra

    require_files(options.data)
    require_extra("jinja2", *(() if options.json else ("rich",)), extra="report")
    out = check_writable(options.out)
    check_distinct(out, options.data, options.tree, options.model)
    say("Fitting and measuring; the first time takes a little longer ...")
    from keeptree.reporting.from_data import report_file
    from keeptree.reporting.terminal import figures, print_report
    from keeptree.saving import load

    data = report_file(
        options.data,
        options.target,
        tree=load_tree(options.tree),
        model=load(options.model) if options.model else None,
        out=out,
        title=options.title,
        rows=not options.no_rows,
        nominal=options.nominal,
        drop=options.drop,
    )
    if options.json:
        print(json.dumps(figures(data), indent=2, allow_nan=False))
        return
    print_report(data)


COMMAND = Command(
    "report",
    "grow or keep a tree, measure its probabilities on held-out data and write one HTML page",
    _arguments,
    _run,
)
