"""How the leaves of a tree do on new cases."""

from dataclasses import dataclass

from scipy import stats

from keeptree.auditing.significance import compare_shares
from keeptree.data.labels import class_names
from keeptree.explanation.wording import tell_branch, tell_number
from keeptree.tree import LEAF

LEAST_LEAF = 0.05  # smallest difference of a leaf's share that matters
_BY_CHANCE = 0.05  # family-wise level, over all leaves


@dataclass(frozen=True)
class LeafChange:
    """One leaf of the tree on the new cases.

    Parameters
    ----------
    node : int
        The leaf.
    rule : str
        Path to the leaf.
    decision : str
        Display name of its class.
    share, share_before : float
        Share of the cases that end in it, now and in the training sample.
    expected, expected_before : float or None
        Expected share of right decisions in it.
    moved : bool
        Whether the expected share changed by more than chance and by enough to matter.
    outcomes : int
        Cases whose outcome is known.
    right : float or None
        Share of right decisions among them.
    commonest : str or None
        Display name of the commonest class among them.
    p_value : float
        p-value of the hypothesis that this share is what was expected at fit.
    foreseen : bool
        Whether the share agrees with the probabilities of these cases.
    changed : bool
        Whether the share differs significantly and by enough to matter.
    """

    node: int
    rule: str
    decision: str
    share: float
    share_before: float
    expected: float | None
    expected_before: float | None
    moved: bool
    outcomes: int
    right: float | None
    commonest: str | None
    p_value: float
    foreseen: bool
    changed: bool = False

    @property
    def large(self):
        """Whether the share of right decisions changed by enough to matter."""
        if self.right is None or self.expected_before is None:
            return False
        return abs(self.right - self.expected_before) >= LEAST_LEAF

    @property
    def improved(self):
        """Whether decisions are right at least as often as at fit, as the probabilities say."""
        return self.foreseen and self.right >= self.expected_before


def compare_leaves(count):
    """Return a :class:`LeafChange` per leaf, in the order of the tree."""
    tree, reference = count.tree, getattr(count.model, "expected_", None)
    names, found = class_names(count.model, tree.classes), []
    for node in tree.preorder.tolist():
        if tree.kind[node] != LEAF:
            continue
        cases, outcomes = int(count.leaf_cases[node]), int(count.leaf_outcomes[node])
        before = int(reference.cases[node]) if reference is not None else 0
        expected_before = reference.right[node] / before if before else None
        scored = (reference.right[node] if before else 0.0, before)
        right, commonest, p_value = None, None, 1.0
        if outcomes:
            right = count.leaf_right[node] / outcomes
            known = count.leaf_classes[node]
            commonest = names[known.argmax()] if known.any() else None
            if before:
                p_value = compare_shares(*scored, count.leaf_right[node], outcomes)
        expected = count.leaf_expected[node] / cases if cases and count.estimates else None
        total = tree.weight[0] or 1.0
        found.append(
            LeafChange(
                node=node,
                rule=_rule(tree, node),
                decision=names[tree.label[node]],
                share=cases / count.rows,
                share_before=float(tree.weight[node] / total),
                expected=expected,
                expected_before=None if expected_before is None else float(expected_before),
                moved=_has_moved(count, (count.leaf_expected[node], cases), scored),
                outcomes=outcomes,
                right=None if right is None else float(right),
                commonest=commonest,
                p_value=p_value,
                foreseen=_is_foreseen(count, node),
            )
        )
    return found


def _has_moved(count, expected, before):
    """Whether the expected accuracy of a leaf changed by more than chance and by enough to matter.

    ``expected`` and ``before`` are its expected right decisions and its cases, now and at fit. The
    test treats them as counted outcomes, because estimates in small leaves are uncertain too.
    """
    if not (expected[1] and before[1] and count.estimates):
        return False
    large = abs(expected[0] / expected[1] - before[0] / before[1]) >= LEAST_LEAF
    return large and compare_shares(*before, *expected) <= _BY_CHANCE / count.tree.n_leaves


def _is_foreseen(count, node):
    """Whether the number of right decisions in a leaf agrees with the probabilities."""
    outcomes = int(count.leaf_outcomes[node])
    if not (count.estimates and outcomes):
        return False
    expected = min(count.leaf_hoped[node] / outcomes, 1.0)
    p_value = stats.binomtest(int(count.leaf_right[node]), outcomes, expected).pvalue
    return bool(p_value > _BY_CHANCE / count.tree.n_leaves)


def _rule(tree, node):
    """The conditions on the path to a node, one per column: ``3 < age ≤ 40 and job is none``."""
    path = []
    while node != 0:
        path.append(tree.branch(node))
        node = int(tree.parent[node])
    bounds = {}
    for branch in reversed(path):  # a later bound on the same side is tighter
        bounds.setdefault(branch.name, {})[branch.is_numeric and branch.sign] = branch
    return " and ".join(_tell_bounds(found) for found in bounds.values()) or "every case"


def _tell_bounds(found):
    if len(found) < 2:
        return tell_branch(*found.values())
    low = tell_number(found[">"].threshold)
    return f"{low} < {tell_branch(found['<='])}"
