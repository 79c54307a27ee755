"""How tests divide a row among their children, and how much of it reaches each leaf."""

import numpy as np


class Tests:
    """Tests as columns of a matrix, evaluated at once.

    Parameters
    ----------
    cases : Cases
        The rows.
    tests : dict
        As ``plain_model`` has them in its kinds ``soft`` and ``margin``; :func:`hard_tests` for
        those of the tree itself.

    Attributes
    ----------
    order : ndarray
        Number of the node that each column of :meth:`shares` stands for: the root, the first and
        the second children of numeric tests, the children of nominal ones.
    leaves : ndarray
        Numbers of the leaves, in the order of the columns of :meth:`reach`.
    """

    def __init__(self, cases, tests):
        self._cases, self._tests, children = cases, tests, tests["children"]
        inner = [node for node, below in enumerate(children) if below]
        self._numeric = [node for node in inner if str(node) not in tests["table"]]
        self._nominal = [node for node in inner if str(node) in tests["table"]]
        root = set(range(len(children))).difference(*children)
        sides = [[children[node][side] for node in self._numeric] for side in (0, 1)]
        below = [child for node in self._nominal for child in children[node]]
        self.order = np.array([*root, *sides[0], *sides[1], *below])
        place = np.argsort(self.order)
        self._parent = np.zeros(len(children), dtype=int)
        for node in inner:
            self._parent[place[children[node]]] = place[node]
        self.leaves = np.setdiff1d(np.arange(len(children)), inner)
        self._leaf_place = place[self.leaves]

    def shares(self, steep=None):
        """Return the share that each node gets from its parent: (rows, nodes), 1 for the root.

        Parameters
        ----------
        steep : sequence, optional
            Slope of each test's logistic curve; 0, as by default, is a hard test.
        """
        graph = self._cases.graph
        parts = [graph.fill(self._cases.rows, 1.0, np.float64, 1)]
        if self._numeric:
            first = self._first_shares(np.zeros(len(self.order)) if steep is None else steep)
            parts += [first, 1.0 - first]
        if self._nominal:
            parts.append(self._category_shares())
        return graph.concat(parts)

    def reach(self, shares):
        """Multiply the shares along each path: (rows, leaves)."""
        # Doubling: the product of the last 1, 2, 4, ... shares above each node.
        above = self._parent
        while above.any():
            shares, above = shares * shares.take(above), above[above]
        return shares.take(self._leaf_place)

    def _first_shares(self, steep):
        """Shares of the first children of the numeric tests."""
        graph, at, tests = self._cases.graph, self._numeric, self._tests
        steep = np.asarray(steep, dtype=float)[at]
        threshold = np.array([tests["threshold"][node] for node in at], dtype=float)
        value = self._cases.compared.take([tests["attribute"][node] for node in at])
        share = graph.where(value > threshold, 0.0, graph.constant(1.0))
        if steep.any():
            z = (threshold - value) * steep
            decay = (-(abs(z).at_most(40.0))).exp()
            soft = graph.where(z > 0.0, graph.constant(1.0), decay) / (decay + 1.0)
            share = soft if steep.all() else graph.where(graph.constant(steep > 0), soft, share)
        missing = np.array([tests["missing"][node] for node in at], dtype=float)
        if (steep < 0).any():
            share = graph.where(graph.constant(steep < 0), graph.constant(missing), share)
        return graph.where(value.is_nan(), graph.constant(missing), share)

    def _category_shares(self):
        """Shares of the children of the nominal tests, looked up in one table for all of them."""
        graph, tests = self._cases.graph, self._tests
        tables = [np.array(tests["table"][str(node)], dtype=float) for node in self._nominal]
        starts = np.cumsum([0, *(table.size for table in tables)])
        column, first, width, last = [], [], [], []
        for node, table, start in zip(self._nominal, tables, starts[:-1], strict=True):
            for branch in range(table.shape[1]):
                column.append(tests["attribute"][node])
                first.append(start + branch)
                width.append(table.shape[1])
                last.append(len(table) - 1.0)
        code = self._cases.raw.take(column)
        code = graph.where(code.is_nan(), graph.constant(last), code).at_least(0.0)
        place = code.cast(np.int64) * width + first
        return graph.constant(np.concatenate([table.ravel() for table in tables])).take(place, 0)


def hard_tests(tree):
    """The tests of a plain tree in the form of the soft ones."""
    children = tree["children"]
    missing, table = [0.0] * len(children), {}
    for node, below in enumerate(children):
        if not below:
            continue
        goes, shares = tree["missing"][node], [tree["share"][child] for child in below]
        if goes >= 0:
            shares = [float(child == goes) for child in below]
        missing[node] = shares[0]
        if str(node) in tree["table"]:
            taken = tree["table"][str(node)]
            rows = [[float(child == where) for child in below] for where in taken]
            table[str(node)] = [*rows, shares]
    return {**tree, "missing": missing, "table": table}
