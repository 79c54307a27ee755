"""Every row is in exactly one cell of a tree."""

import numpy as np
from hypothesis import given, settings

from keeptree.geometry.cells import find_cells
from tests.explanation.test_nearest_change import problems
from tests.reference import nearest_change as reference
from tests.strategies import random_rows


@settings(max_examples=30, deadline=None)
@given(problems(missing=0.3))
def test_every_row_is_in_exactly_one_cell_which_has_its_class(problem):
    tree, _, row, _ = problem
    rows = np.vstack([row[None], random_rows(tree, 3, n=30)])
    rows[1:, np.isnan(row)] = np.nan
    boxes = find_cells(tree, tuple(np.flatnonzero(np.isnan(row)).tolist()))
    for one in rows:
        inside = [r for r in range(len(boxes.label)) if contains(tree, boxes, r, one)]
        if not reference.routes(tree, one):
            assert inside == []
            continue
        assert len(inside) == 1
        assert boxes.label[inside[0]] == tree.decide(one[None])[0]


def contains(tree, boxes, r, row):
    for k in range(boxes.start[r], boxes.start[r + 1]):
        value = row[boxes.feature[k]]
        if boxes.table[k] >= 0:
            if not boxes.allowed[boxes.table[k] + int(value)]:
                return False
            continue
        value = float(np.float32(value)) if tree.compare_dtype == "float32" else value
        if not boxes.low[k] <= value <= boxes.high[k]:
            return False
    return True
