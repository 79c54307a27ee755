"""
Distance and separators in the plane
====================================

How far is a case from another decision? The regions of a tree are boxes, so the answer is exact.
Each case projects onto one *separator*: the test of the tree that it would have to cross. This is
the construction of Figures 2 and 3 of Alvarez, Bernard and Deffuant (2007).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

X, y = make_moons(300, noise=0.25, random_state=0)
tree = kt.keep(DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X, y))
boundary = kt.Boundary(tree).fit(X)

across = np.linspace(X[:, 0].min() - 0.3, X[:, 0].max() + 0.3, 240)
up = np.linspace(X[:, 1].min() - 0.3, X[:, 1].max() + 0.3, 240)
grid = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
signed = boundary.signed_distance(grid)[:, 1].reshape(240, 240)
separator = boundary.nearest(grid).separator.reshape(240, 240)

fig, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), sharey=True, layout="constrained")
levels = np.array([-1.5, -1, -0.5, -0.25, 0.25, 0.5, 1, 1.5])
colours = np.where(levels < 0, "#0b62a8", "#c2500a")
lines = left.contour(across, up, signed, levels=levels, colors=colours, linestyles="solid")
left.clabel(lines, fontsize=8)
left.contour(across, up, signed, levels=[0], colors="black", linewidths=2)
left.set_title("distance to the boundary, in standard deviations")

tests = np.unique(separator)
shown = np.searchsorted(tests, separator)
right.pcolormesh(across, up, shown, cmap="Pastel1", rasterized=True)
right.contour(across, up, signed, levels=[0], colors="black", linewidths=2)
right.set_title("the separator onto which a case projects")

some = X[::25]
near = boundary.nearest(some).point
for ax in (left, right):
    ax.plot([some[:, 0], near[:, 0]], [some[:, 1], near[:, 1]], color="black", linewidth=0.8)
    ax.scatter(*some.T, c="white", edgecolors="black", s=30, zorder=3)
plt.show()

# %%
# Each line leads from a case to its projection: the nearest point with another decision.
# The colours on the right are the tests of the tree:

for colour, node in enumerate(tests.tolist()):
    print(colour, tree.branch(int(tree.children(node)[0])).text())
