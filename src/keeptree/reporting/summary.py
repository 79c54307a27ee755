"""The summary of a report: three facts with headlines, and the ranking quality."""

import re

from keeptree.evaluation.resampling import tell_scarce
from keeptree.text import class_text, plural

_PLAIN = re.compile(r"(?!(no|yes|not|none|true|false)$)[^\W\d][\w -]*", re.I)  # read as names


def summarise(data):
    """Return the facts and the ranking as sentences."""
    told = [" ".join([f"{fact['headline']}.", *fact["text"]]) for fact in data["facts"]]
    return [tell_tree(data), *told, *filter(None, [tell_rule(data), tell_ranking(data)])]


def tell_facts(data):
    """Return three facts: accuracy, misses, and cases to check by hand.

    Parameters
    ----------
    data : dict
        From :func:`keeptree.reporting.collect.collect`.

    Returns
    -------
    facts : list of dict
        Facts with a ``headline`` and a ``text``.
    """
    if data["decisions"] is None:
        return [_unknown(), _check(data)]
    if data["by_rule"] is None:
        return [_right(data), _missed(data), _check(data)]
    own = {**data, "decisions": data["by_rule"]}
    return [_by_rule(own), _missed(own), _check(data)]


def tell_tree(data):
    """Return the size of the tree in one sentence."""
    tree = data["tree"]
    if tree["n_leaves"] == 1:
        always = _name(data, tree["nodes"][0]["class"])
        return f"The tree has no tests: it always decides {always}."
    leaves, tests = plural(tree["n_leaves"], "leaf", "leaves"), plural(tree["max_depth"], "test")
    return f"The tree has {leaves} and needs at most {tests} for a decision."


def tell_rule(data):
    """Compare the decisions of a model that does not follow the tree with it; "" if it does."""
    found = data["by_rule"]
    if found is None:
        return ""
    told = f"is right for {data['decisions']['right']:,} of {data['n_test']:,} cases"
    if len(data["classes"]) == 2:
        rows = list_missed(data)
        rows.sort(key=lambda row: row["class"] != data["positive"])
        told = "misses " + " and ".join(
            f"{_count(row)} {_name(data, row['class'], quoted=True)}" for row in rows
        )
    return f"These are the model's decisions, by {found['rule']}. The tree {told}."


def tell_ranking(data):
    """Describe the ranking quality as far as the 95% interval supports it."""
    if data["quality"] is None or data["tree"]["n_leaves"] == 1:
        return ""
    auc = data["quality"]["metrics"]["auc"]
    if auc["difference"]["value"] is None:
        return "All cases belong to one class, so there is no ranking to measure."
    scarce = data["quality"]["scarce"]
    if scarce is not None:
        return tell_scarce(data["classes"][scarce["class"]]["label"], scarce["cases"])
    words = {
        "better": "Our estimates rank the cases better than the tree's own percentages",
        "worse": "Our estimates rank these cases worse than the tree's own percentages",
        "no clear difference": "Our estimates and the tree's own percentages rank the cases with "
        "no clear difference",
    }[verdict(auc["difference"])]
    return (
        f"{words} (AUC {auc['ours']['value']:.3f} instead of {auc['leaves']['value']:.3f}; 95% "
        f"interval of the difference: {signed(auc['difference']['low'])} to "
        f"{signed(auc['difference']['high'])})."
    )


def verdict(difference, better="better", worse="worse", larger=True):
    """Return the verdict that a 95% interval of a difference supports, as displayed."""
    if round(difference["low"], 3) > 0:
        return better if larger else worse
    if round(difference["high"], 3) < 0:
        return worse if larger else better
    return "no clear difference"


def list_missed(data):
    """Return the misses of each class, in decreasing order.

    Returns
    -------
    rows : list of dict
        ``class``, ``cases``, ``missed``, and ``taken``, the class for which missed cases are most
        often mistaken with ``times``, or None.
    """
    rows = []
    for c, decided in enumerate(data["decisions"]["confusion"]):
        cases = sum(decided)
        others = [(times, -k) for k, times in enumerate(decided) if k != c]
        times, taken = max(others, default=(0, 0))
        if cases:
            row = {"class": c, "cases": cases, "missed": cases - decided[c], "times": times}
            rows.append({**row, "taken": -taken if times else None})
    return sorted(rows, key=lambda row: (-row["missed"] / row["cases"], -row["cases"]))


def signed(value):
    """Return a difference with three decimals and its sign.

    Examples
    --------
    >>> signed(0.04), signed(-0.0412), signed(-0.0001)
    ('+0.040', '−0.041', '0.000')
    """
    text = f"{value:+.3f}"
    return "0.000" if float(text) == 0 else text.replace("-", "−")


def of_hundred(share):
    """Format a share as ``92 of 100``; shares that round to 0 or 100 get "less" or "more".

    Examples
    --------
    >>> of_hundred(0.921), of_hundred(0.9975), of_hundred(1.0), of_hundred(0.001)
    ('92 of 100', 'over 99 of 100', '100 of 100', 'under 1 of 100')
    """
    rounded = int(100 * share + 0.5)
    if rounded == 100 and share < 1:
        return "over 99 of 100"
    return "under 1 of 100" if rounded == 0 and share > 0 else f"{rounded} of 100"


def _unknown():
    return {
        "headline": "Accuracy unknown",
        "text": [
            "No cases with known classes were given that the tree had not seen. Its accuracy on "
            "the cases it was grown on would be too good, so it is not shown."
        ],
    }


