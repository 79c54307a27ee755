"""
One tree, eight probability surfaces
====================================

A tree divides the plane into boxes and gives each box one probability. Every method of KeepTree
derives probabilities from the *same* tree. The decision boundary, drawn in black, never moves.
"""

# %%
# A tree with nine leaves on two columns of the Wisconsin breast cancer data.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

data = load_breast_cancer(as_frame=True)
X, y = data.data[["worst texture", "worst concave points"]], data.target
tree = DecisionTreeClassifier(max_leaf_nodes=9, min_samples_leaf=5, random_state=0).fit(X, y)

methods = {
    "leaves": kt.SmoothedTreeClassifier(tree, smoothing="leaves"),
    "laplace": kt.SmoothedTreeClassifier(tree, smoothing="laplace"),
    "shrinkage": kt.SmoothedTreeClassifier(tree, smoothing="shrinkage"),
    "confdtree": kt.ConfDTreeClassifier(tree),
    "kernel": kt.DistanceKernelClassifier(tree),
    "soft": kt.SoftTreeClassifier(tree),
    "margin": kt.MarginTreeClassifier(tree),
    "kept": kt.KeptTreeClassifier(tree),
}

# %%
# The colour is the probability of a benign tumour.

across = np.linspace(X.iloc[:, 0].min(), X.iloc[:, 0].max(), 150)
up = np.linspace(X.iloc[:, 1].min(), X.iloc[:, 1].max(), 150)
grid = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
decision = tree.predict(grid_frame := type(X)(grid, columns=X.columns)).reshape(150, 150)

fig, axes = plt.subplots(2, 4, figsize=(13, 6.5), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, methods.items(), strict=True):
    p = model.fit(X, y).predict_proba(grid_frame)[:, 1].reshape(150, 150)
    surface = ax.pcolormesh(across, up, p, cmap="RdBu", vmin=0, vmax=1, rasterized=True)
    ax.contour(across, up, decision, levels=[0.5], colors="black", linewidths=1)
    ax.set_title(name)
fig.supxlabel("worst texture")
fig.supylabel("worst concave points")
fig.colorbar(surface, ax=axes, label="probability of benign", shrink=0.8)
plt.show()

# %%
# The first three methods give each leaf one probability. ``confdtree`` corrects cases whose value
# is unusual for their class. ``kernel`` follows the distance to the boundary, ``soft`` and
# ``margin`` the tests of the tree, and ``kept`` combines three such estimates.
#
# :doc:`/guide/probability` explains each method and when it fails.
