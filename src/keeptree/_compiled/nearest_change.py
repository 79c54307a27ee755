"""The cheapest change that brings a row into a leaf, coordinate by coordinate, under constraints.

A leaf is a box and every constraint concerns one attribute, so that the cheapest point of the leaf
has in each coordinate the cheapest value allowed there, and the squared costs add up.

``boxes``: coordinates ``start[r]`` to ``start[r + 1]`` of leaf r have a ``feature``, the least and
the largest value inside (``low``, ``high``, as the model compares) or, if nominal, the place
``table`` of its costs: ``price[table + code]`` to become ``becomes[table + code]`` (the code itself
where nothing has to change). ``rules`` has for each feature: cost per unit, least and largest value
allowed, whether it may rise, whether it may fall, the step (0: any number), its inverse if that
is a whole number (else 0), and the first and last place of its list of values in ``values``.
"""

from typing import NamedTuple

import numpy as np
from numpy import float64, int64

from keeptree._compiled.declare import In, Out, entry, inner

_COST, _LEAST, _MOST, _RISE, _FALL, _STEP, _INVERSE, _FIRST, _LAST = range(9)
_LARGEST = 1e150  # of a cost: squares, added over any number of columns, stay finite


class Boxes(NamedTuple):
    """Leaves as boxes; the module's docstring explains the fields."""

    start: In(int64, 1)
    feature: In(int64, 1)
    low: In(float64, 1)
    high: In(float64, 1)
    table: In(int64, 1)
    price: In(float64, 1)
    becomes: In(int64, 1)
    label: In(int64, 1)


class Rules(NamedTuple):
    """What each feature may become."""

    feature: In(float64, 2)
    values: In(float64, 1)


@inner
def multiple(k, rule):
    """The k-th multiple of a step; 0.3 rather than 3 * 0.1 if the step is 1/10."""
    return k / rule[_INVERSE] if rule[_INVERSE] > 0 else k * rule[_STEP]


@inner
def compared(value, single):
    """A value as the model compares it."""
    return float64(np.float32(value)) if single else value


@inner
def closest_value(value, low, high, rule, values, single):
    """Value nearest to ``value``, which lies outside, that is inside and allowed; NaN for none."""
    rising = compared(value, single) < low
    if rule[_RISE if rising else _FALL] == 0.0:
        return np.nan
    sign = 1.0 if rising else -1.0
    # The end to reach first. Rounded to float32 the limit itself may be inside, though the
    # least float32 inside is beyond it.
    edge = max(low, rule[_LEAST]) if rising else min(high, rule[_MOST])
    chosen = np.nan
    if rule[_STEP] > 0.0:
        k = np.floor(edge / rule[_STEP]) - 2.0 * sign
        for _ in range(6):
            at = multiple(k, rule)
            reached = compared(at, single) >= low if rising else compared(at, single) <= high
            if reached and rule[_LEAST] <= at <= rule[_MOST]:
                chosen = at
                break
            k += sign
    elif rule[_LAST] > rule[_FIRST]:
        for j in range(int(rule[_FIRST]), int(rule[_LAST])):
            at = values[j]
            allowed = low <= compared(at, single) <= high and rule[_LEAST] <= at <= rule[_MOST]
            if allowed and not abs(at - value) >= abs(chosen - value):
                chosen = at
    else:
        chosen = min(edge, rule[_MOST]) if rising else max(edge, rule[_LEAST])
        if not rule[_LEAST] <= chosen <= rule[_MOST]:
            return np.nan
    return chosen if low <= compared(chosen, single) <= high else np.nan


@inner
def price_leaf(row, r, boxes, rules, single, most_changes, limit):
    """(Squared cost, number of changes) of bringing a row into leaf r; infinite above ``limit``."""
    start, feature, low, high, table, price, becomes, _ = boxes
    total, n_changes = 0.0, 0
    for k in range(start[r], start[r + 1]):
        value, f = row[feature[k]], feature[k]
        if table[k] >= 0:
            at = table[k] + int64(value)
            if becomes[at] == int64(value):
                continue
            cost = price[at]
        else:
            if low[k] <= compared(value, single) <= high[k]:
                continue
            new = closest_value(value, low[k], high[k], rules[0][f], rules[1], single)
            if np.isnan(new):
                return np.inf, 0
            cost = abs(new - value) * rules[0][f, _COST]
        n_changes += 1
        if n_changes > most_changes or cost == np.inf:
            return np.inf, 0
        total += min(cost, _LARGEST) ** 2
        if total >= limit:
            return np.inf, 0
    return total, n_changes


@entry
def find_cheapest(
    X: In(float64, 2),
    boxes: Boxes,
    rules: Rules,
    own: In(int64, 1),
    wanted: In(int64, 1),
    single: bool,
    most_changes: int,
    leaf: Out(int64, 1),
    cost: Out(float64, 1),
    n_changes: Out(int64, 1),
):
    """Fill leaf (-1 for none), squared cost and number of changes of the cheapest allowed change.

    A leaf counts if it has the class ``wanted[i]``, or if that is negative another than ``own[i]``.
    Equal costs: fewer changes, then the first leaf.
    """
    label = boxes[7]
    for i in range(X.shape[0]):
        leaf[i], cost[i], n_changes[i] = -1, np.inf, 0
        for r in range(len(label)):
            if label[r] != wanted[i] if wanted[i] >= 0 else label[r] == own[i]:
                continue
            limit = np.nextafter(cost[i], np.inf)
            total, n = price_leaf(X[i], r, boxes, rules, single, most_changes, limit)
            if total < cost[i] or (total == cost[i] and total < np.inf and n < n_changes[i]):
                leaf[i], cost[i], n_changes[i] = r, total, n


@entry
def price_leaves(
    row: In(float64, 1),
    boxes: Boxes,
    rules: Rules,
    single: bool,
    most_changes: int,
    cost: Out(float64, 1),
    n_changes: Out(int64, 1),
):
    """Fill the squared cost of bringing one row into each leaf, and the number of changes."""
    for r in range(len(cost)):
        cost[r], n_changes[r] = price_leaf(row, r, boxes, rules, single, most_changes, np.inf)


@entry
def move_into_leaves(
    X: In(float64, 2),
    leaf: In(int64, 1),
    boxes: Boxes,
    rules: Rules,
    single: bool,
    point: Out(float64, 2),
):
    """Fill ``point`` with the rows moved into their leaves; NaN where the leaf is negative."""
    start, feature, low, high, table, _, becomes, _ = boxes
    for i in range(X.shape[0]):
        if leaf[i] < 0:
            point[i, :] = np.nan
            continue
        point[i, :] = X[i, :]
        for k in range(start[leaf[i]], start[leaf[i] + 1]):
            value, f = X[i, feature[k]], feature[k]
            if table[k] >= 0:
                point[i, f] = becomes[table[k] + int64(value)]
            elif not low[k] <= compared(value, single) <= high[k]:
                point[i, f] = closest_value(value, low[k], high[k], rules[0][f], rules[1], single)
