"""``keeptree explain``: explain one row of a data file."""

from argparse import Action

from keeptree.cli.changes import add_changes, read_changes
from keeptree.cli.command import (
    Command,
    add_columns,
    add_json,
    add_model,
    check_order,
    data_file,
    load_model,
    load_tree,
    print_json,
)
from keeptree.cli.naming import add_labels, read_labels
from keeptree.progress import step, watch


def _arguments(parser):
    data = add_model(parser)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--row", metavar="N", type=int, help="row to explain; the first row after the header is 1"
    )
    which.add_argument(
        "--where",
        metavar="COLUMN=VALUE",
        help="explain the only row with this value, such as customer=17",
    )
    add_labels(parser)
    how = parser.add_mutually_exclusive_group()
    add_json(how, "the story")
    how.add_argument("--markdown", action="store_true", help="print the story as Markdown")
    group = parser.add_argument_group(
        "explain a tree instead of a model (keeptree explain DATA --tree FILE)"
    )
    group.add_argument(
        "--tree",
        metavar="FILE",
        action=_InsteadOfModel,
        data=data,
        help="tree in any format that keeptree keep reads; probabilities are learned from DATA",
    )
    group.add_argument("--target", metavar="COLUMN", help="column of DATA with the class labels")
    add_columns(group)
    add_changes(parser)


class _InsteadOfModel(Action):
    """With ``--tree`` there is no MODEL, so the only positional argument is DATA."""

    def __init__(self, *args, data, **options):
        super().__init__(*args, **options)
        self.data = data

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values)
        self.data.required = False


def _run(options):
    _check_which(options)
    if options.tree:
        options.model, options.data = None, options.model
    options.data = data_file(options)
    from keeptree.data.labels import rename_classes
    from keeptree.explanation.story import explain

    with watch("Explaining a row"):
        model = _fit(options) if options.tree else _load(options)
        rename_classes(model, read_labels(options))
        options.fixed = _known_to_model(options, model)
        changes = read_changes(options, model)
        with step("Reading the data"):
            row = _read(options, model)
        story = explain(model, row, **changes)
    if options.json:
        print_json(story.to_dict())
    else:
        print(story.markdown if options.markdown else story.text)


def _read(options, model):
    from keeptree.data.cases import find_row, read_row

    if options.where is None:
        return read_row(model, options.data, options.row)
    column, mark, value = options.where.partition("=")
    if not (column and mark):
        raise ValueError(f"--where {options.where} is not valid; give COLUMN=VALUE.")
    return find_row(model, options.data, column, value)


def _known_to_model(options, model):
    """Return the columns of --lock without those of the file that the model does not use."""
    names = set(model.tree_.feature_names or ())
    if not names or names.issuperset(options.fixed):
        return options.fixed
    from keeptree.data.files import unused_columns

    unused = unused_columns(options.data, names)
    return [name for name in options.fixed if name not in unused]


def _check_which(options):
    """Raise a ValueError unless the options are about either a model or a tree."""
    if not options.tree:
        for name in ("target", "nominal", "drop"):
            if getattr(options, name):
                raise ValueError(f"--{name} requires --tree; a model already defines its columns.")
        return
    if options.data is not None:
        raise ValueError(
            f"Give either a model or --tree, not both: keeptree explain {options.data} --tree "
            f"{options.tree} --target COLUMN."
        )
    if not options.target:
        raise ValueError("--tree needs --target, the column of DATA with the class labels.")


def _load(options):
    check_order(options.model, options.data)
    with step("Reading the model"):
        return load_model(options.model)


def _fit(options):
    from keeptree.probability.fit_file import fit_file

    return fit_file(
        options.data,
        options.target,
        tree=load_tree(options),
        nominal=options.nominal,
        drop=options.drop,
    )


COMMAND = Command(
    "explain",
    "explain one row: why the tree decided this, how certain it is, and what would change the "
    "decision",
    _arguments,
    _run,
)
