"""
J48 compared with CART
======================

``C45Classifier`` grows the same tree as Weka's J48, with the gain ratio, nominal attributes without
encoding, and pruning by an upper confidence limit. scikit-learn's CART uses the Gini index and
binary tests. Here both learn from the same two columns of the wine data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

X, y = load_wine(return_X_y=True, as_frame=True)
X = X[["alcohol", "color_intensity"]]
learners = {
    "J48: C45Classifier()": kt.C45Classifier(),
    "CART, unpruned": DecisionTreeClassifier(random_state=0),
    "CART, at most as many leaves": None,
}
learners["CART, at most as many leaves"] = DecisionTreeClassifier(
    max_leaf_nodes=kt.C45Classifier().fit(X, y).tree_.n_leaves, random_state=0
)

fig, axes = plt.subplots(1, 3, figsize=(13, 4.4), sharey=True, layout="constrained")
colours = np.array(["#0b62a8", "#c2500a", "#3c8a6e"])
for ax, (name, learner) in zip(axes, learners.items(), strict=True):
    tree = kt.keep(learner.fit(X, y))
    DecisionBoundaryDisplay.from_estimator(
        learner, X, ax=ax, response_method="predict", alpha=0.3, multiclass_colors=list(colours)
    )
    ax.scatter(*X.to_numpy().T, c=colours[y], s=12)
    ax.set_title(f"{name}: {tree.n_leaves} leaves")
plt.show()

# %%
# The tree of J48 as text. A leaf shows its class, its training cases and, after the slash, how
# many of them belong to another class.

print(learners["J48: C45Classifier()"].tree_.to_text())
