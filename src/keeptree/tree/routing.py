"""Find the leaves that the rows of an encoded matrix reach."""

import numpy as np
from scipy.sparse import csr_matrix

from keeptree.tree.kinds import ERROR, LEAF, NOMINAL, SHARE

_FEW = 8  # shared rows that are walked one by one


def route(tree, X, strict):
    """Return the leaf of each row.

    With ``strict``, a missing value that the tree has no rule for raises a ValueError.
    """
    from keeptree._compiled.route import route_numeric_rows  # loads when it is first needed

    if tree.tests_categories or tree.has_oblique:
        return _route_any(tree, X, strict)
    leaf = np.empty(len(X), dtype=np.int64)
    route_numeric_rows(X, *tree.numeric_steps, tree.compare_dtype == "float32", leaf)
    if len(leaf) and leaf.max() == tree.n_nodes:
        return _route_any(tree, X, strict)  # reports the row and the test
    return leaf


def _route_any(tree, X, strict):
    from keeptree._compiled.route import route_rows

    following, leaf = tree.missing_child, np.empty(len(X), dtype=np.int64)
    if not strict:
        first = np.append(tree.child, 0)[tree.child_start[:-1]]
        following = np.where(following >= 0, following, first).astype(np.int32)
    route_rows(
        X,
        tree.kind,
        tree.feature,
        tree.threshold,
        tree.child_start,
        tree.child,
        tree.category_start,
        tree.category_child,
        tree.term_start,
        tree.term_feature,
        tree.term_weight,
        following,
        tree.compare_dtype == "float32",
        leaf,
    )
    if len(leaf) and leaf.min() < 0:
        row = int(np.argmax(leaf < 0))
        raise _no_rule(row, _missing_name(tree, -1 - int(leaf[row]), X[row]))
    return leaf


def _missing_name(tree, node, row):
    """Return the name of the column whose value is missing at a test."""
    columns = [f for f, _ in tree.terms(node)] or [int(tree.feature[node])]
    return tree.feature_name(next((f for f in columns if np.isnan(row[f])), columns[0]))


def _no_rule(row, name):
    """Return the error for a missing value in a test that has no rule for it."""
    return ValueError(
        f"Row {row} has no value for {name!r} (NaN; the first row is row 0), and the tree has no "
        "rule for missing values there; fill it in, or choose a rule with kt.keep(tree, "
        "missing='majority') or keeptree keep --missing majority."
    )


def numeric_steps(tree):
    """Return the tests of a numeric tree as arrays for ``route_numeric_rows``.

    The arrays hold the column, the threshold and the three successors of each node: left, right and
    for missing values.
    """
    inner = np.flatnonzero(tree.kind != LEAF)
    following = np.zeros((tree.n_nodes + 1, 3), dtype=np.int64)
    following[inner, 0] = tree.child[tree.child_start[inner]]
    following[inner, 1] = tree.child[tree.child_start[inner] + 1]
    missing = tree.missing_child[inner]
    following[inner, 2] = np.where(missing < 0, tree.n_nodes, missing)
    return np.append(tree.feature, -1).astype(np.int64), tree.threshold, following


def shared_rows(tree, X):
    """Return the rows that meet a test which shares their missing value among its children.

    A missing value that no test on the way of a row reads does not count.
    """
    columns = tree.sharing_columns
    if len(columns) == 0:
        return np.empty(0, dtype=np.int64)
    missing = np.isnan(X[:, columns])
    rows = np.flatnonzero(missing.any(axis=1))
    if len(rows) == 0:
        return rows
    leaf = route(tree, X[rows], strict=False)  # passes the first test that shares a missing value
    return rows[(missing[rows] & tree.sharing_path[leaf]).any(axis=1)]


def leaf_average(tree, X, values, normalise=True):
    """Return the value of each row's leaf, averaged by share for rows in several leaves."""
    shared = shared_rows(tree, X)
    result = values[route(tree, X, strict=True)]
    if len(shared):
        result[shared] = mix(tree, X[shared], values, normalise)
    return result


def mix(tree, X, values, normalise=True):
    """Return the values of each row's leaves, averaged by the row's share in them."""
    few = len(X) <= _FEW
    mixed = _mix_few(tree, X, values) if few else route_shares(tree, X) @ values
    return mixed / mixed.sum(axis=1, keepdims=True) if normalise else mixed


