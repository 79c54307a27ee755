"""Read Spark ML trees, from memory or a folder, over the raw columns of their pipeline."""

import shutil
import tempfile
from pathlib import Path

import numpy as np

from keeptree.importers.members import choose_tree
from keeptree.importers.sketch import Sketch
from keeptree.importers.spark_columns import Category, Number, check_folded, run_stages
from keeptree.importers.spark_folder import open_saved, open_stages
from keeptree.tree import ERROR

_CLASSIFIERS = ("DecisionTreeClassificationModel", "RandomForestClassificationModel")
_REGRESSORS = ("DecisionTreeRegressionModel", "RandomForestRegressionModel")
_BOOSTED = "GBTClassificationModel"
_MOST_CATEGORIES = 1_000_000


def live_model(model, *, tree=None):
    """Return the Sketch of one tree of a fitted pyspark model or PipelineModel."""
    folder = Path(tempfile.mkdtemp(prefix="keeptree-spark-"))
    try:
        saved = folder / "model"
        model.save(saved.as_uri())
        if not any(saved.glob("metadata/part-*")):
            raise ValueError(
                "Spark saved the model on another machine; save it to a folder that this machine "
                "reads, and give that folder to kt.keep."
            )
        try:
            return read_folder(saved, tree=tree)
        except ValueError as error:
            raise ValueError(str(error).replace(str(saved), "The model")) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_folder(path, *, tree=None):
    """Return the Sketch of one tree of a folder saved by Spark ML."""
    *stages, model = _up_to_tree(open_stages(open_saved(path)))
    rows = model.rows()
    if "treeID" in rows[0]:
        numbers = sorted({row["treeID"] for row in rows})
        number = choose_tree(tree, len(numbers), "this model")
        rows = [row["nodeData"] for row in rows if row["treeID"] == numbers[number]]
        which = f"tree {number} of a {model.name}"
    else:
        number, which, numbers = choose_tree(tree, 1), model.name, [0]
    nodes = {row["id"]: row for row in rows}
    made = run_stages(stages)
    slots = _slots(model, made, nodes)
    sketch = _empty(slots)
    sketch.source.update(model=which, library=f"Spark {model.metadata.get('sparkVersion')}")
    leaves = _write_nodes(sketch, nodes, slots)
    if model.name in _REGRESSORS:
        _set_values(sketch, leaves)
    else:
        _set_classes(sketch, leaves, model, made, number, len(numbers))
    return sketch


def _up_to_tree(stages):
    """Return the stages up to the last model; later ones, such as IndexToString, do not matter."""
    known = (*_CLASSIFIERS, *_REGRESSORS, _BOOSTED)
    for place in reversed(range(len(stages))):
        if stages[place].name in known:
            return stages[: place + 1]
    if stages and stages[-1].name == "GBTRegressionModel":
        raise ValueError(
            "The trees of a GBTRegressionModel predict residuals; keep a tree or a forest."
        )
    what = f"a {stages[-1].name}" if len(stages) == 1 else f"a pipeline of {len(stages)} stages"
    raise ValueError(f"This is {what}, without a decision tree or an ensemble of trees.")


def _slots(model, made, nodes):
    """Return the raw column, and the steps after it, of each entry of the tree's vector."""
    size = int(model.metadata["numFeatures"])
    slots = made.get(model.get("featuresCol", "features"))
    if slots is None:
        slots = tuple(map(Number, range(size)))
    slots = check_folded(slots)
    if len(slots) != size:
        names = [check_folded(slot).column for slot in slots]
        raise ValueError(
            f"The tree takes {size} numbers, but the pipeline assembles {len(names)} columns: "
            f"some of them hold vectors, whose parts have no names."
        )
    tested = {row["split"]["featureIndex"]: row["split"]["numCategories"] for row in nodes.values()}
    slots = list(slots)
    for j, width in tested.items():
        if j >= 0:
            slots[j] = check_folded(slots[j])
        if j >= 0 and width >= 0 and isinstance(slots[j], Number):
            slots[j] = _numbered(slots[j], width)
    return slots


def _numbered(slot, width):
    """Return a raw column whose numbers the tree treats as categories."""
    if slot.steps:
        raise ValueError(f"The tree treats scaled numbers of {slot.column!r} as categories.")
    if width > _MOST_CATEGORIES:
        raise ValueError(f"A test has {width:,} categories, too many for a tree.")
    return Category(slot.column, {code: float(code) for code in range(width)})


def _empty(slots):
    """Return an empty Sketch over the raw columns of the slots."""
    kinds = {}
    for slot in slots:
        if isinstance(slot, Number | Category):
            labels = kinds.setdefault(slot.column, {} if isinstance(slot, Category) else None)
            if (labels is None) != isinstance(slot, Number):
                raise ValueError(
                    f"The pipeline treats {slot.column!r:.80} both as numbers and as categories."
                )
            if labels is not None:
                labels.update(dict.fromkeys(slot.values))
    columns = tuple(kinds)
    if all(isinstance(name, int) for name in columns):
        columns, kinds = len(slots), [kinds.get(j) for j in range(len(slots))]
    else:
        kinds = kinds.values()
    return Sketch(columns, tuple(None if labels is None else tuple(labels) for labels in kinds))


