"""Trace raw columns through the stages of a Spark pipeline to the entries of the tree's vector."""

from dataclasses import dataclass, replace

import numpy as np

from keeptree.importers.folding.floats import LARGEST, last_alike

_KEEP = "keep"


@dataclass(frozen=True)
class Number:
    """A raw column of numbers after increasing steps.

    Attributes
    ----------
    column : str or int
        Raw column.
    steps : tuple of callables
        Functions of arrays, with Spark's arithmetic.
    missing : tuple of float, or None
        Value of missing entries, in double columns and, if different, in float and integer
        columns. None if Spark rejects or drops such rows.
    """

    column: object
    steps: tuple = ()
    missing: tuple | None = (np.nan,)

    def then(self, step):
        """Return the slot after one more step."""
        missing = self.missing and tuple(float(x) for x in step(np.array(self.missing)))
        return replace(self, steps=(*self.steps, step), missing=missing)

    def threshold(self, cut):
        """Return the largest raw number that is ``<= cut`` in Spark."""
        if not self.steps:
            return cut
        ends = np.array([-LARGEST, LARGEST])
        low, high = self._run(ends) <= cut
        if low == high:
            return np.inf if low else -np.inf
        return float(last_alike(ends[:1], ends[1:], lambda x: self._run(x) <= cut)[0])

    def _run(self, values):
        with np.errstate(over="ignore", invalid="ignore"):
            for step in self.steps:
                values = step(values)
        return values


@dataclass(frozen=True)
class Category:
    """A raw column whose categories Spark replaces by numbers.

    Attributes
    ----------
    column : str or int
        Raw column.
    values : dict
        Category -> number.
    unknown : float or None
        Number of missing and other categories; None if Spark rejects or drops such rows.
    """

    column: object
    values: dict
    unknown: float | None = np.nan

    def then(self, step):
        """Return the slot after one more step."""
        numbers = step(np.array(list(self.values.values())))
        unknown = None if self.unknown is None else float(step(np.array([self.unknown]))[0])
        return replace(
            self, values=dict(zip(self.values, map(float, numbers), strict=True)), unknown=unknown
        )


@dataclass(frozen=True)
class Unfoldable:
    """Output of a stage that cannot be folded; raises an error if the tree needs it."""

    stage: str


def run_stages(stages):
    """Return the slot, or tuple of slots, of each output column of the stages."""
    made = {}
    for stage in stages:
        read = _STAGES.get(stage.name)
        if read is not None:
            read(stage, made)
            continue
        outputs = _outputs(stage)
        if not outputs:
            raise ValueError(f"{_cannot(stage.stage)}: it may change any column.")
        made.update(dict.fromkeys(outputs, Unfoldable(stage.stage)))
    return made


def check_folded(slot, why="a step that KeepTree cannot fold"):
    """Return the slot, or raise a ValueError that names its stage."""
    if isinstance(slot, Unfoldable):
        raise ValueError(f"{_cannot(slot.stage)}, {why}.")
    return slot


def _cannot(stage):
    return f"The tree tests what the stage {stage} computes"


def _inputs(stage):
    return stage.get("inputCols") or [stage.get("inputCol")]


def _outputs(stage):
    names = stage.get("outputCols") or [stage.get("outputCol")]
    return [name for name in names if name is not None]


def _pairs(stage):
    return zip(_inputs(stage), _outputs(stage), strict=True)


def _scalar(made, name):
    slot = check_folded(made.get(name, Number(name)))
    if isinstance(slot, tuple):
        raise ValueError(f"{name!r:.80} is a vector, but this stage takes a single value.")
    return slot


def _map_vector(stage, made, size, change):
    """Apply ``change(j, slot)`` to each slot of a stage's vector.

    Slots of a raw vector are named by their index.
    """
    slots = made.get(_inputs(stage)[0], tuple(map(Number, range(size))))
    if isinstance(slots, tuple):
        if len(slots) != size:
            slots = tuple(check_folded(slot) for slot in slots)
            raise ValueError(
                f"The stage {stage.stage} takes {size} numbers, but gets {len(slots)}."
            )
        slots = tuple(
            slot if isinstance(slot, Unfoldable) else change(j, slot)
            for j, slot in enumerate(slots)
        )
    made[_outputs(stage)[0]] = slots


def _index_strings(stage, made):
    [row] = stage.rows()
    # Name of the parameter before Spark 3.
    arrays = row["labelsArray"] if "labelsArray" in row else [row["labels"]]
    keeps = stage.get("handleInvalid", "error") == _KEEP
    for (source, target), labels in zip(_pairs(stage), arrays, strict=True):
        if source in made:
            made[target] = Unfoldable(stage.stage)
            continue
        values = {label: float(index) for index, label in enumerate(labels)}
        made[target] = Category(source, values, float(len(labels)) if keeps else None)


def _assemble(stage, made):
    keeps = stage.get("handleInvalid", "error") == _KEEP
    slots = []
    for name in _inputs(stage):
        slot = made.get(name, Number(name))
        slots += slot if isinstance(slot, tuple) else [slot]
    if not keeps:  # Spark rejects NaN here
        slots = [
            replace(slot, missing=None)
            if isinstance(slot, Number)
            and slot.missing is not None
            and np.isnan(slot.missing).any()
            else slot
            for slot in slots
        ]
    made[_outputs(stage)[0]] = tuple(slots)


