"""Curves of the distance kernel: the share of a class against the distance to its boundary."""

from dataclasses import dataclass

import numpy as np

from keeptree.probability.density_gaussian import KernelTables
from keeptree.probability.density_window import WindowTables
from keeptree.savable import expect, expect_codes, expect_probabilities, saved_part

_ALL = np.zeros(1, dtype=np.int64)  # number of the curve of all training cases


@saved_part
@dataclass(frozen=True, eq=False)
class DistanceCurves:
    """One curve per estimated class for all training cases, and one for each group of them.

    Parameters
    ----------
    tables : KernelTables or WindowTables
        Curves, ordered by estimated class.
    estimated : int64 ndarray
        Classes with curves; with two classes only the first, whose curve serves both.
    curve : int64 ndarray of shape (n_nodes + 1,)
        Curve of the group of cases that a node defines; 0, the curve of all cases, if there is
        none.
    prior : ndarray of shape (n_classes,)
        Class shares of the training sample.
    """

    tables: KernelTables | WindowTables
    estimated: np.ndarray
    curve: np.ndarray
    prior: np.ndarray

    def check(self, tree):
        """Raise a ValueError if the content of a file does not fit the tree."""
        n_classes = len(tree.classes)
        expect_probabilities(np.atleast_2d(self.prior), "prior", (1, n_classes))
        expect_codes(self.estimated, "estimated", (None,), n_classes)
        expect(isinstance(self.tables, KernelTables | WindowTables), "it has no curves")
        expect(len(np.unique(self.estimated)) == len(self.estimated) > 0, "classes repeat")
        expect(n_classes != 2 or self.estimated.tolist() == [0], "two classes share one curve")
        n_curves, rest = divmod(self.tables.n_curves, len(self.estimated))
        expect(rest == 0 and n_curves > 0, "every class must have equally many curves")
        expect_codes(self.curve, "curve", (tree.n_nodes + 1,), n_curves)

    def share(self, distance, c):
        """Return the share of class c among all training cases at each distance."""
        # The second class has one minus the share of the first.
        second = len(self.prior) == 2 and c == 1
        at = 0 if second else self.estimated.tolist().index(c)
        at *= self.tables.n_curves // len(self.estimated)
        share = self.tables.lookup(np.full(len(distance), at), -distance if second else distance)
        return 1 - share if second else share

    def classify(self, h, node, out):
        """Fill in class probabilities, given distances and group nodes (None for all cases)."""
        curve = _ALL if node is None else self.curve[node]
        self.tables.classify(curve, h, self.estimated, self.prior, out)
