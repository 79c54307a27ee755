"""Draw Figures 1 to 5 of Katz et al. (2012) with our model: python -m docs.images.confdtree.

Every number in the figures is read from a fitted ConfDTreeClassifier and its trace.
"""

from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import keeptree as kt
from tests.reference.confdtree import paper_example

CASE = [[9.9, 4.5]]
PLACE = {0: (5.0, 8.3), 1: (2.7, 4.9), 2: (1.0, 1.5), 3: (4.6, 1.5), 4: (7.6, 4.9)}
NOTE = {0: (6.1, 8.3), 1: (3.8, 4.9)}  # where the classes of an inner node are listed
INK, BLUE, RED, GREY = "#222222", "#1f5fa8", "#b5402a", "#8a8a8a"


def main():
    """Draw all figures."""
    tree, X, y = paper_example()
    model = kt.ConfDTreeClassifier(tree).fit(X, y)
    narrow = kt.ConfDTreeClassifier(tree, z_other=0.5).fit(X, y)
    figures = {
        1: (model, "Confidence intervals of each class in the inner nodes", draw_intervals),
        2: (model, "Down the tree: X = 9.9, Y = 4.5, true class C", draw_down),
        3: (model, "Back up: is each value usual for class A?", draw_up),
        4: (model, "Usual for C in the root: alternative routes", draw_routes),
        5: (narrow, "Usual for no class in the root: certainty fine", draw_fine),
    }
    for number, (fitted, title, draw) in figures.items():
        figure, ax = plt.subplots(figsize=(7.4, 4.6), layout="constrained")
        draw(ax, fitted)
        ax.set(xlim=(-0.6, 10.6), ylim=(0, 9.8), title=title)
        ax.axis("off")
        figure.savefig(Path(__file__).parent / f"confdtree_{number}.png", dpi=110)
        plt.close(figure)


def draw_intervals(ax, model):
    """Draw Figure 1: the confidence intervals."""
    draw_tree(ax, model)
    for node in (0, 1):
        list_classes(ax, model, node, bold=())


def draw_down(ax, model):
    """Draw Figure 2: the path down the tree."""
    path = model.tree_.path(model.tree_.apply(CASE)[0])
    draw_tree(ax, model, path=path)


def draw_up(ax, model):
    """Draw Figure 3: the way back up."""
    (trace,) = model.trace(CASE)
    draw_tree(ax, model, path=[step.node for step in trace.path[::-1]], upward=True)
    for step in trace.path[1:]:
        list_classes(ax, model, step.node, bold=step.alternatives or [step.assigned], step=step)


def draw_routes(ax, model):
    """Draw Figure 4: alternative routes."""
    (trace,) = model.trace(CASE)
    root = trace.path[-1]
    draw_tree(ax, model, path=[0, 1, 2], upward=True, dashed=[(0, 4)])
    list_classes(ax, model, 0, bold=root.alternatives, step=root)
    weight = [model.walk_.route_weight[child, 2] for child in root.weights]
    for (child, share), raw in zip(root.weights.items(), weight, strict=True):
        x, y = 0.35 * np.array(PLACE[0]) + 0.65 * np.array(PLACE[child])
        side = -1 if child == 1 else 1
        ax.text(
            x + (0.25 if side < 0 else 0.6) * side,
            y,
            f"weight {raw:.6g}\n{share:.6f}",
            ha="right" if side < 0 else "left",
            va="center",
            color=RED,
        )
    say_result(ax, trace)


def draw_fine(ax, model):
    """Draw Figure 5: the certainty fine."""
    (trace,) = model.trace(CASE)
    draw_tree(ax, model, path=[0, 1, 2], upward=True)
    list_classes(ax, model, 0, bold=(), step=trace.path[-1])
    say_result(ax, trace)


def draw_tree(ax, model, path=(), upward=False, dashed=()):
    """Draw nodes, edges and the path; leaves show their probabilities."""
    tree = model.tree_
    steps = list(pairwise(path))
    for node in range(1, tree.n_nodes):
        up = int(tree.parent[node])
        on, alternative = (up, node) in steps, (up, node) in dashed
        ends = (PLACE[node], PLACE[up]) if upward else (PLACE[up], PLACE[node])
        arrow = {
            "arrowstyle": "-|>" if on or alternative else "-",
            "color": BLUE if on else RED if alternative else GREY,
            "lw": 2.2 if on or alternative else 1.2,
            "ls": "--" if alternative else "-",
            "shrinkA": 24,
            "shrinkB": 24,
        }
        ax.annotate("", xy=ends[1], xytext=ends[0], arrowprops=arrow)
        sign = "≤" if node == tree.children(up)[0] else ">"
        x, y = 0.6 * np.array(PLACE[up]) + 0.4 * np.array(PLACE[node])
        side = -1 if sign == "≤" else 1
        ax.text(
            x + 0.2 * side,
            y + 0.1,
            f"{sign} {tree.threshold[up]:g}",
            ha="right" if side < 0 else "left",
            color=INK,
        )
    for node, (x, y) in PLACE.items():
        leaf = tree.kind[node] == 0
        inside = f"leaf {node}" if leaf else tree.feature_name(tree.feature[node])
        box = {"boxstyle": "round,pad=0.5" if leaf else "circle,pad=0.6", "fc": "white"}
        edge = BLUE if node in path else GREY
        ax.text(x, y, inside, ha="center", va="center", bbox={**box, "ec": edge, "lw": 1.6})
        if leaf:
            shown = ", ".join(f"{p:.2g}" for p in tree.proportions[node])
            ax.text(x, y - 0.95, f"{{{shown}}}", ha="center", va="center", color=INK)


def list_classes(ax, model, node, bold, step=None):
    """List the cases and the interval of each class, at the level used in the comparison."""
    x, y = NOTE[node]
    for c, label in enumerate(model.classes_):
        assigned = step is None or label == step.assigned
        low, high = (bound[0 if assigned else 1, node, c] for bound in model.intervals_[:2])
        ax.text(
            x,
            y + 0.95 - 0.55 * c,
            f"{label}: {model.statistics_.count[node, c]:.0f} cases, [{low:.4g}, {high:.4g}]",
            va="center",
            fontsize=9.5,
            fontweight="bold" if label in bold else "normal",
            color=RED if step is not None and label in step.alternatives else INK,
        )
    if step is not None:
        name = model.tree_.feature_name(model.tree_.feature[node])
        ax.text(PLACE[node][0] - 0.75, y + 0.3, f"{name} = {step.value:g}", ha="right", color=BLUE)


def say_result(ax, trace):
    """Write the probabilities before and after."""
    before, after = (
        ", ".join(f"{p:.6g}" for p in values)
        for values in (trace.tree_probability, trace.probability)
    )
    text = f"{{{before}}}\nbecomes\n{{{after}}}"
    ax.text(8.3, 1.5, text, ha="center", va="center", color=RED, linespacing=1.5)


if __name__ == "__main__":
    main()
