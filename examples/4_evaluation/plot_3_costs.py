"""
Your own costs and your own metric
==================================

Missing a malignant tumour is worse than a false alarm. ``cost_metric`` measures the mean cost of
the decisions, and ``QualityMetric`` turns any function into a metric of ``compare``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.evaluation import PairedDifferenceDisplay, QualityMetric, compare, cost_metric

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]  # benign, malignant

# %%
# Rows of the matrix are true classes, columns are decisions: a missed malignant tumour costs 20, a
# false alarm 1.

costs = [[0, 1], [20, 0]]


def worst_case(y_true, probability, labels):
    """The smallest probability given to a true class."""
    return probability[np.arange(len(y_true)), np.searchsorted(labels, y_true)].min()


metrics = {
    "cost": cost_metric(costs),
    "worst case": QualityMetric(worst_case, needs="probability", label="worst case"),
}

# %%
# A tree decides by the majority of a leaf. ``decide="cost"`` chooses the class with the lowest
# expected cost instead, from the probabilities of the model. An alternative is to grow a tree
# in which malignant cases count more.

tree = DecisionTreeClassifier(max_leaf_nodes=9, min_samples_leaf=5, random_state=0)
weighted = clone(tree).set_params(class_weight={"malignant": 20, "benign": 1})
models = {
    "tree": kt.SmoothedTreeClassifier(tree),
    "kept": kt.KeptTreeClassifier(tree),
    "kept, decide by cost": kt.KeptTreeClassifier(tree, decide="cost", costs=costs),
    "weighted tree": kt.SmoothedTreeClassifier(weighted),
}
comparison = compare(models, X, y, metrics=metrics, n_jobs=1, progress=False)
print(comparison)
PairedDifferenceDisplay.from_comparison(comparison)
plt.show()
