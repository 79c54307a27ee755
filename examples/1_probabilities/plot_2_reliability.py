"""
Reliability before and after
============================

Of the cases with a probability of 80%, about 80% should be positive. This example checks that on
cases that neither the tree nor the model has seen, averaged over ten random splits.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.evaluation import ReliabilityDisplay, compare

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
tree = DecisionTreeClassifier(max_leaf_nodes=9, min_samples_leaf=5, random_state=0)
models = {
    "leaves": tree,
    "laplace": kt.SmoothedTreeClassifier(tree),
    "kept": kt.KeptTreeClassifier(tree),
}
comparison = compare(
    models, X, y, metrics=["ece", "log_loss", "reliability"], n_jobs=1, progress=False
)
print(comparison)

# %%
# Points on the diagonal are reliable. The leaves return 0 or 1 too often, which increases the
# log-loss most.

ReliabilityDisplay.from_comparison(comparison)
plt.show()
