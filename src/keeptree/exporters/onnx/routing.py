"""The tree in the graph: leaf and decision of each row, and values of its leaves."""

import numpy as np

from keeptree.exporters.onnx.shares import Tests, hard_tests


class Routes:
    """Where the rows of a batch go.

    Parameters
    ----------
    cases : Cases
        The rows.
    tree : dict
        The part ``tree`` of ``plain_dict``.
    depth : int
        Number of tests on the longest path.

    Attributes
    ----------
    leaf : Value
        Number of each row's leaf, by the heaviest child where a missing value is shared; -1 if the
        tree has no rule for a missing value or refuses a category.
    lost : Value
        Which rows have no leaf.
    """

    def __init__(self, cases, tree, depth):
        self._cases, self._tree = cases, tree
        self._n_nodes = len(tree["children"])
        self._end = self._walk(depth)
        self._shared = self._find_shared()
        self.lost = self._end > self._n_nodes - 1
        self.leaf = cases.graph.where(self.lost, -1, self._end)

    @property
    def n_classes(self):
        """Number of classes."""
        return len(self._tree["declared"])

    @property
    def shares_missing(self):
        """Whether some test shares a missing value among its children."""
        return self._shared is not None

    def average(self, values, normalise=True):
        """Values of the leaves, averaged by share where a missing value is shared: (rows, K).

        ``values`` has a row for each node, None for a test. Averages are divided by their sum
        unless ``normalise`` is false. Rows without a leaf get NaN.
        """
        graph, width = self._cases.graph, len(next(row for row in values if row is not None))
        table = np.full((self._n_nodes + 1, width), np.nan)
        for node, row in enumerate(values):
            table[node] = np.nan if row is None else row
        whole = graph.constant(table).take(self._end, axis=0)
        shared = self._shared
        if shared is None:
            return whole

        def mix():
            tests = Tests(self._cases, hard_tests(self._tree))
            mixed = tests.reach(tests.shares()) @ table[tests.leaves]
            mixed = mixed / mixed.sum() if normalise else mixed
            return [graph.where((shared & ~self.lost).upright(), mixed, whole)]

        some = shared.cast(np.int64)
        some = graph.op("ReduceSum", some, graph.constant([0]), keepdims=0) > 0
        return graph.branch(some, mix, lambda: [whole])[0]

    def decide(self, proportions):
        """Position of the class that the tree decides for; -1 for rows without a leaf.

        ``proportions`` are the averaged proportions of the leaves, used for rows with a shared
        value.
        """
        graph = self._cases.graph
        label = graph.constant([*self._tree["label"], -1], np.int64).take(self._end, axis=0)
        shared = self._shared
        if shared is None:
            return label
        # As in J48, a later class must be 1e-6 larger.
        mixed = largest(proportions, self._tree["declared"], 1e-6)
        return graph.where(shared & ~self.lost, mixed, label)

    def _walk(self, depth):
        """Return the last node of each row; one past the last for refused rows."""
        graph, cases, steps = self._cases.graph, self._cases, _steps(self._tree)
        node = graph.fill(cases.rows, 0, np.int64)
        if cases.refused is not None:
            node = graph.where(cases.refused, self._n_nodes, node)
        attribute, threshold, nominal, missing, start, following = map(graph.constant, steps)

        def descend(node):
            value = cases.compared.pick(attribute.take(node, axis=0).upright()).flat()
            above = (value > threshold.take(node, axis=0)).cast(np.int64)
            known = ~value.is_nan()
            code = graph.where(known, value, 0.0).at_least(0.0).at_most(1e9).cast(np.int64)
            way = graph.where(nominal.take(node, axis=0), code, above)
            way = graph.where(known, way, missing.take(node, axis=0))
            return following.take(start.take(node, axis=0) + way, axis=0)

        return graph.repeat(depth, node, descend)

    def _find_shared(self):
        """Which rows meet a test that shares their missing value; None if no test does that.

        Such a test is on the path to the leaf, which follows the heaviest child.
        """
        tree = self._tree
        sharing = [
            goes == -1 and len(children) > 0
            for goes, children in zip(tree["missing"], tree["children"], strict=True)
        ]
        columns = sorted(
            {at for at, shares in zip(tree["attribute"], sharing, strict=True) if shares}
        )
        if not columns:
            return None
        above, todo = np.zeros((self._n_nodes + 1, len(columns)), dtype=np.int64), [0]
        for node in todo:
            children = tree["children"][node]
            above[children] = above[node]
            if sharing[node]:
                above[children, columns.index(tree["attribute"][node])] = 1
            todo += children
        unknown = self._cases.raw.take(columns).is_nan().cast(np.int64)
        read = self._cases.graph.constant(above).take(self._end, axis=0)
        return (unknown * read).sum().flat() > 0


def largest(shares, order, margin, least=0.0):
    """Position of the largest share of each row, the first in an order unless another is larger.

    A later one must be larger by more than the margin; no share is below ``least``.
    """
    graph = shares.graph
    chosen = graph.fill(shares.rows(), int(order[0]), np.int64)
    best = graph.fill(shares.rows(), least, np.float64)
    for c in order:
        share = shares.column(int(c))
        larger = share - best > margin
        best = graph.where(larger, share, best)
        chosen = graph.where(larger, int(c), chosen)
    return chosen


def _steps(tree):
    """Arrays of the nodes, and of the end of refused rows: what :meth:`Routes._walk` reads.

    Column tested, threshold, whether the test is nominal, way of a missing value, and where the
    ways of the node start in the last array, which has the nodes they lead to. A leaf has one way,
    to itself.
    """
    n = len(tree["children"])
    attribute, nominal = np.zeros(n + 1, np.int64), np.zeros(n + 1, bool)
    threshold, missing = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    start, following = [], []
    for node, children in enumerate([*tree["children"], []]):
        start.append(len(following))
        if not children:
            following.append(node)
            continue
        attribute[node] = tree["attribute"][node]
        nominal[node] = str(node) in tree["table"]
        ways = tree["table"][str(node)] if nominal[node] else children
        if not nominal[node]:
            threshold[node] = tree["threshold"][node]
        missing[node] = len(ways)
        goes = tree["following"][node]
        following += [*ways, goes if goes >= 0 else n]
    return attribute, threshold, nominal, missing, np.array(start), np.array(following)
