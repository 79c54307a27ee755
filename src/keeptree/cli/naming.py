"""Display names of classes, as an option of the command line."""

from argparse import ArgumentTypeError


def add_labels(parser):
    """Add the option for display names of classes."""
    parser.add_argument(
        "--label",
        metavar="CLASS=NAME",
        type=_pair,
        action="append",
        default=[],
        help='display name of a class, such as 1="survived"; repeatable',
    )


def read_labels(options):
    """Return the given names by class, as typed."""
    return dict(options.label)


def _pair(text):
    # At the last equals sign: a class may be called <=50K.
    label, equals, name = text.rpartition("=")
    if not (equals and label and name.strip()):
        raise ArgumentTypeError(f"{text!r} is not valid; give CLASS=NAME")
    return label, name.strip()
