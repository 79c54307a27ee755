"""A kept tree and its probability model as one plain dict, read by all exporters and the page."""

import numpy as np

from keeptree.data.labels import plain
from keeptree.exporters.plain_confdtree import plain_confdtree
from keeptree.exporters.plain_distance import plain_distance
from keeptree.exporters.plain_leaves import leaf_values
from keeptree.exporters.plain_rank import plain_rank
from keeptree.probability.confdtree import ConfDTreeClassifier
from keeptree.probability.distance_kernel import DistanceKernelClassifier
from keeptree.probability.geometric_rank import GeometricRankClassifier
from keeptree.probability.kept import KeptTreeClassifier
from keeptree.probability.kernel_expert import KernelExpert
from keeptree.probability.margin import MarginExpert, MarginTreeClassifier
from keeptree.probability.margin_tests import PARTS
from keeptree.probability.pool import SHARE, SOFTNESS
from keeptree.probability.smoothing import SmoothedTreeClassifier, smoothed_nodes
from keeptree.probability.soft import SoftExpert, SoftTreeClassifier, slope_of
from keeptree.tree import ERROR, LEAF, NOMINAL, combination_text, refuse_oblique, weighted_sums

TREE_ALONE = "the tree alone (model.tree_, or --tree on the command line)"


def plain_dict(tree, model=None):
    """Return a tree and its probability model as plain lists, arrays and numbers.

    Nodes are numbered as in the tree, classes by their place in ``classes``, and columns by their
    place in ``columns``: those that the tree tests, in the order in which it first asks for them.
    No model reads another column. Categories are codes, as :meth:`Tree.encode` gives them. The
    weighted sums of an oblique tree are numbered after the columns, and everything below reads
    them like columns: this is the tree that ``Tree.lifted`` returns.

    Parameters
    ----------
    tree : Tree
        A classification tree.
    model : fitted KeepTree classifier, optional
        Gives the probabilities; without one they are the class proportions of the leaves.

    Returns
    -------
    data : dict
        ``columns``
            A dict for each: ``column`` (its number in the tree), ``name``, ``categories`` (labels;
            None for a number) and ``unknown`` (what an unseen label counts as: the code of a
            category, -1 for missing, -2 for an error).
        ``sums``
            A dict for each weighted sum: ``name`` and ``terms``, pairs of a column and a weight.
            A sum starts at 0 and adds the terms in order, each product rounded first; if the tree
            compares in float32, values, products and sums are rounded to that. A missing value
            makes the sum missing.
        ``classes``
            Labels as plain values.
        ``decide``
            ``"tree"``; ``"probability"`` if the label is the most probable class, the first of
            ties; ``"cost"`` if it is the class with the lowest expected cost, the first of ties.
        ``costs``
            Rows by true class, columns by decided class; None unless ``decide`` is ``"cost"``.
        ``tree``
            Lists with an entry for each node. ``attribute`` is the column tested (None in a leaf);
            ``threshold`` of ``x <= threshold``, None elsewhere; ``children``; ``missing`` is where
            a missing value goes: a child, -1 for all children by their ``share``, -2 for an error;
            ``following`` is the same with the heaviest child in place of -1, which is the way to
            the leaf that :meth:`Tree.apply` gives; ``label``; ``proportions`` of the classes, None
            outside leaves. ``table`` has for each nominal test, by its number as text, the child
            of each category. ``float32``: values are rounded to that before they are compared.
            ``declared`` is the order of the classes in which ties are decided.
        ``model``
            ``kind`` and what its formula needs; see below.

    Raises
    ------
    ValueError
        If the model's probabilities cannot be written that way; the message names one that can.

    Notes
    -----
    The kinds, with the probability of a row:

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
        least -40; if ``steep`` is 0 the test is hard.
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
        ``mass * (1 - sharpness * d²)**64`` over its landmarks, 0 where the base is 0.5 or less
        and missing coordinates left out of d², in float32 with every product and sum rounded;
        then, in float64, plus ``pseudo * prior``, and divided by the sum over the classes.
    ``pool``
        ``experts`` of the kinds above with their ``names``: softmax of the sum over the experts of
        ``weights * log((1 - share) * p + share * prior)``. Unless ``softness`` is None the tree's
        class is then made the largest: its margin m, the logarithm of its probability over the
        largest other one, becomes ``(m + sqrt(m² + softness²)) / 2``, the others keep their
        proportions. ``rows`` is the number of landmarks.
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
        the origin, cells after it, last place), ``cell`` and ``piece`` lead to a cubic of
        ``coefficient``. ``curve`` has the curve of each leaf, None if there is one for all.
        Distances come from ``steps``, in float32: a program that adds up squared distances; or,
        for values that are no multiples of the ``step`` of their column, from the boxes of
        ``grid`` in float64.
    ``separator``
        The same, with the curve of the separator that the row projects on: ``curve`` has that of
        each test, and at the end that of rows without one. ``separator`` tells how to find it (see
        ``plain_separator``).
    ``rank``
        Scores in place of probabilities: the distance to the boundary of each class, positive
        inside, from ``boxes`` and their ``sides`` in float64 (see ``plain_boxes``). ``whole``: the
        distance to the whole boundary, with the sign of the class. Of a local ranking, ``values``
        of the leaf minus one half, plus ``half_gap`` times score / (1 + abs(score)).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> data = plain_dict(kt.C45Classifier(max_depth=1).fit(X, y).tree_)
    >>> data["columns"][0]["name"], data["tree"]["threshold"], data["tree"]["children"]
    ('petal width (cm)', [0.6, None, None], [[1, 2], [], []])
    >>> data["model"]
    {'kind': 'leaves', 'values': [None, [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]}
    """
    if tree.classes is None:
        raise ValueError("A regression tree has no classes; export a classification tree.")
    if getattr(model, "preprocessing_", None):
        raise ValueError(
            f"The pipeline of this {type(model).__name__} has a step that cannot be folded into "
            "the tree; fit the model to kt.keep(pipeline, fold=False) and transformed columns, and "
            "export that."
        )
    check_exportable(model)
    columns, place = tested_columns(tree), column_places(tree)
    written = _tree_leaves(tree) if model is None else plain_model(model, place)
    if written is None:
        raise ValueError(_refusal(model))
    return {
        "columns": [_column(tree, f) for f in columns],
        "sums": _plain_sums(tree, place),
        "classes": [plain(label) for label in tree.classes],
        **plain_decision(model),
        "tree": plain_tree(tree, place),
        "model": written,
    }


