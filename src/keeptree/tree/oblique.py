"""Oblique tests: weighted sums of columns, compared with a threshold.

Code that expects every test to use a single column can work on the *lifted* tree (``Tree.lifted``).
It is the same tree with an extra column for each weighted sum, which its oblique tests then use.
"""

import json
import re
from dataclasses import fields

import numpy as np

from keeptree.text import number_text
from keeptree.tree.kinds import NUMERIC, OBLIQUE

# A name that needs no quotes in a sum.
_PLAIN = re.compile(r"[^\W\d](?:[\w.()\[\]/%' ]*[\w.()\[\]/%'])?")


def combination_text(tree, node, precision=6):
    """Return the weighted sum of an oblique test in usual notation: ``age − 1.2 × income``.

    Examples
    --------
    >>> combination_text(example_tree(), 0)
    'age − 1.2 × income'
    """
    text = ""
    for feature, weight in tree.terms(node):
        number = number_text(abs(weight), precision)
        factor = "" if number == "1" else f"{number} × "
        text += _sign(text, weight).replace("-", "−") + factor + tree.feature_name(feature)
    return text


def written_sum(tree, node, precision=6):
    """Return the weighted sum of an oblique test in the notation that :func:`keeptree.keep` reads.

    Every column has its weight and is quoted where it could be misread. With ``precision=None``,
    all digits are written.

    Examples
    --------
    >>> written_sum(example_tree(), 0)
    '1 * age - 1.2 * income'
    """
    text = ""
    for feature, weight in tree.terms(node):
        exact = repr(abs(weight)).removesuffix(".0")
        number = exact if precision is None else number_text(abs(weight), precision)
        text += f"{_sign(text, weight)}{number} * {quote_term(tree.feature_name(feature))}"
    return text


def quote_term(name):
    """Return the name of a column in a sum, quoted where it could be misread.

    Examples
    --------
    >>> quote_term("petal width (cm)"), quote_term("a + b")
    ('petal width (cm)', '"a + b"')
    """
    return name if _PLAIN.fullmatch(name) else json.dumps(name)


def refuse_oblique(tree, what, instead):
    """Raise a ValueError if the tree has oblique tests.

    ``what`` says in the message what cannot be done, and ``instead`` what to do about it.
    """
    if tree.has_oblique:
        raise ValueError(
            f"The tree has oblique tests (weighted sums of columns), which {what}; {instead}."
        )


def lift_tree(tree):
    """Return the tree with an extra column for each weighted sum, and numeric tests on these.

    Nodes and counts are unchanged. For rows extended by ``lift_rows``, so are the decisions.
    """
    oblique = np.flatnonzero(tree.kind == OBLIQUE)
    sums = weighted_sums(tree)
    place = {node: tree.n_features + k for k, nodes in enumerate(sums.values()) for node in nodes}
    kind, feature = tree.kind.copy(), tree.feature.copy()
    kind[oblique] = NUMERIC
    feature[oblique] = [place[node] for node in oblique.tolist()]
    names = [tree.feature_name(f) for f in range(tree.n_features)]
    names += [combination_text(tree, nodes[0]) for nodes in sums.values()]
    values = {f.name: getattr(tree, f.name) for f in fields(tree)}
    changed = {
        "kind": kind,
        "feature": feature,
        "term_start": None,
        "term_feature": None,
        "term_weight": None,
        "n_features": tree.n_features + len(sums),
        "feature_names": names,
        "categories": (*tree.categories, *(None for _ in sums)),
        "unknown": np.append(tree.unknown, np.full(len(sums), -1)),
        "signatures": (),
    }
    return type(tree)(**{**values, **changed})


def lift_rows(tree, X):
    """Return rows of an encoded matrix with the weighted sums appended as columns."""
    from keeptree._compiled.route import combine_rows  # loads when it is first needed

    first = [nodes[0] for nodes in weighted_sums(tree).values()]
    lifted = np.empty((len(X), tree.n_features + len(first)))
    lifted[:, : tree.n_features] = X[:, : tree.n_features]  # X may already have the extra columns
    terms = tree.term_start, tree.term_feature, tree.term_weight
    single = tree.compare_dtype == "float32"
    combine_rows(X, np.array(first, dtype=np.int64), *terms, single, tree.n_features, lifted)
    return lifted


def weighted_sums(tree):
    """Return the distinct weighted sums of a tree and, for each, the nodes that test it.

    The sums are in the order of the columns that ``lift_tree`` appends.
    """
    sums = {}
    for node in np.flatnonzero(tree.kind == OBLIQUE).tolist():
        sums.setdefault(tree.terms(node), []).append(node)
    return sums


def _sign(before, weight):
    if not before:
        return "-" if weight < 0 else ""
    return " - " if weight < 0 else " + "


def example_tree():
    """Return the tree used in this module's examples: one oblique test on age and income."""
    from keeptree.tree.tree import Tree

    return Tree(
        kind=[OBLIQUE, 0, 0],
        feature=[-1, -1, -1],
        threshold=[3.5, np.nan, np.nan],
        term_start=[0, 2, 2, 2],
        term_feature=[0, 1],
        term_weight=[1.0, -1.2],
        child_start=[0, 2, 2, 2],
        child=[1, 2],
        missing=[-2, -2, -2],
        counts=[[5, 4], [5, 0], [0, 4]],
        classes=["no", "yes"],
        n_features=2,
        feature_names=["age", "income"],
    )
