"""Short phrases of a report; ``js/words.js`` has the same ones."""

from keeptree.text import class_text, in_hundred, plural

_ALIKE, _BESIDE = 0.15, 0.005  # maximum width of a group of similar estimates, and distance from it
_MOST_NAMED = 12  # attributes outside the tree that are listed by name


def shown_class(p, positive):
    """Return the class whose probability is shown: the positive one of two, or the likeliest."""
    return positive if len(p) == 2 else max(range(len(p)), key=p.__getitem__)


def short_labels(classes):
    """Return the labels for a narrow table, without a common prefix such as the target's name.

    Examples
    --------
    >>> short_labels([{"label": "Survived = 0"}, {"label": "Survived = 1"}])
    ['0', '1']
    >>> short_labels([{"label": "benign"}, {"label": "malignant"}])
    ['benign', 'malignant']
    """
    labels = [item["label"] for item in classes]
    name = labels[0].partition(" = ")[0] + " = "
    shared = all(label.startswith(name) for label in labels)
    return [label.removeprefix(name) for label in labels] if shared else labels


def estimate_text(p, classes, positive):
    """Return ``malignant 58 in 100``."""
    chosen = shown_class(p, positive)
    return f"{class_text(classes[chosen]['label'])} {in_hundred(p[chosen])}"


def tell_neighbours(p, label, bins):
    """Return what happened to cases with a similar estimate; "" if they are too different.

    Parameters
    ----------
    p : float
        The estimate.
    label : str
        Label of its class.
    bins : list of dict
        From :func:`keeptree.evaluation.reliability.quantile_bins`.
    """
    around = [item for item in bins if item["from"] - _BESIDE <= p <= item["to"] + _BESIDE]
    if not around or around[-1]["to"] - around[-1]["from"] > _ALIKE:
        return ""
    found, n = around[-1], around[-1]["cases"]
    ends = [in_hundred(found[end]).removesuffix(" in 100") for end in ("from", "to")]
    said = f"{ends[0]} to {ends[1]} in 100" if ends[0] != ends[1] else f"{ends[0]} in 100"
    return (
        f"Of {plural(n, 'case')} that the tree had not seen and that had an estimate of {said}, "
        f"the outcome was {label} for {found['happened']:,}."
    )


def push_ways(data, towards):
    """Return what a bar to the left and to the right means: ``◀ benign | malignant ▶``."""
    classes = data["classes"]
    to = class_text(classes[towards]["label"])
    away = classes[1 - towards]["label"] if len(classes) == 2 else "another class"
    return f"◀ {class_text(away)} | {to} ▶"


def push_text(value):
    """Return a contribution in log-odds: ``+1.49``."""
    return f"{value:+.2f}".replace("-", "−")


def disagreeing(data):
    """Return on how many cases the estimate disagrees, and how many of them the file contains."""
    held = sum(case["disagrees"] for case in data["cases"])
    found = data["check"]["disagrees"]
    return f"{held:,}" if held == found else f"{held:,} of {found:,}"


def list_note(data):
    """Return which cases are listed, and what was left out."""
    held, n, found = len(data["cases"]), data["n_test"], data["check"]
    told = "Sorted by our estimate of the probability that the tree is wrong."
    if found["disagrees"] > found["cases"]:
        told += (
            f" Our estimate disagrees with the tree on {found['disagrees']:,} cases; the list to "
            f"check stops at {found['cases']}."
        )
    if held < n:
        told += f" This file contains {held:,} of the {n:,} cases."
    return told


def rows_text(data):
    """Describe the single cases that the file contains."""
    if not data["rows"]:
        return (
            "None. The file contains only the decision, probability and distance of single cases, "
            "and the range, median and histogram of each attribute."
        )
    width = len(data["attributes"])
    if width == 0:
        return "None: the tree tests no attribute."
    parts = []
    if data["cases"]:
        parts.append(
            f"{len(data['cases'])} of {plural(data['n_test'], 'case')} the tree had not seen, with "
            f"{plural(width, 'attribute')} each"
        )
    model = data["whatif"]["model"]
    if model is not None and model.get("rows"):
        parts.append(
            f"{plural(model['rows'], 'training row')} with {plural(width, 'attribute')} each"
        )
    return f"{'; '.join(parts)}." if parts else "None."


def untested_text(data):
    """Name the attributes that the estimates use although the tree does not test them."""
    names = [attribute["name"] for attribute in data["attributes"] if not attribute["tested"]]
    if not names:
        return ""
    told = ", ".join(names[:_MOST_NAMED])
    told += f" and {len(names) - _MOST_NAMED} others" if len(names) > _MOST_NAMED else ""
    return f"{told}. Only our estimates use them; the tree's decisions do not depend on them."


def interval_text(data):
    """Return what the interval of an estimate means."""
    if data["whatif"]["interval"]["kind"] == "calibration":
        return (
            "With 90% confidence, between 91 and 99 in 100 cases with such an estimate belong to "
            "the class. This holds for these cases taken together, not for each of them. The "
            "interval is widened to contain the estimate: if the estimate is one of its ends, the "
            "calibration cases suggest another figure."
        )
    return (
        "How far the estimate may be off for this case. The interval is wide if trees grown on "
        "parts of the sample disagree, or if few training cases are similar. Its level of 90% was "
        "measured where the truth is known; it is not guaranteed for each case."
    )
