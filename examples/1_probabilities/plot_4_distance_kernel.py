"""
Probability against the distance to the boundary
================================================

Errors are more frequent near the decision boundary. The distance kernel (Alvarez, Bernard and
Deffuant 2007) turns this into a probability: it compares a case with the training cases at about
the same distance. This is the first figure of that paper on another data set.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0)
tree = DecisionTreeClassifier(max_leaf_nodes=9, min_samples_leaf=5, random_state=0)
tree.fit(X_train, y_train)
model = kt.DistanceKernelClassifier(tree).fit(X_train, y_train)
display = kt.DistanceKernelDisplay.from_estimator(model, X_test, y_test, positive="malignant")
display.figure_.set_size_inches(8, 4)
plt.show()

# %%
# The bandwidth decides how smooth the curve is. It is a share of the range of the distances, 0.1 by
# default; ``"cv"`` chooses it by leave-one-out log-loss.

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
distance = np.linspace(-2, 2, 400)
for bandwidth in (0.02, 0.1, 0.3, "cv"):
    fitted = kt.DistanceKernelClassifier(tree, bandwidth=bandwidth).fit(X_train, y_train)
    ax.plot(distance, fitted.curve(distance, "malignant"), label=f"bandwidth={bandwidth!r}")
ax.axvline(0, color="grey", linewidth=0.8)
ax.set(xlabel="distance to the boundary (negative: tree decides malignant)", ylabel="malignant")
ax.legend()
plt.show()
