"""Kept trees of obliquetree and treeple send every row to the same leaf as the library."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import keeptree as kt
from keeptree.importers.oblique import treeple_classifier

STORED = Path(__file__).parents[1] / "fixtures" / "treeple"
obliquetree = pytest.importorskip("obliquetree")


class Fitted(BaseEstimator):
    """A stand-in for a model of treeple."""

    def fit(self, X, y):
        return self


def rows(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 4] = rng.integers(0, 5, n)
    return X, ((X[:, 0] + 0.5 * X[:, 1] - X[:, 2] > 0) ^ np.isin(X[:, 4], [1, 3])).astype(int)


def on_planes(tree, X):
    """Return rows moved onto the planes of the tests in turn, or to one ulp beside them."""
    X, tests = X.copy(), np.flatnonzero(tree.kind == 3)
    for i, row in enumerate(X):
        node = int(tests[i % len(tests)])
        (feature, weight), *rest = tree.terms(node)
        at = (tree.threshold[node] - sum(w * row[f] for f, w in rest)) / weight
        row[feature] = (at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf))[i % 3]
    return X


@pytest.mark.parametrize("n_pair", [2, 3])
@pytest.mark.parametrize("categories", [None, [4]])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_on_and_beside_planes_reach_the_leaves_of_obliquetree(n_pair, categories, n_classes):
    X, y = rows()
    y = y + (X[:, 3] > 1) if n_classes == 3 else y
    model = obliquetree.Classifier(
        max_depth=5, random_state=0, n_pair=n_pair, categories=categories
    ).fit(X, y)
    tree = kt.keep(model)
    assert tree.has_oblique
    place = np.argsort(tree.preorder)  # obliquetree numbers nodes in preorder
    given = np.concatenate([X, on_planes(tree, X)])
    np.testing.assert_array_equal(place[tree.apply(given)], model.apply(given))
    np.testing.assert_array_equal(tree.predict(given), model.predict(given))
    np.testing.assert_allclose(tree.predict_proba(X), model.predict_proba(X), atol=1e-9)
    assert tree.weight[0] == len(X)


def test_missing_values_follow_obliquetree_and_unseen_categories_are_refused():
    X, y = rows()
    model = obliquetree.Classifier(max_depth=5, random_state=0, categories=[4]).fit(X, y)
    tree, gaps = kt.keep(model), X[:60].copy()
    gaps[::2, 0], gaps[1::2, 1] = np.nan, np.nan
    place = np.argsort(tree.preorder)
    np.testing.assert_array_equal(place[tree.apply(gaps)], model.apply(gaps))
    with pytest.raises(ValueError, match="9"):
        tree.apply([[0.0, 0.0, 0.0, 0.0, 9.0]])


def test_an_obliquetree_regressor_is_kept_and_an_unfitted_model_is_refused():
    X, _ = rows()
    model = obliquetree.Regressor(max_depth=4, random_state=0).fit(X, X[:, 0] - X[:, 1])
    np.testing.assert_allclose(kt.keep(model).predict(X), model.predict(X), rtol=1e-12)
    with pytest.raises(ValueError, match="not been fitted"):
        kt.keep(obliquetree.Classifier())


def test_our_classifiers_accept_a_kept_oblique_tree():
    X, y = rows()
    model = kt.KeptTreeClassifier(kt.keep(obliquetree.Classifier(max_depth=3).fit(X, y)))
    assert np.isfinite(model.fit(X, y).predict_proba(X)).all()


@pytest.mark.parametrize("path", sorted(STORED.glob("*.json")), ids=lambda path: path.stem)
def test_stored_trees_of_treeple_send_their_rows_to_the_same_leaves(path):
    """tools/treeple_reference.py wrote them with treeple 0.10.3, which needs scikit-learn 1.6."""
    stored = json.loads(path.read_text())
    nodes = {name: np.array(values) for name, values in stored["tree"].items()}
    weights = nodes.pop("projection").astype(np.float32)
    model = Fitted()
    vars(model).update(
        tree_=SimpleNamespace(get_projection_matrix=lambda: weights, **nodes),
        n_outputs_=1,
        n_features_in_=weights.shape[1],
        classes_=np.array(stored["classes"]),
    )
    tree = treeple_classifier(model).tree()
    X = np.array(stored["rows"])
    np.testing.assert_array_equal(tree.predict(X), stored["predict"])
    ours, theirs = tree.apply(X), np.array(stored["apply"])
    pairs = {(int(a), int(b)) for a, b in zip(ours, theirs, strict=True)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    assert tree.has_oblique
    assert tree.compare_dtype == "float32"
