"""``keeptree compare``: compare methods on splits, or saved models on held-out cases."""

from argparse import ArgumentTypeError

from keeptree.cli.command import Command, add_data, add_json, data_file, print_json, starting
from keeptree.cli.costs import add_costs
from keeptree.cli.naming import add_labels, read_labels
from keeptree.output import require_extra
from keeptree.probability.methods import METHODS
from keeptree.progress import watch

# Options that do not apply to --model, with their defaults.
_OF_METHODS = {
    "models": None,
    "protocol": "repeated-holdout",
    "splits": None,
    "metrics": None,
    "positive": None,
    "learning_curve": None,
    "out": "keeptree-compare",
    "jobs": -1,
    "label": [],
    "nominal": [],
    "drop": [],
}


def _arguments(parser):
    add_data(parser)
    parser.add_argument(
        "--model",
        metavar="FILE",
        action="append",
        default=[],
        help="saved model or tree to compare with others on DATA, which must be held-out cases; "
        "give it twice or more",
    )
    parser.add_argument(
        "--models",
        metavar="A,B,...",
        type=_names,
        help=f"models to compare: {', '.join(METHODS)}, nbtree, forest (default: most of them)",
    )
    parser.add_argument(
        "--protocol",
        metavar="NAME",
        default="repeated-holdout",
        help="how to split: holdout, repeated-holdout (default), k-fold, repeated-k-fold, "
        "leave-one-out, bootstrap, bootstrap-632, bootstrap-632+, paper or plain",
    )
    parser.add_argument(
        "--splits",
        metavar="N",
        type=int,
        help="number of splits (default: depends on the protocol)",
    )
    parser.add_argument(
        "--metrics",
        metavar="A,B,...",
        type=_names,
        help="metrics to compute, such as recall or f1 (default: auc, brier, log_loss, ece, "
        "accuracy)",
    )
    parser.add_argument(
        "--baseline",
        metavar="MODEL",
        help="model that the others are compared with (default: the first)",
    )
    parser.add_argument("--positive", metavar="LABEL", help="positive class of a two-class problem")
    add_labels(parser)
    add_costs(parser, "also compare the mean cost of a decision")
    parser.add_argument(
        "--learning-curve",
        choices=["arithmetic", "geometric"],
        help="also draw learning curves, with training sizes in equal or in growing steps",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        default="keeptree-compare",
        help="folder for tables, plots and finished fits (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=-1, help="number of processes (default: all cores)"
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed of the splits (default: 0)"
    )
    add_json(parser, "the figures")


def _run(options):
    options.data = data_file(options)
    if options.model:
        _compare_saved(options)
        return
    if not options.json:
        require_extra("rich", extra="report")
    with starting():
        from keeptree.evaluation.comparison import DEFAULT_METRICS
        from keeptree.evaluation.from_file import compare_file

    with watch("Comparing models"):
        comparison, files = compare_file(
            options.data,
            options.target,
            options.out,
            models=options.models,
            metrics=options.metrics or DEFAULT_METRICS,
            costs=options.costs,
            learning=options.learning_curve,
            nominal=options.nominal,
            drop=options.drop,
            labels=read_labels(options),
            protocol=options.protocol,
            n_splits=options.splits,
            baseline=options.baseline,
            positive=options.positive,
            n_jobs=options.jobs,
            random_state=options.seed,
        )
    if options.json:
        print_json(comparison.to_dict(), indent=None)
        return
    from keeptree.evaluation.terminal import print_comparison

    print_comparison(comparison, files)


def _compare_saved(options):
    for name, default in _OF_METHODS.items():
        if getattr(options, name) != default:
            option = name.replace("_", "-")
            raise ValueError(
                f"--{option} does not apply to --model: saved models are compared as they are."
            )
    with watch("Comparing models"):
        from keeptree.evaluation.from_file import compare_saved

        comparison = compare_saved(
            options.data,
            options.target,
            options.model,
            baseline=options.baseline,
            costs=options.costs,
            random_state=options.seed,
        )
    if options.json:
        print_json(comparison.to_dict())
    else:
        print(comparison)


def _names(text):
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ArgumentTypeError("give at least one name, or omit the option")
    return names


COMMAND = Command(
    "compare",
    "compare methods on the same splits of a data file, or saved models on held-out data",
    _arguments,
    _run,
)