def _right(data):
    found, n = data["decisions"], data["n_test"]
    right, base = found["right"], found["baseline"]
    share, likely = of_hundred(right / n), _interval(found)
    always = f"Always predicting {_name(data, base['class'], quoted=True)} would be right"
    if right == n:
        headline, text = f"All {n:,} right", f"No error; {likely}."
    elif right <= base["right"]:
        more = "more often" if right < base["right"] else "as often"
        named = _name(data, base["class"], quoted=True)
        headline = f"No better than always predicting {named}"
        text = f"The tree is right for {right:,} of {n:,} cases ({share}; {likely})."
        return {"headline": headline, "text": [text, f"{always} {more}: for {base['right']:,}."]}
    else:
        headline, text = f"{share} right", f"{right:,} of {n:,} cases; {likely}."
    often = of_hundred(base["right"] / n)
    in_all = f"for {base['right']:,} of {n:,}" if often == share else f"for {often}"
    return {"headline": headline, "text": [text, f"{always} {in_all}."]}


def _by_rule(data):
    """Return the fact on how good the decisions of a model are that does not follow the tree."""
    found, n = data["by_rule"], data["n_test"]
    fact = _right(data)
    told = f"By {found['rule']}, the model is right for {found['right']:,} of {n:,} cases"
    if found["cost"] is None:
        fact["text"] = [f"{told}; {_interval(found)}.", *fact["text"][1:]]
        return fact
    return {
        "headline": f"A case costs {found['cost']:.3g} on average",
        "text": [
            f"By the tree's decisions, it would cost {found['tree_cost']:.3g}.",
            f"{told} ({of_hundred(found['right'] / n)}; {_interval(found)}).",
        ],
    }


def _interval(found):
    low, high = round(100 * found["low"]), round(100 * found["high"])
    told = f"{low} to {high}" if low < high else f"about {low}"
    return f"true rate likely {told} of 100"


def _missed(data):
    rows = list_missed(data)
    if len(data["classes"]) == 2:
        rows.sort(key=lambda row: row["class"] != data["positive"])
        if rows[0]["class"] != data["positive"]:
            headline = f"No {_name(data, data['positive'], quoted=True)} among these cases"
            return {"headline": headline, "text": [f"{_tell_missed(data, rows[0])}."]}
    first, *others = rows
    wrong = [row for row in others if row["missed"]]
    if not first["missed"] and not wrong:
        return {"headline": "Nothing missed", "text": ["Every case was decided correctly."]}
    if not first["missed"]:
        headline = f"All {first['cases']:,} {_name(data, first['class'], quoted=True)} found"
    else:
        headline = f"{_count(first)} {_name(data, first['class'], quoted=True)} missed"
    text = [f"{_tell_missed(data, row)}." for row in wrong[:3]]
    return {"headline": headline, "text": text}


def _tell_missed(data, row):
    taken = "another class" if row["taken"] is None else _name(data, row["taken"], quoted=True)
    verb = "was" if row["missed"] == 1 else "were"
    mostly = "mostly " if 0 < row["times"] < row["missed"] else ""
    return (
        f"{_count(row)} {_name(data, row['class'], quoted=True)} {verb} {mostly}taken for {taken}"
    )


def _count(row):
    return f"{row['missed']:,} of {row['cases']:,}"


def _check(data):
    found = data["check"]
    if found is None:
        return {
            "headline": "No cases to check yet",
            "text": ["Give cases that the tree has not seen: kt.report(model, X_test, y_test)."],
        }
    if data["tree"]["n_leaves"] == 1:
        text = "A tree without tests decides the same for every case."
        return {"headline": "No case stands out", "text": [text]}
    n = found["cases"]
    headline = "Check 1 case by hand" if n == 1 else f"Check {n:,} cases by hand"
    return {"headline": headline, "text": [*_tell_caught(found), *_tell_disagreement(found)]}


def _tell_caught(found):
    n, errors = found["cases"], found["errors"]
    if errors is None:
        return ["By our estimate, the tree is most likely to be wrong about these."]
    if errors == 0:
        return ["The tree made no error on the cases it had not seen."]
    verb = "It includes" if n == 1 else "They include"
    of = "the tree's only error" if errors == 1 else f"of the tree's {errors:,} errors"
    if errors == 1:
        return [
            f"{verb} {of}."
            if found["caught"]
            else f"{'It does' if n == 1 else 'They do'} not include {of}."
        ]
    return [f"{verb} {found['caught']:,} {of}."]


def _tell_disagreement(found):
    n, right = found["disagrees"], found["estimate_right"]
    if n == 0:
        return ["Our estimate agrees with the tree on every case."]
    told = f"Where our estimate disagrees with the tree ({plural(n, 'case')})"
    if right is None:
        told = f"Our estimate disagrees with the tree on {plural(n, 'case')}."
    else:
        times = {0: "was never right", 1: "was right once"}.get(right, f"was right {right:,} times")
        told += f", the estimate {times}."
    left = n - found["cases"]
    if left > 0:
        told += f" The list stops at the {found['cases']} most likely to be wrong."
    return [told]


def _name(data, c, quoted=False):
    """A class name for a sentence, quoted if it does not read as words."""
    label = class_text(data["classes"][c]["label"])
    return f"“{label}”" if quoted or not _PLAIN.fullmatch(label) else label
