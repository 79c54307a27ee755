"""Turn the records of all tasks into the tables of docs/quality.md."""

from collections import Counter

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from benchmarks.quality.data import catalogue
from benchmarks.quality.measure import NO_TREE, TRUTH
from benchmarks.quality.methods import LEARNERS, METHODS
from benchmarks.quality.peers import FOREST, PEER_NAMES, PEERS_ON_TREE

BASE = "laplace"
GROUPS = ("numeric", "imbalanced", "mixed", "large")
WORTH = 0.02  # sets with a smaller gap in AUC are left out of the median
SAME = 1e-6  # smaller differences count as ties
SEEN = 5e-4  # smaller losses are counted, not listed
MEASURES = {"auc": "AUC", "log_loss": "log-loss", "brier": "Brier", "ece": "ECE"}
_TEXTS = ("tree", "set", "measure", "rival")  # columns of text in the tables
RIVALS = ("kept", "laplace", "shrinkage-cv", "isotonic", "Venn-Abers", *PEERS_ON_TREE, *PEER_NAMES)


def per_set(records):
    """Return the mean over the splits, one row for each tree, set and method.

    For each group and tree, only methods that are finished for all sets count, and of these only
    the splits that all of them have finished. In this way an interrupted run compares like with
    like. The peers that use all attributes are fitted once and listed with the methods of each
    tree. Returns the rows and the number of splits by group and tree.
    """
    entries = catalogue()
    done = [record for record in records if "rows" in record]
    rows, n_splits = [], {}
    for group in GROUPS:
        of_group = [record for record in done if entries[record["task"]["set"]].group == group]
        for tree in LEARNERS:
            own = [record for record in of_group if record["task"]["tree"] in (tree, NO_TREE)]
            methods = _finished_methods([record["task"] for record in own])
            own = [record for record in own if record["task"]["method"] in methods]
            splits = _finished_splits([record["task"] for record in own])
            if not splits or all(record["task"]["tree"] == NO_TREE for record in own):
                continue
            n_splits[group, tree] = len(splits)
            for record in own:
                name = record["task"]["set"]
                if record["task"]["split"] in splits:
                    about = {"group": group, "half": entries[name].half, "tree": tree, "set": name}
                    rows += [{**about, **row} for row in record["rows"]]
    if not rows:
        raise SystemExit("No split is finished for all sets and trees yet; run make quality again.")
    keys = ["group", "half", "tree", "set", "method"]
    return pd.DataFrame(rows).groupby(keys, sort=False).mean().reset_index(), n_splits


def with_stored(rows, stored):
    """Return the rows with those of other methods that an earlier run has stored.

    All are rounded as the stored ones are, so that equal figures draw.
    """
    keys = ["tree", "set", "method"]
    own = set(map(tuple, rows[keys].to_numpy()))
    other = [key not in own for key in map(tuple, stored[keys].to_numpy())]
    return pd.concat([stored[other], rows.round(4)], ignore_index=True)


def _finished_methods(tasks):
    """Return the methods measured on every set; the truth is known for some sets only."""
    sets = {}
    for task in tasks:
        sets.setdefault(task["method"], set()).add(task["set"])
    everywhere = set().union(*sets.values())
    return {method for method, own in sets.items() if own == everywhere or method == TRUTH}


def _finished_splits(tasks):
    wanted = {(task["set"], task["tree"], task["method"]) for task in tasks}
    finished = Counter(task["split"] for task in tasks)
    return [split for split, n in finished.items() if n == len(wanted)]


def wide(rows, measure):
    """Return a table of sets by methods: those of the tree first, then the peers."""
    found = sorted(dict.fromkeys(rows["method"]), key=_rank)
    order = [m for m in found if m not in PEER_NAMES] + [m for m in PEER_NAMES if m in found]
    return rows.pivot(index="set", columns="method", values=measure)[order]


def _rank(method):
    """Return the position of a method in the tables; variants follow their method."""
    names = list(METHODS)
    known = (name for name in (method, method.split(",")[0]) if name in METHODS)
    return names.index(next(known, names[-1]))


def gap_closed(rows):
    """Return the share of the gap in AUC from Laplace to the forest that each method closes, in %.

    Sets on which the forest is no better than Laplace have no gap. They are left out, because they
    would flatter every method.

    Returns
    -------
    closed : Series
        The mean gain over Laplace divided by the mean gain of the forest.
    typical : Series
        The median over the sets whose gap is large enough to divide by.
    """
    gain = wide(rows, "auc").sub(wide(rows, "auc")[BASE], axis=0)
    if FOREST not in gain:  # the run is not finished
        unknown = np.nan * gain.mean()
        return unknown, unknown
    gain = gain[gain[FOREST] > 0]
    worth = gain[gain[FOREST] >= WORTH]
    closed = 100 * gain.mean() / gain[FOREST].mean()
    return closed, 100 * worth.div(worth[FOREST], axis=0).median()


