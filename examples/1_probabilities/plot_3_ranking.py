"""
Ranking cases: which ones first?
================================

A tree with nine leaves can only form nine groups. Within a group the order is arbitrary, so the
ROC curve consists of a few straight lines. The distance to the decision boundary orders the cases
inside each leaf (Alvarez and Bernard 2005), and ``KeptTreeClassifier`` orders all of them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
tree = DecisionTreeClassifier(max_leaf_nodes=9, min_samples_leaf=5, random_state=0)
tree.fit(X_train, y_train)

models = {
    "leaves": tree,
    "local-rank": kt.GeometricRankClassifier(tree, scope="local").fit(X_train, y_train),
    "kept": kt.KeptTreeClassifier(tree).fit(X_train, y_train),
}
fig, ax = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
for name, model in models.items():
    RocCurveDisplay.from_estimator(model, X_test, y_test, name=name, ax=ax)
ax.set(xlim=(-0.02, 0.5), ylim=(0.5, 1.02), title="285 cases the tree has not seen")
plt.show()

# %%
# ``local-rank`` never changes the order of the leaves, so it can only break ties. It is a score and
# not a probability: use ``decision_function``.
