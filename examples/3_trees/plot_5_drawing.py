"""
Drawing a tree for a document
=============================

``kt.export`` writes a tree as Mermaid (which GitHub and many wikis draw) or as Graphviz. A notebook
displays the tree directly.
"""

# sphinx_gallery_thumbnail_path = 'images/tree.png'

from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt

data = load_wine(as_frame=True)
names = ["Barolo", "Grignolino", "Barbera"]
y = [names[label] for label in data.target]
clf = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(data.data, y)
tree = kt.keep(clf)
tree

# %%
# Mermaid: paste this into a code block of a Markdown file that is marked ``mermaid``.

print(kt.export(tree, format="mermaid"))

# %%
# Graphviz: ``dot -Tsvg tree.dot`` turns it into a picture.

print(kt.export(tree, format="graphviz"))

# %%
# Text, which :func:`keeptree.keep` reads again.

print(tree.to_text())
assert kt.keep(tree.to_text(precision=None), data.data, y).n_leaves == tree.n_leaves
