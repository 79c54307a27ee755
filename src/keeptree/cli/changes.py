"""Constraints on the nearest change, as options of the command line."""

from argparse import SUPPRESS, ArgumentTypeError


def add_changes(parser):
    """Add the options of the nearest change, the constraints of :func:`keeptree.nearest_change`."""
    group = parser.add_argument_group("the nearest change")
    group.add_argument("--to", metavar="CLASS", help="target class (default: any other class)")
    group.add_argument(
        "--n", metavar="N", type=_whole, default=1, help="number of changes to list (default: 1)"
    )
    add_lock(group, "column that must not change; repeatable")
    group.add_argument(
        "--bounds",
        metavar="COLUMN=LOW:HIGH",
        action="append",
        default=[],
        help="allowed range of a column, with either end optional; for a nominal column "
        "COLUMN=A,B,...; repeatable",
    )
    for name, way in (("--increase-only", "decrease"), ("--decrease-only", "increase")):
        group.add_argument(
            name,
            metavar="COLUMN",
            action="append",
            default=[],
            help=f"column that must not {way}; repeatable",
        )
    group.add_argument(
        "--cost",
        metavar="COLUMN=FACTOR",
        action="append",
        default=[],
        help="multiply the cost of changing this column by FACTOR; repeatable",
    )
    group.add_argument(
        "--step",
        metavar="COLUMN=STEP",
        action="append",
        default=[],
        help="allow only multiples of STEP as new values; repeatable",
    )
    group.add_argument(
        "--max-changes", metavar="N", type=_whole, help="maximum number of columns that change"
    )


def add_lock(parser, about):
    """Add the option that locks a column; ``--fixed``, its former name, still works."""
    shared = {"metavar": "COLUMN", "action": "append", "default": [], "dest": "fixed"}
    parser.add_argument("--lock", help=about, **shared)
    parser.add_argument("--fixed", help=SUPPRESS, **shared)


def read_changes(options, model):
    """Return the options as arguments of :func:`keeptree.nearest_change`."""
    from keeptree.data.labels import find_class

    tree = model.tree_
    return {
        "target": None if options.to is None else find_class(options.to, tree.classes),
        "n": options.n,
        "fixed": [_column(name, tree, "--lock") for name in options.fixed],
        "bounds": dict(_read_bounds(text, tree) for text in options.bounds),
        "increase_only": [_column(c, tree, "--increase-only") for c in options.increase_only],
        "decrease_only": [_column(c, tree, "--decrease-only") for c in options.decrease_only],
        "costs": dict(_read_number(text, tree, "--cost") for text in options.cost),
        "steps": dict(_read_number(text, tree, "--step") for text in options.step),
        "max_changes": options.max_changes,
    }


def _column(name, tree, option):
    """Name of a column, or its position if the tree has no names; others raise a ValueError."""
    from keeptree.geometry.metric import column_number

    names = tree.feature_names or ()
    several = [part.strip() for part in name.split(",")]
    if name not in names and len(several) > 1 and set(several) <= set(names):
        raise ValueError(f"{option} {name} names several columns; repeat {option} for each column.")
    column = int(name) if tree.feature_names is None and name.isdigit() else name
    column_number(tree, column, option)
    return column


def _read_bounds(text, tree):
    """Column and bounds of ``age=18:65``, ``age=18:`` or ``colour=red,blue``."""
    from keeptree.data.labels import named_label
    from keeptree.geometry.metric import column_number

    column, given = _split(text, tree, "--bounds", "LOW:HIGH, or COLUMN=A,B,... for categories")
    labels = tree.categories[column_number(tree, column, "--bounds")]
    if labels is not None:
        return column, [named_label(part.strip(), labels) for part in given.split(",")]
    low, colon, high = given.partition(":")
    try:
        limits = [float(end) if end.strip() else None for end in (low, high)]
    except ValueError:
        colon = ""
    if not colon:
        raise ValueError(
            f"--bounds {text} is not valid; give {column}=LOW:HIGH, or {column}=LOW: for an "
            "open end."
        )
    return column, tuple(limits)


def _read_number(text, tree, option):
    """Column and number of ``age=5``."""
    column, given = _split(text, tree, option, "NUMBER")
    try:
        return column, float(given)
    except ValueError:
        raise ValueError(f"{option} {text} is not valid; give {column}=NUMBER.") from None


def _split(text, tree, option, value):
    """Column and value of ``COLUMN=VALUE``; a column may have an equals sign in its name."""
    fitting = [name for name in tree.feature_names or () if text.startswith(f"{name}=")]
    name = max(fitting, key=len, default=text.partition("=")[0])
    if text == name:
        raise ValueError(f"{option} {text} is not valid; give COLUMN={value}.")
    return _column(name, tree, option), text[len(name) + 1 :]


def _whole(text):
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return number
