"""Keep the decision tree your experts signed off; get probabilities, rankings and explanations."""

from importlib import import_module

__version__ = "0.1.0"

_HOME = {
    "Boundary": "geometry.boundary",
    "C45Classifier": "learners.c45",
    "ConfDTreeClassifier": "probability.confdtree",
    "ConfDTreeForestClassifier": "probability.confdtree_forest",
    "DataFile": "data.source",
    "DistanceKernelClassifier": "probability.distance_kernel",
    "DistanceKernelDisplay": "probability.display",
    "GeometricRankClassifier": "probability.geometric_rank",
    "KeptTreeClassifier": "probability.kept",
    "MarginTreeClassifier": "probability.margin",
    "Metric": "geometry.metric",
    "NBTreeClassifier": "learners.nbtree",
    "SmoothedTreeClassifier": "probability.smoothing",
    "SoftTreeClassifier": "probability.soft",
    "Tree": "tree",
    "TreeRegressor": "learners.regressor",
    "audit": "auditing.audit",
    "audit_file": "auditing.audit",
    "explain": "explanation.story",
    "export": "exporters",
    "fit_file": "probability.fit_file",
    "fit_table": "engines.fitting",
    "keep": "importers",
    "load": "saving",
    "nearest_change": "explanation.nearest_change",
    "predict_file": "engines.local",
    "prune": "learners.prune",
    "report": "reporting.report",
    "save": "saving",
    "score": "engines",
    "sign_file": "signing",
    "unfamiliar": "explanation.unfamiliar",
    "verify_file": "signing",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    # Loaded on first use: scikit-learn takes a second, and `keeptree --help` does not need it.
    if name == "evaluation":  # a package of many names: keeptree.evaluation.compare
        return import_module("keeptree.evaluation")
    if name not in _HOME:
        raise AttributeError(f"module 'keeptree' has no attribute {name!r}")
    return getattr(import_module(f"keeptree.{_HOME[name]}"), name)


def __dir__():
    return [*__all__, "__version__"]
