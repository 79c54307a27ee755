"""The kernel expert: sums over a table of landmarks, in float32 as in Python."""

import numpy as np

from keeptree.exporters.sql.tables import create_table, float32_text

_FAR = 1e18  # as in keeptree._compiled.landmarks
_TINY = 1e-22  # of a difference: Postgres refuses a product that is too small for a float32


def kernel(inputs, model, landmarks, name):
    """Return the class probabilities from the landmarks near a row, as texts.

    Parameters
    ----------
    inputs : Inputs
        The columns.
    model : dict
        The kind ``kernel`` of :func:`keeptree.exporters.plain_model.plain_model`.
    landmarks : str
        Name of the table of landmarks.
    name : str
        Begins the names of columns.
    """
    spell, steps = inputs.spell, inputs.steps
    if not spell.dialect.fold:
        raise ValueError(
            f"{spell.dialect.title} cannot sum 32-bit numbers in a fixed order, as the kernel "
            "expert of this model does; export a MarginTreeClassifier or SoftTreeClassifier of the "
            "same tree, or choose the dialect duckdb, postgres or spark."
        )
    here = [_coordinate(inputs, model, k, f"{name}x{k}") for k in range(len(model["attribute"]))]
    pseudo = [model["pseudo"] * prior for prior in model["prior"]]
    sums = []
    for c, extra in enumerate(pseudo):
        found = (
            _class_sum(inputs, here, c, landmarks, model["laplace"])
            if model["start"][c] < model["start"][c + 1]
            else "0"
        )
        total = f"{spell.cast(found, 'double')} + {spell.number(extra)}"
        sums.append(steps.add(f"{name}k{c}", total))
    total = steps.add(f"{name}t", " + ".join(sums))
    return [f"{x} / {total}" for x in sums]


def landmarks_table(spell, model, table, origin):
    """Return the statements that create the table of landmarks and fill it."""
    width, real = len(model["attribute"]), spell.dialect.single
    columns = [f"kt_u{k} {real}" for k in range(width)]
    columns = ["kt_class INT", "kt_id INT", f"kt_sharpness {real}", f"kt_mass {real}", *columns]
    classes = np.repeat(np.arange(len(model["prior"])), np.diff(model["start"]))
    numbers = np.column_stack([model["sharpness"], model["mass"], model["landmarks"]])
    rows = [
        f"({c}, {i}, {', '.join(map(float32_text, row))})"
        for i, (c, row) in enumerate(zip(classes.tolist(), numbers, strict=True))
    ]
    return create_table(spell, table, columns, rows, origin)


def _coordinate(inputs, model, k, name):
    """Return the float32 coordinate of a value: linear, with a bend at each threshold."""
    spell, steps, at = inputs.spell, inputs.steps, model["attribute"][k]
    if model["table"][k]:
        texts = [spell.value(value) for value in model["table"][k]]
        return inputs.rounded(name, steps.named("t", inputs.by_category(at, texts, "NULL")))
    x = inputs.bounded(at)
    number = spell.number
    line = steps.named(
        "l", f"({x} - {spell.exact(model['center'][k])}) * {number(model['factor'][k])}"
    )
    place = spell.clipped(line, -_FAR, _FAR)
    bends = []
    for threshold, size in model["bends"][k]:
        u = steps.named("u", f"({x} - {spell.exact(threshold)}) * {number(model['slope'][k])}")
        u = steps.named("v", spell.clipped(u, -_FAR, _FAR))
        bends.append(f"{number(size)} * ({u} / SQRT(1 + {u} * {u}))")
    place = steps.named("w", " + ".join([f"({place})", *bends]))  # in this order, as in Python
    return inputs.rounded(name, place)


def _class_sum(inputs, here, c, landmarks, laplace):
    """Return a query that sums mass x bell over the landmarks of a class, for one row.

    Each step of the bell is a query around the one before, so that nothing is computed twice.
    """
    spell = inputs.spell
    zero, half, one = (spell.cast(text, "float") for text in ("0", spell.number(0.5), "1"))
    fence = f" {spell.dialect.fence}" if spell.dialect.fence else ""
    carried = "kt_id, kt_mass"
    gaps = ", ".join(f"{x} - kt_u{k} AS kt_d{k}" for k, x in enumerate(here))
    query = (
        f"SELECT {carried}, kt_sharpness{', ' if gaps else ''}{gaps} "
        f"FROM {spell.table(landmarks)} WHERE kt_class = {c}{fence}"
    )
    apart = [_apart(spell, f"kt_d{k}", zero, laplace) for k in range(len(here))]
    distance = " + ".join(apart) or zero
    query = (
        f"SELECT {carried}, {one} - kt_sharpness * ({distance}) AS kt_b "
        f"FROM ({query}) AS kt_q0{fence}"
    )
    query = (
        f"SELECT {carried}, CASE WHEN kt_b > {half} THEN kt_b ELSE {zero} END AS kt_b "
        f"FROM ({query}) AS kt_q1{fence}"
    )
    for k in range(6):
        query = f"SELECT {carried}, kt_b * kt_b AS kt_b FROM ({query}) AS kt_q{k + 2}{fence}"
    total = spell.dialect.fold.format(value="kt_mass * kt_b", order="kt_id")
    return f"(SELECT {total} FROM ({query}) AS kt_q8)"


def _apart(spell, gap, zero, laplace):
    """Return the absolute value of a difference, or its square, 0 where a value is missing."""
    apart = f"ABS({gap})" if laplace else f"{gap} * {gap}"
    if spell.key != "postgres":
        return f"COALESCE({apart}, {zero})"
    tiny = spell.cast(spell.number(_TINY), "float")
    return f"CASE WHEN ABS({gap}) > {tiny} THEN {apart} ELSE {zero} END"
