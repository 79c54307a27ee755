"""Probability models as plain dicts: which formula, and the numbers that it needs."""

from keeptree.exporters.plain_confdtree import plain_confdtree
from keeptree.exporters.plain_distance import plain_distance
from keeptree.exporters.plain_experts import plain_kernel, plain_margin, plain_soft
from keeptree.exporters.plain_lists import leaf_values
from keeptree.exporters.plain_rank import plain_rank
from keeptree.probability.confdtree import ConfDTreeClassifier
from keeptree.probability.distance_kernel import DistanceKernelClassifier
from keeptree.probability.geometric_rank import GeometricRankClassifier
from keeptree.probability.kept import KeptTreeClassifier
from keeptree.probability.kernel_expert import KernelExpert
from keeptree.probability.margin import MarginTreeClassifier
from keeptree.probability.margin_expert import MarginExpert
from keeptree.probability.pool import SHARE, SOFTNESS
from keeptree.probability.smoothing import SmoothedTreeClassifier, smoothed_nodes
from keeptree.probability.soft import SoftExpert, SoftTreeClassifier
from keeptree.tree import refuse_oblique

TREE_ALONE = "the tree alone (model.tree_, or --tree on the command line)"


def plain_model(model, place):
    """Return a model as its ``kind`` and what its formula needs; None if there is no formula.

    Parameters
    ----------
    model : fitted KeepTree classifier, or one of its experts
        Only these very classes: a subclass may give other probabilities.
    place : dict
        Number of each column, as in :func:`~keeptree.exporters.plain.plain_dict`.

    Notes
    -----
    The kinds, with the probability of a row. ``tree`` and columns are those of
    :func:`~keeptree.exporters.plain.plain_dict`.

    ``leaves``
        ``values`` of the leaf (None elsewhere), averaged by share where a missing value is shared
        and then divided by their sum.
    ``soft``
        ``values`` of the leaves of ``tests``, averaged by the shares of the row in them. ``tests``
        has nodes of its own, children before their parents and the root last: ``attribute``,
        ``threshold``, ``children``, ``missing`` (share of the first of two children where the
        value is missing) and ``table`` (of a nominal test, by its number as text: a row of shares
        for each category and one for a missing value). A numeric test gives its first child
        ``1 / (1 + exp(-z))``, z being ``(threshold - x) * steep`` of the node, at most 40 and at
        least -40. If ``steep`` is 0 the test is hard; if it is negative, every value counts as
        missing.
    ``margin``
        Logits: ``intercept``, plus for each part of ``reach`` the average of its ``values`` over
        the leaves of ``tests``, as above with its ``steep``, plus for each part of ``sides`` and
        each test the ``scores`` of the children by the shares that the test gives them, reached
        or not. Probabilities are their softmax; of two classes there is one logit, of the second.
        ``centre`` is what each test adds for the mean training case.
    ``kernel``
        ``landmarks`` (float32, one row each, in the order of ``attribute``), those of class c at
        ``start[c]:start[c + 1]``, with ``sharpness`` and ``mass``. A number is the coordinate
        ``(x - center) * factor``, plus ``size * u / sqrt(1 + u * u)`` for each ``[at, size]`` of
        ``bends``, u being ``(x - at) * slope``, both products between -1e18 and 1e18; a category
        is an entry of ``table``; all in float64, then rounded to float32. A class has the sum of
        ``mass * (1 - sharpness * d)**64`` over its landmarks, 0 where the base is 0.5 or less. d is
        the sum of the absolute differences of the coordinates, or of their squares if not
        ``laplace``; missing coordinates are left out. All this in float32 with every product and
        sum rounded; then, in float64, plus ``pseudo * prior``, and divided by the sum over the
        classes.
    ``pool``
        ``experts`` of the kinds above with their ``names``, without those of weight 0: softmax of
        the sum over the experts of ``weights * log((1 - share) * p + share * prior)``. Unless
        ``softness`` is None the tree's class is then made the largest: its margin m, the logarithm
        of its probability over the largest other one, becomes ``(m + sqrt(m² + softness²)) / 2``,
        the others keep their proportions. ``rows`` is the number of landmarks.
    ``confdtree``
        ``values`` of the leaf, corrected on the way to the root by the ``checks`` of the tests (by
        number, as text). The class of the largest probability (of those within 1e-12 the first
        declared) has an ``interval``, or None: nothing happens. A value outside it that lies in
        the ``other`` interval of further classes leads to all children, averaged by the sum of
        their ``weight`` for these classes; one that lies in none costs the largest probability
        the part ``fine``, which goes to the others (``to_all``: and itself) as each ``receives``.
        Of a category, ``usual`` has for each class bit 0 for the interval, bit 1 for the other.
        From a missing value downwards there are no checks.
    ``distance``
        A class has the share at its distance h on a curve: ``axis`` (origin, scale, cells before
        the origin, cells after it, last place, and a shortcut: reach, pieces per cell, first
        piece), ``cell`` and ``piece`` lead to a cubic of ``coefficient``. ``curve`` has the curve
        of each leaf, None if there is one for all. Distances come from ``steps``, in float32: a
        program that adds up squared distances; or, for values that are no multiples of the
        ``step`` of their column, from the boxes of ``grid`` in float64.
    ``separator``
        The same, with the curve of the separator that the row projects on: ``curve`` has that of
        each test, and at the end that of rows without one. ``separator`` tells how to find it (see
        ``plain_separator``).
    ``rank``
        Scores in place of probabilities: the distance to the boundary of each class, positive
        inside, from ``boxes`` and their ``sides`` in float64 (see ``plain_boxes``). ``whole``: the
        distance to the whole boundary, with the sign of the class. Of a local ranking, ``values``
        of the leaf minus one half, plus ``half_gap`` times score / (1 + abs(score)).
    """
    writer = _WRITERS.get(type(model))
    if writer is None or _has_position(model) or _estimates_missing(model):
        return None
    return writer(model, place)