def _write_nodes(sketch, nodes, slots):
    """Fill the sketch and return ``{node: row of the source}`` of all nodes."""
    place = {name: j for j, name in enumerate(sketch.names or range(sketch.n_features))}
    written, stack, uncertain = {}, [(0, 0)], set()
    nodes = dict(nodes)
    while stack:
        node, i = stack.pop()
        row = written[node] = nodes.pop(i)  # pop raises a KeyError if the nodes form a cycle
        if row["leftChild"] < 0:
            continue
        split = row["split"]
        slot = slots[split["featureIndex"]]
        feature = place[slot.column]
        goes_left = _test(split)
        if isinstance(slot, Number):
            [cut] = split["leftCategoriesOrThreshold"]
            missing = ERROR if slot.missing is None else int(not goes_left(slot.missing[0]))
            if len({goes_left(value) for value in slot.missing or ()}) > 1:
                uncertain.add(slot.column)
            children = sketch.numeric(node, feature, slot.threshold(cut), missing)
        else:
            missing = ERROR if slot.unknown is None else int(not goes_left(slot.unknown))
            branch_of = [
                int(not goes_left(slot.values.get(label, slot.unknown)))
                for label in sketch.categories[feature]
            ]
            children = sketch.nominal(node, feature, branch_of, missing, width=2)
        stack += zip(children, (row["leftChild"], row["rightChild"]), strict=True)
    sketch.lost += [
        f"The Imputer fills in {name!r:.80} as a double; in a column of floats or whole numbers "
        "Spark rounds the value first, and may send missing values elsewhere."
        for name in sorted(uncertain, key=str)
    ]
    return written


def _test(split):
    """Return a function that tells whether Spark sends a number to the left."""
    if split["numCategories"] < 0:
        [cut] = split["leftCategoriesOrThreshold"]
        return lambda value: value is not None and value <= cut
    left, width = set(split["leftCategoriesOrThreshold"]), split["numCategories"]
    # Spark stores the smaller of the two sets; numbers in neither go to the other side.
    others_left = len(left) > width // 2

    def goes_left(value):
        if value in left:
            return True
        known = value is not None and value == value and value == int(value) and 0 <= value < width
        return others_left and not known

    return goes_left


def _set_classes(sketch, written, model, made, number, n_trees):
    names = made.get(model.get("labelCol", "label"))
    width = int(model.metadata.get("numClasses", 2))
    sketch.classes = list(range(width))
    if isinstance(names, Category) and set(names.values.values()) <= set(sketch.classes):
        known = {int(index): label for label, index in names.values.items()}
        sketch.classes = [known.get(code, "__unknown") for code in range(width)]
    leaves = {node: row for node, row in written.items() if not sketch.children[node]}
    if model.name == _BOOSTED:
        _set_boosted(sketch, leaves, number, n_trees)
        return
    sketch.source["counts"] = "the impurity statistics of the nodes"
    if n_trees > 1:
        sketch.source["counts"] = "the bootstrap sample of this tree"
    thresholds = model.get("thresholds")
    for node, row in leaves.items():
        counts = np.array(row["impurityStats"], dtype=np.float64)
        if counts.shape != (width,):
            raise ValueError(f"A node does not have the counts of {width} classes.")
        sketch.counts[node] = counts
        sketch.label[node] = _decide(counts, thresholds if n_trees == 1 else None)


def _decide(counts, thresholds):
    """Return the class by Spark's rule: the largest count, or probability divided by threshold."""
    if thresholds is None or not counts.sum():
        return int(np.argmax(counts))
    limits = np.array(thresholds, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(limits == 0, np.inf, counts / counts.sum() / limits)
    return int(np.argmax(scaled))


def _set_boosted(sketch, leaves, number, n_trees):
    """Set the counts of the first boosted tree, which predicts -1 or 1."""
    if n_trees == 1:  # a single tree decides by its sign
        for node, row in leaves.items():
            sketch.label[node] = int(row["prediction"] > 0)
    if number:
        return
    for node, row in leaves.items():
        cases, total, _ = row["impurityStats"]
        sketch.counts[node] = np.array([cases - total, cases + total]) / 2
    sketch.source["counts"] = "the impurity statistics of the first round"


def _set_values(sketch, written):
    sketch.source["counts"] = "the impurity statistics of the nodes"
    for node, row in written.items():
        variance = max(row["impurity"], 0.0)  # rounding may make counts negative
        sketch.values[node] = (row["impurityStats"][0], row["prediction"], variance)
