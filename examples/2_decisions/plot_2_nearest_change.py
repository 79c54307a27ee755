"""
The nearest change, with and without a lock
===========================================

What would have to be different for another decision? The leaves are boxes, so the nearest case of
another class is computed directly, without a search. A locked attribute keeps its value.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

data = load_breast_cancer(as_frame=True)
X = data.data[["worst texture", "worst concave points"]]
y = data.target_names[data.target]
tree = DecisionTreeClassifier(max_leaf_nodes=6, min_samples_leaf=5, random_state=0).fit(X, y)
model = kt.KeptTreeClassifier(tree).fit(X, y)
case = X.iloc[12]

free = kt.nearest_change(model, case)
locked = kt.nearest_change(model, case, fixed=["worst texture"])
print(free)
print(locked)

# %%
# In the plane: the free change goes to the nearest benign region, and both values move. With the
# texture locked, only a vertical move is left, and it is longer.

across, up = (np.linspace(X[name].min(), X[name].max(), 200) for name in X)
grid = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
benign = tree.predict(type(X)(grid, columns=X.columns)).reshape(200, 200) == "benign"

fig, ax = plt.subplots(figsize=(7.5, 5), layout="constrained")
ax.contourf(across, up, benign, levels=[-0.5, 0.5, 1.5], colors=["#fbe3d3", "#dcebf8"])
ax.scatter(*X.to_numpy().T, s=8, c=np.where(y == "benign", "#0b62a8", "#c2500a"), alpha=0.5)
for change, name, style in ((free, "free", "-"), (locked, "texture locked", "--")):
    end = np.array(change.point, dtype=float)
    ax.annotate("", end, case, arrowprops={"arrowstyle": "->", "linestyle": style, "lw": 2})
    ax.annotate(name, end, xytext=(6, -12), textcoords="offset points", fontweight="bold")
ax.plot(*case, "o", color="black", markersize=8)
ax.set(xlabel="worst texture", ylabel="worst concave points", title="blue: the tree decides benign")
plt.show()

# %%
# The change describes the tree, not the patient: it does not imply that the texture can be changed,
# or that this would help. :doc:`/guide/nearest_change` explains locks, bounds, directions, costs
# and steps.
