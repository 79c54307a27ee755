"""Correct decisions, errors and probabilities by distance to the decision boundary."""

import numpy as np

from keeptree.evaluation.reliability import quantile_bins
from keeptree.probability.distance_kernel import DistanceKernelClassifier
from keeptree.probability.smoothing import smoothed_nodes
from keeptree.reporting.quality import shown_classes

_BINS = 20
_MOST_POINTS, _FEWEST_POINTS, _ALL_POINTS = 500, 60, 1500  # of a class; of all classes together
_GRID = 161  # points of the kernel's curve
_SAME = 0.9  # share of cases at the same distance that makes it useless
_TAIL = 0.01  # share of the cases on either side drawn at the edge


def collect_distances(held, positive, kernel=None, rows=True):
    """Return histograms of the distance to the boundary, and probabilities against it.

    Parameters
    ----------
    held : HeldOut
        Cases with their true classes.
    positive : int
        Displayed class of a two-class problem.
    kernel : DistanceKernelClassifier, optional
        Classifier fitted on the training sample, whose curve is drawn.
    rows : bool, default=True
        Whether single cases may be shown; otherwise only bins.

    Returns
    -------
    data : dict or None
        None without a boundary. ``silent``, the reason why the distance is left out, or "";
        ``edges`` of the bins, how many cases lie ``beyond`` them, and ``hits`` (correct decisions)
        and ``errors``, each with ``cases``, ``counts`` and ``median``. ``by_class`` has Figure 1 of
        Alvarez et al. (2007) for each class: ``class`` and ``cases``; ``low`` and ``high``, the
        ends of the axis; ``line``, the kernel's curve or None; ``points``, the cases or None; and
        ``bins`` of about equally many cases.
    """
    distance, wrong = held.distance, held.wrong
    if not np.isfinite(distance).all():
        return None
    # The last bin holds the far tail, which would squeeze the range near 0.
    top = float(np.quantile(distance, 0.99)) or 1.0
    edges = np.linspace(0, top, _BINS + 1)
    return {
        "edges": edges.tolist(),
        "beyond": int((distance > top).sum()),
        "silent": tell_silence(distance),
        "hits": _histogram(distance[~wrong], edges),
        "errors": _histogram(distance[wrong], edges),
        "by_class": _curves(held, positive, kernel, rows),
    }


def tell_silence(distance):
    """Return why the distance is not informative for these cases, or "" if it is."""
    _, times = np.unique(distance, return_counts=True)
    if times.max() < _SAME * len(distance):
        return ""
    share = int(100 * times.max() / len(distance))
    return (
        f"The distance to the boundary is left out: {share} of 100 cases lie at the same distance, "
        "so it does not help to tell correct decisions from errors."
    )


def find_kernel(models, boundary):
    """Return the global distance kernel with the metric of the boundary, or None."""
    for model in models:
        if not isinstance(model, DistanceKernelClassifier):
            continue
        if (model.scope, model.features) != ("global", "distance"):
            continue
        if _measures_alike(model.boundary_, boundary):
            return model
    return None


def _histogram(values, edges):
    counts = np.histogram(np.minimum(values, edges[-1]), bins=edges)[0]
    median = float(np.median(values)) if len(values) else None
    return {"cases": len(values), "counts": counts.tolist(), "median": median}


def _curves(held, positive, kernel, rows):
    """Probability against distance, for each class with a boundary."""
    classes = shown_classes(held.truth, held.ours.shape[1], positive)
    most = int(np.clip(_ALL_POINTS // max(len(classes), 1), _FEWEST_POINTS, _MOST_POINTS))
    shown = np.unique(np.linspace(0, len(held) - 1, min(most, len(held))).astype(int))
    laplace = held.tree.leaf_average(held.rows[shown], smoothed_nodes(held.tree, "laplace"))
    inside = held.inside
    return [
        {
            "class": c,
            "cases": len(held),
            "low": low,
            "high": high,
            "line": None if kernel is None else _line(kernel, c, low, high),
            "points": {
                "inside": np.clip(inside[shown, c], low, high).round(6).tolist(),
                "ours": held.ours[shown, c].round(6).tolist(),
                "leaves": laplace[:, c].round(6).tolist(),
                "wrong": held.wrong[shown].tolist(),
            }
            if rows
            else None,
            "bins": _bins(inside[:, c], held.ours[:, c], held.truth == c),
        }
        for c, (low, high) in zip(classes, map(_range, inside[:, classes].T), strict=True)
        if low < high
    ]


def _range(inside):
    """Ends of the axis around the boundary; both 0 if there is none."""
    if not np.isfinite(inside).all():
        return 0.0, 0.0
    low, high = (float(end) for end in np.quantile(inside, [_TAIL, 1 - _TAIL]))
    return min(low, 0.0), max(high, 0.0)


def _bins(inside, ours, happened):
    """Bins of equally many cases, with observed shares and mean estimates."""
    return [
        {**item, "ours": float(ours[(item["from"] <= inside) & (inside <= item["to"])].mean())}
        for item in quantile_bins(inside, happened)
    ]


def _line(kernel, c, low, high):
    """Kernel estimate at evenly spaced distances, one class against the rest."""
    inside = np.linspace(low, high, _GRID)
    share = kernel.curve(-inside, kernel.tree_.classes[c])
    return {"inside": inside.round(6).tolist(), "p": share.round(6).tolist()}


def _measures_alike(boundary, other):
    """Whether two boundaries measure the same distances."""
    metric, its = boundary.metric_, other.metric_
    grids = [np.zeros(1) if b.grid_ is None else b.grid_ for b in (boundary, other)]
    return (
        np.array_equal(metric.factor_, its.factor_)
        and all(map(np.array_equal, metric.category_costs_, its.category_costs_))
        and bool((grids[0] == grids[1]).all())
    )
