"""How the leaves of a tree do on new cases."""

from dataclasses import dataclass

from scipy import stats

from keeptree.auditing.performance import optimism
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
        Whether the expected share changed by more than chance and by enough to matter. The test
        treats it as a share of counted outcomes, because estimates in small leaves are uncertain.
    outcomes : int
        Cases whose outcome is known.
    right : float or None
        Share of right decisions among them.
    commonest : str or None
        Display name of the commonest class among them.
    large : bool
        Whether the share of right decisions differs from that expected at fit by enough to matter.
    p_value : float
        p-value of the hypothesis that they are equal.
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
    large: bool
    p_value: float
    foreseen: bool
    changed: bool = False

    @property
    def improved(self):
        """Whether decisions are right at least as often as at fit, as the probabilities say."""
        return self.foreseen and self.right >= self.expected_before


def compare_leaves(count):
    """Return a :class:`LeafChange` per leaf, in the order of the tree."""
    tree, names = count.tree, class_names(count.model, count.tree.classes)
    nodes = [node for node in tree.preorder.tolist() if tree.kind[node] == LEAF]
    return [_compare(count, node, names) for node in nodes]


def _compare(count, node, names):
    tree, reference = count.tree, count.expectation
    # Right decisions and cases: expected at fit, expected now, predicted for the outcomes, known.
    at_fit = reference.right[node], int(reference.cases[node])
    now = count.leaf_expected[node], int(count.leaf_cases[node])
    hoped = count.leaf_hoped[node], int(count.leaf_outcomes[node])
    known = int(count.leaf_right[node]), int(count.leaf_outcomes[node])
    classes = count.leaf_classes[node]
    return LeafChange(
        node=node,
        rule=_rule(tree, node),
        decision=names[tree.label[node]],
        share=now[1] / count.rows,
        share_before=float(tree.weight[node] / tree.weight[0]),
        expected=_share(*now),
        expected_before=_share(*at_fit),
        moved=_is_large(at_fit, now, LEAST_LEAF) and compare_shares(*at_fit, *now) <= _level(tree),
        outcomes=known[1],
        right=_share(*known),
        commonest=names[classes.argmax()] if classes.any() else None,
        large=_is_large(at_fit, known, LEAST_LEAF + optimism(count)),
        p_value=compare_shares(*at_fit, *known) if at_fit[1] and known[1] else 1.0,
        foreseen=_agrees(known, hoped, _level(tree)),
    )


def _share(right, cases):
    """A share of right decisions; None without cases."""
    return float(right / cases) if cases else None


def _is_large(before, now, least):
    """Whether a share of right decisions changed by at least ``least``."""
    shares = _share(*before), _share(*now)
    return None not in shares and abs(shares[0] - shares[1]) >= least


def _agrees(known, hoped, level):
    """Whether the number of right decisions in a leaf agrees with the probabilities."""
    right, outcomes = known
    if not outcomes:
        return False
    expected = min(hoped[0] / outcomes, 1.0)
    return bool(stats.binomtest(right, outcomes, expected).pvalue > level)


def _level(tree):
    """Level of a test of one leaf among all."""
    return _BY_CHANCE / tree.n_leaves


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
