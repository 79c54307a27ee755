"""``keeptree report``: write one HTML page about a tree and its probabilities."""

from keeptree.cli.browse import add_open, open_page
from keeptree.cli.changes import add_lock
from keeptree.cli.command import (
    Command,
    add_data,
    add_json,
    data_file,
    load_model,
    output_path,
    print_json,
)
from keeptree.cli.growing import add_growing, check_not_growing, choose_tree, warn_without_tests
from keeptree.cli.naming import add_labels, read_labels
from keeptree.output import require_extra
from keeptree.progress import watch


def _arguments(parser):
    add_data(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--tree", metavar="FILE", help="tree to keep (default: grow one)")
    which.add_argument(
        "--model", metavar="FILE", help="report on this model; DATA must be held-out cases"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        default="report.html",
        help="HTML file to write (default: %(default)s)",
    )
    parser.add_argument("--title", metavar="TEXT", help="title of the page")
    parser.add_argument(
        "--positive",
        metavar="LABEL",
        help="positive class of a two-class problem (default: the rarer class)",
    )
    add_labels(parser)
    add_lock(parser, "column that must not change, locked on the page; repeatable")
    parser.add_argument(
        "--no-rows",
        action="store_true",
        help="do not include the values of individual cases in the page",
    )
    add_open(parser)
    add_json(parser, "the figures")
    add_growing(parser)


def _run(options):
    options.data = data_file(options)
    require_extra("jinja2", *(() if options.json else ("rich",)), extra="report")
    out = output_path(options.out, options.data, options.tree, options.model)
    with watch("Measuring a model" if options.model else "Fitting and measuring a model"):
        model = _model(options)
        from keeptree.reporting.from_data import report_file

        data = report_file(
            options.data,
            options.target,
            tree=None if options.model else choose_tree(options),
            model=model,
            out=out,
            title=options.title,
            rows=not options.no_rows,
            positive=options.positive,
            fixed=options.fixed,
            labels=read_labels(options),
            nominal=options.nominal,
            drop=options.drop,
        )
    tree = data["tree"]
    if tree["n_leaves"] == 1 and not options.model:
        always = data["classes"][tree["nodes"][0]["class"]]["label"]
        warn_without_tests(always, options, same="decision and probability", holds_out=True)
    print_result(data, options.json)
    if options.open:
        open_page(data["page"])


def _model(options):
    if not options.model:
        return None
    check_not_growing(options, "--model already has its tree")
    return load_model(options.model)


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
