"""
Trees, models, stories and audits in a notebook
===============================================

Put a KeepTree object on the last line of a cell, and the notebook displays it. Nothing is loaded
from the network, and names from your data are escaped.
"""

# sphinx_gallery_thumbnail_path = 'images/story.png'

from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.evaluation import compare

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
clf = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)

# %%
# A kept tree. Every test can be collapsed.

kt.keep(clf)

# %%
# A fitted model: scikit-learn's diagram, and the kept tree below it.

model = kt.KeptTreeClassifier(clf).fit(X, y)
model

# %%
# The story of one case.

kt.explain(model, X.iloc[3])

# %%
# The nearest change, with two alternatives.

kt.nearest_change(model, X.iloc[3], n=3)

# %%
# The nearest changes of a table.

kt.nearest_change(model, X)

# %%
# A comparison of models.

models = {"leaves": clf, "kept": kt.KeptTreeClassifier(clf)}
compare(models, X, y, metrics=["auc", "log_loss"], n_splits=5, n_jobs=1, progress=False)

# %%
# An audit of new cases, here of a device that reads 20% more than the one before.

kt.audit(model, X.assign(**{"worst radius": 1.2 * X["worst radius"]}))
