"""Figures 1 to 3 of Alvarez, Bernard and Deffuant (2007)."""

import numpy as np

from keeptree.probability.display import DistanceKernelDisplay
from keeptree.probability.distance_kernel import DistanceKernelClassifier
from reproduction.alvarez import TREES, draw_sample
from reproduction.pictures import BLUE, INK, MUTED, ORANGE, figure
from reproduction.tables import Picture
from reproduction.two_subsets import draw_example


def draw_variation(folder, data_dir=None):
    """Draw Figure 1: Laplace and the global kernel over a test sample of wdbc."""
    sample = draw_sample("wdbc", 0, "plain", data_dir)
    tree = TREES["normal"].fit(sample.X_train, sample.y_train).tree_
    model = DistanceKernelClassifier(tree, grid=None).fit(sample.X_train, sample.y_train)
    name = "alvarez-2007-figure-1.svg"
    with figure(folder / name, figsize=(7.6, 4.2)) as (_, ax):
        DistanceKernelDisplay.from_estimator(model, sample.X_test, sample.y_test, positive=1, ax=ax)
        ax.set_xlabel("algebraic distance to the boundary (negative: the tree decides malignant)")
        ax.set_ylabel("probability of malignant")
    wrong = int((model.predict(sample.X_test) != sample.y_test).sum())
    caption = (
        f"Laplace and the global kernel over a test sample of wdbc ({len(sample.y_test)} cases): "
        f"one constant per leaf against a smooth curve. The tree's {wrong} errors are crosses."
    )
    return Picture("1", name, caption)


def draw_partitions(folder, data_dir=None):
    """Draw Figure 2: the leaves of the example's tree, and the subsets of its separators."""
    example = draw_example()
    name = "alvarez-2007-figure-2.svg"
    borders = (example.left, example.right)
    middle = sum(borders) / 2
    with figure(folder / name, ncols=2, figsize=(8.4, 4.7), sharey=True) as (drawing, axes):
        leaves = {"leaf −1": "#ffffff", "leaf +1": "#d3d7dc", "leaf −1 ": "#ffffff"}
        _shade(axes[0], [-0.5, *borders, 0.5], leaves)
        _shade(axes[1], [-0.5, middle, 0.5], {"subset of H₁": "#d9e6f2", "subset of H₂": "#e6f0dc"})
        titles = ["Three leaves", "Two subsets, one for each separator"]
        for ax, title in zip(axes, titles, strict=True):
            _scatter(ax, example.X[:500], example.y[:500])
            for border, label in zip(borders, ["H₁", "H₂"], strict=True):
                ax.axvline(border, color=INK, linewidth=1.4)
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
                ax.text(border + 0.015, -0.46, label, color=INK, bbox=box)
            ax.set(xlim=(-0.5, 0.5), ylim=(-0.5, 0.5), xlabel="x")
            ax.set_title(title, pad=22)
        axes[0].set_ylabel("y")
        handles, labels = axes[0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=2)
    caption = (
        "The example of section 5.2. Left: the tree's three leaves. Right: the partition by the "
        "separator on which a case projects; each subset lies on both sides of its separator."
    )
    return Picture("2", name, caption)


def draw_estimates(folder, data_dir=None):
    """Draw Figure 3: the kernel estimates of both partitions against the true probability."""
    example = draw_example()
    found = example.findings()
    name = "alvarez-2007-figure-3.svg"
    with figure(folder / name, ncols=2, figsize=(8.4, 4.0), sharey=True) as (drawing, axes):
        curves = [
            (example.by_leaf, "Leaf partition", found["leaf"]),
            (example.by_separator, "Separator partition", found["separator"]),
        ]
        for ax, (curve, title, gap) in zip(axes, curves, strict=True):
            for border in (example.left, example.right):
                ax.axvline(border, color=MUTED, linewidth=0.8, linestyle=":")
            ax.plot(example.x, example.truth, color=INK, linewidth=1.2, label="true probability")
            ax.plot(example.x, curve, color=BLUE, linewidth=2, label="kernel estimate")
            ax.set_title(f"{title}: mean deviation {gap:.3f}")
            ax.set(xlabel="x", xlim=(-0.5, 0.5), ylim=(-0.02, 1.05))
        axes[0].set_ylabel("probability of class 1")
        _point_at(axes[0], example.x, example.by_leaf, example.left + 0.01, "side\neffect", -0.16)
        _point_at(
            axes[0], example.x, example.by_leaf, example.right - 0.02, "false\nsymmetry", 0.13
        )
        handles, labels = axes[0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=2)
    caption = (
        "Kernel estimates (Parzen window of width 0.1) on the two partitions. The leaf partition "
        "lifts the estimate inside the soft border and mirrors it on the sharp one; the separator "
        "partition follows the truth. Dotted: the tree's two thresholds."
    )
    return Picture("3", name, caption)


def _shade(ax, edges, areas):
    """Colour the areas between the edges and write their names above them."""
    for start, stop, (name, colour) in zip(edges, edges[1:], areas.items(), strict=False):
        ax.axvspan(start, stop, color=colour, linewidth=0)
        ax.text((start + stop) / 2, 0.53, name.strip(), ha="center", va="bottom", color=MUTED)


def _scatter(ax, X, y):
    looks = {1: ("+", BLUE, "class +1"), 0: ("o", ORANGE, "class −1")}
    for label, (marker, colour, name) in looks.items():
        filled = {"facecolors": "none", "edgecolors": colour} if marker == "o" else {"c": colour}
        ax.scatter(*X[y == label].T, s=16 if marker == "+" else 9, marker=marker, linewidths=0.9,
                   label=name, **filled)  # fmt: skip


def _point_at(ax, x, curve, at, text, aside):
    value = float(np.interp(at, x, curve))
    ax.annotate(text, (at, value), (at + aside, value + 0.03), ha="center", va="center",
                color=MUTED, arrowprops={"arrowstyle": "-", "color": MUTED})  # fmt: skip
