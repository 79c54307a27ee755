"""
Comparing models honestly
=========================

One split of one data set is an anecdote. ``compare`` fits every model on the same training parts,
measures it on the same test parts and corrects the test for their overlap (Nadeau and Bengio
2003).
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.evaluation import PairedDifferenceDisplay, compare

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
tree = DecisionTreeClassifier(max_leaf_nodes=9, min_samples_leaf=5, random_state=0)
models = {
    "leaves": tree,
    "laplace": kt.SmoothedTreeClassifier(tree),
    "kernel": kt.DistanceKernelClassifier(tree),
    "soft": kt.SoftTreeClassifier(tree),
    "kept": kt.KeptTreeClassifier(tree),
}
comparison = compare(models, X, y, metrics=["auc", "brier"], n_jobs=1, progress=False)
print(comparison)

# %%
# Each dot is a split, each bar the 95% confidence interval of the mean difference. Coloured bars
# exclude zero.

PairedDifferenceDisplay.from_comparison(comparison)
plt.show()
