"""
Reliability before and after
============================

A tree's leaves claim more certainty than they have. This example checks the claim on a held-out
set.
"""

# %%
# A small tree on the Wisconsin breast cancer data.

import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
tree = DecisionTreeClassifier(max_leaf_nodes=9, random_state=0).fit(X_train, y_train)
model = kt.KeptTreeClassifier(tree).fit(X_train, y_train)

fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
CalibrationDisplay.from_estimator(tree, X_test, y_test, n_bins=6, name="leaves", ax=ax)
CalibrationDisplay.from_estimator(model, X_test, y_test, n_bins=6, name="kept", ax=ax)
