"""
Four ways to prune one tree
===========================

``kt.prune`` returns a smaller tree and leaves the given one as it is. It works on any kept tree,
scikit-learn's included.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "area error"]]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)
X_grow, X_prune, y_grow, y_prune = train_test_split(X_train, y_train, random_state=1)

grown = kt.keep(DecisionTreeClassifier(random_state=0).fit(X_grow, y_grow))
trees = {
    "as grown": grown,
    "redundant": kt.prune(grown, "redundant"),
    "pessimistic": kt.prune(grown, "pessimistic"),
    "error-based": kt.prune(grown, "error-based", X_grow, y_grow),
    "reduced-error": kt.prune(grown, "reduced-error", X_prune, y_prune),
}

# %%
# ``redundant`` merges leaves of the same class, so its decisions are those of the grown tree.
# ``pessimistic`` and ``error-based`` correct the training error for its optimism, and
# ``reduced-error`` uses cases that were held out for pruning.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
leaves = [tree.n_leaves for tree in trees.values()]
errors = [(tree.predict(X_test) != y_test).mean() for tree in trees.values()]
left.bar_label(left.barh(list(trees), leaves, color="#0b62a8"), padding=3)
right.bar_label(right.barh(list(trees), errors, color="#c2500a"), fmt="{:.1%}", padding=3)
left.set(xlabel="leaves", xlim=(0, 1.2 * max(leaves)))
right.set(xlabel="error on the held-out set", xlim=(0, 1.2 * max(errors)))
left.invert_yaxis()
plt.show()

# %%
# One split is an illustration. ``keeptree.evaluation.compare`` shows which differences are
# significant.
