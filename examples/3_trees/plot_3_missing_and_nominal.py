"""
Missing values and categories
=============================

C4.5 tests categories without encoding them and shares a case with a missing value among all
branches, in proportion to their training cases. So one missing value makes a decision less certain
instead of impossible.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import keeptree as kt

rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "housing": pd.Categorical(rng.choice(["own", "rent", "free"], 600, p=[0.6, 0.3, 0.1])),
        "months": rng.integers(4, 61, 600),
        "savings": rng.lognormal(7, 1, 600).round(),
    }
)
risky = (X["months"] > 30) & (X["housing"] != "own") | (X["savings"] < 500)
y = np.where(risky ^ (rng.random(600) < 0.08), "bad", "good")

tree = kt.C45Classifier(min_samples_leaf=10).fit(X, y).tree_
print(tree.to_text())

# %%
# One case, and the same case with one value missing at a time. The shares show in which leaves it
# ends.

case = pd.DataFrame({"housing": ["rent"], "months": [40], "savings": [2000.0]})
cases = pd.concat([case] * 4, ignore_index=True).astype({"months": float})
cases["housing"] = pd.Categorical(cases["housing"], categories=["free", "own", "rent"])
for row, name in enumerate(["housing", "months", "savings"], start=1):
    cases.loc[row, name] = np.nan
names = ["complete", "housing missing", "months missing", "savings missing"]
shares = tree.route_shares(tree.encode(cases)).toarray()
leaves = np.flatnonzero(shares.any(axis=0))

fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
left = np.zeros(4)
for leaf in leaves:
    label = tree.classes[tree.label[leaf]]
    colour = "#c2500a" if label == "bad" else "#0b62a8"
    ax.barh(names, shares[:, leaf], left=left, color=colour, edgecolor="white", linewidth=2)
    left += shares[:, leaf]
ax.invert_yaxis()
ax.set(xlabel="share of the case in each leaf (orange: bad, blue: good)", xlim=(0, 1))
plt.show()

# %%
# The decision is the class with the larger weighted proportion.

print(dict(zip(names, tree.predict(cases).tolist(), strict=True)))
