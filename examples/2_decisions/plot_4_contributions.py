"""
What raised or lowered a probability?
=====================================

``contributions`` divides the log-odds of a case among the experts of ``KeptTreeClassifier`` and
among the tests of the tree. The parts add up.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)
model = kt.MarginTreeClassifier(tree).fit(X, y)

case = X.iloc[[3]]
parts = model.contributions(case)
logit = parts.intercept + parts.value[0].sum()
assert np.isclose(logit, model.decision_function(case)[0])

# %%
# Positive bars raise the probability of malignant. A tree that tests an attribute twice has two
# bars for it.

names = [model.tree_.branch(int(model.tree_.children(node)[0])).text() for node in parts.node]
order = np.argsort(np.abs(parts.value[0]))
values = parts.value[0][order]
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.barh([names[k] for k in order], values, color=np.where(values > 0, "#c2500a", "#0b62a8"))
ax.axvline(0, color="black", linewidth=0.8)
ax.set(xlabel="log-odds of malignant, compared with the mean training case")
ax.set_title(f"The tree decides {tree.predict(case)[0]}")
plt.show()
