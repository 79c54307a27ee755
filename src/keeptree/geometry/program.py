"""Turn the regions of a tree into the list of steps that ``keeptree._compiled.boundary`` runs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keeptree._compiled.boxes import PricedBoxes
from keeptree._compiled.program import (
    BOUNDED,
    LEFT_REGION,
    NOMINAL,
    RIGHT_REGION,
    DoubleProgram,
    SingleProgram,
)
from keeptree.geometry.boxes import Boxes, category_prices
from keeptree.geometry.off_grid import OffGrid
from keeptree.geometry.polytopes import compile_polytopes
from keeptree.geometry.regions import find_regions
from keeptree.tree import NUMERIC

# Limits of scaled coordinates, so that the sum of their squares stays finite.
_LIMIT = {np.float32: 1e16, np.float64: 1e150}
_LARGEST = 1e38  # limit of centre and factor in float32
# Number of steps above which it is faster to search a program row by row than to run all of it, as
# measured. The first number is for the distances to many classes, the second for the nearest region
# of any other class or for two classes; True is single precision.
_MANY = {True: (50_000, 4_000), False: (10_000, 1_800)}
_ID_BITS = 16  # low bits of a squared distance, which hold the number of a region; more if needed


@dataclass(frozen=True)
class Program:
    """The program of a tree in both precisions, and the boxes of its regions.

    On a grid, the program handles rows whose numbers are multiples of the steps, and ``off_grid``
    handles all other rows. Multiples are compared without rounding. If the model compares in
    float32, the columns listed in ``rounded``, those without a step, must therefore be rounded
    first.
    """

    single: SingleProgram
    double: DoubleProgram
    boxes: Boxes
    priced: PricedBoxes
    off_grid: OffGrid | None
    rounded: np.ndarray

    @property
    def classes(self):
        """Classes that have at least one region."""
        return self.double.classes

    @cached_property
    def region_bits(self):
        """Number of low bits of a squared distance that hold a region; ties ignore them."""
        return max(_ID_BITS, (len(self.boxes.node) + 1).bit_length())

    @cached_property
    def compared(self):
        """The boxes with costs; they compare numbers in the same precision as the program."""
        return self.priced._replace(single=self.double.compare_single)

    def steps(self, single, one_class):
        """Return the program in one precision, with links only if it is searched row by row.

        ``one_class`` tells whether only the regions of one class are needed.
        """
        return self._steps[single, one_class or self.double.n_classes == 2]

    @cached_property
    def _steps(self):
        steps = {}
        for single, limits in _MANY.items():
            whole = self.single if single else self.double
            for one_class, many in zip((False, True), limits, strict=True):
                few = len(whole.steps) <= many
                steps[single, one_class] = whole._replace(links=whole.links[:0]) if few else whole
        return steps


def compile_program(tree, metric, step=None):
    """Return the program of a classification tree under a fitted metric.

    The program of a tree with oblique tests consists of polytopes. With ``step``, the step of each
    column (0 for any number), distances are measured to the multiples of the steps.
    """
    if tree.has_oblique:
        return compile_polytopes(tree, metric)
    numeric = np.unique(tree.feature[tree.kind == NUMERIC])
    step = None if step is None or not step[numeric].any() else step
    regions = find_regions(tree, step)
    order = _Order(regions, len(tree.classes), metric.category_costs_)
    boxes, rounds = regions.boxes, tree.compare_dtype == "float32"
    written = (tree, metric, order, boxes, rounds and step is None)
    return Program(
        single=_write(SingleProgram, np.float32, *written),
        double=_write(DoubleProgram, np.float64, *written),
        boxes=boxes,
        priced=boxes.price(tree, metric.factor_, metric.category_costs_.__getitem__),
        off_grid=None if step is None else OffGrid(tree, metric, step),
        rounded=numeric[step[numeric] == 0] if rounds and step is not None else numeric[:0],
    )


def _write(kind, dtype, tree, metric, order, boxes, rounds):
    """Return the program in one precision; ``rounds``: whether values are rounded to float32."""
    columns = np.array([(f, len(tree.categories[f] or ())) for f in order.used], dtype=np.int64)
    raw, f, limit = np.array(order.bounds), columns[:, 0], _LIMIT[dtype]
    factor = np.where(columns[:, 1] > 0, 1.0, metric.factor_[f])
    center = np.where(columns[:, 1] > 0, 0.0, metric.center_[f])
    scale = np.ones(len(f))
    if dtype is np.float32:
        center = np.clip(center, -_LARGEST, _LARGEST).astype(dtype)
        factor = np.clip(factor, 1 / _LARGEST, _LARGEST).astype(dtype)
        frame = np.column_stack([center, factor, np.full(len(f), limit)]).astype(float)
    else:
        reach = np.minimum(limit / np.maximum(factor, limit / 1e308), 1e308)
        frame = np.column_stack([np.zeros(len(f)), scale, reach])
        scale = factor
    at = np.array([step[1] for step in order.steps])
    with np.errstate(over="ignore", invalid="ignore"):
        placed = (raw - frame[at, 0, None]).astype(dtype) * frame[at, 1, None].astype(dtype)
        placed = np.clip(placed, -frame[at, 2, None], frame[at, 2, None]).astype(dtype)
        width = (placed[:, 1:] - placed[:, :1]) * scale[at, None]
    # Infinite where there is no previous bound.
    width = np.where(np.isfinite(raw[:, 1:]), width, raw[:, 1:])
    return kind(
        columns=columns,
        rest=np.setdiff1d(np.arange(tree.n_features), f),
        compare_single=rounds,
        frame=np.ascontiguousarray(frame),
        limit=float(frame[:, 2].min()),
        steps=np.array(order.steps, dtype=np.int64),
        bounds=np.ascontiguousarray(np.column_stack([placed[:, 0], width, scale[at]]), dtype=dtype),
        growth=np.minimum(np.concatenate(order.growth), limit**2).astype(dtype),
        links=np.array(order.links, dtype=np.int64),
        classes=np.unique(boxes.label),
        n_slots=order.n_slots,
        n_classes=len(tree.classes),
    )


class _Order:
    """Lists the steps of a program in an order that frees every slot as early as possible.

    A slot holds the squared distance to the box of one node. A step reads the slot of a node,
    writes those of its children and frees its own; a nominal test frees it only after its last
    child. The child that needs fewer slots comes first. A chain of tests then needs three slots,
    and the number for any tree grows with the logarithm of its size.
    """

    def __init__(self, regions, n_classes, category_costs):
        self.n_classes, self.category_costs = n_classes, category_costs
        self.label = regions.boxes.label.tolist()
        self.number = {node: r for r, node in enumerate(regions.boxes.node.tolist())}
        self.growth, self.growth_end = [np.empty(0)], 0
        self.steps, self.bounds, self.links, self.free, self.n_slots = [], [], [], [], 1
        root = _first(0, regions)
        if root in self.number:  # a single region contains all rows
            self.used = [0]
            inside = (self.label[0], n_classes, 1, 0)
            self.steps.append((LEFT_REGION | RIGHT_REGION, 0, 0, *inside, 0))
            self.bounds.append((np.inf, np.inf, -np.inf))
            self.links.append([-1, -1])
            return
        self.children = _branching(root, regions)
        self.need = self._needs()
        self.used = sorted({edge.feature for below in self.children.values() for _, edge in below})
        self.column = {f: k for k, f in enumerate(self.used)}
        self._emit(root)

    def _emit(self, root):
        # A task is (node, slot, link that leads to it, None, False), or (child, parent's slot,
        # chain of steps, edge, whether it is the last) for a nominal edge still to be followed.
        tasks = [(root, 0, None, None, False)]
        while tasks:
            node, slot, link, edge, last = tasks.pop()
            if edge is not None:
                parent, slot = slot, self._take()
                link = self._nominal(edge, parent, slot, -1, link)
                if last:
                    self.free.append(parent)
            below = self.children[node]
            inner = self._by_need(below)
            if not below[0][1].after.nominal:
                places = self._numeric(below, slot, link)
                tasks.extend((child, *places[child], None, False) for child, _ in inner)
                continue
            chain = [link]
            for child, edge in below:
                if child in self.number:
                    r = self.number[child]
                    self._nominal(edge, slot, self.label[r], r, chain)
            tasks.extend(
                (child, slot, chain, edge, k == 0) for k, (child, edge) in enumerate(inner)
            )
            if not inner:
                self.free.append(slot)

    def _follow(self, link):
        """Make ``link``, a (step, side) pair, lead to the last step; return that step's number."""
        step = len(self.steps) - 1
        self.links.append([-1, -1])
        if link is not None:
            self.links[link[0]][link[1]] = step
        return step

    def _by_need(self, below):
        """Return the children with further tests, the one that needs the fewest slots last."""
        inner = [(child, edge) for child, edge in below if child not in self.number]
        return sorted(inner, key=lambda item: -self.need[item[0]])

    def _take(self):
        slot = self.free.pop() if self.free else self.n_slots
        self.n_slots = max(self.n_slots, slot + 1)
        return slot

    def _nominal(self, edge, source, target, region, chain):
        """Emit the step to one child of a nominal test; return the link to the child's own step.

        On entry ``chain`` holds the link that leads to this step, on return the link to the next
        step of the same test.
        """
        code = NOMINAL | LEFT_REGION * (region >= 0)
        column = self.column[edge.feature]
        self.steps.append((code, column, source, target, 0, region + 1, 0, self.growth_end))
        self.growth.append(self._grow(edge))
        self.growth_end += len(self.growth[-1])
        self.bounds.append((np.nan, np.nan, np.nan))
        step = self._follow(chain[0])
        chain[0] = (step, 1)
        return step, 0

    def _grow(self, edge):
        """Return by how much the squared cost of each category grows from the previous side."""
        costs = self.category_costs[edge.feature]
        new = category_prices(costs, edge.after.allowed)[0] ** 2
        if not edge.before.nominal:
            return new
        return new - category_prices(costs, edge.before.allowed)[0] ** 2

    def _numeric(self, below, source, link):
        """Emit the steps to both children; return slot and link of each child with further tests.

        A single step suffices if the children share a bound, the threshold. On a grid they do not:
        one step then leads to the left child and back to the same box, and another to the right
        child.
        """
        if len({edge.bounds[0] for _, edge in below}) == 1:
            return self._split(below, source, link)
        left, right = sorted(below, key=lambda item: item[1].lower)
        places = self._split([left], source, link, again=True)
        return places | self._split([right], *places.pop(None))

    def _split(self, below, source, link, again=False):
        """Emit one step; with ``again``, its right side is the box of the parent.

        A side that no value can reach gets the class ``n_classes``, which does not exist.
        """
        code, places, olds = LEFT_REGION | RIGHT_REGION, {}, [np.inf, -np.inf]
        target, region = [self.n_classes] * 2, [0, 0]
        step = len(self.steps)
        for child, edge in below:
            side = int(edge.lower)
            bound, olds[side] = edge.bounds
            if child in self.number:
                region[side] = self.number[child] + 1
                target[side] = self.label[self.number[child]]
            else:
                code ^= RIGHT_REGION if side else LEFT_REGION
                target[side] = slot = self._take()
                places[child] = slot, (step, side)
        if again:
            code, target[1] = code ^ RIGHT_REGION, self._take()
            places[None] = target[1], (step, 1)
            olds[1] = bound  # the same bound adds no distance
        self.free.append(source)
        code |= BOUNDED * bool(np.isfinite(olds).any())
        column = self.column[below[0][1].feature]
        self.steps.append((code, column, source, *target, *region, 0))
        self.bounds.append((bound, *olds))
        self._follow(link)
        return places

    def _needs(self):
        """Return, for each inner node, the number of slots that its subtree needs."""
        need = {}
        for node in reversed(self.children):
            below = self.children[node]
            inner = sorted(need[child] for child, _ in below if child not in self.number)
            held = [n + 1 for n in inner[:-1]] + inner[-1:]
            at_once = 2 if below[0][1].after.nominal else 1 + len(inner)
            need[node] = max([1, *held, *([at_once] if inner else [])])
        return need


def _first(node, regions):
    """Follow only children whose box is the same; return the first node below with a real test."""
    while node in regions.children and regions.edge[regions.children[node][0]] is None:
        node = regions.children[node][0]
    return node


def _branching(root, regions):
    """Return the children and edges of each node that the program visits, parents first."""
    children, todo = {}, [root]
    while todo:
        node = todo.pop()
        children[node] = [
            (_first(child, regions), regions.edge[child]) for child in regions.children[node]
        ]
        todo.extend(child for child, _ in children[node] if child in regions.children)
    return children
