"""``keeptree demo``: the tool on data that ships with scikit-learn."""

from keeptree.cli.command import Command, add_json, say
from keeptree.cli.report import print_result
from keeptree.output import require_extra


def _arguments(parser):
    parser.add_argument(
        "--out",
        metavar="FILE",
        default="keeptree-demo.html",
        help="the page to write (default: %(default)s)",
    )
    add_json(parser, "the figures")


def _run(options):
    from keeptree.reporting.demo import demo

    if not options.json:
        require_extra("rich", extra="report")
        say("Growing a tree and measuring its probabilities ...")
    print_result(demo(options.out), options.json)


COMMAND = Command(
    "demo",
    "write the report on data that ships with scikit-learn: see it before you use it",
    _arguments,
    _run,
)
