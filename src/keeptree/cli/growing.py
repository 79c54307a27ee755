"""Choose the tree of a command: keep a given one, or grow one with the given options."""

import warnings
from pathlib import Path

from keeptree.cli.command import load_tree
from keeptree.progress import watch
from keeptree.text import class_text, clean

_LEARNERS = ("c45", "cart")
_OPTIONS = {  # parameter of the learners -> option
    "max_depth": "--max-depth",
    "max_leaf_nodes": "--max-leaves",
    "min_samples_leaf": "--min-samples-leaf",
    "confidence_factor": "--confidence-factor",
}
_UNPRUNED = {"pruning": "none", "collapse": False}
_LARGER = {  # options of keeptree grow -> parameters of C4.5, from the mildest change on
    "--pruning none --no-collapse": _UNPRUNED,
    "--criterion gini --pruning none --no-collapse --max-leaves 20": {
        **_UNPRUNED,
        "criterion": "gini",  # it has no correction that outweighs the gain from a rare class
        "max_leaf_nodes": 20,
    },
    "--criterion gini --pruning none --no-collapse": {**_UNPRUNED, "criterion": "gini"},
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


def warn_without_tests(label, options, *, same, use="", others=(), holds_out=False):
    """Warn that the tree is a single leaf, and tell how to get one with tests.

    Parameters
    ----------
    label : str
        Display name of the class that the tree always decides.
    options : Namespace
        Options of the command.
    same : str
        What every case has in common.
    use : str
        Sentence on what the result is still good for, with a space at the end.
    others : sequence of str
        Other ways to tell cases apart.
    holds_out : bool, default=False
        Whether the command grows the tree on a part of the cases and measures it on the others, as
        ``keeptree report`` does. A tree that is given must then come from other cases.
    """
    warnings.warn(
        f"The tree has no tests{_tell_reason(label, options)}, so every case gets the same {same}. "
        f"{use}{_advise_tests(options, others, holds_out)}",
        stacklevel=2,
    )


def _tell_reason(label, options):
    """Return why C4.5 grew a tree without tests, unless the user limited or gave the tree."""
    if options.tree or options.learner == "cart" or given_growing(options):
        return ""
    always = class_text(clean(label))
    return f", because C4.5 found none that is clearly better than always deciding {always}"


def _advise_tests(options, others, holds_out):
    """Return how to tell cases apart; how to grow a larger tree has been tried on the data."""
    advice = []
    if options.tree:
        advice.append("keep another tree")
    else:
        with watch("Looking for a larger tree"):
            larger = _advise_larger(options, holds_out)
        if larger == "":
            return "Even an unpruned tree has no tests; give more cases or other columns."
        advice += [] if larger is None else [larger]
    advice = [*advice, *others] or ["give more cases or keep another tree"]
    return f"To tell cases apart, {', or '.join(advice)}."


def _advise_larger(options, holds_out):
    """Return how to grow a tree with tests, by the first way that succeeds on the same cases.

    The advice is ``""`` if none does, and None if the file cannot be read a second time.
    """
    from keeptree.data.files import ReadingNotice
    from keeptree.data.training import read_training

    elsewhere = getattr(options, "engine", "local") != "local"  # only fit has these two options
    if not Path(options.data).is_file() or getattr(options, "sample", None) or elsewhere:
        return None
    columns = options.target, options.nominal, options.drop
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNotice)  # the user has been told
        X, y, _ = read_training(options.data, *columns, warn=False)
    if holds_out:
        from keeptree.reporting.from_data import hold_out

        (X, _, y, _), _ = hold_out(X, y)
    for advice, learner in _larger_learners(options, holds_out):
        if learner.fit(X, y).tree_.n_leaves > 1:
            return advice
    return ""


def _larger_learners(options, holds_out):
    """Yield advice and the learner that follows it."""
    from keeptree.learners.c45 import C45Classifier

    if options.learner != "cart" and options.confidence_factor != 1:
        given = {**given_growing(options), "confidence_factor": 1}
        yield "prune less (--confidence-factor 1)", C45Classifier(**given)
    where = " on other cases" if holds_out else ""
    for text, parameters in _LARGER.items():
        advice = f"grow a larger tree{where} with keeptree grow {text} and give it as --tree"
        yield advice, C45Classifier(**parameters)
