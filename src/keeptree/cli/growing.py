"""Choose the tree of a command: keep a given one, or grow one with the given options."""

from keeptree.cli.command import load_tree

_LEARNERS = ("c45", "cart")
_OPTIONS = {  # parameter of the learners -> option
    "max_depth": "--max-depth",
    "max_leaf_nodes": "--max-leaves",
    "min_samples_leaf": "--min-samples-leaf",
    "confidence_factor": "--confidence-factor",
}


def add_growing(parser):
    """Add the options for growing a tree."""
    group = parser.add_argument_group("growing a tree")
    group.add_argument(
        "--learner", choices=_LEARNERS, help="tree learner (default: c45; cart is scikit-learn's)"
    )
    group.add_argument("--max-depth", metavar="N", type=int, help="maximum depth of the tree")
    group.add_argument(
        "--max-leaves",
        metavar="N",
        dest="max_leaf_nodes",
        type=int,
        help="maximum number of leaves",
    )
    group.add_argument(
        "--min-samples-leaf", metavar="N", type=int, help="minimum number of cases in a leaf"
    )
    group.add_argument(
        "--confidence-factor",
        metavar="C",
        type=float,
        help="smaller values prune more (c45; default: 0.25)",
    )


def given_growing(options):
    """Return the options that grow a tree and were given: parameter -> value."""
    given = {name: getattr(options, name) for name in _OPTIONS}
    return {name: value for name, value in given.items() if value is not None}


def check_not_growing(options, what):
    """Raise a ValueError if an option for growing was given although no tree is grown."""
    if given_growing(options) or options.learner:
        raise ValueError(f"{what}; leave out the options for growing one.")


def choose_tree(options):
    """Return the tree of ``--tree``, or else an unfitted learner with the options given."""
    if options.tree:
        check_not_growing(options, "--tree keeps a tree as it is")
        return load_tree(options)
    given = given_growing(options)
    if options.learner == "cart":
        from sklearn.tree import DecisionTreeClassifier as Learner

        given["random_state"] = 0
    else:
        from keeptree.learners.c45 import C45Classifier as Learner
    learner = Learner()
    for name in given:
        if name not in learner.get_params():
            chosen = options.learner or _LEARNERS[0]
            raise ValueError(f"The learner {chosen} has no option {_OPTIONS[name]}; leave it out.")
    return learner.set_params(**given)
