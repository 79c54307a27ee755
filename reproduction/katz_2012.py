"""Katz, Shabtai, Rokach and Ofek (2012): ConfDTree, Tables I to III and Figure 6."""

from functools import partial

import numpy as np
from scipy.stats import ttest_rel, wilcoxon

from reproduction.agreement import Estimate
from reproduction.katz import (
    CODINGS,
    LAPLACE,
    SEVERAL,
    SIZES,
    list_size_tasks,
    list_tasks,
    score_task,
)
from reproduction.katz_2012_claims import claims
from reproduction.katz_gains import (
    CLOSE_GAIN,
    CLOSE_SHARE,
    CloseCell,
    MeanCell,
    PValueCell,
    ShareCell,
    estimate,
    gain,
    list_names,
)
from reproduction.pictures import BLUE, GREY, ORANGE, figure
from reproduction.published_2012 import (
    TABLE_I,
    TABLE_I_WEIGHTED,
    TABLE_II,
    TABLE_III,
    VARIANTS,
)
from reproduction.reproduce import MeasuredFigure, Reproduction
from reproduction.tables import Picture, Table, number

_METHODS = (*VARIANTS, "random forest")
_UNPUBLISHED = {LAPLACE: 1, "noise": 0}  # sign of a gain that favours the method; 0 for neither


def _table_i(results, key, title, ties, notes):
    rows = {}
    for name in list_names(results, missing=True):
        rows[name] = _gains(results, name, f"auc{ties}", TABLE_I[name])
        if name in SEVERAL:
            published = TABLE_I_WEIGHTED[name]
            rows[f"{name}, weighted"] = _gains(results, name, f"auc_weighted{ties}", published)
    return Table(key, title, (*_METHODS, *_UNPUBLISHED), rows, notes=(*_NOTES, *notes))


def _gains(results, name, area, published):
    if name not in results.datasets:
        cells = [CloseCell(None, published[m]) for m in _METHODS]
        return [*cells, *(CloseCell(None) for _ in _UNPUBLISHED)]
    return [
        *(CloseCell(gain(results, name, m, area), published[m]) for m in _METHODS),
        *(
            CloseCell(
                gain(results, name, m, area) if results.has(name, "folds", m) else None,
                better=better,
            )
            for m, better in _UNPUBLISHED.items()
        ),
    ]


_NOTES = (
    "Relative gain in AUC over C4.5 in %, on the test cases of ten folds together; ± is the "
    "standard error over repetitions. With several classes, the first row is the mean of one class "
    "against the rest, the second weights it by the size of the class.",
    f"✓ within {CLOSE_GAIN} points of the published value, ~ the same direction, ≠ the other. "
    "The paper gives no standard errors.",
    "C4.5 is J48 with Weka's defaults: leaf proportions, Laplace (option -A) off. The paper calls "
    "the Laplace correction useful but does not say whether its J48 used it. “C4.5, Laplace” is "
    "the gain from switching it on.",
    "Diabetes and pima are the same 768 rows, so on the same folds their gains are equal. The "
    "published gains differ, which can only be due to the folds or the files.",
    "Noise is C4.5 with its ties broken by random numbers. The forest has Weka 3.6's ten trees.",
)
table_i = partial(
    _table_i,
    key="I",
    title="gain in AUC, tied pairs counted one half, the correct way",
    ties="",
    notes=(),
)
table_i_ties_0 = partial(
    _table_i,
    key="I-TIES-0",
    title="gain in AUC, tied pairs counted 0, which the paper seems to have done",
    ties="_ties_0",
    notes=("A tree ties many cases, so with this count even random numbers gain.",),
)


def _table_ii(results, key, title, ties):
    """Return the table of significance tests over the data sets."""
    rows = {}
    for (average, kind), published in TABLE_II.items():
        names = [n for n in list_names(results) if (n in SEVERAL) == (kind == "several classes")]
        area = ("auc_weighted" if average.startswith("weighted") else "auc") + ties
        table = TABLE_I_WEIGHTED if average.startswith("weighted") else TABLE_I
        theirs = [n for n in table if (n in SEVERAL) == (kind == "several classes")]
        for variant in VARIANTS:
            mean = float(np.mean([table[name][variant].mean for name in theirs]))
            rows[f"{kind}, {average}: {variant}"] = [
                MeanCell(_mean_over_sets(results, names, variant, area), shown=mean),
                *(
                    PValueCell(
                        _test_over_sets(results, names, variant, area, index),
                        Estimate(mean, p=p),
                    )
                    for index, p in enumerate(published[variant])
                ),
            ]
    notes = (
        "Mean relative gain over the data sets in %, as in Table I; published: the mean of the "
        "gains printed there, including MiniBooNE. Then two-sided p-values of tests on the AUCs.",
        "✓ both p below 0.05, or neither; ~ one of them; ≠ ours is significantly worse.",
    )
    columns = ("mean gain", "Wilcoxon", "paired t")
    return Table(key, title, columns, rows, notes=notes)


