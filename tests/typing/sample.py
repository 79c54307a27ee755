"""Typical user code, which ``make lint`` checks with mypy and ``test_sample.py`` runs."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import keeptree as kt
from keeptree.evaluation import Comparison, PairedDifference, accuracy_interval, paired_difference
from keeptree.explanation.story import Story

Numbers = NDArray[np.float64]


def keep_a_tree(X: Numbers, y: NDArray[Any]) -> kt.Tree:
    """Grow, keep and sign a tree."""
    learner = kt.C45Classifier(min_samples_leaf=5, pruning="none").fit(X, y)
    assert_type(learner, kt.C45Classifier)
    tree = kt.keep(learner)
    assert_type(tree, kt.Tree)
    assert_type(tree.n_leaves, int)
    assert_type(tree.to_text(), str)
    assert_type(tree.predict_proba(X), Numbers)
    return tree.sign(by="A. Expert", note="checked")


def score_cases(tree: kt.Tree, X: Numbers, y: NDArray[Any]) -> Numbers:
    """Fit the recommended classifier around a kept tree."""
    model = kt.KeptTreeClassifier(tree, coherent=True, n_jobs=1).fit(X, y)
    assert_type(model, kt.KeptTreeClassifier)
    assert_type(model.weights_, dict[str, float])
    assert_type(kt.explain(model, X[0]), Story)
    assert_type(model.scorer()(X[0]).leaf, int)
    return model.predict_proba(X)


def files(folder: Path, tree: kt.Tree) -> kt.Tree:
    """Save and load a tree, with paths given as text or as a Path."""
    kt.save(tree, folder / "tree.json")
    tree.save(str(folder / "again.json"))
    assert_type(kt.verify_file(folder / "tree.json").signed, bool)
    return kt.Tree.load(folder / "tree.json")


def figures(comparison: Comparison) -> float:
    """Use the figures of a comparison."""
    found = paired_difference(comparison.values("ours", "auc"), alternative="greater")
    assert_type(found, PairedDifference)
    low, _ = accuracy_interval(0.9, 100)
    return low


def mistakes(tree: kt.Tree, X: Numbers) -> None:
    """Make mistakes that a type checker must find; mypy reports ignores that are not needed."""
    kt.KeptTreeClassifier(tree, decide="leaf")  # type: ignore[arg-type]
    kt.KeptTreeClassifier(tree, coherence=True)  # type: ignore[call-arg]
    tree.apply(X).to_text()  # type: ignore[attr-defined]
    tree.digest + 1  # type: ignore[operator]
    kt.fit_forest(X)  # type: ignore[attr-defined]
    kt.verify_file(3)  # type: ignore[arg-type]
