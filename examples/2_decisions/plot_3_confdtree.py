"""
ConfDTree: what happens to an unusual case
==========================================

ConfDTree (Katz, Shabtai, Rokach and Ofek 2012) walks back from the leaf to the root. At each test
it asks whether the value is usual for the class assigned so far. If not, it follows the other
branches too, or lowers the probability. ``trace`` prints every step.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

data = load_breast_cancer(as_frame=True)
X = data.data[["worst radius", "worst concave points"]]
y = data.target_names[data.target]
tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, y)
model = kt.ConfDTreeClassifier(tree, options={"smoothing": "laplace"}).fit(X, y)

moved = np.abs(model.predict_proba(X) - kt.keep(tree).predict_proba(X))[:, 0]
unusual = int(np.argmax(moved))
print(model.trace(X.iloc[[unusual]])[0])

# %%
# In the plane: darker regions are those in which ConfDTree moves the probability of the leaf. They
# are bounded by the confidence intervals of the classes.

across, up = (np.linspace(X[name].min(), X[name].max(), 240) for name in X)
grid = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
grid = type(X)(grid, columns=X.columns)
leaf = kt.SmoothedTreeClassifier(tree, smoothing="laplace").fit(X, y)
change = np.abs(model.predict_proba(grid) - leaf.predict_proba(grid))[:, 0].reshape(240, 240)
decision = (tree.predict(grid) == "benign").reshape(240, 240)

fig, ax = plt.subplots(figsize=(7.5, 5), layout="constrained")
shown = ax.pcolormesh(across, up, change, cmap="Oranges", vmin=0, rasterized=True)
ax.contour(across, up, decision, levels=[0.5], colors="black")
ax.scatter(*X.to_numpy().T, s=8, c=np.where(y == "benign", "#0b62a8", "#c2500a"), alpha=0.5)
ax.plot(*X.iloc[unusual], "o", color="black", markersize=9, fillstyle="none", markeredgewidth=2)
ax.set(xlabel="worst radius", ylabel="worst concave points")
fig.colorbar(shown, label="change of the probability")
plt.show()
