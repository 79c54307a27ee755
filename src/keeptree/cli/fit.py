"""``keeptree fit``: a model from a data file, saved as JSON."""

from keeptree.cli.command import (
    Command,
    add_data,
    add_json,
    load_tree,
    output_path,
    print_json,
    require_files,
    say,
)
from keeptree.probability.methods import ALIASES, METHODS
from keeptree.text import plural


def _arguments(parser):
    add_data(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="the model (default: model.json, if there is none yet)"
    )
    parser.add_argument("--tree", metavar="FILE", help="a tree to keep; default: grow one")
    parser.add_argument(
        "--method",
        type=lambda name: ALIASES.get(name, name),
        choices=METHODS,
        default="kept",
        help="where the probabilities come from (default: %(default)s, which we recommend)",
    )
    parser.add_argument(
        "--learner", choices=["c45", "cart"], help="what grows the tree (default: c45)"
    )
    parser.add_argument("--max-depth", type=int, help="largest number of tests on a path")
    parser.add_argument("--max-leaves", type=int, help="largest number of leaves (cart)")
    parser.add_argument("--min-samples-leaf", type=int, help="least number of cases in a leaf")
    parser.add_argument("--confidence-factor", type=float, help="of c45: less prunes more (0.25)")
    add_json(parser, "what was fitted")


def _run(options):
    require_files(options.data)
    out = output_path(options.out, options.data, options.tree, default="model.json")
    tree = _tree(options)
    say("Fitting a model ...")
    from keeptree.data.labels import class_names
    from keeptree.probability.fit_file import fit_file
    from keeptree.saving import save

    model = fit_file(
        options.data,
        options.target,
        tree=tree,
        method=options.method,
        nominal=options.nominal,
        drop=options.drop,
    )
    save(model, out)
    summary = _summary(model, out)
    if options.json:
        print_json(summary)
        return
    kept = "kept" if options.tree else "grew"
    leaves = plural(summary["leaves"], "leaf", "leaves")
    print(
        f"{summary['kind']} {kept} a tree of {leaves}, depth {summary['depth']}, on "
        f"{plural(summary['columns'], 'column')}, for the classes "
        f"{', '.join(class_names(model, model.classes_)[:10])}."
    )
    print(f"Saved as {out}.")


def _tree(options):
    """A tree to keep, or an unfitted learner with the options that were given."""
    growing = {
        "max_depth": options.max_depth,
        "max_leaf_nodes": options.max_leaves,
        "min_samples_leaf": options.min_samples_leaf,
        "confidence_factor": options.confidence_factor,
    }
    given = {name: value for name, value in growing.items() if value is not None}
    if options.tree:
        if given or options.learner:
            raise ValueError("--tree keeps a tree as it is; leave out the options that grow one.")
        return load_tree(options.tree)
    if options.learner == "cart":
        from sklearn.tree import DecisionTreeClassifier as Learner

        given["random_state"] = 0
    else:
        from keeptree.learners.c45 import C45Classifier as Learner
    try:
        return Learner(**given)
    except TypeError:
        name = {"max_leaf_nodes": "--max-leaves", "confidence_factor": "--confidence-factor"}
        wrong = next(name[key] for key in given if key in name)
        learner = options.learner or "c45"
        raise ValueError(f"The learner {learner} does not know {wrong}; leave it out.") from None


def _summary(model, out):
    tree = model.tree_
    return {
        "kind": type(model).__name__,
        "leaves": tree.n_leaves,
        "depth": tree.max_depth,
        "columns": tree.n_features,
        "classes": [str(label) for label in model.classes_],
        "out": str(out),
    }


COMMAND = Command("fit", "fit a model to a data file and save it as JSON", _arguments, _run)
