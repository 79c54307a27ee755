"""How exported Python code ranks a row by its distance to the boundary; see :mod:`.arithmetic`."""

from keeptree.exporters.arithmetic import leaf_average, route
from keeptree.exporters.arithmetic_boxes import box_distances, tree_class


def rank(tree, model, x):
    """Return a score for each class: the larger, the more the row belongs to the class."""
    scores = geometric_scores(tree, model, x)
    if model["values"] is None:
        return scores
    p = leaf_average(tree, model["values"], x)
    reached = route(tree, x)
    gaps = [
        sum(share * model["half_gap"][leaf][c] for leaf, share in reached) for c in range(len(p))
    ]
    return [value - 0.5 + gap * (s / (1 + abs(s))) for value, gap, s in zip(p, gaps, scores)]


def geometric_scores(tree, model, x):
    """Return the distance to the boundary of each class, positive inside the class."""
    n_classes = len(tree["declared"])
    best = box_distances(tree, model, n_classes, x)
    if n_classes == 2:
        scores = [best[1] - best[0], best[0] - best[1]]
    else:
        second = sorted(best)[1] if n_classes > 1 else float("inf")
        scores = [-d if d > 0 else second for d in best]
    scores = [max(-1e150, min(1e150, score)) for score in scores]
    # On the boundary, or with a missing value, the decision of the tree gives the sign.
    own = tree_class(tree, x)
    least = 2.0**-1022
    scores = [max(s, least) if c == own else min(s, -least) for c, s in enumerate(scores)]
    if model["whole"]:
        nearest = min(abs(score) for score in scores)
        scores = [nearest if score > 0 else -nearest for score in scores]
    return scores
