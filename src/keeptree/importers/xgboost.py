"""Read one tree of an XGBoost model, from memory, JSON or UBJSON."""

import json
import re
from itertools import pairwise

import numpy as np

from keeptree.importers.boosting import binary_counts, describe, set_counts
from keeptree.importers.members import choose_tree
from keeptree.importers.sketch import Sketch, just_below
from keeptree.importers.ubjson import parse_ubjson

_CLASSIFIES = {"binary:logistic": 2, "binary:logitraw": 2, "binary:hinge": 2}
_MANY = ("multi:softprob", "multi:softmax")
# Settings for which class counts cannot be recovered from the first round.
_NEUTRAL = {"alpha": 0.0, "reg_alpha": 0.0, "max_delta_step": 0.0, "subsample": 1.0}


def live_model(model, *, tree=None):
    """Return the Sketch of one tree of an ``XGBClassifier`` or ``Booster``."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    document = json.loads(bytes(booster.save_raw("json")))
    settings = json.loads(booster.save_config())["learner"]["gradient_booster"]
    settings = settings.get("tree_train_param")
    return _sketch(document, tree, settings, getattr(model, "missing", np.nan))


def read_ubjson(content, *, tree=None):
    """Return the Sketch of one tree of a model saved as UBJSON."""
    return _sketch(parse_ubjson(content), tree)


def read_document(document, *, tree=None):
    """Return the Sketch of one tree of a model saved as JSON."""
    return _sketch(document, tree)


def _sketch(document, tree, settings=None, missing=np.nan):
    learner = document["learner"]
    booster = learner["gradient_booster"]
    if booster["name"] == "dart":
        booster = booster["gbtree"]
    if booster["name"] != "gbtree":
        raise ValueError(
            f"This XGBoost model is of kind {booster['name']!r:.50}, not of trees; keep a tree "
            "booster (gbtree)."
        )
    _check_objective(learner)
    if not np.isnan(missing):
        raise ValueError(
            f"This model was fitted with missing={missing!r:.50}, so a number represents missing "
            f"values; in a Tree only NaN is missing."
        )
    trees = booster["model"]["trees"]
    number = choose_tree(tree, len(trees), "this model")
    source = trees[number]
    if int(source["tree_param"].get("size_leaf_vector", 1)) > 1:
        raise ValueError(
            "The leaves of this tree hold a vector for several outputs; fit one model for each "
            "output."
        )
    columns = learner.get("feature_names") or int(learner["learner_model_param"]["num_feature"])
    sketch = Sketch(
        columns if isinstance(columns, int) else tuple(columns),
        _categories(booster["model"], learner, trees),
        compare_dtype="float32",
        source=describe(number, len(trees), "XGBoost"),
    )
    leaves = _write_nodes(sketch, source)
    if learner["objective"]["name"] in _CLASSIFIES:
        sketch.classes = [0, 1]
        if number == 0 and settings is not None:
            set_counts(sketch, _counts(learner, source, leaves, settings))
        if len(trees) == 1:
            _label_by_margin(sketch, learner, source, leaves)
    return sketch


def _check_objective(learner):
    name = learner["objective"]["name"]
    if name not in _CLASSIFIES and name not in _MANY:
        raise ValueError(
            f"This XGBoost model has the objective {name!r:.50}, which does not classify; keep a "
            "classifier (binary:logistic, multi:softprob)."
        )


def _write_nodes(sketch, source):
    """Fill the sketch and return ``{node: index in the source}`` of the leaves."""
    left, right = source["left_children"], source["right_children"]
    going_right = {
        node: set(source["categories"][start : start + size])
        for node, start, size in zip(
            source["categories_nodes"],
            source["categories_segments"],
            source["categories_sizes"],
            strict=True,
        )
    }
    leaves, stack = {}, [(0, 0)]
    while stack:
        node, i = stack.pop()
        if left[i] < 0:
            leaves[node] = i
            continue
        feature, missing = source["split_indices"][i], 0 if source["default_left"][i] else 1
        if source["split_type"][i]:
            labels = sketch.categories[feature]
            branch_of = [int(code in going_right[i]) for code in range(len(labels))]
            children = sketch.nominal(node, feature, branch_of, missing, width=2)
        else:
            # XGBoost compares float32 numbers and goes left if value < threshold.
            threshold = just_below(np.float32(source["split_conditions"][i]), np.float32)
            children = sketch.numeric(node, feature, threshold, missing)
        if len(leaves) + len(stack) > len(left):
            raise ValueError("The nodes of the tree form a cycle.")
        stack += zip(children, (left[i], right[i]), strict=True)
    return leaves


def _categories(model, learner, trees):
    """Return the labels of the categorical columns, or codes up to the largest one tested."""
    types = learner.get("feature_types") or []
    if "c" not in types:
        return None
    stored = model.get("cats", {}).get("enc") or [None] * len(types)
    return tuple(
        (_labels(stored[j]) or _codes(trees, j)) if kind == "c" else None
        for j, kind in enumerate(types)
    )


def _labels(encoded):
    """Return category names, stored as UTF-8 bytes with offsets or as numbers."""
    if not encoded or not encoded.get("values"):
        return None
    values, offsets = encoded["values"], encoded.get("offsets")
    if offsets:
        text = bytes(value % 256 for value in values)
        return tuple(text[a:b].decode() for a, b in pairwise(offsets))
    return tuple(values)


def _codes(trees, column):
    found = [-1]
    for tree in trees:
        nodes = zip(
            tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"],
            strict=True,
        )  # fmt: skip
        for node, start, size in nodes:
            if tree["split_indices"][node] == column:
                found += tree["categories"][start : start + size]
    return tuple(range(max(found) + 1)) or (0,)


def _base_score(learner):
    return float(re.sub(r"[\[\]]", "", learner["learner_model_param"]["base_score"]))


def _counts(learner, source, leaves, settings):
    prior = _base_score(learner)
    neutral = all(float(settings.get(k, v)) == v for k, v in _NEUTRAL.items())
    weighted = float(learner["objective"].get("reg_loss_param", {}).get("scale_pos_weight", 1)) != 1
    if not neutral or weighted or learner["objective"]["name"] != "binary:logistic":
        return {}
    rate, penalty = float(settings["learning_rate"]), float(settings["reg_lambda"])
    return {
        node: binary_counts(
            source["sum_hessian"][i] / (prior * (1 - prior)),
            source["split_conditions"][i], prior, rate, penalty,
        )
        for node, i in leaves.items()
    }  # fmt: skip


def _label_by_margin(sketch, learner, source, leaves):
    """Set the labels of a model with a single tree by the sign of its margin."""
    score = _base_score(learner)
    if learner["objective"]["name"] != "binary:logistic" or not 0 < score < 1:
        return
    with np.errstate(divide="ignore"):
        margin = np.float32(-np.log(1 / np.float32(score) - 1))
    for node, i in leaves.items():
        sketch.label[node] = int(margin + np.float32(source["split_conditions"][i]) > 0)
