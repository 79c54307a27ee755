"""Conditions that every result must satisfy, whatever the input."""

import numpy as np

import keeptree as kt

ASKED = ("predict", "predict_proba", "decision_function", "apply")


class FindingError(AssertionError):
    """A result or an error that KeepTree must never produce."""


def ask(model, rows):
    """Compute and check the results of a model or a tree; a ValueError is allowed."""
    names = ("predict", "apply") if isinstance(model, kt.Tree) else ASKED
    answers = {name: getattr(model, name)(rows) for name in names if hasattr(model, name)}
    for name, values in answers.items():
        require(len(values) == len(rows), f"{name} has {len(values)} results for {len(rows)} rows")
    if "predict_proba" in answers:
        p = np.asarray(answers["predict_proba"])
        require(np.isfinite(p).all(), "a probability is not finite")
        require(((p >= 0) & (p <= 1)).all(), "a probability is not between 0 and 1")
        require(np.abs(p.sum(axis=1) - 1).max() < 1e-6, "probabilities do not sum to 1")
    return answers


def require(condition, sentence):
    """Raise a FindingError unless a condition holds."""
    if not condition:
        raise FindingError(sentence)
