"""How far hits and errors lie from the decision boundary: two histograms on one scale."""

import numpy as np

_BINS = 20


def collect_distances(distance, wrong):
    """Return mirrored histograms of the distance, or None without a boundary.

    Parameters
    ----------
    distance : ndarray of shape (n,)
        To the decision boundary.
    wrong : ndarray of shape (n,), bool
        Whether the tree errs.

    Returns
    -------
    data : dict or None
        ``edges``, and ``hits`` and ``errors``, each with ``cases``, ``counts`` and ``median``.
    """
    if not np.isfinite(distance).all():
        return None
    # The far tail would squeeze what matters near 0: the last bin holds it all.
    top = float(np.quantile(distance, 0.99)) or 1.0
    edges = np.linspace(0, top, _BINS + 1)
    groups = {"hits": distance[~wrong], "errors": distance[wrong]}
    return {
        "edges": edges.tolist(),
        "beyond": int((distance > top).sum()),
        **{name: _histogram(values, edges) for name, values in groups.items()},
    }


def _histogram(values, edges):
    counts = np.histogram(np.minimum(values, edges[-1]), bins=edges)[0]
    median = float(np.median(values)) if len(values) else None
    return {"cases": len(values), "counts": counts.tolist(), "median": median}
