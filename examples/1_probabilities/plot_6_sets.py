"""
Class sets with a guarantee
===========================

``predict_set`` returns the classes that cannot be ruled out for a case. With ``coverage=0.9`` the
true class is in the set for 90% of the new cases of *each* class. A set with two classes marks an
ambiguous case.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

X, y = load_wine(return_X_y=True, as_frame=True)
X = X[["alcohol", "flavanoids"]]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
tree = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X_train, y_train)
model = kt.KeptTreeClassifier(tree).fit(X_train, y_train)

covered = model.predict_set(X_test, coverage=0.9)[np.arange(len(y_test)), y_test]
print(f"true class in the set: {covered.mean():.0%} of {len(y_test)} held-out cases")

# %%
# Grey: more than one class is possible. White: no class is probable enough at this coverage.

across = np.linspace(X["alcohol"].min(), X["alcohol"].max(), 160)
up = np.linspace(X["flavanoids"].min(), X["flavanoids"].max(), 160)
grid = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
grid = type(X)(grid, columns=X.columns)

fig, axes = plt.subplots(1, 2, figsize=(11, 4.6), sharey=True, layout="constrained")
colours = plt.matplotlib.colors.ListedColormap(
    ["#9ecae1", "#fdbe85", "#a1d99b", "#bdbdbd", "#ffffff"]
)
for ax, coverage in zip(axes, (0.8, 0.95), strict=True):
    sets = model.predict_set(grid, coverage=coverage)
    number = sets.sum(axis=1)
    shown = np.choose(np.minimum(number, 2), [4, sets.argmax(axis=1), 3]).reshape(160, 160)
    ax.pcolormesh(across, up, shown, cmap=colours, vmin=0, vmax=4, rasterized=True)
    for label, marker in enumerate("os^"):
        rows = y_test == label
        ax.scatter(*X_test[rows].to_numpy().T, marker=marker, s=18, color="black", alpha=0.6)
    ax.set(title=f"coverage={coverage}", xlabel="alcohol")
axes[0].set_ylabel("flavanoids")
plt.show()

# %%
# A higher coverage leaves fewer sets empty and makes more of them ambiguous.
# :doc:`/guide/guarantees` states the guarantee and when it fails.
