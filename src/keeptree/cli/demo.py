"""``keeptree demo``: the tool on data that ships with scikit-learn."""

import json

from keeptree.cli.command import Command, say


def _arguments(parser):
    parser.add_argument(
        "--out",
        metavar="FILE",
        default="keeptree-demo.html",
        help="the page to write (default: %(default)s)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the figures as JSON instead of the table"
    )


def _run(options):
    from keeptree.reporting.demo import demo
    from keeptree.reporting.terminal import figures, print_report

    if not options.json:
        from keeptree.output import require_extra

        require_extra("rich", extra="report")
        say("Growing a tree and measuring; the first time takes a little longer ...")
    data = demo(options.out)
    if options.json:
        print(json.dumps(figures(data), indent=2, allow_nan=False))
        return
    print_report(data)


COMMAND = Command(
    "demo",
    "write the report on data that ships with scikit-learn: see it before you use it",
    _arguments,
    _run,
)
