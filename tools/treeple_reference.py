"""Store treeple trees and their results: python -m tools.treeple_reference.

This needs an environment with treeple 0.10.3, which requires scikit-learn 1.6; the tests need
neither. The models are copied first, because a copy adds the terms of a test in the order of the
columns, as a kept tree does.
"""

import copy
import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[1] / "tests" / "fixtures" / "treeple"


def main():
    """Write three trees."""
    from treeple.tree import ExtraObliqueDecisionTreeClassifier, ObliqueDecisionTreeClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).astype(np.float32)
    y = np.array(["no", "perhaps", "yes"])[(X[:, :3].sum(axis=1) > 0).astype(int) + (X[:, 4] > 1)]
    kinds = {
        "pairs": ObliqueDecisionTreeClassifier(random_state=0, max_leaf_nodes=20),
        "many": ObliqueDecisionTreeClassifier(
            random_state=0, max_leaf_nodes=20, feature_combinations=4
        ),
        "extra": ExtraObliqueDecisionTreeClassifier(random_state=0, max_leaf_nodes=20),
    }
    FOLDER.mkdir(exist_ok=True)
    for name, model in kinds.items():
        store(copy.deepcopy(model.fit(X, y)), X, FOLDER / f"{name}.json")


def store(model, X, path):
    """Write a tree, rows on and beside its planes, and the leaf of each row."""
    nodes, rows = model.tree_, X[:120].copy()
    weights = nodes.get_projection_matrix()
    tests = np.flatnonzero(nodes.children_left >= 0)
    for i, row in enumerate(rows):
        node = tests[i % len(tests)]
        f, *rest = np.flatnonzero(weights[node])
        others = sum(row[j] * weights[node, j] for j in rest)
        at = np.float32((nodes.threshold[node] - others) / weights[node, f])
        row[f] = (at, np.nextafter(at, np.float32(9)), np.nextafter(at, np.float32(-9)))[i % 3]
    fields = ("children_left", "children_right", "threshold", "value", "weighted_n_node_samples")
    document = {
        "tree": {name: getattr(nodes, name).tolist() for name in fields}
        | {"projection": np.asarray(weights).tolist()},
        "classes": model.classes_.tolist(),
        "rows": rows.astype(float).tolist(),
        "apply": model.apply(rows).tolist(),
        "predict": model.predict(rows).tolist(),
    }
    path.write_text(json.dumps(document))


if __name__ == "__main__":
    main()
