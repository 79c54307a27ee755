"""Compile the regions of a tree into the list of edges that the boundary kernels run."""

from dataclasses import dataclass

import numpy as np

from keeptree.geometry.regions import find_regions

# Of scaled coordinates: their squares, added over any number of columns, stay finite.
_LIMIT = {np.float32: 1e16, np.float64: 1e150}

_LOWER, _BOUNDED, _REGION, _NOMINAL = 1, 2, 4, 8  # as in keeptree._kernels.boundary


@dataclass(frozen=True)
class Numbers:
    """The numbers of a program in one precision.

    ``frame`` has the centre, factor and limit of each used column, ``bounds`` the bound, width and
    scale of each edge. float32 scales (and centres) the rows once and has no scale at an edge;
    float64 leaves them as they are, so that no difference of close numbers loses digits.
    """

    frame: np.ndarray
    bounds: np.ndarray
    growth: np.ndarray
    limit: float


@dataclass(frozen=True)
class Program:
    """Edges in an order that needs few slots; see ``keeptree._kernels.boundary``.

    ``edges`` has for each the code, the used column, the parent's slot, the child's slot or class,
    the region or -1, and where its table begins; ``columns`` for each used column its number in
    the tree and its number of categories, 0 for a numeric one; ``rest`` are the others.
    """

    edges: np.ndarray
    columns: np.ndarray
    rest: np.ndarray
    n_slots: int
    n_classes: int
    single: Numbers
    double: Numbers
    regions: object


def compile_program(tree, metric):
    """Program of a classification tree under a fitted metric."""
    regions = find_regions(tree, metric.factor_, metric.category_costs_)
    steps, n_slots = _order(regions)
    used = sorted({edge.feature for edge, *_ in steps})
    columns = np.array([(f, len(tree.categories[f] or ())) for f in used] or [(0, 0)])
    position = {f: k for k, f in enumerate(used)}
    edges, raw = [], []
    for edge, source, target, region in steps:
        code = _REGION * (region >= 0)
        if edge.table >= 0:
            code |= _NOMINAL
        else:
            code |= _LOWER * edge.lower | _BOUNDED * bool(np.isfinite(edge.old))
        edges.append((code, position[edge.feature], source, target, region, max(edge.table, 0)))
        raw.append((edge.bound, edge.old))
    if not edges:  # one region: everything lies inside
        edges, raw = [(_REGION, 0, 0, int(regions.label[0]), 0, 0)], [(np.inf, np.inf)]
    edges, raw = np.array(edges, dtype=np.int64), np.array(raw)
    return Program(
        edges=edges,
        columns=columns.astype(np.int64),
        rest=np.setdiff1d(np.arange(tree.n_features), columns[:, 0]).astype(np.int64),
        n_slots=n_slots,
        n_classes=len(tree.classes),
        single=_numbers(np.float32, edges, raw, columns, metric, regions),
        double=_numbers(np.float64, edges, raw, columns, metric, regions),
        regions=regions,
    )


def _numbers(dtype, edges, raw, columns, metric, regions):
    """Frame, bounds and tables of a program in one precision."""
    f, limit = columns[:, 0], _LIMIT[dtype]
    factor = np.where(columns[:, 1] > 0, 1.0, metric.factor_[f])
    center = np.where(columns[:, 1] > 0, 0.0, metric.center_[f])
    if dtype is np.float32:
        frame = np.column_stack([center, factor, np.full(len(f), limit)])
        scale = np.ones(len(f))
    else:
        reach = np.minimum(limit / np.maximum(factor, limit / 1e308), 1e308)
        frame = np.column_stack([np.zeros(len(f)), np.ones(len(f)), reach])
        scale = factor
    at = edges[:, 1]
    with np.errstate(over="ignore", invalid="ignore"):
        placed = (raw - frame[at, 0, None]) * frame[at, 1, None]
        placed = np.clip(placed, -frame[at, 2, None], frame[at, 2, None]).astype(dtype)
        width = np.abs(placed[:, 1] - placed[:, 0]) * scale[at]
    bounds = np.column_stack([placed[:, 0], width, scale[at]])
    return Numbers(
        frame=np.ascontiguousarray(frame),
        bounds=np.ascontiguousarray(bounds, dtype=dtype),
        growth=np.minimum(regions.growth, limit**2).astype(dtype),
        limit=float(frame[:, 2].min()),
    )


def _order(regions):
    """Steps (edge, source slot, target, region) and the number of slots they need.

    Regions come first, then the children by what they need, least first: the last one sets the
    parent's slot free, so a chain needs two slots and any tree about the logarithm of its size.
    """
    number = {int(node): r for r, node in enumerate(regions.node)}
    if 0 in number:
        return [], 1
    children = _branching(regions)
    need = _slots_needed(children, number)
    steps, free, n_slots = [], [], 1
    tasks = [(_first(0, regions), None, -1, False)]
    while tasks:
        node, edge, source, last = tasks.pop()
        slot = 0
        if edge is not None:
            slot = free.pop() if free else n_slots
            n_slots = max(n_slots, slot + 1)
            steps.append((edge, source, slot, -1))
            if last:
                free.append(source)
        inner = [(child, edge) for child, edge in children[node] if child not in number]
        for child, edge in children[node]:
            if child in number:
                r = number[child]
                steps.append((edge, slot, int(regions.label[r]), r))
        inner.sort(key=lambda item: -need[item[0]])
        tasks.extend((child, edge, slot, k == 0) for k, (child, edge) in enumerate(inner))
        if not inner:
            free.append(slot)
    return steps, n_slots


def _first(node, regions):
    """The node itself, or below it the first whose box differs from its only child's."""
    while node in regions.children and regions.edge[regions.children[node][0]] is None:
        node = regions.children[node][0]
    return node


def _branching(regions):
    """Children (with their edges) of each node that the program visits, parents first."""
    children, todo = {}, [_first(0, regions)]
    while todo:
        node = todo.pop()
        children[node] = [
            (_first(child, regions), regions.edge[child]) for child in regions.children[node]
        ]
        todo.extend(child for child, _ in children[node] if child in regions.children)
    return children


def _slots_needed(children, number):
    """For each inner node how many slots its sub-tree needs, its own included."""
    need = {}
    for node in reversed(children):
        inner = sorted(need[child] for child, _ in children[node] if child not in number)
        need[node] = max([1, *(n + 1 for n in inner[:-1]), *(max(n, 2) for n in inner[-1:])])
    return need
