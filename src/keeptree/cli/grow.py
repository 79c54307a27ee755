"""``keeptree grow``: grow a C4.5 tree from a data file."""

from keeptree.cli.command import (
    Command,
    add_data,
    add_json,
    data_file,
    output_path,
    print_json,
    print_saved,
    starting,
)
from keeptree.cli.naming import add_labels, read_labels
from keeptree.cli.summary import add_tree_out, tree_summary
from keeptree.progress import step, watch


def _arguments(parser):
    add_data(parser)
    add_tree_out(parser)
    parser.add_argument(
        "--pruning",
        choices=["error-based", "reduced-error", "pessimistic", "none"],
        default="error-based",
        help="pruning method (default: %(default)s; reduced-error is Weka's -R, none its -U)",
    )
    parser.add_argument(
        "--criterion",
        choices=["gain-ratio", "information-gain", "gini", "misclassification"],
        default="gain-ratio",
        help="split criterion (default: %(default)s)",
    )
    parser.add_argument(
        "--confidence-factor",
        metavar="C",
        type=float,
        default=0.25,
        help="smaller values prune more; Weka's -C (default: 0.25)",
    )
    parser.add_argument(
        "--min-samples-leaf",
        metavar="N",
        type=int,
        default=2,
        help="minimum number of cases in a leaf; Weka's -M (default: 2)",
    )
    parser.add_argument(
        "--n-folds",
        metavar="N",
        type=int,
        default=3,
        help="folds of reduced-error pruning; Weka's -N (default: 3)",
    )
    parser.add_argument("--max-depth", metavar="N", type=int, help="maximum depth of the tree")
    parser.add_argument(
        "--max-leaves",
        metavar="N",
        type=int,
        help="maximum number of leaves; subtrees that save the fewest errors are pruned first",
    )
    parser.add_argument(
        "--binary-splits",
        action="store_true",
        help="test one category of a nominal column against all others; Weka's -B",
    )
    parser.add_argument(
        "--subset-splits",
        action="store_true",
        help="split nominal columns into two sets of categories",
    )
    parser.add_argument(
        "--no-raising", action="store_true", help="disable subtree raising; Weka's -S"
    )
    parser.add_argument(
        "--no-collapse", action="store_true", help="do not collapse subtrees; Weka's -O"
    )
    add_labels(parser)
    add_json(parser, "the tree")


def _run(options):
    options.data = data_file(options)
    out = output_path(options.out, options.data, default="tree.json")
    with starting():
        from keeptree.data.labels import label_names
        from keeptree.data.training import read_training
        from keeptree.encoding import sealed
        from keeptree.evaluation.training_error import tree_errors
        from keeptree.learners.c45 import C45Classifier
        from keeptree.learners.j48_text import j48_text

    learner = C45Classifier(
        options.criterion,
        pruning=options.pruning,
        confidence_factor=options.confidence_factor,
        min_samples_leaf=options.min_samples_leaf,
        n_folds=options.n_folds,
        max_depth=options.max_depth,
        max_leaf_nodes=options.max_leaves,
        binary_splits=options.binary_splits,
        subset_splits=options.subset_splits,
        subtree_raising=not options.no_raising,
        collapse=not options.no_collapse,
    )
    with watch("Growing a tree"):
        with step("Reading the data"):
            X, y, _ = read_training(options.data, options.target, options.nominal, options.drop)
        label_names(y.unique(), read_labels(options))  # before a tree is grown
        tree = learner.fit(X, y).tree_
        with step("Saving the tree"):
            tree.save(out)
    if options.json:
        summary = {**tree_summary(tree), "errors": tree_errors(tree), "out": str(out)}
        print_json({**summary, "tree": sealed(tree.to_dict())})
        return
    print(
        j48_text(
            tree,
            unpruned=options.pruning == "none",
            binary_splits=options.binary_splits,
            names=label_names(tree.classes, read_labels(options)),
        )
    )
    print(_tell_errors(tree_errors(tree)))
    print_saved(out)


def _tell_errors(errors):
    optimistic, pessimistic, upper = (f"{100 * errors[name]:.1f}%" for name in errors)
    return (
        f"Estimated error: {optimistic} on the training cases; {pessimistic} with half an error "
        f"added per leaf; {upper} by C4.5's upper confidence limit."
    )


COMMAND = Command(
    "grow",
    "grow a C4.5 tree from a data file, print it as Weka's J48 does and save it as JSON",
    _arguments,
    _run,
)
