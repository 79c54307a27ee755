"""Distance kernels and rankings: distances to the decision boundary, and curves in a table."""

from keeptree._compiled.program import LARGEST_SINGLE, LEFT_REGION, NOMINAL, RIGHT_REGION
from keeptree.exporters.sql.decision import largest_at_most
from keeptree.exporters.sql.tables import look_up
from keeptree.text import plural

_MOST_STEPS = 1000
_LARGEST = 1.7e308  # bounds from here on are infinite
_FAR = 1e150  # a larger move counts as this
_LEAST = 2.0**-1022  # the score of a row on the boundary
_TINY = 1e-22  # Postgres refuses a product that is too small for a float32


def distance(formulas, model, curves):
    """Return the texts of the class probabilities by distance to the decision boundary.

    Parameters
    ----------
    formulas : Formulas
        The columns, and the leaf of the row.
    model : dict
        The kind ``distance`` of :func:`keeptree.exporters.plain_model.plain_model`.
    curves : str
        Name of the table of curves.
    """
    _check(formulas.spell, model)
    steps, number = formulas.steps, formulas.spell.number
    h = _algebraic_distances(formulas.inputs, model)
    every = len(model["axis"]) // len(model["estimated"])
    shares = {
        c: _share(formulas, model, curves, h[c], j * every)
        for j, c in enumerate(model["estimated"])
    }
    if len(model["prior"]) == 2:
        return [shares[0], f"1 - {shares[0]}"]
    p = [
        f"{shares[c]} + {number(1e-9 * prior)}" if c in shares else number(prior)
        for c, prior in enumerate(model["prior"])
    ]
    p = [steps.named("p", text) for text in p]
    total = steps.named("t", " + ".join(p))
    return [f"{value} / {total}" for value in p]


def rank(formulas, model):
    """Return the texts of the scores of a geometric ranking.

    Parameters
    ----------
    formulas : Formulas
        The columns, and the leaf of the row.
    model : dict
        The kind ``rank`` of :func:`keeptree.exporters.plain_model.plain_model`.
    """
    _check_size(len(model["boxes"]))
    spell, named, n_classes = formulas.spell, formulas.steps.named, formulas.n_classes
    squares = _box_distances(formulas.inputs, model)
    to_class = dict.fromkeys(range(n_classes), spell.value(_FAR))  # of a class without a region
    to_class |= {c: named("e", f"SQRT({square})") for c, square in squares.items()}
    h = _signed(formulas.inputs, to_class, n_classes)
    least = spell.exact(_LEAST)
    label = named("l", formulas.tree_label())
    scores = []
    for c in range(n_classes):
        if c == 1 and n_classes == 2:
            text = f"-{scores[0]}"
        else:
            text = named("y", spell.clipped(f"(-{h[c]})", -_FAR, _FAR))
        # On the boundary, or with a missing value, the decision of the tree gives the sign.
        inside = f"CASE WHEN {text} < {least} THEN {least} ELSE {text} END"
        outside = f"CASE WHEN {text} > -{least} THEN -{least} ELSE {text} END"
        text = f"CASE WHEN {label} = {c} THEN {inside} ELSE {outside} END"
        scores.append(named("y", text))
    if model["whole"]:
        nearest = named("y", spell.least([f"ABS({score})" for score in scores]))
        scores = [f"CASE WHEN {s} > 0 THEN {nearest} ELSE -{nearest} END" for s in scores]
        scores = [named("y", text) for text in scores]
    return scores if model["values"] is None else _local_scores(formulas, model, scores)


def _local_scores(formulas, model, scores):
    """Scores that keep the order of the leaves."""
    p = formulas.average_leaves(model["values"], "p")
    gaps = formulas.average_leaves(model["half_gap"], "g", normalise=False)
    return [
        f"{own} - 0.5e0 + {gap} * ({score} / (1 + ABS({score})))"
        for own, gap, score in zip(p, gaps, scores, strict=True)
    ]


