"""``keeptree explain``: the story of one row of a data file."""

import json

from keeptree.cli.command import Command, check_order, require_files


def _arguments(parser):
    parser.add_argument("model", metavar="MODEL", help="a model that keeptree fit saved")
    parser.add_argument("data", metavar="DATA", help="a .csv, .parquet or .arff file")
    parser.add_argument(
        "--row", type=int, required=True, help="its number; the first after the header is 1"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print the story as JSON")
    how.add_argument("--markdown", action="store_true", help="print it as Markdown")


def _run(options):
    require_files(options.data)
    check_order(options.model, options.data)
    from keeptree.data.cases import read_row
    from keeptree.explanation.story import explain
    from keeptree.saving import load

    model = load(options.model)
    story = explain(model, read_row(model, options.data, options.row))
    if options.json:
        print(json.dumps(story.to_dict(), indent=2, allow_nan=False))
    else:
        print(story.markdown if options.markdown else story.text)


COMMAND = Command(
    "explain",
    "tell the story of one row: why the tree decides so, how sure, how near, what would change it",
    _arguments,
    _run,
)
