"""``keeptree demo``: write a report on data that ships with scikit-learn."""

from keeptree.cli.browse import add_open, open_page
from keeptree.cli.command import Command, add_json
from keeptree.cli.report import print_result
from keeptree.output import require_extra
from keeptree.progress import watch


def _arguments(parser):
    parser.add_argument(
        "--out",
        metavar="FILE",
        default="keeptree-demo.html",
        help="HTML file to write (default: %(default)s)",
    )
    add_open(parser)
    add_json(parser, "the figures")


def _run(options):
    from keeptree.reporting.demo import demo

    if not options.json:
        require_extra("rich", extra="report")
    with watch("Growing a tree and measuring its probabilities"):
        data = demo(options.out)
    print_result(data, options.json)
    if options.open:
        open_page(data["page"])


COMMAND = Command(
    "demo",
    "write an example report on data that ships with scikit-learn",
    _arguments,
    _run,
)
