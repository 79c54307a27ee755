"""The demonstration: one small tree on the Wisconsin breast cancer data, kept and improved."""

import platform
from dataclasses import replace

from keeptree import __version__
from keeptree.output import check_writable, require, write_text

SEED, LEAVES, SMALLEST_LEAF = 0, 9, 5


def demo(out="keeptree-demo.html"):
    """Compare a kept tree's own probabilities with ours on held-out data, and write a page.

    Parameters
    ----------
    out : str or Path, default="keeptree-demo.html"
        The HTML file to write; its folder must exist.

    Returns
    -------
    data : dict
        Everything on the page as numbers and text, and ``page``, the path of the file.
    """
    require("jinja2", extra="report")
    page = check_writable(out)
    from keeptree.reporting.render import render

    data = measure()
    write_text(page, render(data))
    return {**data, "page": str(page)}


def measure():
    """Grow the tree, fit the methods and measure them on the held-out third.

    Returns
    -------
    data : dict
        See :func:`keeptree.reporting.collect.collect`.
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split
    from sklearn.tree import DecisionTreeClassifier

    from keeptree.importers import keep
    from keeptree.reporting.collect import collect

    bunch = load_breast_cancer()
    y = bunch.target_names[bunch.target]
    X_train, X_test, y_train, y_test = train_test_split(
        bunch.data, y, test_size=1 / 3, stratify=y, random_state=SEED
    )
    learner = DecisionTreeClassifier(
        max_leaf_nodes=LEAVES, min_samples_leaf=SMALLEST_LEAF, random_state=SEED
    )
    tree = replace(keep(learner.fit(X_train, y_train)), feature_names=bunch.feature_names)
    return collect(
        tree,
        _methods(tree, X_train, y_train),
        X_test,
        y_test,
        "malignant",
        train=X_train,
        title="One kept tree, honest probabilities: Wisconsin breast cancer",
        about=_about(len(y), bunch.data.shape[1], len(y_train), len(y_test)),
    )


def _methods(tree, X, y):
    from keeptree.probability.distance_kernel import DistanceKernelClassifier
    from keeptree.probability.geometric_rank import GeometricRankClassifier
    from keeptree.probability.smoothing import SmoothedTreeClassifier
    from keeptree.reporting.collect import Method

    methods = [
        Method("raw", "The tree's own leaves", SmoothedTreeClassifier(tree, "raw"), "leaves"),
        Method("laplace", "Laplace", SmoothedTreeClassifier(tree, "laplace"), "leaves"),
        Method("shrinkage", "Shrinkage", SmoothedTreeClassifier(tree, "shrinkage"), "leaves"),
        Method(
            "kernel-global",
            "Distance kernel, global",
            DistanceKernelClassifier(tree, scope="global"),
            "geometry",
        ),
        Method(
            "kernel-separator",
            "Distance kernel, separator",
            DistanceKernelClassifier(tree, scope="separator"),
            "geometry",
        ),
        Method(
            "rank-local",
            "Geometric ranking, local",
            GeometricRankClassifier(tree, scope="local"),
            "geometry",
        ),
    ]
    for method in methods:
        method.model.fit(X, y)
    return methods


def _about(rows, columns, n_train, n_test):
    import numpy
    import sklearn

    return {
        "Data": f"Wisconsin diagnostic breast cancer (Wolberg, Street and Mangasarian 1995), as it "
        f"ships with scikit-learn: {rows} cases, {columns} attributes measured on cell nuclei.",
        "Split": f"{n_train} cases to grow and fit, {n_test} held out, stratified by class, seed "
        f"{SEED}. Every figure of quality is from the held-out cases.",
        "Tree": f"scikit-learn's DecisionTreeClassifier(max_leaf_nodes={LEAVES}, "
        f"min_samples_leaf={SMALLEST_LEAF}, random_state={SEED}).",
        "Methods": "Laplace: (k + 1) / (n + 2) in each leaf. Shrinkage: each leaf drawn towards "
        "its ancestors (Agarwal et al. 2022), strength 10. Geometric ranking and distance kernel: "
        "Alvarez and Bernard 2005, Alvarez et al. 2007; standard metric, bandwidth a tenth of the "
        "range.",
        "Intervals": "Decisions: Wilson. Difference of AUC: 2,000 bootstrap resamples of the "
        "held-out cases, both methods on the same ones.",
        "Rows in this file": f"Distances and probabilities of the {n_test} held-out cases; no "
        "attribute values.",
        "Versions": f"KeepTree {__version__}, scikit-learn {sklearn.__version__}, "
        f"NumPy {numpy.__version__}, Python {platform.python_version()}.",
    }
