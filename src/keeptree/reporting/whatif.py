"""Data with which the page itself decides and scores a changed case, as JSON."""

from scipy.stats import norm

from keeptree.explanation.story import CONFIDENCE
from keeptree.exporters.code import text_arrays
from keeptree.exporters.plain import plain_tree
from keeptree.exporters.plain_model import plain_model
from keeptree.probability.case_spread import FEW, LEAST_EVIDENCE, NEIGHBOURS, REFITS
from keeptree.probability.kept import KeptTreeClassifier
from keeptree.progress import step

MOST_NUMBERS = 300_000  # maximum number of values of training rows in a file: about 1.6 MB


@step("Preparing the what-if panel")
def collect_whatif(model, boundary, attributes, rows=True):
    """Return the tree, the metric and the probability model as the scripts of the page read them.

    Columns are numbered by their position among ``attributes``; the page has no other columns.

    Parameters
    ----------
    model : fitted KeepTree classifier
        Model that scores the cases.
    boundary : Boundary
        How distances are measured.
    attributes : list of dict
        From :func:`keeptree.reporting.attributes.collect_attributes`.
    rows : bool, default=True
        Whether training rows may go into the file; some models need them.

    Returns
    -------
    data : dict
        ``model`` is None where the page cannot score a changed case as Python does, ``interval``
        where the model has no interval for a probability. All are None for a tree with oblique
        tests, for which the page computes nothing.
    """
    if model.tree_.has_oblique:  # the page computes no weighted sums
        return dict.fromkeys(("tree", "metric", "model", "interval"))
    place = {attribute["column"]: at for at, attribute in enumerate(attributes)}
    scored = _model(model, place, rows)
    return {
        "tree": plain_tree(model.tree_, place),
        "metric": _metric(boundary, model.observed_, list(place)),
        "model": scored,
        "interval": _interval(model, scored),
    }


def tell_missing_model(model, rows):
    """Return why the page shows no probability of a changed case."""
    if not rows:
        return "The probability of a changed case needs training rows, which are not in this file."
    if isinstance(model, KeptTreeClassifier):
        return (
            "The probability of a changed case needs more training rows than this file can contain."
        )
    return f"This page cannot compute the probability of a changed case for {type(model).__name__}."


def _interval(model, scored):
    """Data that ``js/interval.js`` needs for the interval of a probability."""
    if getattr(model, "interval_kind", None) == "case":
        z, variance = float(norm.ppf((1 + CONFIDENCE) / 2)), model.spread_.variance
        return {
            "kind": "case",
            "z": z,
            "refits": (REFITS * variance).tolist(),
            "neighbours": NEIGHBOURS,
            "few": FEW,
            "evidence": LEAST_EVIDENCE,
            "kernel": None if scored is None else scored["names"].index("kernel"),
        }
    if getattr(model, "interval_kind", None) is None:
        return None
    low, high = model.calibration_.levels(CONFIDENCE)
    edges = [array.tolist() for array in model.calibration_.edges]
    return {"kind": "calibration", "edges": edges, "low": low, "high": high}


def _metric(boundary, observed, columns):
    """Costs of a change, and the step and range of changed values of each column."""
    metric = boundary.metric_
    costs = [metric.category_costs_[f] for f in columns]
    return {
        "factor": metric.factor_[columns].tolist(),
        "costs": [None if matrix is None else matrix.tolist() for matrix in costs],
        "low": observed.low[columns].tolist(),
        "high": observed.high[columns].tolist(),
        "step": boundary.grid_[columns].tolist(),
        "seen": [None if observed.seen[f] is None else observed.seen[f].tolist() for f in columns],
    }


def _model(model, place, rows):
    """The probability model with arrays in base64, or None if the page cannot or must not have it.

    Most of the file consists of landmarks: training rows, or means of some. The page shows no
    scores of a ranking.
    """
    if isinstance(model, KeptTreeClassifier) and (
        not rows or model.kernel_.landmarks.size > MOST_NUMBERS
    ):
        return None
    plain = plain_model(model, place) if hasattr(model, "predict_proba") else None
    if plain is not None and plain["kind"] == "pool" and "kernel" not in plain["names"]:
        plain["names"].append("kernel")  # weighs nothing, but the interval counts similar cases
        plain["experts"].append(plain_model(model.kernel_, place))
        plain["weights"].append(0.0)
    return text_arrays(plain)
