"""Probabilities in the graph, one function for each kind of ``plain_model``."""

import numpy as np

from keeptree.exporters.onnx.kernel import add_kernel
from keeptree.exporters.onnx.shares import Tests

_ABOVE = 1.0 + 2.0**-40  # the least ratio of the tree's class to another in a coherent pool


def add_probability(cases, routes, model, decide):
    """Probabilities of each row: a matrix (rows, classes).

    Parameters
    ----------
    cases : Cases
        The rows.
    routes : Routes
        Where they go.
    model : dict
        The part ``model`` of ``plain_dict``.
    decide : callable
        Gives the position of the class that the tree decides for.
    """
    return _KINDS[model["kind"]](cases, routes, model, decide)


def softmax(logits):
    """Return the softmax of logits."""
    terms = (logits - logits.max()).exp()
    return terms / terms.sum()


def _leaves(cases, routes, model, decide):
    return routes.average(model["values"])


def _soft(cases, routes, model, decide):
    tests, values = Tests(cases, model["tests"]), np.array(model["values"])
    reach = tests.reach(tests.shares(model["steep"]))
    if values.shape[1] != 2:
        return reach @ values[tests.leaves]
    return _of_second(reach @ values[tests.leaves, 1:])


def _margin(cases, routes, model, decide):
    tests = Tests(cases, model["tests"])
    logit = cases.graph.constant(np.atleast_2d(model["intercept"]))
    for part in model["reach"]:
        values = np.array(part["values"])[tests.leaves]
        logit = tests.reach(tests.shares(part["steep"])) @ values + logit
    for part in model["sides"]:
        scores = np.array(part["scores"])[tests.order]
        scores[0] = 0.0  # of the root, which no test leads to
        logit = tests.shares(part["steep"]) @ scores + logit
    return _of_second(_logistic(logit)) if routes.n_classes == 2 else softmax(logit)


def _kernel(cases, routes, model, decide):
    return add_kernel(cases, model)


def _pool(cases, routes, model, decide):
    prior, share, logits = np.array(model["prior"]), model["share"], None
    # A row of equal factors: onnxruntime would round a single one after a MatMul to float32.
    kept = np.full(len(prior), 1.0 - share)
    for expert, weight in zip(model["experts"], model["weights"], strict=True):
        p = add_probability(cases, routes, expert, decide)
        opinion = (p * kept + share * prior).log() * weight
        logits = opinion if logits is None else logits + opinion
    p = softmax(logits)
    if model["softness"] is None or len(prior) == 1:
        return p
    return _lift(p, decide(), len(prior), model["softness"])


def _lift(p, label, n_classes, softness):
    """Change probabilities as little as necessary to make the tree's class the most probable."""
    graph = p.graph
    own = graph.constant(np.arange(n_classes)).equals(label.upright())
    other = graph.where(own, graph.constant(0.0), p).max()
    m = (graph.where(own, p, graph.constant(0.0)).max() / other).log()
    root = (m * m + softness * softness).sqrt()
    # The second is the same without a difference of nearly equal numbers.
    moved = graph.where(
        m > 0.0, (m + root) * 0.5, graph.constant(softness * softness / 2.0) / (root + abs(m))
    )
    lifted = graph.where(own, other * moved.exp().at_least(_ABOVE), p)
    return lifted / lifted.sum()


def _logistic(z):
    graph, decay = z.graph, (-abs(z)).exp()
    return graph.where(z > 0.0, graph.constant(1.0), decay) / (decay + 1.0)


def _of_second(p):
    """Return the probabilities of two classes from that of the second."""
    return p.graph.concat([1.0 - p, p])


_KINDS = {"leaves": _leaves, "soft": _soft, "margin": _margin, "kernel": _kernel, "pool": _pool}