def plain_decision(model):
    """Return the parts ``decide`` and ``costs`` of :func:`plain_dict`."""
    costs = getattr(model, "cost_matrix", None)
    return {
        "decide": getattr(model, "decide", "tree"),
        "costs": None if costs is None else costs.tolist(),
    }


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


def _has_position(model):
    return getattr(model, "features", "distance") != "distance"


def _estimates_missing(model):
    return getattr(model, "profiles_", None) is not None


def tested_columns(tree):
    """Return the columns that a tree tests, in the order of their first test."""
    inner = tree.preorder[tree.kind[tree.preorder] != LEAF].tolist()
    asked = ([f for f, _ in tree.terms(node)] or [int(tree.feature[node])] for node in inner)
    return list(dict.fromkeys(f for columns in asked for f in columns))


def column_places(tree):
    """Return the number of each column that the tests of ``tree.lifted`` read; see `plain_dict`."""
    columns = tested_columns(tree)
    sums = range(tree.n_features, tree.lifted.n_features)
    return {f: at for at, f in enumerate([*columns, *sums])}


def _plain_sums(tree, place):
    dtype = np.dtype(tree.compare_dtype).type
    return [
        {
            "name": combination_text(tree, nodes[0]),
            "terms": [[place[f], float(dtype(weight))] for f, weight in terms],
        }
        for terms, nodes in weighted_sums(tree).items()
    ]


def plain_tree(tree, place):
    """Return the part ``tree`` of :func:`plain_dict`; ``place`` has the number of each column."""
    tree = tree.lifted
    inner = tree.kind != LEAF
    return {
        "attribute": [place[f] if f >= 0 else None for f in tree.feature.tolist()],
        "threshold": _known(tree.threshold),
        "children": [tree.children(node).tolist() for node in range(tree.n_nodes)],
        "table": {
            str(node): tree.category_children(node).tolist()
            for node in np.flatnonzero(tree.kind == NOMINAL).tolist()
        },
        "missing": np.where(inner, tree.missing, ERROR).tolist(),
        "following": np.where(inner, tree.missing_child, ERROR).tolist(),
        "share": tree.shares.tolist(),
        "label": tree.label.tolist(),
        "proportions": leaf_values(tree, tree.proportions),
        "declared": tree.declared.tolist(),
        "float32": tree.compare_dtype == "float32",
    }


def plain_model(model, place):
    """Return the part ``model`` of :func:`plain_dict`, or None for a model without a formula here.

    Parameters
    ----------
    model : fitted KeepTree classifier, or one of its experts
        Only these very classes: a subclass may give other probabilities.
    place : dict
        Number of each column.
    """
    writer = _WRITERS.get(type(model))
    if writer is None or _has_position(model) or _estimates_missing(model):
        return None
    return writer(model, place)


