"""The first thing a reader sees: three sentences drawn from the measured figures."""

from keeptree.text import plural


def summarise(data):
    """Return three sentences: the tree, its decisions and our ranking, the cases to look at."""
    return [_tree(data), _quality(data), _cases(data)]


def verdict(difference, better="better", worse="worse", larger=True):
    """Return what a 95 % interval of a difference allows to say, in the digits shown."""
    if round(difference["low"], 3) > 0:
        return better if larger else worse
    if round(difference["high"], 3) < 0:
        return worse if larger else better
    return "no clear difference"


def _tree(data):
    tree = data["tree"]
    kept = "is unchanged" if tree["unchanged"] else "was CHANGED, which must not happen"
    if tree["n_leaves"] == 1:
        label = data["classes"][tree["nodes"][0]["class"]]["label"]
        return f"This tree asks nothing: it always says {label}, and {kept}."
    return (
        f"This tree asks at most {plural(tree['max_depth'], 'question')}, has "
        f"{plural(tree['n_leaves'], 'leaf', 'leaves')} and {kept}."
    )


def _quality(data):
    if data["decisions"] is None:
        return (
            "How good its decisions and our probabilities are is not known: no held-out cases with "
            "their true classes were given."
        )
    decided = data["decisions"]
    told = (
        f"On {plural(data['n_test'], 'held-out case')} it decided {100 * decided['accuracy']:.0f} "
        f"in 100 correctly (95 % interval {100 * decided['low']:.0f} to "
        f"{100 * decided['high']:.0f})"
    )
    if data["tree"]["n_leaves"] == 1:
        return f"{told}; with a single leaf there is nothing to rank them by."
    auc = data["quality"]["metrics"]["auc"]
    if auc["difference"]["value"] is None:
        return f"{told}; they are all of one class, so that there is no ranking to measure."
    words = {
        "better": "our probabilities rank them better than its leaves",
        "worse": "our probabilities rank them worse here than its leaves",
        "no clear difference": "there is no clear difference between our ranking and its leaves'",
    }[verdict(auc["difference"])]
    return (
        f"{told}; {words} (AUC {auc['ours']['value']:.3f} against {auc['leaves']['value']:.3f}, "
        f"difference {signed(auc['difference']['low'])} to {signed(auc['difference']['high'])})."
    )


def _cases(data):
    near, opinion, both = (data["first"][key] for key in ("near", "opinion", "both"))
    if data["n_test"] == 0:
        return "Give held-out cases to see which of them a person should look at first."
    if near + opinion == 0:
        return "No case is near a boundary and none has a second opinion."
    parts = []
    if near:
        parts.append(f"{near:,} near the boundary")
    if opinion:
        parts.append(plural(opinion, "second opinion"))
    shared = f" ({both} both)" if both else ""
    total, listed = near + opinion - both, data["first"]["listed"]
    left = "" if listed == total else f"; the nearest {listed} of them are listed"
    return f"Look first at {plural(total, 'case')}: {', '.join(parts)}{shared}{left}."


def signed(value):
    """Return a difference with three decimals and its sign.

    Examples
    --------
    >>> signed(0.04), signed(-0.0412), signed(-0.0001)
    ('+0.040', '−0.041', '0.000')
    """
    text = f"{value:+.3f}"
    return "0.000" if float(text) == 0 else text.replace("-", "−")
