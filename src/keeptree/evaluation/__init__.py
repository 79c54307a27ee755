"""Evaluation: protocols, metrics that scikit-learn lacks, significance tests, comparisons."""

from keeptree.evaluation.comparison import Comparison, compare
from keeptree.evaluation.displays import (
    LearningDisplay,
    MeanRocDisplay,
    PairedDifferenceDisplay,
    ReliabilityDisplay,
)
from keeptree.evaluation.learning import (
    LearningCurve,
    arithmetic_schedule,
    geometric_schedule,
    learning_curve,
)
from keeptree.evaluation.metrics import CURVES, METRICS, Metric, cost_metric
from keeptree.evaluation.protocols import (
    PROTOCOLS,
    BootstrapSplit,
    DividedBootstrapSplit,
    make_protocol,
)
from keeptree.evaluation.ranking import auc, mean_roc, partial_auc, stays_ahead
from keeptree.evaluation.significance import (
    PairedDifference,
    accuracy_interval,
    compare_accuracies,
    hits_and_errors,
    paired_difference,
)

__all__ = [
    "CURVES",
    "METRICS",
    "PROTOCOLS",
    "BootstrapSplit",
    "Comparison",
    "DividedBootstrapSplit",
    "LearningCurve",
    "LearningDisplay",
    "MeanRocDisplay",
    "Metric",
    "PairedDifference",
    "PairedDifferenceDisplay",
    "ReliabilityDisplay",
    "accuracy_interval",
    "arithmetic_schedule",
    "auc",
    "compare",
    "compare_accuracies",
    "cost_metric",
    "geometric_schedule",
    "hits_and_errors",
    "learning_curve",
    "make_protocol",
    "mean_roc",
    "paired_difference",
    "partial_auc",
    "stays_ahead",
]
