"""Read one tree of a CatBoost model, from memory or JSON."""

import json
import tempfile
from pathlib import Path

from keeptree.importers.boosting import describe
from keeptree.importers.members import choose_tree
from keeptree.importers.sketch import Sketch

_CLASSIFIES = ("Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll")
_TARGET_STATISTIC = (
    "The tree tests a statistic of the target (CatBoost's CTR) instead of a column; fit with "
    "one_hot_max_size at least the number of categories."
)


def live_model(model, *, tree=None):
    """Return the Sketch of one tree of a ``CatBoostClassifier``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        document = json.loads(path.read_bytes())
    return read_document(document, tree=tree)


def read_document(document, *, tree=None):
    """Return the Sketch of one tree of a model saved as JSON."""
    if "oblivious_trees" not in document:
        raise ValueError(
            "This CatBoost model was grown with Depthwise or Lossguide, which is not supported; "
            "fit "
            "with grow_policy='SymmetricTree'."
        )
    loss = _loss(document)
    if loss not in _CLASSIFIES:
        raise ValueError(
            f"This CatBoost model has the loss {loss!r:.50}, which does not classify; keep a "
            "classifier."
        )
    trees = document["oblivious_trees"]
    number = choose_tree(tree, len(trees), "this model")
    features = document["features_info"]
    numbers = features.get("float_features") or []
    nominal = features.get("categorical_features") or []
    columns = sorted([*numbers, *nominal], key=lambda f: f["flat_feature_index"])
    tests = [_Test(split, numbers, nominal, features) for split in trees[number]["splits"]]
    sketch = Sketch(
        tuple(f.get("feature_name") or f.get("feature_id") for f in columns),
        _categories(columns, nominal, tests),
        compare_dtype="float32",
        source=describe(number, len(trees), "CatBoost"),
    )
    place = {f["flat_feature_index"]: j for j, f in enumerate(columns)}
    leaves, stack = {}, [(0, 0, 0)]
    while stack:
        node, depth, index = stack.pop()
        if depth == len(tests):
            leaves[node] = index
            continue
        first, second = tests[depth].write(sketch, node, place)
        stack += [(first, depth + 1, index), (second, depth + 1, index | 1 << depth)]
    if loss in ("Logloss", "CrossEntropy"):
        sketch.classes = _class_names(document)
        if len(trees) == 1:  # a single tree decides by the sign of its margin
            scale, bias = document.get("scale_and_bias", [1, [0]])
            for node, leaf in leaves.items():
                value = scale * trees[0]["leaf_values"][leaf] + bias[0]
                sketch.label[node] = int(value > 0)
    return sketch


class _Test:
    """A test of an oblivious tree, shared by all nodes of a level."""

    def __init__(self, split, numbers, nominal, features):
        self.border = self.value = None
        if split["split_type"] == "FloatFeature":
            self.feature = numbers[split["float_feature_index"]]
            self.border = split["border"]
        elif split["split_type"] == "OneHotFeature":
            self.feature = nominal[split["cat_feature_index"]]
            self.value = _category(split["value"], features)
        else:
            raise ValueError(_TARGET_STATISTIC)
        self.column = self.feature["flat_feature_index"]

    def write(self, sketch, node, place):
        column = place[self.column]
        if self.border is not None:
            missing = 1 if self.feature.get("nan_value_treatment") == "AsTrue" else 0
            return sketch.numeric(node, column, self.border, missing)
        labels = sketch.categories[column]
        # Untested categories simply fail the test.
        return sketch.nominal(node, column, [int(x == self.value) for x in labels], 0, width=2)


def _category(code, features):
    """Return the category of a hash; CatBoost saves it only together with the data."""
    for pair in features.get("cat_features_hash") or []:
        if pair["hash"] % 2**32 == code % 2**32:
            return pair["value"]
    raise ValueError(
        "The model does not hold the names of its categories; save it with "
        "model.save_model(path, format='json', pool=pool) and keep the file."
    )


def _categories(columns, nominal, tests):
    names = {f["flat_feature_index"]: {} for f in nominal}
    for test in tests:
        if test.value is not None:
            names[test.column][test.value] = None
    flat = [f["flat_feature_index"] for f in columns]
    return tuple(tuple(names[j]) or ("(other)",) if j in names else None for j in flat)


def _loss(document):
    parameters = document["model_info"]["params"]
    parameters = json.loads(parameters) if isinstance(parameters, str) else parameters
    return parameters["loss_function"]["type"]


def _class_names(document):
    found = document["model_info"].get("class_params") or {}
    found = json.loads(found) if isinstance(found, str) else found
    return found.get("class_names") or [0, 1]
