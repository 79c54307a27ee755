"""A cost matrix, as typed on the command line."""

import json
from argparse import ArgumentTypeError


def add_costs(parser, what):
    """Add the option for the costs of decisions; ``what`` states what they are used for."""
    parser.add_argument(
        "--costs",
        metavar="JSON",
        type=_costs,
        help=f"{what}: a matrix by true (row) and decided class (column), such as "
        '[[0,5],[1,0]], or by name, such as {"sick": {"well": 20}}',
    )


def _costs(text):
    try:
        costs = json.loads(text)
        if not isinstance(costs, dict) and not all(
            len(row) == len(costs) and all(v == v + 0 for v in row) for row in costs
        ):
            raise ValueError
        return costs
    except (ValueError, TypeError):
        raise ArgumentTypeError(
            f"{text!r} is not a square matrix of numbers as JSON, such as [[0,5],[1,0]], or costs "
            'by class, such as {"sick": {"well": 20}}'
        ) from None
