"""The probability models as columns: the formulas of ``plain_model``, in SQL."""

from keeptree.exporters.sql.confdtree import ConfDTree
from keeptree.exporters.sql.decision import DEPTH, largest_at_most
from keeptree.exporters.sql.distance import distance, rank
from keeptree.exporters.sql.kernel import kernel
from keeptree.tree import ERROR, SHARE

_TERMS = 32  # of one sum
_MOST = 40.0  # of a logit, as in Python
_LEAST_EXPONENT = -700.0  # exp of less is 0 to any precision, and an error in Postgres
_ABOVE = 1.0 + 2.0**-40
_CLOSE = 1e-6  # J48: a later class must be that much larger


class Formulas:
    """Probabilities of a row as texts that read columns of the steps.

    Parameters
    ----------
    data : dict
        From :func:`keeptree.exporters.plain.plain_dict`.
    tree : TreeTexts
        The tests of the tree.
    leaf : str
        The leaf of the row, NULL where the model has no answer.
    tables : dict
        Names of the tables of ``landmarks`` and ``curves``.
    """

    def __init__(self, data, tree, leaf, tables):
        self.data, self.tree, self.leaf, self.tables = data, tree, leaf, tables
        self.inputs, self.steps, self.spell = tree.inputs, tree.inputs.steps, tree.spell
        self.n_classes = len(data["classes"])

    def probabilities(self):
        """Text of the probability of each class."""
        return self._kind(self.data["model"], "p")

    def label(self, p):
        """Return the position of the predicted class; ``p`` holds the probabilities."""
        if self.data["decide"] == "tree":
            return self.tree_label()
        return self._first(p if self.data["costs"] is None else self._expected_gains(p))

    def tree_label(self):
        """Return the position of the class that the tree predicts."""
        tree = self.data["tree"]
        label = self.by_leaf([str(label) for label in tree["label"]])
        shared = self.tree.is_shared(self.leaf)
        if shared is None:
            return label
        mixed = self._mixed(tree["proportions"], "q")
        return f"CASE WHEN {shared} THEN {self._largest_share(mixed)} ELSE {label} END"

    def by_leaf(self, texts):
        """Return a CASE with the text of each leaf; ``texts`` holds one for each node."""
        leaves = [k for k, children in enumerate(self.data["tree"]["children"]) if not children]
        cases = [f"  WHEN {leaf} THEN {texts[leaf]}" for leaf in leaves]
        return "\n".join([f"CASE {self.leaf}", *cases, "END"])

    def _kind(self, model, name):
        return getattr(self, f"_{model['kind']}")(model, name)

    def _leaves(self, model, name):
        return self.average_leaves(model["values"], name)

    def average_leaves(self, values, name, normalise=True):
        """Values of the leaf, averaged by share where a missing value is shared."""
        shared = self.tree.is_shared(self.leaf)
        alone = [
            self.by_leaf([None if row is None else self.spell.value(row[c]) for row in values])
            for c in range(self.n_classes)
        ]
        if shared is None:
            return alone
        mixed = self._mixed(values, f"{name}m", normalise)
        pairs = zip(mixed, alone, strict=True)
        return [f"CASE WHEN {shared} THEN {mix} ELSE {own} END" for mix, own in pairs]

    def _mixed(self, values, name, normalise=True):
        """Values of the leaves averaged by share, divided by their sum if ``normalise``."""
        tests, place = _shared_tests(self.data["tree"])
        values = [values[node] for node in place]
        steep = [0.0] * len(place)
        p = self._average(tests, steep, values, name)
        if not normalise:
            return p
        total = self.steps.add(f"{name}t", self._sum(p))
        return [self.steps.add(f"{name}d{c}", f"{x} / {total}") for c, x in enumerate(p)]

    def _soft(self, model, name):
        return self._average(model["tests"], model["steep"], model["values"], name)

    def _margin(self, model, name):
        tests, logits = model["tests"], []
        reach = [
            self._average(tests, part["steep"], part["values"], f"{name}r{k}")
            for k, part in enumerate(model["reach"])
        ]
        for j, intercept in enumerate(model["intercept"]):
            terms = [self.spell.number(intercept), *(part[j] for part in reach)]
            for part in model["sides"]:
                terms += self._side_terms(tests, part, j)
            logits.append(self.steps.add(f"{name}l{j}", self._sum(terms)))
        if len(logits) == 1 and self.n_classes == 2:
            second = self.steps.add(f"{name}1", self._logistic(logits[0], 0.0, -1.0))
            return [f"1 - {second}", second]
        return self._softmax(logits, name)

    def _side_terms(self, tests, part, j):
        for node, children in enumerate(tests["children"]):
            shares = self._shares(tests, part["steep"], node) if children else []
            for share, child in zip(shares, children, strict=True):
                if part["scores"][child][j]:
                    yield f"{share} * {self.spell.number(part['scores'][child][j])}"

    def _softmax(self, logits, name):
        most = self.steps.add(f"{name}s", self.spell.greatest(logits))
        terms = []
        for c, logit in enumerate(logits):
            below = self.steps.add(f"{name}b{c}", f"{logit} - {most}")
            least = self.spell.number(_LEAST_EXPONENT)
            zero = self.spell.value(0.0)
            text = f"CASE WHEN {below} < {least} THEN {zero} ELSE EXP({below}) END"
            terms.append(self.steps.add(f"{name}e{c}", text))
        total = self.steps.add(f"{name}u", self._sum(terms))
        return [self.steps.add(f"{name}{c}", f"{term} / {total}") for c, term in enumerate(terms)]

    def _kernel(self, model, name):
        return kernel(self.inputs, model, self.tables["landmarks"], name)

    def _distance(self, model, name):
        return distance(self, model, self.tables["curves"])

    def _separator(self, model, name):
        raise ValueError(
            "SQL cannot break the ties between separators as Python does, by the bits of a "
            'distance; export a DistanceKernelClassifier with scope="global" or "leaf", or export '
            "this model to ONNX, Python, JavaScript or C."
        )

    def _rank(self, model, name):
        return rank(self, model)

    def _confdtree(self, model, name):
        return ConfDTree(self, model).probabilities()

    def _pool(self, model, name):
        opinions = [
            [self.steps.add(f"{of}_o{c}", p) for c, p in enumerate(self._kind(expert, f"{of}_"))]
            for of, expert in zip(model["names"], model["experts"], strict=True)
        ]
        number = self.spell.number
        logits = []
        for c, prior in enumerate(model["prior"]):
            terms = [
                f"{number(weight)} * "
                + self.spell.log(
                    f"{number(1 - model['share'])} * {p[c]} + {number(model['share'] * prior)}"
                )
                for weight, p in zip(model["weights"], opinions, strict=True)
            ]
            logits.append(self.steps.add(f"{name}l{c}", self._sum(terms)))
        p = self._softmax(logits, name)
        if model["softness"] is None or self.n_classes == 1:
            return p
        return self._coherent(p, model["softness"], name)

    def _coherent(self, p, softness, name):
        """Change probabilities as little as necessary to put the tree's class first."""
        number, add = self.spell.number, self.steps.add
        label = add("tree_label", self.tree_label())
        classes = range(self.n_classes)
        own = add(f"{name}own", self._pick(label, p))
        others = [self.spell.greatest([p[k] for k in classes if k != c]) for c in classes]
        other = add(f"{name}other", self._pick(label, others))
        m = add(f"{name}m", self.spell.log(f"{own} / {other}"))
        root = add(f"{name}root", f"SQRT({m} * {m} + {number(softness * softness)})")
        moved = add(
            f"{name}moved",
            f"CASE WHEN {m} > 0 THEN ({m} + {root}) / 2 "
            f"ELSE {number(softness * softness)} / (2 * ({root} + ABS({m}))) END",
        )
        least = self.spell.exact(_ABOVE)
        ratio = self.spell.greatest([f"EXP({moved})", self.spell.cast(least, "double")])
        lifted = add(f"{name}lift", f"{other} * {ratio}")
        moved_p = [
            add(f"{name}c{c}", f"CASE WHEN {label} = {c} THEN {lifted} ELSE {p[c]} END")
            for c in classes
        ]
        total = add(f"{name}all", self._sum(moved_p))
        return [f"{x} / {total}" for x in moved_p]

    def _pick(self, label, texts):
        cases = " ".join(f"WHEN {c} THEN {text}" for c, text in enumerate(texts))
        return f"CASE {label} {cases} END"

    def _expected_gains(self, p):
        """Return minus the expected cost of each decision."""
        p = [self.steps.add(f"pc{c}", text) for c, text in enumerate(p)]
        sums = [
            " + ".join(f"{x} * {self.spell.number(c)}" for x, c in zip(p, costs, strict=True))
            for costs in zip(*self.data["costs"], strict=True)
        ]
        return [f"-({text})" for text in sums]

    def _first(self, p):
        """Position of the largest value, the first of ties."""
        p = [self.steps.add(f"a{c}", text) for c, text in enumerate(p)]
        most = self.steps.add("most", self.spell.greatest(p))
        return "CASE " + " ".join(f"WHEN {x} = {most} THEN {c}" for c, x in enumerate(p)) + " END"

    def _largest_share(self, shares):
        """Return the position of the largest share; a later class must be larger by 1e-6."""
        order = self.data["tree"]["declared"]
        close = self.spell.number(_CLOSE)
        best, chosen = self.spell.value(0.0), str(order[0])
        for k, c in enumerate(order):
            larger = f"{shares[c]} - {best} > {close}"
            chosen = self.steps.add(f"g{k}", f"CASE WHEN {larger} THEN {c} ELSE {chosen} END")
            best = self.steps.add(f"h{k}", f"CASE WHEN {larger} THEN {shares[c]} ELSE {best} END")
        return chosen

    def _average(self, tests, steep, values, name):
        """Average the values of the leaves by the share of a row: one expression per column."""
        root, width = len(tests["children"]) - 1, len(next(row for row in values if row))
        found = {}

        def text(node, j, depth):
            children = tests["children"][node]
            if not children:
                return self.spell.value(values[node][j])
            if depth == 0:
                if (node, j) not in found:
                    found[node, j] = self.steps.add(f"{name}n{node}_{j}", text(node, j, DEPTH))
                return found[node, j]
            if self._is_hard(tests, steep, node):
                first, second = (text(child, j, depth - 1) for child in children)
                return self._either(tests, node, first, second)
            shares = self._shares(tests, steep, node)
            parts = (text(child, j, depth - 1) for child in children)
            return (
                "("
                + " + ".join(f"{share} * {part}" for share, part in zip(shares, parts, strict=True))
                + ")"
            )

        return [self.steps.add(f"{name}v{j}", text(root, j, DEPTH)) for j in range(width)]

    def _is_hard(self, tests, steep, node):
        """Return whether a row has either the first or the second child of a numeric test."""
        if str(node) in tests["table"] or tests["missing"][node] not in (0, 1):
            return False
        threshold, slope = tests["threshold"][node], steep[node]
        return slope == 0 or (slope > 0 and threshold + _MOST / slope == threshold)

    def _either(self, tests, node, first, second):
        """Return the text of the child of a hard test; a missing value goes to the last branch."""
        x, threshold = self.inputs.known(tests["attribute"][node]), tests["threshold"][node]
        threshold = largest_at_most(threshold) if self.data["tree"]["float32"] else threshold
        exact = self.spell.exact(threshold)
        if tests["missing"][node]:
            return f"CASE WHEN {x} > {exact} THEN {second} ELSE {first} END"
        return f"CASE WHEN {x} <= {exact} THEN {first} ELSE {second} END"

    def _shares(self, tests, steep, node):
        """Shares that a test gives its children."""
        at, key = tests["attribute"][node], str(node)
        if key in tests["table"]:
            return self._nominal_shares(at, tests["table"][key])
        x, threshold = self.inputs.known(at), tests["threshold"][node]
        missing = self.spell.value(tests["missing"][node])
        slope, single = steep[node], self.data["tree"]["float32"]
        if slope < 0:
            return [missing, self.spell.value(1 - tests["missing"][node])]
        if slope == 0 or threshold + _MOST / slope == threshold:  # too steep to be soft
            one, zero = self.spell.value(1.0), self.spell.value(0.0)
            threshold = largest_at_most(threshold) if single else threshold
            inside = f"WHEN {x} <= {self.spell.exact(threshold)} THEN {one} ELSE {zero}"
        else:
            x = self.inputs.single(at) if single else x
            inside = f"ELSE {self._logistic(x, threshold, slope)}"
        text = f"CASE WHEN {x} IS NULL THEN {missing} {inside} END"
        first = self.steps.named("s", text)
        return [first, f"(1 - {first})"]

    def _nominal_shares(self, at, table):
        shares = []
        for branch in zip(*table, strict=True):
            *texts, missing = map(self.spell.value, branch)
            shares.append(self.steps.named("s", self.inputs.by_category(at, texts, missing)))
        return shares

    def _logistic(self, x, threshold, slope):
        """1 / (1 + exp((x - threshold) slope)), the exponent between -40 and 40."""
        low, high = sorted([threshold - _MOST / slope, threshold + _MOST / slope])
        inside = self.spell.clipped(x, low, high)
        number = self.spell.number(slope)
        return f"1 / (1 + EXP(({inside} - {self.spell.exact(threshold)}) * {number}))"

    def _sum(self, terms):
        """Write a sum in groups, so that no expression is nested deeply."""
        terms = list(terms)
        while len(terms) > _TERMS:
            terms = [f"({' + '.join(terms[k : k + _TERMS])})" for k in range(0, len(terms), _TERMS)]
        return " + ".join(terms)


def _shared_tests(tree):
    """Return the tests of the tree in the form of soft tests, and the node at each position.

    Where a missing value is shared, the children have their shares of it; else one has all of it.
    """
    place = _postorder(tree["children"])
    at = {node: k for k, node in enumerate(place)}
    tests = {"attribute": [], "threshold": [], "children": [], "missing": [], "table": {}}
    for k, node in enumerate(place):
        children = tree["children"][node]
        goes = tree["missing"][node]
        missing = [
            tree["share"][child] if goes in (SHARE, ERROR) else float(child == goes)
            for child in children
        ]
        tests["attribute"].append(tree["attribute"][node])
        tests["threshold"].append(tree["threshold"][node])
        tests["children"].append([at[child] for child in children])
        tests["missing"].append(missing[0] if children else 0.0)
        if str(node) in tree["table"]:
            rows = [
                [float(child == goes_to) for child in children]
                for goes_to in tree["table"][str(node)]
            ]
            tests["table"][str(k)] = [*rows, missing]
    return tests, place


def _postorder(children):
    """Nodes after their children, the root last."""
    order, open_nodes = [], [0]
    while open_nodes:
        node = open_nodes.pop()
        order.append(node)
        open_nodes += children[node]
    return order[::-1]
