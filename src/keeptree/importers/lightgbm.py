"""Read one tree of a LightGBM model, from memory or text."""

import json
import math
import re

import numpy as np

from keeptree.importers.boosting import binary_counts, describe, set_counts
from keeptree.importers.members import choose_tree
from keeptree.importers.sketch import Sketch, just_below

_CLASSIFIES = ("binary", "multiclass", "multiclassova", "cross_entropy")
_ZERO = float(np.float32(1e-35))  # LightGBM's kZeroThreshold
_MISSING_NONE, _MISSING_ZERO = 0, 1  # bits 2 and 3 of decision_type
# Settings for which class counts cannot be recovered from the first round.
_NEUTRAL = {
    "lambda_l1": 0.0, "max_delta_step": 0.0, "scale_pos_weight": 1.0, "sigmoid": 1.0,
    "is_unbalance": 0.0, "bagging_freq": 0.0, "path_smooth": 0.0, "boost_from_average": 1.0,
}  # fmt: skip


def live_model(model, *, tree=None):
    """Return the Sketch of one tree of an ``LGBMClassifier`` or ``Booster``."""
    from sklearn.utils.validation import check_is_fitted

    if hasattr(model, "booster_") or hasattr(model, "fit"):
        check_is_fitted(model)
    booster = getattr(model, "booster_", model)
    sketch = read_text(booster.model_to_string(), tree=tree)
    labels = getattr(model, "classes_", None)
    if sketch.classes is not None and labels is not None:
        sketch.classes = list(labels)
    return sketch


def read_text(text, *, tree=None):
    """Return the Sketch of one tree in LightGBM's text format."""
    head, *blocks = re.split(r"^Tree=\d+\n", text, flags=re.MULTILINE)
    if blocks and "end of trees" not in blocks[-1]:
        raise ValueError("The file ends unexpectedly; it may have been cut off.")
    head = _fields(head)
    objective = head.get("objective", "none").split(" ")
    if objective[0] not in _CLASSIFIES:
        raise ValueError(
            f"This LightGBM model has the objective {objective[0]!r:.50}, which does not classify; "
            "keep a classifier (binary, multiclass)."
        )
    number = choose_tree(tree, len(blocks), "this model")
    block = _fields(blocks[number].split("end of trees")[0])
    if block.get("is_linear", "0") == "1":
        raise ValueError(
            "The leaves of this tree hold linear models, not values; fit with linear_tree=False."
        )
    sketch = Sketch(
        tuple(head["feature_names"].split(" ")),
        _categories(head, text),
        source=describe(number, len(blocks), "LightGBM"),
    )
    leaves = _write_nodes(sketch, block)
    if objective[0] == "binary":
        sketch.classes = [0, 1]
        _binary_answers(sketch, block, leaves, _parameters(text), number, len(blocks))
    return sketch


def _fields(text):
    """Return the lines ``name=value`` as a dict."""
    lines = (line.partition("=") for line in text.splitlines())
    return {name: value for name, sign, value in lines if sign}


def _parameters(text):
    return dict(re.findall(r"^\[(\w+): ([^\]\n]*)\]$", text, flags=re.MULTILINE))


def _numbers(block, name, kind=float):
    return [kind(value) for value in block.get(name, "").split()]


def _categories(head, text):
    """Return the labels of the categorical columns, in the order of pandas."""
    infos = head["feature_infos"].split(" ")
    found = re.search(r"^pandas_categorical:(.*)$", text, flags=re.MULTILINE)
    stored = iter(json.loads(found[1]) or [] if found else [])
    categories = []
    for info in infos:
        if info[:1] == "[" or info == "none":
            categories.append(None)
        else:
            codes = [int(code) for code in info.split(":")]
            categories.append(tuple(next(stored, None) or range(max(codes) + 1)))
    return tuple(categories)


