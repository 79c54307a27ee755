"""Build the tree over raw columns from the outcomes of its tests."""

from dataclasses import dataclass, field

import numpy as np

from keeptree.importers.folding.floats import LARGEST
from keeptree.importers.folding.outcomes import Runs
from keeptree.importers.folding.transformers import CannotFoldError
from keeptree.tree import ERROR, LEAF, NOMINAL, NUMERIC, SHARE


@dataclass
class Nodes:
    """The nodes of the new tree, parents before their children.

    ``origin`` is the corresponding node of the old tree; ``vacant`` marks nodes that training data
    hardly ever reach.
    """

    kind: list = field(default_factory=list)
    raw: list = field(default_factory=list)
    threshold: list = field(default_factory=list)
    children: list = field(default_factory=list)
    codes: list = field(default_factory=list)  # child of each category, as an index into children
    missing: list = field(default_factory=list)  # index into children, SHARE or ERROR
    origin: list = field(default_factory=list)
    vacant: list = field(default_factory=list)

    def add(self, origin, vacant, test=None):
        """Append a node without children; return its index."""
        test = test or Test()
        self.kind.append(test.kind)
        self.raw.append(test.raw)
        self.threshold.append(test.threshold)
        self.codes.append(test.codes)
        self.missing.append(test.missing)
        self.children.append([None] * len(test.branches))
        self.origin.append(origin)
        self.vacant.append(vacant)
        return len(self.kind) - 1


@dataclass(frozen=True)
class Test:
    """A test of the new tree; each branch leads to (node, possible values, vacant).

    The node is a node of the old tree, or a ``Divided`` if its numbers must still be divided.
    """

    kind: int = LEAF
    raw: int = -1
    threshold: float = np.nan
    branches: tuple = ()
    codes: tuple = ()
    missing: int = ERROR


@dataclass(frozen=True)
class Numbers:
    """Numbers possible on a path, an interval (low, high], and whether they may be missing."""

    low: float = -np.inf
    high: float = LARGEST
    missing: bool = True


@dataclass(frozen=True)
class Categories:
    """Codes of a nominal column possible on a path, and whether they may be missing."""

    codes: frozenset
    missing: bool = True


@dataclass(frozen=True)
class Divided:
    """Three or more runs of numbers that a path still has to separate."""

    origin: int
    raw: int
    runs: tuple
    missing: int  # run that missing values follow, SHARE or ERROR


def rebuild(raw_of, outcomes, n_codes):
    """Return the Nodes of the tree over raw columns.

    Parameters
    ----------
    raw_of : dict of int to int
        Raw column of each test of the old tree.
    outcomes : dict of int to Runs or Table
        Outcome of each test; a nominal test may have one additional code for unknown labels.
    n_codes : dict of int to int
        Number of codes of each nominal raw column.
    """
    nodes, stack = Nodes(), [(0, {}, False, None)]
    while stack:
        node, possible, vacant, place = stack.pop()
        node, possible, test = _resolve(node, possible, raw_of, outcomes, n_codes)
        number = nodes.add(node.origin if isinstance(node, Divided) else node, vacant, test)
        if place is not None:
            nodes.children[place[0]][place[1]] = number
        for k, (target, allowed, empty) in reversed(list(enumerate(test.branches if test else ()))):
            narrowed = {**possible, test.raw: allowed}
            stack.append((target, narrowed, vacant or empty, (number, k)))
    return nodes


def _resolve(node, possible, raw_of, outcomes, n_codes):
    """Skip tests that the path has already decided; return (node, possible values, test)."""
    while True:
        if isinstance(node, Divided):
            return node, possible, _halve(node, possible[node.raw])
        if node not in raw_of:
            return node, possible, None
        raw = raw_of[node]
        if isinstance(outcomes[node], Runs):
            allowed = possible.get(raw, Numbers())
            found = _test_numbers(node, raw, allowed, raw_of, outcomes)
        else:
            allowed = possible.get(raw) or Categories(frozenset(range(n_codes[raw])))
            found = _test_categories(node, raw, allowed, raw_of, outcomes)
        if isinstance(found, Test):
            return node, possible, found
        node, missing = found  # all possible values go to the same node
        if not missing:
            possible = {**possible, raw: _without_missing(allowed)}


def _without_missing(allowed):
    if isinstance(allowed, Numbers):
        return Numbers(allowed.low, allowed.high, False)
    return Categories(allowed.codes, False)


