"""Estimate missing values from the other attributes (suggested in Katz et al. 2012).

A case without a value for a test is copied once per child, with the value that is typical of that
child. A copy is weighted by a naive Bayes classifier that predicts the child from the other
attributes, using those that are normally distributed in all children:

    weight_k proportional to share_k x product over attributes j of N(x_j; mean_kj, sd_kj)
"""

from dataclasses import dataclass

import numpy as np

from keeptree.probability.confdtree_statistics import group_statistics
from keeptree.savable import expect, expect_array, expect_codes, saved_part
from keeptree.tree import LEAF, NOMINAL

LEAST_WEIGHT = 1e-6  # copies with less weight are dropped
_MOST_SD = 30.0  # deviations are clipped at this many standard deviations


@saved_part
@dataclass(frozen=True, eq=False)
class ChildProfiles:
    """Statistics of the training cases of each node.

    Attributes
    ----------
    column : int64 ndarray
        Numeric attributes that the tree tests.
    mean, sd : ndarrays of shape (n_nodes, n_columns)
        Mean and standard deviation of these attributes in each node; NaN where unknown.
    usable : bool ndarray of shape (n_nodes, n_columns)
        Whether an attribute is normally distributed in every child of the node.
    typical : ndarray of shape (n_nodes,)
        Value of the parent's attribute that replaces a missing one in this child: the mean or the
        most frequent category. NaN where no training case has a value.
    share : ndarray of shape (n_nodes,)
        Share of the parent's cases.
    """

    column: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    usable: np.ndarray
    typical: np.ndarray
    share: np.ndarray

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        shape = tree.n_nodes, len(self.column)
        expect_codes(self.column, "column", (None,), tree.n_features)
        for name in ("mean", "sd"):
            expect_array(getattr(self, name), name, np.float64, shape, finite=False)
        expect_array(self.usable, "usable", bool, shape)
        expect_array(self.typical, "typical", np.float64, shape[:1], finite=False)
        expect_array(self.share, "share", np.float64, shape[:1])
        known = self.usable[tree.parent[1:]] & (self.share[1:] > 0)[:, None]
        expect((self.sd[1:][known] > 0).all(), "a usable attribute has no spread")
        for node in np.flatnonzero(~np.isnan(self.typical)):
            fits = node > 0 and self._leads_to(tree, node)
            expect(fits, "a typical value leads to another node")

    def _leads_to(self, tree, node):
        row = np.full((1, tree.n_features), np.nan)
        parent = tree.parent[node]
        labels = tree.categories[tree.feature[parent]]
        value = self.typical[node]
        if labels is not None and not (value == int(value) and 0 <= value < len(labels)):
            return False
        row[0, tree.feature[parent]] = value
        one = np.zeros(1, dtype=np.int64)
        return tree.descend(row, one, one + parent, np.ones(1))[1].tolist() == [node]

    def spread_rows(self, tree, X):
        """Return copies of rows in which missing values are replaced by estimates.

        Parameters
        ----------
        tree : Tree
            The kept tree.
        X : ndarray of shape (n, n_features)
            Encoded rows.

        Returns
        -------
        copies : ndarray of shape (m, n_features)
            Rows without missing values that matter to the tree.
        owner : int64 ndarray of shape (m,)
            Row of each copy.
        weight : ndarray of shape (m,)
            Weight of each copy; the weights of one row sum to one.
        """
        copies, owner = X.copy(), np.arange(len(X))
        weight, node = np.ones(len(X)), np.zeros(len(X), dtype=np.int64)
        moving = np.arange(len(X))
        while len(moving):
            stuck = moving[np.isnan(copies[moving, tree.feature[node[moving]]])]
            for at in np.unique(node[stuck]):
                here = stuck[node[stuck] == at]
                source, new, part = self._split(tree, at, copies[here], weight[here])
                if len(new):  # without a copy, the tree's own rule applies
                    weight[here] = 0.0
                    moving = np.append(moving, len(copies) + np.arange(len(new)))
                    copies, weight = np.concatenate([copies, new]), np.append(weight, part)
                    owner = np.append(owner, owner[here[source]])
                    node = np.append(node, np.full(len(new), at))
            known = ~np.isnan(copies[moving, tree.feature[node[moving]]])
            moving = moving[known & (weight[moving] > 0)]
            node[moving] = _one_level(tree, copies, moving, node[moving])
            moving = moving[tree.kind[node[moving]] != LEAF]
        kept = np.flatnonzero(weight > 0)
        total = np.bincount(owner[kept], weight[kept], minlength=len(X))
        return copies[kept], owner[kept], weight[kept] / total[owner[kept]]

    def _split(self, tree, node, X, weight):
        """Copy rows without a value for a node's test; return source rows, copies and weights."""
        children = tree.children(node)
        children = children[~np.isnan(self.typical[children]) & (self.share[children] > 0)]
        if len(children) == 0:
            return np.empty(0, dtype=np.int64), X[:0], weight[:0]
        shares = self.child_weights(node, children, X) * weight[:, None]
        least = np.minimum(LEAST_WEIGHT, shares.max(axis=1, keepdims=True))
        source, k = np.nonzero(shares >= least)
        new = X[source]
        new[:, tree.feature[node]] = self.typical[children[k]]
        return source, new, shares[source, k]

    def child_weights(self, node, children, X):
        """Return the probability of each child of a node for rows that lack the tested value."""
        log = np.tile(np.log(self.share[children]), (len(X), 1))
        for j in np.flatnonzero(self.usable[node]):
            mean, sd = self.mean[children, j], self.sd[children, j]
            with np.errstate(over="ignore", invalid="ignore"):
                away = np.clip((X[:, self.column[j], None] - mean) / sd, -_MOST_SD, _MOST_SD)
            log += np.where(np.isnan(away), 0.0, -0.5 * away**2 - np.log(sd))
        weight = np.exp(log - log.max(axis=1, keepdims=True))
        return weight / weight.sum(axis=1, keepdims=True)


