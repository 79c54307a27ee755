"""
Should the most probable class be the tree's?
=============================================

Where the estimate disagrees with the tree, the estimate is usually right. So the most probable
class is not always the class that the tree decides. If your users must never see such a case, set
``coherent=True``. This example shows what that costs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
tree = DecisionTreeClassifier(max_leaf_nodes=9, min_samples_leaf=5, random_state=0)
tree.fit(X_train, y_train)
free = kt.KeptTreeClassifier(tree).fit(X_train, y_train).predict_proba(X_test)[:, 1]
coherent = kt.KeptTreeClassifier(tree, coherent=True).fit(X_train, y_train)
lifted = coherent.predict_proba(X_test)[:, 1]

decided = tree.predict(X_test)
disagrees = (free > 0.5) != decided
right = y_test[disagrees] != decided[disagrees]
print(f"The estimate disagrees with the tree in {disagrees.sum()} of {len(y_test)} cases")
print(f"and is right in {right.sum()} of them.")
for name, p in (("free", free), ("coherent", lifted)):
    print(f"{name:9} AUC {roc_auc_score(y_test, p):.3f}, log-loss {log_loss(y_test, p):.3f}")

# %%
# Each dot is a held-out case. Where the two agree, the dot is on the diagonal. Where they disagree,
# ``coherent=True`` moves the probability to the tree's side of one half.

fig, ax = plt.subplots(figsize=(5.5, 5.5), layout="constrained")
for label, colour, marker in ((0, "#c2500a", "s"), (1, "#0b62a8", "o")):
    rows = decided == label
    name = f"tree decides {['malignant', 'benign'][label]}"
    ax.scatter(free[rows], lifted[rows], s=18, c=colour, marker=marker, alpha=0.6, label=name)
ax.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
ax.axhline(0.5, color="grey", linewidth=0.8, linestyle=":")
ax.axvline(0.5, color="grey", linewidth=0.8, linestyle=":")
ax.set(xlabel="probability of benign", ylabel="the same with coherent=True", aspect="equal")
ax.legend(loc="upper left")
plt.show()

# %%
# With two classes, a coherent probability cannot rank better than the tree allows: every case that
# the tree calls positive comes before every other case.

assert np.all((lifted > 0.5) == (decided == 1))
