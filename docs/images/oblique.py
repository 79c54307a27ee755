"""Draw the picture of the guide to oblique trees: python -m docs.images.oblique."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import keeptree as kt

TEXT = """
1 * x + 0.7 * y <= 0.2
  0.5 * x - 1 * y <= -0.9: high
  0.5 * x - 1 * y > -0.9: low
1 * x + 0.7 * y > 0.2
  y <= -1: low
  y > -1: high
"""
CASES = np.array([[-1.6, -0.6], [1.3, -0.3], [-0.7, 1.6], [0.35, -1.6], [-0.6, -0.5], [1.9, 1.2]])


def main():
    """Draw the regions, some cases, their nearest points, and the distance to the boundary."""
    grid = np.linspace(-2.5, 2.5, 400)
    x, y = np.meshgrid(grid, grid)
    points = np.column_stack([x.ravel(), y.ravel()])
    tree = kt.keep(TEXT)
    boundary = kt.Boundary(tree, metric=kt.Metric(scales=[1.0, 1.0])).fit(points)
    high = (tree.predict(points) == "high").reshape(x.shape)
    distance = boundary.distance(points).reshape(x.shape)
    nearest = boundary.nearest(CASES)

    figure, ax = plt.subplots(figsize=(5.2, 4.6), layout="constrained")
    ax.contourf(x, y, high, levels=[-0.5, 0.5, 1.5], colors=["#dcebf8", "#fbe3d3"])
    lines = ax.contour(x, y, distance, levels=[0.25, 0.5, 1.0], colors="#8b949e", linewidths=0.7)
    ax.clabel(lines, fmt="%g", fontsize=7)
    ax.contour(x, y, high, levels=[0.5], colors="#1b1b1b", linewidths=1.4)
    for case, point in zip(CASES, nearest.point, strict=True):
        ax.annotate("", point, case, arrowprops={"arrowstyle": "-|>", "color": "#1b1b1b", "lw": 1})
    for label, colour, marker in (("low", "#0b62a8", "o"), ("high", "#c2500a", "s")):
        shown = tree.predict(CASES) == label
        ax.plot(*CASES[shown].T, marker, color=colour, markersize=6, label=f"decided {label}")
    ax.set(xlabel="x", ylabel="y", aspect="equal")
    ax.legend(loc="upper left", fontsize=8, framealpha=0.9)
    figure.savefig(Path(__file__).parent / "oblique.png", dpi=130)


if __name__ == "__main__":
    main()