def _one_level(tree, X, row, node):
    """Return the next node of each row, which must have a value for the current test."""
    return tree.descend(X, row, node, np.ones(len(row)))[1]


def child_profiles(sample, significance, least):
    """Learn the profiles from a training sample.

    Parameters
    ----------
    sample : Sample
        Training sample with its tree.
    significance : float
        An attribute counts as normal in a node if the p-value of its Kolmogorov-Smirnov test is
        larger.
    least : float
        Minimum number of cases in a child.

    Returns
    -------
    profiles : ChildProfiles
        Statistics of the cases of each node.
    """
    tree, X, weight = sample.tree, sample.X, sample.weight
    tested = np.unique(tree.feature[tree.kind != LEAF])
    column = np.array([f for f in tested if tree.categories[f] is None], dtype=np.int64)
    shape = tree.n_nodes, len(column)
    count, normality = np.zeros(shape), np.zeros(shape)
    mean, sd = np.full(shape, np.nan), np.full(shape, np.nan)
    reached, typical = np.zeros(tree.n_nodes), np.full(tree.n_nodes, np.nan)
    row = np.flatnonzero(weight > 0)
    node, share = np.zeros(len(row), dtype=np.int64), np.ones(len(row))
    while len(row):
        mass = weight[row] * share
        reached += np.bincount(node, mass, minlength=tree.n_nodes)
        for j, f in enumerate(column):
            known = ~np.isnan(X[row, f])
            part = node[known], np.zeros(known.sum(), np.int64), X[row[known], f], mass[known]
            place, *found = group_statistics(*part, 1, significance)
            for table, values in zip((count, mean, sd, normality), found, strict=True):
                table[place, j] = values
        below = tree.kind[node] != LEAF
        row, node, share = row[below], node[below], share[below]
        if len(row):
            _fill_typical(tree, X, row, node, weight[row] * share, typical)
            row, node, share = tree.descend(X, row, node, share)
    share = np.zeros(tree.n_nodes)
    above = reached[tree.parent[1:]]
    share[1:] = np.where(above > 0, reached[1:] / np.where(above > 0, above, 1.0), 0.0)
    normal = (normality > significance) & (count >= least) & (sd > 0)
    usable = np.ones(shape, dtype=bool)
    present = np.flatnonzero(share > 0)
    np.logical_and.at(usable, tree.parent[present], normal[present])
    usable[tree.kind == LEAF] = False
    own = np.searchsorted(column, tree.feature)
    inner = np.flatnonzero((tree.kind != LEAF) & np.isin(tree.feature, column))
    usable[inner, own[inner]] = False  # not the tested attribute, which is the one that is missing
    return ChildProfiles(column, mean, sd, usable, typical, share)


def _fill_typical(tree, X, row, node, mass, typical):
    """Fill in the mean or most frequent category of the tested attribute in each child."""
    value = X[row, tree.feature[node]]
    known = ~np.isnan(value)
    row, node, value, mass = row[known], node[known], value[known], mass[known]
    if len(row) == 0:
        return
    child = _one_level(tree, X, row, node)
    nominal = tree.kind[node] == NOMINAL
    total = np.bincount(child[~nominal], mass[~nominal], minlength=tree.n_nodes)
    sums = np.bincount(child[~nominal], (mass * value)[~nominal], minlength=tree.n_nodes)
    low = np.full(tree.n_nodes, np.inf)
    high = np.full(tree.n_nodes, -np.inf)
    np.minimum.at(low, child[~nominal], value[~nominal])
    np.maximum.at(high, child[~nominal], value[~nominal])
    some = total > 0
    typical[some] = np.clip(sums[some] / total[some], low[some], high[some])
    for at in np.unique(child[nominal]):
        here = nominal & (child == at)
        typical[at] = np.bincount(value[here].astype(np.int64), mass[here]).argmax()