def _index_values(stage, made):
    """Turn some numbers of a vector into categories, as Spark's VectorIndexer does."""
    [row] = stage.rows()
    maps = {column: dict(pairs) for column, pairs in dict(row["categoryMaps"]).items()}
    rule = stage.get("handleInvalid", "error")

    def change(j, slot):
        return _index_value(stage, slot, maps[j], rule) if j in maps else slot

    _map_vector(stage, made, row["numFeatures"], change)


def _index_value(stage, slot, indices, rule):
    unknown = float(len(indices)) if rule == _KEEP else None
    if any(np.isnan(value) for value in indices):
        return Unfoldable(stage.stage)
    if isinstance(slot, Number) and not slot.steps:
        missing_passes = slot.missing is not None or rule == _KEEP
        labels = {_whole(value): float(index) for value, index in indices.items()}
        return Category(slot.column, labels, unknown if missing_passes else None)
    if not isinstance(slot, Category):
        return Unfoldable(stage.stage)
    found = {label: indices.get(value, unknown) for label, value in slot.values.items()}
    if None in found.values():
        return Unfoldable(stage.stage)
    other = None if slot.unknown is None else indices.get(slot.unknown, unknown)
    return Category(slot.column, {label: float(v) for label, v in found.items()}, other)


def _whole(value):
    return int(value) if value == int(value) else value


def _encode_one_hot(stage, made):
    [row] = stage.rows()
    keeps, drops = stage.get("handleInvalid", "error") == _KEEP, stage.get("dropLast", True)
    for (source, target), size in zip(_pairs(stage), row["categorySizes"], strict=True):
        slot = made.get(source)
        if not isinstance(slot, Category):
            made[target] = Unfoldable(stage.stage)
            continue
        # With "keep", an index out of range has its own slot, which dropLast removes.
        known = size + keeps
        slots = known - 1 if drops else known
        if max(slot.values.values(), default=0) >= size and not keeps:
            made[target] = Unfoldable(stage.stage)
            continue
        made[target] = tuple(_one_hot(slot, k, size, keeps) for k in range(slots))


def _one_hot(slot, k, size, keeps):
    def is_k(index):
        if index is None or (index >= size and not keeps):
            return None
        return float(min(index, size) == k)

    values = {label: is_k(index) for label, index in slot.values.items()}
    return Category(slot.column, values, is_k(slot.unknown))


def _impute(stage, made):
    [row] = stage.rows()
    if not np.isnan(float(stage.get("missingValue", np.nan))):  # "NaN" in JSON
        made.update(dict.fromkeys(_outputs(stage), Unfoldable(stage.stage)))
        return
    for source, target in _pairs(stage):
        slot = _scalar(made, source)
        if not isinstance(slot, Number):
            made[target] = Unfoldable(stage.stage)
            continue
        value = float(row[source])
        # The surrogate has the type of its column, which is not stored.
        missing = (value, float(np.float32(value)), float(int(value)))
        made[target] = replace(slot, missing=missing)


def _scale(read_steps):
    def read(stage, made):
        # Spark 2 scales with different arithmetic.
        if int(stage.metadata["sparkVersion"].split(".")[0]) < 3:
            made[_outputs(stage)[0]] = Unfoldable(stage.stage)
            return
        [row] = stage.rows()
        steps = list(read_steps(stage, row))
        _map_vector(stage, made, len(steps), lambda j, slot: slot.then(steps[j]))

    return read


def _standard_steps(stage, row):
    centre, scale = stage.get("withMean", False), stage.get("withStd", True)
    for mean, deviation in zip(_dense(row["mean"]), _dense(row["std"]), strict=True):
        factor = 1.0 / deviation if deviation else 0.0
        yield _linear(mean if centre else 0.0, factor if scale else 1.0)


def _max_abs_steps(stage, row):
    del stage
    for largest in _dense(row["maxAbs"]):
        yield _linear(0.0, 1.0 / (largest or 1.0))


def _min_max_steps(stage, row):
    low, high = stage.get("min", 0.0), stage.get("max", 1.0)
    for least, most in zip(_dense(row["originalMin"]), _dense(row["originalMax"]), strict=True):
        if most == least:
            yield _constant((high + low) / 2)
        else:
            yield _linear(least, (high - low) / (most - least), low)


def _linear(shift, factor, offset=0.0):
    return lambda x: (x - shift) * factor + offset


def _constant(value):
    return lambda x: np.where(np.isnan(x), x, value)


def _dense(vector):
    """Return a saved vector, dense or sparse, as an array."""
    if vector["type"] == 1:
        return vector["values"]
    full = np.zeros(vector["size"])
    full[vector["indices"]] = vector["values"]
    return full.tolist()


def _ignore(stage, made):
    del stage, made


_STAGES = {
    "StringIndexerModel": _index_strings,
    "VectorAssembler": _assemble,
    "VectorIndexerModel": _index_values,
    "OneHotEncoderModel": _encode_one_hot,
    "ImputerModel": _impute,
    "StandardScalerModel": _scale(_standard_steps),
    "MinMaxScalerModel": _scale(_min_max_steps),
    "MaxAbsScalerModel": _scale(_max_abs_steps),
    "IndexToString": _ignore,
}