def _write_nodes(sketch, block):
    """Fill the sketch and return ``{node: leaf index}``."""
    if int(block["num_leaves"]) == 1:
        return {0: 0}
    feature, left, right, kinds = (
        _numbers(block, name, int)
        for name in ("split_feature", "left_child", "right_child", "decision_type")
    )
    threshold = _numbers(block, "threshold")
    sets = _CategorySets(block)
    leaves, stack = {}, [(0, 0)]
    while stack:
        node, i = stack.pop()
        if i < 0:
            leaves[node] = -1 - i
            continue
        column = feature[i]
        if kinds[i] & 1:
            going_left = sets.codes(int(threshold[i]))
            labels = _labels(sketch, column, going_left)
            branch_of = [0 if code in going_left else 1 for code in range(len(labels))]
            children = sketch.nominal(node, column, branch_of, 1, width=2)
        else:
            missing = _missing_branch(kinds[i], threshold[i])
            children = sketch.numeric(node, column, _effective(threshold[i]), missing)
        if len(leaves) > len(left) + 1:
            raise ValueError("The nodes of the tree form a cycle.")
        stack += zip(children, (left[i], right[i]), strict=True)
    return leaves


def _effective(threshold):
    """Return the effective threshold, because LightGBM treats numbers close to 0 as 0."""
    if 0 <= threshold <= _ZERO:
        return _ZERO
    return just_below(-_ZERO) if -_ZERO <= threshold < 0 else threshold


def _missing_branch(kind, threshold):
    rule = kind >> 2 & 3
    if rule == _MISSING_ZERO:
        raise ValueError(
            "This model treats 0 as missing (zero_as_missing=True), which a test of the form x <= "
            "t cannot express."
        )
    if rule == _MISSING_NONE:
        return 0 if threshold >= 0 else 1  # LightGBM treats NaN as 0 here
    return 0 if kind & 2 else 1


def _labels(sketch, column, codes):
    """Return the labels of a categorical column, or codes if the file has no labels."""
    if sketch.categories[column] is None:
        changed = list(sketch.categories)
        changed[column] = tuple(range(max(codes) + 1))
        sketch.categories = tuple(changed)
    return sketch.categories[column]


class _CategorySets:
    """Sets of category codes of a tree, stored as 32-bit words."""

    def __init__(self, block):
        self.start = _numbers(block, "cat_boundaries", int)
        self.words = _numbers(block, "cat_threshold", int)

    def codes(self, number):
        words = self.words[self.start[number] : self.start[number + 1]]
        return {
            32 * w + bit for w, word in enumerate(words) for bit in range(32) if word >> bit & 1
        }


def _binary_answers(sketch, block, leaves, settings, number, n_trees):
    values, cases = _numbers(block, "leaf_value"), _numbers(block, "leaf_count", int)
    if n_trees == 1:  # a single tree decides by the sign of its margin
        for node, leaf in leaves.items():
            sketch.label[node] = int(values[leaf] > 0)
    if number or not cases or len(leaves) < 2:
        return
    neutral = all(float(settings.get(name, v)) == v for name, v in _NEUTRAL.items())
    if not neutral or settings.get("boosting", "gbdt") not in ("gbdt", "dart"):
        return
    weights = np.array(_numbers(block, "leaf_weight"))
    hessian = weights.sum() / sum(cases)  # prior (1 - prior) per case, if cases are unweighted
    rate, penalty = float(settings["learning_rate"]), float(settings.get("lambda_l2", 0))
    if not 0 < hessian <= 0.25 + 1e-9:
        return
    root = math.sqrt(max(0.25 - hessian, 0.0))
    for prior in (0.5 - root, 0.5 + root):
        # The leaf values of the first tree include the log-odds of the prior.
        start = math.log(prior / (1 - prior))
        found = {
            node: binary_counts(cases[leaf], values[leaf] - start, prior, rate, penalty)
            for node, leaf in leaves.items()
        }
        if all(counts is not None for counts in found.values()):
            total = sum(counts[1] for counts in found.values()) / sum(cases)
            if abs(total - prior) < 1e-6:
                set_counts(sketch, found)
                return
