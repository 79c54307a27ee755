"""The pool of experts and its coherent form, one row at a time with the C library's functions."""

import math


def pooled(opinions, weights, prior, share):
    """Return the probabilities of one row from those of the experts."""
    logits = [
        sum(
            weight * math.log((1 - share) * opinion[c] + share * prior[c])
            for weight, opinion in zip(weights, opinions, strict=True)
        )
        for c in range(len(prior))
    ]
    terms = [math.exp(logit - max(logits)) for logit in logits]
    return [term / sum(terms) for term in terms]


def coherent(p, label, softness, least):
    """Return the probabilities of one row after making its label the most probable class."""
    other = max(value for c, value in enumerate(p) if c != label)
    m = math.log(p[label] / other)
    margin = (m + math.hypot(m, softness)) / 2
    moved = [
        max(other * math.exp(margin), other * least) if c == label else value
        for c, value in enumerate(p)
    ]
    return [value / sum(moved) for value in moved]
