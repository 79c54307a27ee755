"""Draw the pictures of docs/quality.md."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.quality.peers import FOREST, ON_TREE
from benchmarks.quality.summary import BASE, gap_closed, wide

COLOURS = {"readable": "#1b6ca8", "unpruned": "#e08e45", "J48": "#5a9367"}
LEFT_OUT = (BASE, FOREST)  # left out, because they are 0 and 100 by definition


def draw(rows, folder):
    """Write quality_gap.png and quality_sets.png of the numeric sets."""
    numeric = rows[rows["group"] == "numeric"]
    for name, figure in (("gap", draw_gap(numeric)), ("sets", draw_sets(numeric))):
        figure.savefig(folder / f"quality_{name}.png", dpi=120, bbox_inches="tight")
        plt.close(figure)


def draw_gap(rows):
    """Draw the share of the gap that each method closes, for each kind of tree."""
    closed = {tree: gap_closed(own)[0] for tree, own in rows.groupby("tree", sort=False)}
    methods = [m for m in next(iter(closed.values())).index if m not in LEFT_OUT]
    figure, axes = plt.subplots(figsize=(8, 0.38 * len(methods) + 1))
    height = 0.8 / len(closed)
    low = -60  # longer bars are cut off and labelled with their value
    for j, (tree, share) in enumerate(closed.items()):
        at = np.arange(len(methods)) + (j - (len(closed) - 1) / 2) * height
        values = share[methods].to_numpy()
        axes.barh(at, np.maximum(values, low), height, color=COLOURS[tree], label=tree)
        for y, value in zip(at, values, strict=True):
            if value < low:
                axes.text(low + 1, y, f"{value:.0f}", va="center", fontsize=6, color="white")
    axes.set_yticks(range(len(methods)), methods)
    axes.invert_yaxis()
    axes.set_xlim(low, 125)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.axvline(100, color="black", linewidth=0.8, linestyle=":")
    axes.set_xlabel("gap in AUC closed, %: 0 Laplace's leaves, 100 a random forest")
    if len(closed) > 1:
        axes.legend(title="kept tree", loc="upper right", bbox_to_anchor=(0.84, 1), frameon=False)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure


def draw_sets(rows):
    """Draw the AUC of Laplace, kept and forest on every set, for each kind of tree."""
    trees = list(dict.fromkeys(rows["tree"]))
    first = wide(rows[rows["tree"] == trees[0]], "auc")
    order = (first[FOREST] - first[BASE]).sort_values().index
    figure, panels = plt.subplots(
        1, len(trees), figsize=(4 * len(trees), 0.22 * len(order) + 1.2), sharey=True, squeeze=False
    )
    for axes, tree in zip(panels[0], trees, strict=True):
        auc = wide(rows[rows["tree"] == tree], "auc").loc[order]
        y = np.arange(len(order))
        axes.hlines(y, auc[BASE], auc["kept"], color="#c8d6e0", linewidth=3)
        for method, colour, mark in (
            (BASE, "#888888", "o"),
            ("kept", "#1b6ca8", "D"),
            (ON_TREE.format(FOREST), "#7fb98b", "x"),
            (FOREST, "#2f6b3a", "|"),
        ):
            axes.scatter(auc[method], y, s=22, color=colour, marker=mark, label=method, zorder=3)
        axes.set_title(f"{tree} tree")
        axes.set_xlabel("AUC")
        axes.set_yticks(y, order, fontsize=7)
        axes.grid(axis="x", color="#eeeeee")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].legend(loc="lower left", frameon=False, fontsize=8)
    figure.tight_layout()
    return figure
