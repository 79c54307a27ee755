"""Convert the nodes of a PMML tree to tests of a Sketch.

PMML evaluates the predicates of the children in order and takes the first that is true. This module
finds the resulting child for every range of values of the tested fields, including missing values.
Ranges with the same result become one branch.
"""

from dataclasses import dataclass

import numpy as np

from keeptree.importers.pmml_fields import OTHER
from keeptree.importers.pmml_predicates import (
    MISSING,
    SurrogateError,
    UndecidedError,
    UnorderedError,
    cuts_of,
)
from keeptree.tree import ERROR, SHARE

_MOST_NODES = 200_000
# Results other than a child: the node itself, no answer, or several children at once.
OWN, NOTHING, SHARED = "own", "nothing", "shared"
_SURROGATES = (
    "The file decides rows with missing values by surrogate tests, which a Tree cannot represent; "
    "such rows are refused unless missing='majority' is chosen."
)


@dataclass(frozen=True)
class Split:
    """The result of a node for each range of a field.

    Attributes
    ----------
    field : Field
        Tested field.
    branches : tuple of (range, answer)
        Upper end of each range of numbers, or labels of categories.
    missing : object
        Result for a missing value.
    """

    field: object
    branches: tuple
    missing: object


class NodeWriter:
    """Writes the nodes of a tree into a Sketch, from the root down.

    Parameters
    ----------
    sketch : Sketch
        Sketch with the columns of ``fields``.
    labels : dict of str to tuple
        Labels of each nominal column.
    other : set of str
        Nominal columns that have a category for all other labels.
    strategy, no_true_child : str
        Rules for missing values and for nodes without a true child.
    """

    def __init__(self, sketch, labels, other, strategy, no_true_child):
        self.sketch, self.labels, self.other = sketch, labels, other
        self.strategy, self.no_true_child = strategy, no_true_child
        self.leaves, self.visits, self.needs_other = {}, {}, set()
        self._stack, self._lost = [], {}

    def write(self, root):
        """Fill the sketch; afterwards ``leaves`` holds the PMML node of each leaf."""
        self._stack.append((0, root, root, {}))
        while self._stack:
            place, node, last, reach = self._stack.pop()
            self.visits[id(node)] = self.visits.get(id(node), 0) + 1
            last = node if node.answers else last
            if not node.children:
                self.leaves[place] = node, False
                continue
            self._write(place, self._decide(node, {}, reach), node, last, reach)
        self.sketch.lost += self._lost

    def _write(self, place, answer, node, last, reach):
        """Write a result to a node of the sketch."""
        if len(self.sketch.kind) > _MOST_NODES:
            raise ValueError("The predicates of this file make a Tree that is too large.")
        if isinstance(answer, Split):
            write = self._nominal if answer.field.nominal else self._numeric
            for child, below, narrowed in write(place, answer, reach, node):
                self._write(child, below, node, last, narrowed)
        elif answer == OWN:
            self.leaves[place] = last, True
        elif answer in (NOTHING, SHARED):
            raise ValueError(
                f"The file gives no answer {node.told}, which a Tree cannot represent."
            )
        else:
            self._stack.append((place, node.children[answer], last, reach))

    def _decide(self, node, values, reach):
        """Return the result of a node, given the values of some fields."""
        try:
            return self._ask(node, values)
        except UndecidedError as undecided:
            field = undecided.field
        except SurrogateError:
            self._tell(_SURROGATES)
            return NOTHING
        except UnorderedError:
            return NOTHING
        present, can_miss = reach.get(field.name, (None, True))
        missing = self._when_missing(node, field, values, reach) if can_miss else None
        if _has_gap(missing):
            self._tell(
                f"The file answers only some of the rows without a value of {field.name!r:.80}; "
                "the Tree refuses all of them unless missing='majority' is chosen."
            )
            missing = NOTHING
        if present == ():
            return missing
        ranges = self._ranges(node, field, present)
        branches = [
            (limit, self._decide(node, {**values, field.name: value}, reach))
            for limit, value in ranges
        ]
        answer = _merged(field, branches, missing)
        if missing == NOTHING and not isinstance(answer, Split) and answer != NOTHING:
            self._tell(
                f"The file gives no answer for some rows without a value of {field.name!r:.80}, "
                "though no other value matters there; the Tree answers them."
            )
        return answer

    def _ask(self, node, values):
        """Return the first child whose predicate is true."""
        for number, child in enumerate(node.children):
            status = child.predicate.evaluate(values)
            if status is None and self.strategy != "none":
                return self._without(node)
            if status:
                return number
        return OWN if self.no_true_child == "returnLastPrediction" else NOTHING

    def _without(self, node):
        """Return the result of a node if a predicate is unknown because of a missing value."""
        if self.strategy == "lastPrediction":
            return OWN
        if self.strategy == "defaultChild" and node.default is not None:
            return node.default
        leaves = all(not child.children for child in node.children)
        if self.strategy == "weightedConfidence" or (self.strategy == "aggregateNodes" and leaves):
            return SHARED
        if self.strategy == "aggregateNodes":
            self._tell(
                "For rows with missing values, the file combines the cases of several leaves "
                "(aggregateNodes), which a Tree cannot represent; such rows are refused unless "
                "missing='share' or missing='majority' is chosen."
            )
        return NOTHING

    def _when_missing(self, node, field, values, reach):
        if field.refuses_missing:
            return NOTHING
        value = MISSING if field.replacement is None else field.replacement
        return self._decide(node, {**values, field.name: value}, reach)

    def _ranges(self, node, field, present):
        """Return (limit, value) of each numeric range, or (labels, label) of each category."""
        if not field.nominal:
            low, high = present or (-np.inf, np.inf)
            predicates = [child.predicate for child in node.children]
            cuts = [cut for cut in cuts_of(predicates, field.name) if low < cut < high]
            return [(cut, cut) for cut in cuts] + [
                (high, float(np.nextafter([low, *cuts][-1], np.inf)))
            ]
        labels = self.labels[field.name] if present is None else present
        found = [((label,), label) for label in labels if label != OTHER]
        if field.name in self.other and OTHER in labels:
            found.append(((OTHER,), OTHER))
        elif field.name not in self.other and field.name not in self.needs_other:
            self._try_other(node, field)
        return found

    def _try_other(self, node, field):
        """Return whether unlisted labels have a result."""
        if field.invalid == "asIs" or not field.values:
            answer = self._decide(node, {field.name: OTHER}, {})
            if answer != NOTHING:
                self.needs_other.add(field.name)

    def _numeric(self, place, split, reach, node):
        """Write ``x <= limit`` for each limit except the last; yield the children."""
        column = self.sketch.names.index(split.field.name)
        limits = [limit for limit, _ in split.branches]
        answers = [answer for _, answer in split.branches]
        start = (reach.get(split.field.name) or (None, True))[0] or (-np.inf, np.inf)
        # The test only asks whether the value is missing, so any threshold will do.
        if len(answers) == 1:
            middle = 0.0 if start[0] < 0.0 < start[1] else _inside(*start)
            limits, answers = [middle, *limits], answers * 2
        missing = split.missing
        if missing == SHARED and not self._is_partition(answers, node):
            missing = NOTHING
        apart = missing is not None and missing not in (NOTHING, SHARED, *answers)
        goes = answers.index(missing) if missing in answers else None
        low = start[0]
        for k, (limit, answer) in enumerate(zip(limits, answers, strict=True)):
            can_miss = missing == SHARED or goes == k
            here = {**reach, split.field.name: ((low, limit), can_miss)}
            if k == len(limits) - 1:
                yield place, answer, here
                return
            if apart and k == 0:
                # Repeat the test, which only a missing value fails here.
                first, rest = self.sketch.numeric(place, column, limit, 0)
                first, lone = self.sketch.numeric(first, column, limit, 1)
                yield lone, missing, {**reach, split.field.name: ((), True)}
            else:
                side = SHARE if missing == SHARED else ERROR
                side = side if goes is None or goes < k else int(goes > k)
                first, rest = self.sketch.numeric(place, column, limit, side)
            yield first, answer, here
            place, low = rest, limit

    def _nominal(self, place, split, reach, node):
        """Write a test with a branch for each result; yield the children."""
        name, column = split.field.name, self.sketch.names.index(split.field.name)
        found = [(labels, answer) for labels, answer in split.branches if answer != NOTHING]
        if not found:
            raise ValueError(
                f"The file gives no answer {node.told}, which a Tree cannot represent."
            )
        for labels, answer in split.branches:
            if answer == NOTHING:
                listed = ", ".join(repr(label) for label in labels[:3])
                self._tell(
                    f"The file gives no answer for {name!r:.80} = {listed:.200} below some test; "
                    "the Tree sends such rows to the last branch."
                )
                found[-1] = (found[-1][0] + labels, found[-1][1])
        missing = split.missing
        if missing == SHARED and not self._is_partition([answer for _, answer in found], node):
            missing = NOTHING
        rule, goes = ERROR, None
        if missing == SHARED:
            rule = SHARE
        elif missing not in (None, NOTHING):
            answers = [answer for _, answer in found]
            if missing not in answers:
                found.append(((), missing))
            rule = goes = [answer for _, answer in found].index(missing)
        branch = {label: k for k, (labels, _) in enumerate(found) for label in labels}
        labels = self.sketch.categories[column]
        branch_of = [branch.get(label, 0) for label in labels]
        children = self.sketch.nominal(place, column, branch_of, rule, width=len(found))
        for k, (child, (taken, answer)) in enumerate(zip(children, found, strict=True)):
            yield child, answer, {**reach, name: (taken, missing == SHARED or goes == k)}

    def _is_partition(self, answers, node):
        """Return whether each child has its own branch, so that missing values can be shared."""
        if sorted(map(str, answers)) == sorted(map(str, range(len(node.children)))):
            return True
        self._tell(
            f"The file shares missing values among children ({self.strategy}) where the Tree "
            "has more branches than children; such rows are refused unless missing='share' is "
            "chosen."
        )
        return False

    def _tell(self, sentence):
        self._lost[sentence] = None


def _merged(field, branches, missing):
    """Return branches with equal neighbours merged, or the only result itself."""
    merged = []
    for limit, answer in branches:
        same = [k for k, (_, other) in enumerate(merged) if other == answer]
        if field.nominal and same:
            merged[same[0]] = merged[same[0]][0] + limit, answer
        elif not field.nominal and same and same[-1] == len(merged) - 1:
            merged[-1] = limit, answer
        else:
            merged.append((limit, answer))
    if len(merged) == 1 and missing in (None, NOTHING, merged[0][1]):
        return merged[0][1]
    return Split(field, tuple(merged), missing)


def _has_gap(answer):
    """Return whether some branch of a Split has no result."""
    return isinstance(answer, Split) and any(
        below == NOTHING or _has_gap(below) for _, below in answer.branches
    )


def _inside(low, high):
    """Return a number that divides an interval (low, high]."""
    if np.isfinite(high):
        return float(np.nextafter(high, -np.inf))
    return float(np.nextafter(low, np.inf))
