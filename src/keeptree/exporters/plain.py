"""A kept tree and its probability model as one plain dict, read by all exporters and the page."""

import numpy as np

from keeptree.data.labels import portable
from keeptree.exporters.plain_lists import known_values, leaf_values
from keeptree.exporters.plain_model import check_exportable, plain_model, refusal
from keeptree.tree import ERROR, LEAF, NOMINAL, combination_text, weighted_sums


def plain_dict(tree, model=None):
    """Return a tree and its probability model as plain lists, arrays and numbers.

    Nodes are numbered as in the tree, classes by their place in ``classes``, and columns by their
    place in ``columns``: those that the tree tests, in the order in which it first asks for them,
    and then any others that the model reads. Categories are codes, as :meth:`Tree.encode` gives
    them. The weighted sums of an oblique tree are numbered after the columns, and everything below
    reads them like columns: this is the tree that ``Tree.lifted`` returns.

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
            Labels: text, numbers or booleans; dates are text.
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
            ``kind`` and what its formula needs; see
            :func:`~keeptree.exporters.plain_model.plain_model`.

    Raises
    ------
    ValueError
        If the model's probabilities cannot be written that way; the message names one that can.

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
    columns, place = read_columns(tree, model), column_places(tree, model)
    if model is None or (len(tree.classes) == 1 and hasattr(model, "predict_proba")):
        written = {"kind": "leaves", "values": leaf_values(tree, tree.proportions)}
    else:
        written = plain_model(model, place)
    if written is None:
        raise ValueError(refusal(model))
    return {
        "columns": [_column(tree, f) for f in columns],
        "sums": _plain_sums(tree, place),
        "classes": [portable(label) for label in tree.classes],
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


def tested_columns(tree):
    """Return the columns that a tree tests, in the order of their first test."""
    inner = tree.preorder[tree.kind[tree.preorder] != LEAF].tolist()
    asked = ([f for f, _ in tree.terms(node)] or [int(tree.feature[node])] for node in inner)
    return list(dict.fromkeys(f for columns in asked for f in columns))


def read_columns(tree, model=None):
    """Return the columns that a tree tests, and then the others that its model reads."""
    tested = tested_columns(tree)
    more = [] if model is None else model.read_columns.tolist()
    return list(dict.fromkeys([*tested, *more]))


def column_places(tree, model=None):
    """Return the number of each column and weighted sum that is read; see `plain_dict`."""
    columns = read_columns(tree, model)
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
        "threshold": known_values(tree.threshold),
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


def _column(tree, f):
    labels = tree.categories[f]
    return {
        "column": f,
        "name": str(tree.feature_name(f)),
        "categories": None if labels is None else [portable(label) for label in labels],
        "unknown": int(tree.unknown[f]),
    }
