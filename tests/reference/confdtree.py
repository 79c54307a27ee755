"""ConfDTree as in the paper: one case, one node, one class at a time, recursively."""

from types import SimpleNamespace

import numpy as np
from scipy import stats

from keeptree import Tree

DEFAULTS = {
    "interval": "combined",
    "z_assigned": 2.0,
    "z_other": 1.0,
    "level_assigned": 0.995,
    "level_other": 0.9,
    "m": 5,
    "fine": 0.1,
    "minimum": "every",
    "t_for": "mean",
    "tails": 2,
    "normal_by": "node",
    "significance": 0.05,
    "fine_to": "others",
    "route_weight": "sqrt",
    "nominal": False,
    "balance": False,
}


class NaiveConfDTree:
    """A slow and simple ConfDTree for encoded rows; ``leaf_value`` holds the leaf probabilities."""

    def __init__(self, tree, X, y, weight=None, leaf_value=None, **options):
        self.tree, self.o = tree, SimpleNamespace(**{**DEFAULTS, **options})
        self.classes = range(len(tree.classes))
        self.leaf_value = tree.proportions if leaf_value is None else leaf_value
        weight = np.ones(len(y)) if weight is None else weight
        self.cases = {node: [] for node in range(tree.n_nodes)}
        self.numbers = {}
        for row, label, w in zip(X, y, weight, strict=True):
            if w > 0:
                self.place(0, row, label, w)
        total = sum(w for _, _, w in self.cases[0])
        self.prior = [self.number(0, c) / total for c in self.classes]
        self.known = {}

    def value(self, node, row):
        value = row[self.tree.feature[node]]
        return float(np.float32(value)) if self.tree.compare_dtype == "float32" else float(value)

    def chosen(self, node, value):
        if self.tree.kind[node] == 1:
            return int(self.tree.children(node)[0 if value <= self.tree.threshold[node] else 1])
        return int(self.tree.category_child[self.tree.category_start[node] + int(value)])

    def place(self, node, row, label, w):
        self.cases[node].append((row, label, w))
        if self.tree.kind[node] == 0:
            return
        value = self.value(node, row)
        if not np.isnan(value):
            self.place(self.chosen(node, value), row, label, w)
        elif self.tree.missing[node] >= 0:
            self.place(int(self.tree.missing[node]), row, label, w)
        else:
            for child in self.tree.children(node).tolist():
                if self.tree.shares[child] > 0:
                    self.place(child, row, label, w * self.tree.shares[child])

    def number(self, node, c):
        if (node, c) not in self.numbers:
            cases = self.cases[node]
            self.numbers[node, c] = sum(w for _, label, w in cases if label == c)
        return self.numbers[node, c]

    def sample(self, node, c):
        pairs = [(self.value(node, row), w) for row, label, w in self.cases[node] if label == c]
        pairs = sorted(pair for pair in pairs if not np.isnan(pair[0]))
        return np.array([v for v, _ in pairs]), np.array([w for _, w in pairs])

    def learned(self, node):
        """Return the intervals of a node: class -> (wide, narrow), or None if it is not checked."""
        if node not in self.known:
            self.known[node] = self.learn(node)
        return self.known[node]

    def learn(self, node):
        o = self.o
        if self.tree.kind[node] == 2 and not o.nominal:
            return None
        present = [c for c in self.classes if self.number(node, c) > 0]
        samples = {c: self.sample(node, c) for c in present}
        n = {c: samples[c][1].sum() + 1e-9 for c in present}
        if len(present) < 2:
            return None
        if o.minimum == "every":
            having = present if all(n[c] >= o.m for c in present) else []
        elif o.minimum == "class":
            having = [c for c in present if n[c] >= o.m]
        else:
            having = [c for c in present if n[c] >= 2] if sum(n.values()) >= o.m else []
        if self.tree.kind[node] == 2:
            return {c: self.usual(*samples[c]) for c in having} or None
        normal = {c: is_normal(*samples[c], o.significance) for c in having}
        if o.normal_by == "node":
            normal = dict.fromkeys(having, all(normal.values()))
        if o.interval == "t":
            normal = dict.fromkeys(having, False)
        if o.interval == "normal":
            having = [c for c in having if normal[c]]
        return {c: self.bounds(*samples[c], normal[c]) for c in having} or None

    def bounds(self, values, weights, normal):
        o = self.o
        n, mean, sd = describe(values, weights)
        result = []
        for z, level in ((o.z_assigned, o.level_assigned), (o.z_other, o.level_other)):
            half = z * sd
            if not normal:
                quantile = stats.t.ppf(1 - (1 - level) / o.tails, n - 1)
                scale = {"mean": n**-0.5, "individual": 1, "prediction": (1 + 1 / n) ** 0.5}
                half = quantile * sd * scale[o.t_for]
            result.append(lambda v, half=half: mean - half <= v <= mean + half)
        return result

    def usual(self, codes, weights):
        """Return functions that test whether a category is among the most frequent ones."""
        o = self.o
        count = {k: weights[codes == k].sum() for k in set(codes.tolist())}
        result = []
        for z, level in ((o.z_assigned, o.level_assigned), (o.z_other, o.level_other)):
            coverage = level if o.interval == "t" else 2 * stats.norm.cdf(z) - 1

            def within(k, coverage=coverage):
                more = sum(n for n in count.values() if n > count.get(k, 0) + 1e-9)
                return k in count and more / sum(count.values()) < coverage - 1e-9

            result.append(within)
        return result

    def class_weight(self, c):
        return 1 / (len(self.prior) * self.prior[c]) if self.o.balance and self.prior[c] else 1.0

    def route_weight(self, child, alternatives):
        n = {c: self.number(child, c) * self.class_weight(c) for c in self.classes}
        total = sum(n.values())
        if total == 0:
            return 0.0
        formula = {
            "sqrt": lambda k: np.sqrt(k) * k / total,
            "linear": lambda k: k * k / total,
            "count": lambda k: k,
        }[self.o.route_weight]
        return sum(formula(n[c]) for c in alternatives)

    def predict(self, X):
        return np.array([self.classify(0, row, True) for row in X])

    def classify(self, node, row, on):
        """Return the probabilities by Algorithm 2 of the paper."""
        if self.tree.kind[node] == 0:
            return self.leaf_value[node].copy()
        value = self.value(node, row)
        children = self.tree.children(node).tolist()
        if np.isnan(value):
            if self.tree.missing[node] >= 0:
                return self.classify(int(self.tree.missing[node]), row, False)
            shares = self.tree.shares[children]
            parts = [self.classify(child, row, False) for child in children]
            return shares @ np.array(parts) / shares.sum()
        p = self.classify(self.chosen(node, value), row, on)
        intervals = self.learned(node) if on else None
        leader = int(np.flatnonzero(p >= p.max() - 1e-12)[0])
        if intervals is None or leader not in intervals or intervals[leader][0](value):
            return p
        alternatives = [c for c in intervals if c != leader and intervals[c][1](value)]
        if alternatives:
            weights = np.array([self.route_weight(child, alternatives) for child in children])
            parts = np.array([self.classify(child, row, on) for child in children])
            return weights @ parts / weights.sum()
        return self.fined(p, leader, node)

    def fined(self, p, leader, node):
        present = [c for c in self.classes if self.number(node, c) > 0]
        receivers = [c for c in present if self.o.fine_to == "all" or c != leader]
        fine = self.o.fine
        if self.o.balance:
            fine = min(1.0, fine * len(self.prior) * self.prior[leader])
        amount = fine * p[leader]
        total = sum(self.class_weight(c) for c in receivers)
        if total == 0:
            return p
        p[leader] -= amount
        for c in receivers:
            p[c] += amount * self.class_weight(c) / total
        return p