def _refusal(model):
    """Return the sentence that refuses a model and names an alternative."""
    name = type(model).__name__
    instead = f"export {TREE_ALONE}, or fit a KeptTreeClassifier to the same tree and export that."
    if type(model) is DistanceKernelClassifier:
        instead = 'export one with kernel="gaussian", or ' + instead
    return f"The probabilities of this {name} cannot be written in this format; {instead}"


def _column(tree, f):
    labels = tree.categories[f]
    return {
        "column": f,
        "name": str(tree.feature_name(f)),
        "categories": None if labels is None else [plain(label) for label in labels],
        "unknown": int(tree.unknown[f]),
    }


def _tree_leaves(tree):
    return {"kind": "leaves", "values": leaf_values(tree, tree.proportions)}


def _leaves(model, place):
    return {"kind": "leaves", "values": leaf_values(model.tree_, model.node_probabilities_)}


def _only_expert(model, place):
    return plain_model(model.expert_, place)


def _pool(model, place):
    experts = {"soft": model.soft_, "margin": model.margin_, "kernel": model.kernel_}
    return {
        "kind": "pool",
        "names": list(model.pool_.names),
        "experts": [plain_model(experts[name], place) for name in model.pool_.names],
        "weights": model.pool_.weights.tolist(),
        "prior": model.pool_.prior.tolist(),
        "share": SHARE,
        "softness": SOFTNESS if model.coherent else None,
        "rows": len(model.kernel_.landmarks),
    }


def _distance(model, place):
    if model.curves_ is None:  # the tree predicts one class only
        values = smoothed_nodes(model.tree_, "laplace")
        return {"kind": "leaves", "values": leaf_values(model.tree_, values)}
    return plain_distance(model, place)


def _soft(expert, place):
    return {
        "kind": "soft",
        "tests": _soft_tests(expert.tests, place),
        "steep": expert.tests.steep(slope_of(expert.strength)).tolist(),
        "values": expert.values.tolist(),
    }


def _margin(expert, place):
    steep = [expert.tests.steep(slope).tolist() for slope, _ in PARTS]
    scores = [values.tolist() for values in (*expert.side, expert.path)]
    parts = list(zip(steep, scores, PARTS, strict=True))
    return {
        "kind": "margin",
        "tests": _soft_tests(expert.tests, place),
        "sides": [{"steep": at, "scores": of} for at, of, (_, down) in parts if not down],
        "reach": [{"steep": at, "values": of} for at, of, (_, down) in parts if down],
        "intercept": expert.intercept.tolist(),
        "centre": expert.centre.tolist(),
    }


def _kernel(expert, place):
    space = expert.space
    return {
        "kind": "kernel",
        "attribute": [place[f] for f in space.feature.tolist()],
        "center": space.center.tolist(),
        "factor": space.factor.tolist(),
        "slope": space.slope.tolist(),
        "bends": _split(space.bends.T, space.bend_start),
        "table": [table or None for table in _split(space.table, space.table_start)],
        "landmarks": expert.landmarks[:, : len(space.feature)],
        "sharpness": expert.sharpness,
        "mass": expert.mass,
        "start": expert.class_start.tolist(),
        "prior": expert.prior.tolist(),
        "pseudo": expert.pseudo_cases,
    }


def _soft_tests(tests, place):
    columns = tests.columns.tolist()
    asked = zip(tests.column.tolist(), (tests.kind != LEAF).tolist(), strict=True)
    children, tables = (
        _split(tests.child, tests.child_start),
        _split(tests.table, tests.table_start),
    )
    return {
        "attribute": [place[columns[c]] if asks else None for c, asks in asked],
        "threshold": _known(tests.threshold),
        "children": children,
        "missing": tests.missing.tolist(),
        "table": {
            str(k): np.reshape(tables[k], (-1, len(children[k]))).tolist()
            for k in np.flatnonzero(tests.kind == NOMINAL).tolist()
        },
    }


def _split(values, start):
    """Split values into lists at the start positions."""
    return [part.tolist() for part in np.split(values, start[1:-1])]


def _known(values):
    """Return values as a list, with None for NaN."""
    return [None if np.isnan(value) else value for value in values.tolist()]


_WRITERS = {
    ConfDTreeClassifier: plain_confdtree,
    DistanceKernelClassifier: _distance,
    GeometricRankClassifier: plain_rank,
    KernelExpert: _kernel,
    KeptTreeClassifier: _pool,
    MarginExpert: _margin,
    MarginTreeClassifier: _only_expert,
    SmoothedTreeClassifier: _leaves,
    SoftExpert: _soft,
    SoftTreeClassifier: _only_expert,
}