def check_exportable(model):
    """Raise a ValueError if no format can compute the probabilities of a model."""
    if _has_position(model):
        raise ValueError(
            f"A {type(model).__name__} with features={model.features!r} cannot be exported, as no "
            "format says where a case projects on the boundary; export one with "
            f'features="distance", or {TREE_ALONE}.'
        )
    if hasattr(model, "boundary_"):
        refuse_oblique(
            model.tree_,
            "no exported file measures distances to",
            "export a KeptTreeClassifier or MarginTreeClassifier of the same tree",
        )
    if _estimates_missing(model):
        raise ValueError(
            f"A {type(model).__name__} that estimates missing values cannot be exported; export "
            "one with options={'missing': 'shares'}."
        )


def refusal(model):
    """Return the sentence that refuses a model and names an alternative."""
    name = type(model).__name__
    instead = f"export {TREE_ALONE}, or fit a KeptTreeClassifier to the same tree and export that."
    if type(model) is DistanceKernelClassifier:
        instead = 'export one with kernel="gaussian", or ' + instead
    return f"The probabilities of this {name} cannot be written in this format; {instead}"


def _has_position(model):
    return getattr(model, "features", "distance") != "distance"


def _estimates_missing(model):
    return getattr(model, "profiles_", None) is not None


def _leaves(model, place):
    return {"kind": "leaves", "values": leaf_values(model.tree_, model.node_probabilities_)}


def _only_expert(model, place):
    return plain_model(model.expert_, place)


def _pool(model, place):
    experts = {"soft": model.soft_, "margin": model.margin_, "kernel": model.kernel_}
    names, pool = model.pool_.used
    return {
        "kind": "pool",
        "names": list(names),
        "experts": [plain_model(experts[name], place) for name in names],
        "weights": pool.weights.tolist(),
        "prior": pool.prior.tolist(),
        "share": SHARE,
        "softness": SOFTNESS if model.coherent else None,
        "rows": len(model.kernel_.landmarks) if "kernel" in names else 0,
    }


def _distance(model, place):
    if model.curves_ is None:  # the tree predicts one class only
        values = smoothed_nodes(model.tree_, "laplace")
        return {"kind": "leaves", "values": leaf_values(model.tree_, values)}
    return plain_distance(model, place)


_WRITERS = {
    ConfDTreeClassifier: plain_confdtree,
    DistanceKernelClassifier: _distance,
    GeometricRankClassifier: plain_rank,
    KernelExpert: plain_kernel,
    KeptTreeClassifier: _pool,
    MarginExpert: plain_margin,
    MarginTreeClassifier: _only_expert,
    SmoothedTreeClassifier: _leaves,
    SoftExpert: plain_soft,
    SoftTreeClassifier: _only_expert,
}