def describe(values, weights):
    """Return the total weight, mean and standard deviation; a weight counts as repeated cases."""
    n = weights.sum()
    if values.min() == values.max():
        return n, values[0], 0.0
    mean = (weights * values).sum() / n
    return n, mean, np.sqrt((weights * (values - mean) ** 2).sum() / (n - 1))


def is_normal(values, weights, significance):
    n, mean, sd = describe(values, weights)
    if not sd > 0:
        return False
    if (weights == weights.round()).all():
        cases = np.repeat(values, weights.astype(int))
        return stats.kstest(cases, stats.norm(mean, sd).cdf).pvalue > significance
    distance, below = 0.0, 0.0
    for value, w in zip(values, weights, strict=True):
        cdf = stats.norm.cdf(value, mean, sd)
        distance = max(distance, cdf - below / n, (below + w) / n - cdf)
        below += w
    return stats.kstwo.sf(distance, round(n)) > significance


def paper_example(missing=-2):
    """Return the tree of the paper's Figures 1 to 5, and a sample with its class counts.

    The root tests X <= 10. On the left are 100 cases of A, 100 of B and 30 of C, where Y <= 7.2
    separates A from the rest; on the right are 70 of C. Y of class A has the interval 3 to 6.5, as
    in Figure 1.
    """

    def normal(n, mean, sd):
        z = stats.norm.ppf((np.arange(n) + 0.5) / n)
        return mean + sd * z / z.std(ddof=1)

    x = np.concatenate([normal(100, 4, 1.2), normal(100, 6, 1.0), normal(100, 10.52, 1.0)])
    y = np.concatenate(
        [normal(100, 4.75, 0.875), normal(100, 10, 0.9), normal(30, 11, 0.9), normal(70, 8, 1.5)]
    )
    tree = Tree(
        kind=[1, 1, 0, 0, 0],
        feature=[0, 1, -1, -1, -1],
        threshold=[10.0, 7.2, np.nan, np.nan, np.nan],
        child_start=[0, 2, 4, 4, 4, 4],
        child=[1, 4, 2, 3],
        missing=[missing, missing, -2, -2, -2],
        counts=[[100, 100, 100], [100, 100, 30], [100, 0, 0], [0, 100, 30], [0, 0, 70]],
        classes=["A", "B", "C"],
        n_features=2,
        feature_names=["X", "Y"],
    )
    # Shuffle Y of class A, so that X and Y are independent within the class.
    y[:100] = y[np.random.default_rng(0).permutation(100)]
    return tree, np.column_stack([x, y]), np.repeat(["A", "B", "C"], 100)
