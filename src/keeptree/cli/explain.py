"""``keeptree explain``: the story of one row of a data file."""

from keeptree.cli.changes import add_changes, read_changes
from keeptree.cli.command import (
    Command,
    add_json,
    add_model,
    check_order,
    data_file,
    load_model,
    print_json,
)
from keeptree.cli.naming import add_labels, read_labels
from keeptree.progress import step, watch


def _arguments(parser):
    add_model(parser)
    parser.add_argument(
        "--row",
        metavar="N",
        type=int,
        required=True,
        help="its number; the first after the header is 1",
    )
    add_labels(parser)
    how = parser.add_mutually_exclusive_group()
    add_json(how, "the story")
    how.add_argument("--markdown", action="store_true", help="print it as Markdown")
    add_changes(parser)


def _run(options):
    options.data = data_file(options)
    check_order(options.model, options.data)
    from keeptree.data.cases import read_row
    from keeptree.data.labels import rename_classes
    from keeptree.explanation.story import explain

    with watch("Explaining a row"):
        with step("Reading the model"):
            model = load_model(options.model)
        rename_classes(model, read_labels(options))
        changes = read_changes(options, model)
        with step("Reading the data"):
            row = read_row(model, options.data, options.row)
        story = explain(model, row, **changes)
    if options.json:
        print_json(story.to_dict())
    else:
        print(story.markdown if options.markdown else story.text)


COMMAND = Command(
    "explain",
    "tell the story of one row: why the tree decides so, how sure, how near, what would change it",
    _arguments,
    _run,
)
