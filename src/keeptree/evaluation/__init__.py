"""Evaluation: protocols, metrics that scikit-learn lacks, significance tests, comparisons."""

from importlib import import_module

_HOME = {
    "CURVES": "metrics",
    "METRICS": "metrics",
    "PROTOCOLS": "protocols",
    "BootstrapSplit": "protocols",
    "Comparison": "comparison",
    "DividedBootstrapSplit": "protocols",
    "FittedComparison": "fitted",
    "LearningCurve": "learning",
    "LearningDisplay": "displays",
    "MeanRocDisplay": "displays",
    "PairedDifference": "significance",
    "PairedDifferenceDisplay": "displays",
    "QualityMetric": "metrics",
    "ReliabilityDisplay": "displays",
    "accuracy_interval": "significance",
    "arithmetic_schedule": "learning",
    "auc": "ranking",
    "compare": "comparison",
    "compare_accuracies": "significance",
    "compare_fitted": "fitted",
    "cost": "metrics",
    "cost_metric": "metrics",
    "geometric_schedule": "learning",
    "hits_and_errors": "significance",
    "learning_curve": "learning",
    "make_protocol": "protocols",
    "mean_roc": "ranking",
    "paired_difference": "significance",
    "partial_auc": "ranking",
    "stays_ahead": "ranking",
    "tree_error": "training_error",
    "weighted_accuracy": "metrics",
    "weighted_accuracy_metric": "metrics",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    # Loaded on first use, because each process of the runner imports this package.
    if name not in _HOME:
        raise AttributeError(f"module 'keeptree.evaluation' has no attribute {name!r}")
    return getattr(import_module(f"keeptree.evaluation.{_HOME[name]}"), name)


def __dir__():
    return __all__