def _check(spell, model):
    """Raise a ValueError if the dialect or the size of the model rules the query out."""
    instead = "export a MarginTreeClassifier of the same tree, or export this model to"
    if not spell.dialect.single:
        raise ValueError(
            f"{spell.dialect.title} has no 32-bit numbers, in which a DistanceKernelClassifier "
            f"measures distances; {instead} another dialect (duckdb, postgres, spark, tsql)."
        )
    _check_size(len(model["steps"]["step"]))


def _check_size(size):
    """Raise a ValueError if measuring takes too many steps for a query."""
    if size > _MOST_STEPS:
        raise ValueError(
            f"Measuring the distance to the boundary of this tree takes {plural(size, 'step')}, "
            f"and a query may have {_MOST_STEPS:,}; export a MarginTreeClassifier of the same "
            "tree, or export this model to ONNX, Python, JavaScript or C."
        )


def _algebraic_distances(inputs, model):
    """Distance to the boundary of each class with a region, negative inside it."""
    spell, n_classes = inputs.spell, len(model["prior"])
    best = _step_distances(inputs, model["steps"], n_classes)
    h = _signed(inputs, {c: _root(inputs, square) for c, square in best.items()}, n_classes)
    if model["grid"] is None:
        return h
    grid, named = model["grid"], inputs.steps.named
    exact = _box_distances(inputs, grid)
    exact = {c: named("e", f"SQRT({square})") for c, square in exact.items()}
    exact = _signed(inputs, exact, n_classes)
    off = named("o", f"CASE WHEN {_is_off_grid(inputs, grid)} THEN 1 ELSE 0 END")
    limits = (-LARGEST_SINGLE, LARGEST_SINGLE)
    found = {}
    for c, own in h.items():
        clipped = named("y", spell.clipped(exact[c], *limits))
        rounded = inputs.rounded(f"z{c}", clipped)
        found[c] = named("h", f"CASE WHEN {off} = 1 THEN {rounded} ELSE {own} END")
    return found


def _signed(inputs, to_class, n_classes):
    """Algebraic distances from the distances to the classes; of two classes only the first."""
    named = inputs.steps.named
    if n_classes == 2:
        return {0: named("h", f"{to_class[0]} - {to_class[1]}")}
    found = {}
    for c, own in to_class.items():
        others = [far for k, far in to_class.items() if k != c]
        other = inputs.spell.least(others) if others else inputs.spell.value(_FAR)
        found[c] = named("h", f"CASE WHEN {own} > 0 THEN {own} ELSE -{other} END")
    return found


def _root(inputs, square):
    """The square root of a float32, rounded to float32."""
    named = inputs.steps.named
    root = named("q", f"SQRT({inputs.spell.cast(square, 'double')})")
    return inputs.rounded(f"w{len(inputs.steps)}", root)


def _step_distances(inputs, program, n_classes):
    """Squared distance to each class that has a region, by the program of the boundary."""
    named, spell = inputs.steps.named, inputs.spell
    here = {}
    slots, best = {0: None}, {}

    def keep(is_region, at, source, added):
        before = slots[source]
        total = named("d", added if before is None else f"{before} + {added}")
        if is_region:
            best.setdefault(at, []).append(total)
        else:
            new[at] = total

    for (code, k, source, left, right, start), bound in zip(
        program["step"], program["bound"], strict=True
    ):
        new, at = {}, program["attribute"][k]
        if code & NOMINAL:
            growth = program["growth"][start : start + program["codes"][k] + 1]
            *texts, missing = (_single(spell, value) for value in growth)
            keep(code & LEFT_REGION, left, source, inputs.by_category(at, texts, missing))
        else:
            if k not in here:
                here[k] = _scaled(inputs, program, k)
            gap = named("g", f"{here[k]} - {_single(spell, bound[0])}")
            keep(code & LEFT_REGION, left, source, _beyond(spell, gap, ">", bound[1]))
            keep(code & RIGHT_REGION, right, source, _beyond(spell, gap, "<", bound[2]))
        slots |= new
    return {c: named("m", spell.least(best[c])) for c in sorted(best) if c < n_classes}


