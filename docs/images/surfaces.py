"""Draw the picture of the README: python -m docs.images.surfaces."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

STEPS = 240


def main():
    """Draw the probabilities of one tree before and after, with the same decision boundary."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data[["worst texture", "worst concave points"]], data.target
    tree = DecisionTreeClassifier(max_leaf_nodes=9, min_samples_leaf=5, random_state=0).fit(X, y)
    model = kt.KeptTreeClassifier(tree).fit(X, y)
    across, up = (np.linspace(X[name].min(), X[name].max(), STEPS) for name in X)
    grid = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
    grid = type(X)(grid, columns=X.columns)
    decision = tree.predict(grid).reshape(STEPS, STEPS)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    titles = ("the tree: one probability per leaf", "the same tree, kept: one per case")
    for ax, title, answers in zip(axes, titles, (tree, model), strict=True):
        p = answers.predict_proba(grid)[:, 1].reshape(STEPS, STEPS)
        surface = ax.pcolormesh(across, up, p, cmap="RdBu", vmin=0, vmax=1)
        ax.contour(across, up, decision, levels=[0.5], colors="black", linewidths=1)
        ax.set(title=title, xlabel="worst texture")
    axes[0].set_ylabel("worst concave points")
    figure.colorbar(surface, ax=axes, label="probability of benign")
    figure.savefig(Path(__file__).parent / "surfaces.png", dpi=170)


if __name__ == "__main__":
    main()
