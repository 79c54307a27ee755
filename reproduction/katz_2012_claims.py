"""Judge the claims in the text of Katz et al. (2012) by our measurements."""

import numpy as np
from scipy.stats import spearmanr, wilcoxon

from reproduction.katz import SEVERAL, SIZES
from reproduction.katz_gains import LEAST, direction, gain, list_names
from reproduction.published_2012 import VARIANTS
from reproduction.tables import Claims, number
from reproduction.verdicts import Claim

# Smallest class ratio of an imbalanced set; gains that differ by less, in %, count as equal.
_UNEVEN, _SAME = 3, 0.05


def claims(results):
    """Return the claims of the text, with verdicts."""
    names = list_names(results)
    return Claims(
        (
            _claim_outperforms(results, names),
            _claim_combined(results, names),
            _claim_affected(results, names),
            _claim_no_correlation(results, names),
            _claim_small(results, names),
            _claim_imbalanced(results, names),
            _claim_weights(results, names),
        ),
        results.enough,
    )


def _wins(results, names, area):
    """Return the number of gains of the three variants, of losses, and the names of the losses."""
    up, down = 0, []
    for name in names:
        for variant in VARIANTS:
            side = direction(gain(results, name, variant, area).mean)
            up += side > 0
            if side < 0:
                down.append(f"{name} {variant}")
    return up, down


def _claim_outperforms(results, names):
    total = 3 * len(names)
    up, down = _wins(results, names, "auc")
    up_0, down_0 = _wins(results, names, "auc_ties_0")
    excepted = sum(name in names for name in ("spam", "MiniBooNE"))
    return Claim(
        "All variants outperform C4.5, except TDIST on spam and MiniBooNE.",
        "always",
        min(up, total - excepted),
        total - excepted,
        f"Of {total} gains in AUC, {up} are above {LEAST}%, {len(down)} below −{LEAST}% "
        f"({', '.join(down) or 'none'}). Ties counted 0: {up_0} and {len(down_0)} "
        f"({', '.join(down_0) or 'none'}).",
    )


def _claim_combined(results, names):
    gains = {n: {v: gain(results, n, v, "auc").mean for v in VARIANTS} for n in names}
    best = [n for n in names if gains[n]["COMB"] >= max(gains[n].values()) - LEAST]
    means = {v: np.mean([gains[n][v] for n in names]) for v in VARIANTS}
    losses = sum(direction(gains[n]["COMB"]) < 0 for n in names)
    return Claim(
        "The combined variant clearly performs best.",
        "generally",
        len(best),
        len(names),
        f"Best, or within {LEAST}% of it, on {len(best)} of {len(names)} sets; it loses on "
        f"{losses}. Mean gain: " + ", ".join(f"{v} {number(m)}%" for v, m in means.items()) + ".",
    )


def _claim_affected(results, names):
    more = sum(_share(results, name, "TDIST") >= _share(results, name, "NORM") for name in names)
    return Claim(
        "The t interval affects more cases than the normal one.",
        "always",
        more,
        len(names),
        f"It does on {more} of {len(names)} sets.",
    )


def _claim_no_correlation(results, names):
    pairs = [
        (_share(results, name, v), gain(results, name, v, "auc").mean)
        for name in names
        for v in VARIANTS
    ]
    text = "The share affected and the gain are not correlated."
    if len(names) < 4:
        return Claim(text, "tested", 0, 0, "Too few sets.")
    found = spearmanr(*zip(*pairs, strict=True))
    return Claim(
        text,
        "tested",
        len(names) if found.pvalue >= 0.05 else 0,
        len(names),
        f"Spearman's correlation over sets and variants is {number(found.statistic)} "
        f"(p {found.pvalue:.2g}).",
    )


def _claim_small(results, names):
    """Judge the claim that Figure 6 illustrates."""
    text = "The gain is larger on small training sets: it falls as they grow (Figure 6)."
    ends = {}
    for name in (n for n in names if results.has(n, f"{SIZES[0]} %")):
        pair = [gain(results, name, "COMB", "auc", f"{size} %") for size in (SIZES[0], SIZES[-1])]
        if None not in pair:
            ends[name] = [end.mean for end in pair]
    if not ends:
        return Claim(text, "tested", 0, 0, "Figure 6 was not measured.")
    change = np.array([small - large for small, large in ends.values()])
    p = float(wilcoxon(change).pvalue) if change.any() else 1.0
    parts = []
    for kind, members in (("two classes", False), ("several classes", True)):
        chosen = [ends[name] for name in ends if (name in SEVERAL) == members]
        if chosen:
            small, large = np.mean(chosen, axis=0)
            parts.append(f"{kind}: {number(small)}% at {SIZES[0]}%, {number(large)}% at "
                         f"{SIZES[-1]}%")  # fmt: skip
    return Claim(
        text,
        "tested",
        len(ends) if change.mean() > 0 and p < 0.05 else 0,
        len(ends),
        f"COMB gains more with {SIZES[0]}% of the cases than with {SIZES[-1]}% on "
        f"{np.sum(change > 0)} of {len(ends)} sets (Wilcoxon's test: p {p:.2g}). Means: "
        f"{'; '.join(parts)}.",
    )


def _claim_imbalanced(results, names):
    text = "The more imbalanced the data set, the greater the gain."
    known = [name for name in names if "imbalance" in results.about.get(name, {})]
    if len(known) < 4:
        return Claim(text, "tested", 0, 0, "Too few sets.")
    ratios = [results.about[name]["imbalance"] for name in known]
    found = spearmanr(ratios, [gain(results, name, "COMB", "auc").mean for name in known])
    return Claim(
        text,
        "tested",
        len(known) if found.statistic > 0 and found.pvalue < 0.05 else 0,
        len(known),
        "Spearman's correlation of COMB's gain with the ratio of the largest to the smallest class "
        f"is {number(found.statistic)} (p {found.pvalue:.2g}) over {len(known)} sets.",
    )


def _claim_weights(results, names):
    text = (
        "Weighting routes by sqrt(n) instead of n improves imbalanced data sets and leaves "
        "balanced ones as they are."
    )
    gaps = {}
    for name in (n for n in names if results.has(n, "folds", "COMB, n")):
        ours, other = (gain(results, name, method, "auc").mean for method in ("COMB", "COMB, n"))
        gaps[name] = ours - other
    ratio = {name: results.about.get(name, {}).get("imbalance", 1.0) for name in gaps}
    uneven = [name for name in gaps if ratio[name] >= _UNEVEN]
    better = [name for name in uneven if gaps[name] > _SAME]
    same = [name for name in gaps if name not in uneven and abs(gaps[name]) <= _SAME]
    largest = max(gaps, key=lambda name: abs(gaps[name])) if gaps else None
    return Claim(
        text,
        "generally",
        len(better) + len(same),
        len(gaps),
        f"Better by more than {_SAME}% on {len(better)} of {len(uneven)} sets whose largest class "
        f"is {_UNEVEN} times the smallest or more; within {_SAME}% on {len(same)} of "
        f"{len(gaps) - len(uneven)} others."
        + (f" The largest difference is {number(gaps[largest])}% ({largest})." if gaps else ""),
    )


def _share(results, name, variant):
    return results.values(name, "folds", variant, "affected").mean()
