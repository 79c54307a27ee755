"""Choose the settings of the margin expert on trees that the learner refitted."""

from typing import NamedTuple

import numpy as np

from keeptree._compiled.soft import logits_to_shares
from keeptree.probability.further_tests import is_large
from keeptree.probability.margin_expert import (
    FURTHER,
    MarginExpert,
    MarginSettings,
    fit_margin,
    make_expert,
)
from keeptree.probability.margin_tests import MarginTests
from keeptree.probability.refits import held_out_loss
from keeptree.probability.soft_tests import SCALES
from keeptree.progress import step
from keeptree.tree import NUMERIC

PENALTIES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # tried by C="cv"
_TOLERANCE = 1e-3  # where settings and weights are chosen
_JUDGES = 3  # folds of a large sample that choose the settings


class Trial(NamedTuple):
    """An expert that was fitted to the training part of a fold, and its held-out log-loss."""

    expert: MarginExpert
    loss: float


@step("Choosing the strength of the margins")
def choose_margin(folds, penalties=PENALTIES):
    """Choose the settings with the lowest out-of-fold log-loss.

    A single penalty is not changed. A small sample uses quantiles; in a large one, the first three
    folds choose, and it may use rules. Without folds the other settings are the defaults.

    Returns
    -------
    settings : MarginSettings
        The chosen settings.
    experts : list of MarginExpert
        The experts with these settings of the first folds, which were fitted to choose them.
    """
    if folds is None:
        return MarginSettings(*penalties) if len(penalties) == 1 else MarginSettings(), []
    large, numeric = is_large(folds[0].train), (folds[0].tree.kind == NUMERIC).any()
    judges = folds[:_JUDGES] if large else folds
    further = None if large and numeric else "quantiles"
    splits = [FURTHER[further](fold.train) for fold in judges]
    tried, candidates = {}, penalties
    for scale in SCALES:
        problems = [
            _Problem(*pair, scale, max(candidates)) for pair in zip(judges, splits, strict=True)
        ]
        found = {MarginSettings(C, scale, further): _try(problems, C) for C in candidates}
        best = penalties.index(_best(found).C)
        candidates = penalties[max(best - 1, 0) : best + 2]  # the other scale needs a similar C
        tried |= found
    weakest, scale, _ = _best(tried)
    rules = [FURTHER["rules"](fold.train) for fold in judges] if large else [None]
    if all(rule is not None for rule in rules):
        problems = [_Problem(*pair, scale, weakest) for pair in zip(judges, rules, strict=True)]
        found = {}
        for C in penalties[penalties.index(weakest) :: -1]:  # more tests need at least this penalty
            found[MarginSettings(C, scale, "rules")] = _try(problems, C)
            if _best(found).C != C:
                break
        tried |= found
    best = _best(tried)
    return best, [trial.expert for trial in tried[best]]


def fit_on_fold(sample, settings):
    """Fit the expert to the training part of a fold, as closely as for choosing the settings."""
    return fit_margin(sample, settings, _TOLERANCE, _precision(sample))


def _precision(sample):
    """Return the precision of a fold's sums; single in a large sample, where it saves time."""
    return np.float32 if is_large(sample) else np.float64


def _best(tried):
    return min(tried, key=lambda settings: sum(trial.loss for trial in tried[settings]))


def _try(problems, C):
    return [problem.trial(C) for problem in problems]


class _Problem:
    """The logistic problem of a fold, with some further tests and values of C up to ``largest``."""

    def __init__(self, fold, splits, scale, largest):
        self.test, self.asked = fold.test, MarginTests(fold.train, splits, scale)
        self.logistic = self.asked.logistic(fold.train, largest, _precision(fold.train))
        self.held = self.asked.features(fold.test.X)

    def trial(self, C):
        linear = self.logistic.fit(C, _TOLERANCE)
        p = np.empty((len(self.test), len(self.test.tree.classes)))
        logits_to_shares(self.held @ linear.coef + linear.intercept, p)
        expert = make_expert(self.asked, C, linear, self.logistic.mean)
        return Trial(expert, held_out_loss(p, self.test.y, self.test.weight))
