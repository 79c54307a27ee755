"""The leaf of a row as nested CASE expressions, and the decision."""

import numpy as np

from keeptree.tree import ERROR, SHARE

DEPTH = 8  # tests in one expression: SQLite's parser takes about sixteen, others copy much


class TreeTexts:
    """The tests of the tree as conditions on the values of a row.

    Parameters
    ----------
    data : dict
        From :func:`keeptree.exporters.plain.plain_dict`.
    inputs : Inputs
        The columns.
    raw : bool
        Whether to compare the columns of the table directly, and test for NaN where needed.
    """

    def __init__(self, data, inputs, raw):
        self.data, self.tree, self.inputs, self.is_raw = data, data["tree"], inputs, raw
        self.spell = inputs.spell

    def value(self, at):
        """The value of a column."""
        return self.inputs.raw(at) if self.is_raw else self.inputs.known(at)

    def leaf(self):
        """The number of the leaf; NULL where the tree has no answer."""
        node, roots = self._nested(0, DEPTH), self._below(0, DEPTH)
        while roots:
            node = self.inputs.steps.named("n", node)
            cases = [f"WHEN {root} THEN {self._nested(root, DEPTH)}" for root in roots]
            node = _case(node, cases, node)
            roots = [k for root in roots for k in self._below(root, DEPTH)]
        refused = self.inputs.refused(self.value)
        return node if refused is None else f"CASE WHEN {refused} THEN NULL ELSE {node} END"

    def _below(self, node, depth):
        """Tests that are ``depth`` tests below a node."""
        if not self.tree["children"][node]:
            return []
        if depth == 0:
            return [node]
        return [k for child in self.tree["children"][node] for k in self._below(child, depth - 1)]

    def _nested(self, node, depth):
        """The node that a row at ``node`` reaches after at most ``depth`` tests."""
        if not self.tree["children"][node] or depth == 0:
            return str(node)
        return self.branches(node, lambda child: self._nested(child, depth - 1), "NULL")

    def branches(self, node, result, otherwise):
        """Return a CASE with the result of each child; ``otherwise`` for rows that are refused."""
        goes = self.tree["following"][node]
        children = [child for child in self.tree["children"][node] if child != goes]
        conditions = self._conditions(node)
        cases = [f"WHEN {conditions[child]} THEN {result(child)}" for child in children]
        last = otherwise if goes == ERROR else result(goes)
        return _case(None, cases, last)

    def _conditions(self, node):
        """Return the condition of each child; none holds if the value is missing."""
        at = self.tree["attribute"][node]
        x, children = self.value(at), self.tree["children"][node]
        if str(node) in self.tree["table"]:
            return self._nominal_conditions(node, x, at)
        threshold = self.spell.exact(self._threshold(node))
        nan = self.spell.is_nan(x) if self.is_raw else None
        above = f"{x} > {threshold}" if nan is None else f"{x} > {threshold} AND NOT {nan}"
        # NaN is not below a threshold, but above it where it counts as the largest number.
        return dict(zip(children, (f"{x} <= {threshold}", above), strict=True))

    def _nominal_conditions(self, node, x, at):
        table, unknown = self.tree["table"][str(node)], self.inputs.columns[at]["unknown"]
        conditions = {}
        for child in self.tree["children"][node]:
            codes = [code for code, goes in enumerate(table) if goes == child]
            if not codes:
                conditions[child] = "1 = 0"  # a branch for missing values only
            elif unknown in codes:
                others = [code for code, goes in enumerate(table) if goes != child]
                known = f"{x} NOT IN {self.inputs.labels(at, others)}"
                conditions[child] = known if others else f"{x} IS NOT NULL"
            else:
                conditions[child] = f"{x} IN {self.inputs.labels(at, codes)}"
        return conditions

    def _threshold(self, node):
        threshold = self.tree["threshold"][node]
        return largest_at_most(threshold) if self.tree["float32"] else threshold

    def is_shared(self, leaf):
        """Return the condition that a test shares a missing value; None if no test shares values.

        Such a test is on the path to ``leaf``, which follows the heaviest child.
        """
        leaves = {}
        todo = [(0, ())]
        while todo:
            node, sharing = todo.pop()
            if self.tree["missing"][node] == SHARE and self.tree["children"][node]:
                sharing = (*sharing, self.tree["attribute"][node])
            todo += [(child, sharing) for child in self.tree["children"][node][::-1]]
            for at in () if self.tree["children"][node] else dict.fromkeys(sharing):
                leaves.setdefault(at, []).append(str(node))
        n_leaves = sum(not children for children in self.tree["children"])
        texts = []
        for at, below in leaves.items():
            missing = self.is_missing(at)
            reached = f"({missing}) AND {leaf} IN ({', '.join(below)})"
            texts.append(missing if len(below) == n_leaves else reached)
        return " OR ".join(texts) or None

    def is_missing(self, at):
        """Whether the value of a column is missing."""
        x, column = self.value(at), self.inputs.columns[at]
        if column["categories"] is None:
            return f"{x} IS NULL"
        every = self.inputs.labels(at, range(len(column["categories"])))
        return f"{x} IS NULL OR {x} NOT IN {every}" if column["unknown"] < 0 else f"{x} IS NULL"


def largest_at_most(threshold):
    """The largest float64 that is at most ``threshold`` once it is rounded to float32.

    Comparing with it needs no cast.

    Examples
    --------
    >>> largest_at_most(0.5)
    0.5000000298023224
    >>> np.float32([0.5000000298023224, 0.5000000298023225]).tolist()
    [0.5, 0.5000000596046448]
    """
    with np.errstate(over="ignore"):
        below = np.float32(threshold)
        if float(below) > threshold:
            below = np.nextafter(below, np.float32(-np.inf))
        above = np.nextafter(below, np.float32(np.inf))
    if not np.isfinite(above):
        return float(np.nextafter(3.4028235677973366e38, 0.0))
    if not np.isfinite(below):
        return -3.4028235677973366e38
    middle = (float(below) + float(above)) / 2
    return middle if np.float32(middle) == below else float(np.nextafter(middle, -np.inf))


def _case(operand, cases, otherwise):
    lines = "\n".join(f"  {line}" for line in "\n".join([*cases, f"ELSE {otherwise}"]).split("\n"))
    return f"CASE{'' if operand is None else f' {operand}'}\n{lines}\nEND"