def _scaled(inputs, program, k):
    """A number centred and scaled, in float32 and within its reach; NULL if it is missing."""
    spell, named = inputs.spell, inputs.steps.named
    at, reach = program["attribute"][k], program["reach"][k]
    x = inputs.single(at) if program["rounded"][k] else inputs.known(at)
    center, factor = (spell.number(program[name][k]) for name in ("center", "factor"))
    gap = f"{spell.cast(x, 'double')} - {center}"
    gap = named("j", spell.clipped(named("j", gap), -LARGEST_SINGLE, LARGEST_SINGLE))
    gap = inputs.rounded(f"f{at}", gap)
    # The product of two float32 numbers is exact in 64 bits, and cannot overflow there.
    product = named("j", f"{spell.cast(gap, 'double')} * {factor}")
    return inputs.rounded(f"v{at}", named("j", spell.clipped(product, -reach, reach)))


def _beyond(spell, gap, sign, width):
    """Return what a bound that moved inward by ``width`` adds to a squared distance."""
    zero, tiny = _single(spell, 0.0), _TINY if spell.key == "postgres" else 0.0
    tiny = _single(spell, tiny if sign == ">" else 0.0 - tiny)
    added = f"{gap} * {gap}"
    if abs(width) < LARGEST_SINGLE:
        wide = _single(spell, width)
        twice = f"{_single(spell, 2.0)} * {gap}"
        added = (
            f"CASE WHEN {gap} {sign} {wide} THEN {wide} * ({twice} - {wide}) ELSE {added} END"
            if width
            else zero
        )
    return f"(CASE WHEN {gap} {sign} {tiny} THEN {added} ELSE {zero} END)"


def _single(spell, value):
    return spell.cast(spell.number(value), "float")


def _is_off_grid(inputs, grid):
    """Return whether any number is not a multiple of its column's step."""
    spell, conditions = inputs.spell, []
    for at, step, inverse in zip(grid["attribute"], grid["step"], grid["inverse"], strict=True):
        x = _bounded(inputs, at)
        size = spell.number(inverse or step)
        there, back = "*/" if inverse else "/*"
        conditions.append(f"{spell.round(f'{x} {there} {size}')} {back} {size} <> {x}")
    return " OR ".join(conditions)


def _bounded(inputs, at):
    """Limit a number so that no product with it overflows."""
    return inputs.steps.add(f"far{at}", inputs.spell.clipped(inputs.known(at), -_FAR, _FAR))


def _within(inputs, at, factor):
    """Limit a number so that its scaled distance does not overflow."""
    bound = min(1e10 * _FAR / factor, 1e307)
    return inputs.steps.add(f"move{at}", inputs.spell.clipped(inputs.known(at), -bound, bound))


def _box_distances(inputs, grid):
    """Squared distance to each class that has a region, box by box in float64."""
    named, spell = inputs.steps.named, inputs.spell
    squares = [_side_square(inputs, side) for side in grid["sides"]]
    best = {}
    for sides, label in zip(grid["boxes"], grid["label"], strict=True):
        total = " + ".join(squares[side] for side in sides) or spell.value(0.0)
        best.setdefault(label, []).append(named("s", total))
    return {c: named("s", spell.least(best[c])) for c in sorted(best)}


