"""Worked examples on evaluation (Tan, Steinbach and Kumar, chapter 4)."""

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from keeptree.evaluation.metrics import METRICS, cost, weighted_accuracy
from keeptree.evaluation.ranking import auc, mean_roc, partial_auc
from keeptree.evaluation.significance import accuracy_interval, compare_accuracies

SCORE = [0.95, 0.93, 0.87, 0.85, 0.85, 0.85, 0.76, 0.53, 0.43, 0.25]
TRUTH = np.array(list("++---+-+-+")) == "+"

# Columns of the example: threshold, TPR, FPR. The example has three columns for the three cases at
# 0.85, in arbitrary order. We keep the first of them, so that each threshold has one column.
TABLE = [(0.25, 1, 1), (0.43, 0.8, 1), (0.53, 0.8, 0.8), (0.76, 0.6, 0.8), (0.85, 0.6, 0.6),
         (0.87, 0.4, 0.2), (0.93, 0.4, 0), (0.95, 0.2, 0), (1.00, 0, 0)]  # fmt: skip

COSTS = [[-1, 100], [1, 0]]  # rows: true class +, -; columns: decision +, -
M1, M2 = [[150, 40], [60, 250]], [[250, 45], [5, 200]]


def cases(table):
    """Return true and predicted classes with the given confusion matrix."""
    pairs = [("+", "+"), ("+", "-"), ("-", "+"), ("-", "-")]
    times = np.ravel(table)
    return [np.repeat([pair[part] for pair in pairs], times) for part in (0, 1)]


@pytest.mark.parametrize(("threshold", "tpr", "fpr"), TABLE)
def test_the_roc_table(threshold, tpr, fpr):
    called = np.array(SCORE) >= threshold
    assert np.mean(called[TRUTH]) == pytest.approx(tpr)
    assert np.mean(called[~TRUTH]) == pytest.approx(fpr)
    corners = np.column_stack(roc_curve(TRUTH, SCORE, drop_intermediate=False)[:2])
    assert np.isclose(corners, [fpr, tpr]).all(axis=1).any()
    at = mean_roc(TRUTH, SCORE, x=[fpr])[0]
    assert at >= tpr or at == pytest.approx(tpr)  # the upper end of a vertical segment


def test_the_area_under_the_roc_curve():
    # Pairs in the correct order: 5 + 5 + (2 + 2 ties) + 1 + 0 of 25.
    assert auc(TRUTH, SCORE) == pytest.approx(14 / 25)
    assert auc(TRUTH, SCORE, ties=0) == pytest.approx(13 / 25)
    assert partial_auc(TRUTH, SCORE, x=[0.2, 1]) == pytest.approx([0.2 * 0.4, 14 / 25])


@pytest.mark.parametrize(("table", "accuracy", "total"), [(M1, 0.8, 3910), (M2, 0.9, 4255)])
def test_the_cost_matrix_prefers_the_less_accurate_model(table, accuracy, total):
    truth, decision = cases(table)
    labels = ["+", "-"]
    assert METRICS["accuracy"].function(truth, decision, labels) == accuracy
    assert cost(truth, decision, labels, matrix=COSTS) == total
    assert cost(truth, decision, labels, matrix=COSTS, normalise=True) == total / 500


@pytest.mark.parametrize("table", [M1, M2])
def test_precision_recall_f_and_weighted_accuracy_follow_the_textbook(table):
    (a, b), (c, d) = table
    truth, decision = cases(table)
    labels = ["-", "+"]  # the positive class comes last
    values = {
        n: METRICS[n].function(truth, decision, labels) for n in ("precision", "recall", "f1")
    }
    assert values["precision"] == pytest.approx(a / (a + c))
    assert values["recall"] == pytest.approx(a / (a + b))
    assert values["f1"] == pytest.approx(2 * a / (2 * a + b + c))
    weights = [[1, 2], [3, 4]]
    weighted = (a + 4 * d) / (a + 2 * b + 3 * c + 4 * d)
    assert weighted_accuracy(truth, decision, ["+", "-"], weights=weights) == pytest.approx(
        weighted
    )
    assert weighted_accuracy(truth, decision, weights=np.ones((2, 2))) == (a + d) / 500
    with pytest.raises(ValueError, match="must not be negative"):
        weighted_accuracy(truth, decision, weights=[[1, -1], [1, 1]])


def test_cost_is_linear_in_accuracy_if_all_errors_cost_the_same():
    p, q = 1.0, 7.0
    truth, decision = cases(M1)
    assert cost(truth, decision, matrix=[[p, q], [q, p]]) == pytest.approx(
        500 * (q - (q - p) * 0.8)
    )


def test_accuracy_misleads_if_one_class_is_rare():
    truth, decision = [0] * 9990 + [1] * 10, [0] * 10000
    assert METRICS["accuracy"].function(truth, decision, [0, 1]) == 0.999
    assert METRICS["recall"].function(truth, decision, [0, 1]) == 0


def test_85_percent_on_30_cases_is_not_significantly_better_than_75_percent_on_5000():
    result = compare_accuracies(0.85, 30, 0.75, 5000)
    assert result.se == pytest.approx(0.0655, abs=5e-5)
    assert result.low < 0 < result.high
    assert result.p_value == pytest.approx(0.127, abs=5e-4)
    # The interval of the small sample is ten times as wide.
    small, large = accuracy_interval(0.85, 30), accuracy_interval(0.75, 5000)
    assert small == pytest.approx((0.684, 0.937), abs=1e-3)
    assert large == pytest.approx((0.738, 0.762), abs=1e-3)
    assert compare_accuracies(0.85, 3000, 0.75, 5000).p_value < 1e-9
