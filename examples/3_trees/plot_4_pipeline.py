"""
The tree of a pipeline, in columns people know
==============================================

A tree at the end of a pipeline tests one-hot columns and scaled numbers. ``kt.keep`` folds the
steps into the tests. Every row still reaches the same leaf.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, plot_tree

import keeptree as kt

rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "purpose": rng.choice(["car", "furniture", "education", "repairs"], 1000),
        "housing": rng.choice(["own", "rent", "free"], 1000),
        "months": rng.integers(4, 61, 1000),
        "amount": rng.lognormal(8, 0.8, 1000).round(),
    }
)
risky = (X["months"] > 30) & (X["housing"] != "own") | (X["purpose"] == "education")
y = np.where(risky, "bad", "good")
columns = make_column_transformer(
    (OneHotEncoder(), ["purpose", "housing"]), (StandardScaler(), ["months", "amount"])
)
pipeline = make_pipeline(columns, DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y)

# %%
# What scikit-learn draws: ``months`` in standard deviations, and categories as 0 or 1.

fig, ax = plt.subplots(figsize=(10, 4.5), layout="constrained")
plot_tree(
    pipeline[-1],
    feature_names=list(pipeline[0].get_feature_names_out()),
    class_names=list(pipeline.classes_),
    impurity=False,
    filled=True,
    fontsize=9,
    ax=ax,
)
plt.show()

# %%
# What KeepTree keeps.

tree = kt.keep(pipeline)
print(tree.to_text())
assert (tree.predict(X) == pipeline.predict(X)).all()

# %%
# :doc:`/guide/pipelines` lists the steps that are folded.

tree