def _test_numbers(node, raw, allowed, raw_of, outcomes):
    """Return the Test of a numeric node, or (node, missing allowed) if all values go one way.

    More than two runs need several thresholds; later tests on the same column are merged.
    """
    runs = outcomes[node]
    missing = runs.missing if allowed.missing else ERROR
    if allowed.low >= allowed.high:  # only missing values reach this node
        _check_not_shared(missing)
        return (runs.target[0], False) if missing == ERROR else (missing, True)
    parts = _joined(runs.within(allowed.low, allowed.high))
    if len(parts) > 2:
        _check_not_shared(missing)
        parts = _taken_in(parts, raw, allowed.low, raw_of, outcomes)
        while raw_of.get(missing) == raw:
            missing = outcomes[missing].missing
    targets = [target for _, target, _ in parts]
    if len(parts) == 1:
        if missing in (ERROR, targets[0]):
            return targets[0], missing != ERROR
        return _known_or_not(raw, targets[0], missing, allowed)
    if missing not in (ERROR, SHARE, *targets):
        return _known_or_not(raw, Divided(node, raw, tuple(parts), ERROR), missing, allowed)
    place = targets.index(missing) if missing >= 0 else missing
    return _halve(Divided(node, raw, tuple(parts), place), allowed)


def _check_not_shared(missing):
    if missing == SHARE:
        raise CannotFoldError(
            "Cannot fold a tree that divides missing values among its branches unless each test "
            "becomes exactly one threshold on its raw column; keep(pipeline, fold=False) "
            "gives the tree of the transformed columns."
        )


def _joined(parts):
    """Return runs with equal neighbours merged."""
    joined = []
    for last, target, vacant in parts:
        if joined and joined[-1][1] == target:
            vacant = joined.pop()[2] and vacant
        joined.append((float(last), int(target), bool(vacant)))
    return joined


def _taken_in(parts, raw, low, raw_of, outcomes):
    """Return the runs of consecutive tests on one column, merged."""
    while any(raw_of.get(target) == raw for _, target, _ in parts):
        finer, above = [], low
        for last, target, vacant in parts:
            if raw_of.get(target) == raw:
                inner = outcomes[target].within(above, last)
                finer += [(end, goes, vacant or empty) for end, goes, empty in inner]
            else:
                finer.append((last, target, vacant))
            above = last
        parts = _joined(finer)
    return parts


def _known_or_not(raw, known, missing, allowed):
    """Return a Test for missing values, whose threshold is the largest number."""
    _check_not_shared(missing)
    numbers = Numbers(allowed.low, allowed.high, missing=False)
    nothing = Numbers(LARGEST, LARGEST, missing=True)
    branches = ((known, numbers, False), (missing, nothing, False))
    return Test(NUMERIC, raw, LARGEST, branches, (), 1)


def _halve(divided, allowed):
    """Return a Test with a threshold between runs; three runs are divided from the lowest up."""
    parts, missing = divided.runs, divided.missing
    middle = 1 if len(parts) == 3 else len(parts) // 2
    side = missing if missing < 0 else int(missing >= middle)
    threshold = parts[middle - 1][0]
    branches = []
    for k, part in enumerate((parts[:middle], parts[middle:])):
        inside = Numbers(
            low=threshold if k else allowed.low,
            high=allowed.high if k else threshold,
            missing=allowed.missing and (missing == SHARE or side == k),
        )
        if len(part) == 1:
            branches.append((part[0][1], inside, part[0][2]))
        else:
            place = missing - k * middle if side == k else ERROR
            branches.append((Divided(divided.origin, divided.raw, part, place), inside, False))
    return Test(NUMERIC, divided.raw, threshold, tuple(branches), (), side)


def _test_categories(node, raw, allowed, raw_of, outcomes):
    """Return the Test of a nominal node, merged with following tests; see _test_numbers."""
    table = outcomes[node]
    missing = table.missing if allowed.missing else ERROR
    targets = table.target.tolist()
    if missing != SHARE:
        follow = _follower(raw, raw_of, outcomes, allowed)
        targets = [follow(target, code) for code, target in enumerate(targets)]
        missing = missing if missing == ERROR else follow(missing, None)
    reached = [targets[code] for code in sorted(allowed.codes)]
    if missing == SHARE:
        reached += table.target.tolist()
    elif missing != ERROR:
        reached.append(missing)
    children = list(dict.fromkeys(reached or targets))
    if len(children) == 1 or not reached:
        return children[0], missing != ERROR
    # Categories that cannot occur keep their branch if it still exists.
    codes = [children.index(target) if target in children else 0 for target in targets]
    place = missing if missing < 0 else children.index(missing)
    branches = tuple(
        (
            child,
            Categories(
                frozenset(code for code in allowed.codes if targets[code] == child),
                allowed.missing and (missing == SHARE or place == k),
            ),
            False,
        )
        for k, child in enumerate(children)
    )
    return Test(NOMINAL, raw, np.nan, branches, tuple(codes), place)


def _follower(raw, raw_of, outcomes, allowed):
    """Return a function that follows a category (None if missing) through tests on one column."""

    def follow(node, code):
        while raw_of.get(node) == raw:
            table = outcomes[node]
            if allowed.missing and table.missing == SHARE:
                break
            node = table.missing if code is None else int(table.target[code])
        return node

    return follow