def main_table(rows):
    """Return the table of all methods: gap closed, measures, agreement, and sets ranked better."""
    closed, typical = gap_closed(rows)
    auc = wide(rows, "auc")
    table = pd.DataFrame({"gap closed %": closed.map("{:.0f}".format)})
    table["median %"] = typical.map("{:.0f}".format)
    for measure, label in MEASURES.items():
        table[label] = wide(rows, measure).mean().map("{:.3f}".format)
    table["agrees %"] = (100 * wide(rows, "agreement").mean()).map("{:.1f}".format)
    table["sets won : lost"] = [_won_lost(auc[method] - auc[BASE]) for method in auc]
    table["p"] = [_p_value(auc[method] - auc[BASE]) for method in auc]
    return table.replace("nan", "")


def parts_table(rows, methods):
    """Return the gap closed and log-loss of some methods, for each group, half and tree."""
    table = []
    for group, whole in rows.groupby("group", sort=False):
        for half in ("", "development", "confirmation"):
            some = whole[whole["half"] == half] if half else whole
            for tree, part in some.groupby("tree", sort=False):
                closed, _ = gap_closed(part)
                loss = wide(part, "log_loss").mean()
                name = f"{group}, {half}" if half else f"**{group}**"
                shown = {m: f"{closed[m]:.0f} / {loss[m]:.3f}" for m in methods if m in loss}
                shown = {m: text.replace("nan / ", "") for m, text in shown.items()}
                table.append({"sets": f"{name} ({part['set'].nunique()})", "tree": tree, **shown})
    return pd.DataFrame(table).fillna("")


def differences_table(rows, method):
    """Return a method against its rivals: mean and median difference, sets won and lost, p."""
    table = {}
    for measure, sign in (("auc", 1), ("log_loss", -1)):
        values, name = wide(rows, measure), MEASURES[measure]
        for rival in (rival for rival in RIVALS if rival in values and rival != method):
            gap = values[method] - values[rival]
            row = table.setdefault(rival, {})
            row[name] = f"{gap.mean():+.4f}"
            row[f"{name}, median"] = f"{gap.median():+.4f}"
            row[f"{name}, won : lost"] = f"{_won_lost(sign * gap)} (p {_p_value(gap)})"
    return pd.DataFrame(table).T


def sets_table(rows, methods):
    """Return the AUC and log-loss of some methods on each set."""
    auc, loss = wide(rows, "auc"), wide(rows, "log_loss")
    table = pd.DataFrame(index=auc.index)
    for method in (method for method in methods if method in auc):
        shown = auc[method].map("{:.4f}".format) + " / " + loss[method].map("{:.4f}".format)
        table[method] = shown.where(auc[method].notna(), "")
    return table


def rare_table(rows, methods):
    """Return the ratio of expected to observed cases of the rarest class, by method."""
    table = {}
    for tree, own in rows.groupby("tree", sort=False):
        total = own.groupby("method", sort=False)[["expected", "observed"]].sum()
        found = [method for method in methods if method in total.index]
        ratio = (total["expected"] / total["observed"]).loc[found]
        table[tree] = ratio.map("{:.2f}".format)
    return pd.DataFrame(table)


def losses_table(rows, method, rivals=("laplace", "shrinkage-cv")):
    """Return every set on which the method is worse than a rival in the first four digits."""
    found = []
    for tree, own in rows.groupby("tree", sort=False):
        for measure, sign in (("auc", 1), ("log_loss", -1)):
            values = wide(own, measure)
            for rival in (rival for rival in rivals if rival in values):
                gain = sign * (values[method] - values[rival])
                for name in gain.index[gain < -SEEN]:
                    found.append(
                        {
                            "tree": tree,
                            "set": name,
                            "measure": MEASURES[measure],
                            "rival": rival,
                            "rival's": f"{values[rival][name]:.4f}",
                            f"{method}": f"{values[method][name]:.4f}",
                        }
                    )
    return pd.DataFrame(found)


def markdown(table, index=True):
    """Return a frame as Markdown; all columns but the first and those of text align right."""
    if index:
        names = [" ".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in table.columns]
        table = table.set_axis(names, axis=1).rename_axis("").reset_index()
    columns = [str(c) for c in table.columns]
    marks = ["---" if j == 0 or c in _TEXTS else "---:" for j, c in enumerate(columns)]
    lines = [columns, marks, *table.astype(str).values.tolist()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _won_lost(gain):
    gain = gain.dropna()
    return f"{(gain > SAME).sum()} : {(gain < -SAME).sum()}"


def _p_value(gain):
    """Return the two-sided p-value of Wilcoxon's signed-rank test over the sets."""
    gain = gain.dropna()
    gain = gain[np.abs(gain) > SAME]
    if len(gain) < 2:
        return ""
    p = wilcoxon(gain).pvalue
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"