table_ii = partial(
    _table_ii, key="II", title="tests over the data sets, tied pairs counted one half", ties=""
)
table_ii_ties_0 = partial(
    _table_ii,
    key="II-TIES-0",
    title="tests over the data sets, tied pairs counted 0",
    ties="_ties_0",
)


def table_iii(results):
    """Return the table of the share of cases that the method affects."""
    rows = {}
    for name in list_names(results, missing=True):
        rows[name] = [
            ShareCell(
                estimate(results.values(name, "folds", variant, "affected"))
                if name in results.datasets
                else None,
                TABLE_III[name][variant],
                better=0,
            )
            for variant in VARIANTS
        ]
    notes = (
        "Cases in which a probability changed by 0.1 or more.",
        f"✓ within {CLOSE_SHARE:g} points of the published share, ~ further away.",
    )
    return Table("III", "cases affected, in %", VARIANTS, rows, notes=notes)


def draw_sizes(folder, results):
    """Draw Figure 6: mean relative gain of the combined method against the training size.

    Returns None if it was not measured.
    """
    having = [n for n in results.datasets if results.has(n, f"{SIZES[0]} %")]
    groups = {"two classes": [n for n in having if n not in SEVERAL],
              "several classes": [n for n in having if n in SEVERAL]}  # fmt: skip
    groups = {kind: names for kind, names in groups.items() if names}
    if not groups:
        return None
    name = "katz-2012-figure-6.svg"
    spoken = []
    size = (4.4 * len(groups), 3.8)
    with figure(folder / name, ncols=len(groups), figsize=size) as (drawing, axes):
        axes = np.atleast_1d(axes)
        for ax, (kind, names) in zip(axes, groups.items(), strict=True):
            for label, method, area, color in _LINES:
                means = [
                    _mean_gain([gain(results, n, method, area, f"{size} %") for n in names])
                    for size in SIZES
                ]
                ax.plot(SIZES, means, color=color, marker="o", markersize=4, label=label)
                if method == "COMB":
                    spoken.append(
                        f"{kind}, {label.split(', ')[1]}: {number(means[0], 1)}% at 10%, "
                        f"{number(means[-1], 1)}% at 90%"
                    )
            ax.axhline(0, color=GREY, linewidth=0.8)
            ax.set_title(f"{kind} ({len(names)} sets)")
            ax.set(xlabel="training cases, % of all", xticks=SIZES[::2])
        axes[0].set_ylabel("mean gain in AUC over C4.5, %")
        handles, labels = axes[0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=3)
    caption = (
        "Relative gain in AUC over C4.5 by training size, mean over the data sets. The paper's "
        "curve falls from about 9% on the smallest training sets to about 5%. Ours (COMB): "
        f"{'; '.join(spoken)}."
    )
    return Picture("6", name, caption)


_LINES = (
    ("COMB, ties ½", "COMB", "auc", BLUE),
    ("COMB, ties 0", "COMB", "auc_ties_0", ORANGE),
    ("noise, ties 0", "noise", "auc_ties_0", GREY),
)


def _mean_gain(estimates):
    """Return the mean over the sets for which a gain is defined."""
    means = [found.mean for found in estimates if found is not None]
    return np.mean(means) if means else np.nan


def _test_over_sets(results, names, variant, area, index):
    if len(names) < 2:
        return None
    ours, base = (
        np.array([results.values(name, "folds", method, area).mean() for name in names])
        for method in (variant, "C4.5")
    )
    difference = 100 * float((ours - base).mean())
    if (ours == base).all():
        return Estimate(0.0, p=1.0, n=len(names))
    p = (wilcoxon, ttest_rel)[index](ours, base).pvalue
    return Estimate(difference, p=float(p), n=len(names))


def _mean_over_sets(results, names, variant, area):
    gains = [gain(results, name, variant, area).mean for name in names]
    return Estimate(float(np.mean(gains)), n=len(names)) if gains else None


REPRODUCTION = Reproduction(
    name="katz-2012",
    citation="G. Katz, A. Shabtai, L. Rokach and N. Ofek: ConfDTree: improving decision trees "
    "using confidence intervals. ICDM 2012.",
    datasets=CODINGS,
    samples=10,
    protocols=("10-fold",),
    tables={
        "I": table_i,
        "I-TIES-0": table_i_ties_0,
        "II": table_ii,
        "II-TIES-0": table_ii_ties_0,
        "III": table_iii,
        "claims": claims,
    },
    figures={"6": MeasuredFigure(draw_sizes, list_size_tasks)},
    list_tasks=list_tasks,
    work=score_task,
    records="katz-samples.jsonl",
    marks="✓ close, or as significant; ~ the same direction; ≠ the other direction; ? cannot be "
    "judged (the notes below each table give the limits)",
)