def _side_square(inputs, side):
    """Return the squared cost of moving a value inside a side of a box."""
    spell, named, at = inputs.spell, inputs.steps.named, side["attribute"]
    if side["cost"] is not None:
        *texts, missing = (spell.value(cost * cost) for cost in side["cost"])
        return named("c", inputs.by_category(at, texts, missing))
    lower, upper, rises_to, falls_to, factor = side["bounds"]
    x = inputs.known(at)
    is_rounded = side["rounded"]
    measured = (
        spell.cast(inputs.single(at), "double") if is_rounded else _within(inputs, at, factor)
    )
    compared = largest_at_most if inputs.compares_single else float
    far, zero, times = spell.value(_FAR), spell.value(0.0), spell.number(factor)
    falls = f"({measured} - {spell.exact(falls_to)}) * {times}"
    rises = f"({spell.exact(rises_to)} - {measured}) * {times}"
    cases = []
    if upper < _LARGEST:
        falls = falls if abs(falls_to) < _LARGEST else far
        cases.append(f"WHEN {x} > {spell.exact(compared(upper))} THEN {falls}")
    if lower > -_LARGEST:
        rises = rises if abs(rises_to) < _LARGEST else far
        cases.append(f"WHEN {x} <= {spell.exact(compared(lower))} THEN {rises}")
    if not cases:
        return zero
    move = named("c", f"CASE {' '.join(cases)} ELSE {zero} END")
    move = named("c", f"CASE WHEN {move} > {far} THEN {far} ELSE {move} END")
    return named("c", f"{move} * {move}")


def _share(formulas, model, curves, h, offset):
    """The share of a class at a distance: a cubic piece of a curve, looked up in its table."""
    spell, named, zero = formulas.spell, formulas.steps.named, formulas.spell.value(0.0)
    origin, scale, left, middle, last, reach, even, start, cell = _axis(formulas, model, offset)
    x = named("x", f"({spell.cast(h, 'double')} - {origin}) * {scale}")
    # In the cells with equally many pieces the place is not rounded, as in Python.
    direct, is_even = named("y", f"{x} * {even}"), f"{x} >= 0 AND {x} < {reach}"
    is_even = named("i", f"CASE WHEN {is_even} THEN 1 ELSE 0 END")
    outside = f"CASE WHEN {x} < 0 THEN -{x} WHEN {x} > {middle} THEN {x} - {middle} ELSE {zero} END"
    far = _log1p(formulas, named("x", outside))
    x = f"CASE WHEN {x} < 0 THEN -{far} WHEN {x} > {middle} THEN {middle} + {far} ELSE {x} END"
    x = named("x", f"{x} + {left}")
    x = named("x", f"CASE WHEN {x} < 0 THEN {zero} WHEN {x} > {last} THEN {last} ELSE {x} END")
    whole = named("x", f"FLOOR({x})")
    at = named("i", spell.cast(f"{cell} + {whole}", "int"))
    first, parts = (
        named("i", look_up(spell, curves, name, at)) for name in ("kt_first", "kt_parts")
    )
    y = f"CASE WHEN {is_even} = 1 THEN {direct} ELSE ({x} - {whole}) * {parts} END"
    y = named("y", y)
    first = named("i", f"CASE WHEN {is_even} = 1 THEN {start} ELSE {first} END")
    piece = named("y", f"FLOOR({y})")
    at = named("i", spell.cast(f"{first} + {piece}", "int"))
    k0, k1, k2, k3 = (
        named("k", spell.cast(look_up(spell, curves, f"kt_k{k}", at), "double")) for k in range(4)
    )
    y = named("y", f"{y} - {piece}")
    return named("k", spell.clipped(f"({k0} + {y} * ({k1} + {y} * ({k2} + {y} * {k3})))", 0.0, 1.0))


def _axis(formulas, model, offset):
    """Return the numbers of a curve's axis (see ``KernelTables``), and its first cell."""
    spell = formulas.spell
    rows = [
        [*map(spell.exact, axis[:7]), str(int(axis[7])), str(cell)]
        for axis, cell in zip(model["axis"], model["cell"][: len(model["axis"])], strict=True)
    ]
    if model["curve"] is None:
        return rows[offset]
    by_node = [rows[curve + offset] for curve in model["curve"]]
    columns = zip(*by_node, strict=True)
    return [formulas.steps.named("a", formulas.by_leaf(column)) for column in columns]


def _log1p(formulas, x):
    """Return log(1 + x), accurate for small x (Kahan)."""
    u = formulas.steps.named("u", f"1 + {x}")
    log = formulas.spell.log(u)
    return formulas.steps.named("u", f"CASE WHEN {u} = 1 THEN {x} ELSE {log} * {x} / ({u} - 1) END")