def _mix_few(tree, X, values):
    """Return ``route_shares(tree, X) @ values``, computed row by row to the same bits.

    This is faster for single rows.
    """
    try:
        leaves = [_walk(tree.lifted, row) for row in tree.lift(X)]
    except KeyError:
        return route_shares(tree, X) @ values  # reports the row and the test
    mixed = np.zeros((len(X), values.shape[1]))
    for total, found in zip(mixed, leaves, strict=True):
        for leaf, share in sorted(found):  # sparse matrices add in this order
            total += share * values[leaf]
    return mixed


def _walk(tree, row):
    """Return the leaves of a row with its share in each.

    A test without a rule for a missing value raises a KeyError.
    """
    if tree.compare_dtype == "float32":
        with np.errstate(over="ignore"):
            row = row.astype(np.float32)
    row, found, todo = row.tolist(), [], [(0, 1.0)]
    for node, share in todo:
        kind, feature, threshold, children, categories, missing = tree.node_list[node]
        if kind == LEAF:
            found.append((node, share))
        elif (value := row[feature]) != value:
            if missing == ERROR:
                raise KeyError(node)
            parts = children if missing == SHARE else [(missing, 1.0)]
            todo += [(child, share * part) for child, part in parts if share * part > 0]
        elif kind == NOMINAL:
            todo.append((categories[int(value)], share))
        else:
            todo.append((children[value > threshold][0], share))
    return found


def node_list(tree):
    """Return kind, column, threshold, children, child of each category, and rule of each node.

    Each child comes with its share of a missing value.
    """
    columns = (tree.kind, tree.feature, tree.threshold, tree.missing)
    return [
        (
            kind,
            feature,
            threshold,
            [(child, float(tree.shares[child])) for child in tree.children(node).tolist()],
            tree.category_children(node).tolist(),
            missing,
        )
        for node, (kind, feature, threshold, missing) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        )
    ]


def route_shares(tree, X):
    """Return the share of each row that ends in each leaf, as a sparse (n, n_nodes) matrix."""
    shared, leaf = shared_rows(tree, X), route(tree, X, strict=True)
    shape = len(X), tree.n_nodes
    if len(shared) == 0:
        return csr_matrix((np.ones(len(X)), leaf, np.arange(len(X) + 1)), shape)
    rows = np.delete(np.arange(len(X)), shared)
    found = [(rows, leaf[rows], np.ones(len(rows)))]
    node, share = np.zeros(len(shared), dtype=np.int64), np.ones(len(shared))
    row, tree, X = np.arange(len(shared)), tree.lifted, tree.lift(X[shared])
    while len(row):
        done = tree.kind[node] == LEAF
        found.append((shared[row[done]], node[done], share[done]))
        row, node, share = descend(tree, X, row[~done], node[~done], share[~done])
    row, node, share = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return csr_matrix((share, (row, node)), shape=shape)


def descend(tree, X, row, node, share):
    """Move (row, node, share) triples down one level of the tree.

    A triple whose missing value is shared is replaced by one triple for each child.

    For a tree with oblique tests, pass ``tree.lifted`` and rows of ``tree.lift``.
    """
    value = X[row, tree.feature[node]]
    if tree.compare_dtype == "float32":
        with np.errstate(over="ignore"):
            value = value.astype(np.float32).astype(np.float64)
    missing = np.isnan(value)
    right = (value > tree.threshold[node]).astype(np.int64)
    following = tree.child[tree.child_start[node] + right].astype(np.int64)
    nominal = ~missing & (tree.kind[node] == NOMINAL)
    code = value[nominal].astype(np.int64)
    following[nominal] = tree.category_child[tree.category_start[node[nominal]] + code]
    following[missing] = tree.missing[node[missing]]
    refused = np.flatnonzero(missing & (following == ERROR))
    if len(refused):
        at, test = int(row[refused[0]]), int(node[refused[0]])
        raise _no_rule(at, _missing_name(tree, test, X[at]))
    split = missing & (following == SHARE)
    first = tree.child_start[node[split]]
    width = tree.child_start[node[split] + 1] - first
    branches = tree.child[ranges(first, width)].astype(np.int64)
    row = np.concatenate([row[~split], np.repeat(row[split], width)])
    share = np.concatenate([share[~split], np.repeat(share[split], width) * tree.shares[branches]])
    node = np.concatenate([following[~split], branches])
    kept = share > 0
    return row[kept], node[kept], share[kept]


def ranges(first, width):
    """Concatenate the ranges ``first[i]:first[i] + width[i]``."""
    ends = np.cumsum(width)
    return np.arange(width.sum()) + np.repeat(first - (ends - width), width)
