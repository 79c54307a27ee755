"""A Tree as indented text: the format that experts write and :func:`keeptree.keep` reads."""

import json
import re
import sys

import numpy as np

from keeptree.data.labels import is_other_label, plain
from keeptree.text import number_text
from keeptree.tree.kinds import ERROR, LEAF, NOMINAL, SHARE
from keeptree.tree.oblique import written_sum

_INDENT = "  "
_LARGEST = sys.float_info.max  # tests that only separate missing values use it: no number is larger
# Text with any of these characters is quoted, because the grammar in importers/written.py uses
# them.
_CONTROL = r'"#\\\x00-\x1f\x7f-\x9f\u2028\u2029'
_IN_NAMES = re.compile(
    rf"[<>=≤≥≠!:{{}}|{_CONTROL}]|\bin\b|^not\b|^\s|\s$|^$|^(else|missing)$|(?i:^if\s)"
    r"|\bis\s+(known|missing|unseen)\b"
)
_IN_LABELS = re.compile(
    rf"[:,(){{}}{_CONTROL}]|^[=|\s]|\s$|^$|\bor (missing|unseen)$"
    r"|(?i:(?<!\S)(and|or|&+)\s.*([<>=≤≥≠]|\sis\s))"  # reads like a second test
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SUM = re.compile(r"\s*[+-]?\s*(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*[*×]")
ROUNDED = "round to float32"  # first line of a tree whose weighted sums are computed in float32


def tree_to_text(tree, precision=6):
    """Return one line per branch, indented by depth, with the class and cases of each leaf.

    Parameters
    ----------
    tree : Tree
        The tree.
    precision : int or None
        Significant digits of thresholds and counts. None writes all digits, and also where missing
        values go.
    """
    leaf_text = _LeafText(tree, precision)
    if tree.kind[0] == LEAF:
        return f": {leaf_text(0)}"
    branches = outline(tree, branch_writer(tree, precision), leaf_text, _INDENT)
    return branches if precision is not None else f"{_rounding(tree)}{_refusals(tree)}{branches}"


def _rounding(tree):
    """Return the line which states that weighted sums are computed in float32, or none.

    Thresholds alone cannot express this.
    """
    return f"{ROUNDED}\n" if tree.has_oblique and tree.compare_dtype == "float32" else ""


def branch_writer(tree, precision=6):
    """Return a function that writes the condition of a :class:`~keeptree.tree.Branch` as text."""
    reachable = _reachable_labels(tree)
    return lambda branch: _branch_text(tree, branch, precision, reachable[branch.node])


def _refusals(tree):
    """Return a line for each tested column in which labels outside its categories are an error."""
    in_order = tree.preorder[tree.kind[tree.preorder] == NOMINAL]
    tested = dict.fromkeys(tree.feature[in_order].tolist())
    refusing = [f for f in tested if tree.unknown[f] == ERROR]
    return "".join(f"refuse unseen {quote_name(tree.feature_name(f))}\n" for f in refusing)


def outline(tree, branch_text, leaf_text, indent):
    """Return the branches of a tree as indented lines, given functions for branch and leaf text."""
    lines = []
    for node in tree.preorder[1:].tolist():
        line = indent * int(tree.depth[node] - 1) + branch_text(tree.branch(node))
        lines.append(line + (f": {leaf_text(node)}" if tree.kind[node] == LEAF else ""))
    return "\n".join(lines)


def is_number_text(text):
    """Return whether the format reads unquoted text as a number.

    Examples
    --------
    >>> is_number_text("-2.5e3"), is_number_text("nan"), is_number_text("12 months")
    (True, False, False)
    """
    return _NUMBER.fullmatch(text) is not None


def label_value(text):
    """Return the value of an unquoted label: a number if the text is in Python's notation.

    Examples
    --------
    >>> label_value("3"), label_value("2.5"), label_value("007"), label_value("yes")
    (3, 2.5, '007', 'yes')
    """
    for kind in (int, float):
        try:
            if repr(kind(text)) == text and is_number_text(text):
                return kind(text)
        except ValueError:
            continue
    return text


def quote_name(name):
    """Return the name of a column in the format's notation, quoted where it could be misread.

    Examples
    --------
    >>> quote_name("petal width (cm)"), quote_name("a <= b")
    ('petal width (cm)', '"a <= b"')
    """
    return _quoted(name) if _IN_NAMES.search(name) or starts_sum(name) else name


def starts_sum(text):
    """Return whether unquoted text starts like a weighted sum: ``0.8 * age``."""
    return _SUM.match(text) is not None or text == ROUNDED


def quote_label(label, exact=False):
    """Return a category or class in the format's notation, quoted where it could be misread.

    With ``exact``, text that looks like a number is quoted too. Otherwise it is read back as a
    number unless the data show that it is text.

    Examples
    --------
    >>> quote_label("single"), quote_label(3), quote_label("no, never")
    ('single', '3', '"no, never"')
    >>> quote_label("3"), quote_label("3", exact=True)
    ('3', '"3"')
    """
    label = plain(label)
    text = str(label)
    misread = exact and isinstance(label, str) and label_value(text) != text
    return _quoted(text) if misread or _IN_LABELS.search(text) else text


def _quoted(text):
    readable = text.isprintable() or not re.search("[^ -~]", text)
    return json.dumps(text, ensure_ascii=not readable)


def _branch_text(tree, branch, precision, reachable):
    node = branch.node
    name = written_sum(tree, node, precision) if branch.is_oblique else quote_name(branch.name)
    missing = " or missing" if _tells_missing(tree, branch, precision) else ""
    if branch.is_numeric:
        if _tests_missing(tree, node, precision):
            return f"{name} is {'known' if branch.sign == '<=' else 'missing'}"
        strict, number = _cut_text(tree, node, precision)
        sign = {"<=": "<", ">": ">="}[branch.sign] if strict else branch.sign
        return f"{name} {sign} {number}{missing}"
    if not branch.labels:  # only missing values get here
        return f"{name} is missing"
    labels = [label for label in branch.labels if label in reachable] or branch.labels
    labels, unseen = _split_unseen(tree, branch.feature, labels)
    if not labels:
        return f"{name} is unseen{missing}"
    labels = [quote_label(label, precision is None) for label in labels]
    listed = f"= {labels[0]}" if len(labels) == 1 else f"in {{{', '.join(labels)}}}"
    return f"{name} {listed}{' or unseen' if unseen else ''}{missing}"


def _tells_missing(tree, branch, precision):
    """Return whether the text of a branch must state that missing values follow it."""
    rule = tree.missing[branch.node]
    if rule == SHARE and not branch.is_numeric:
        taken = tree.category_children(branch.node)
        bare = np.setdiff1d(tree.children(branch.node), taken)
        # ``is missing`` on one branch alone would be read as: all missing values go there
        if len(bare):
            return True
    return precision is None and rule in (SHARE, branch.child)


def _tests_missing(tree, node, precision):
    """Return whether a numeric test only checks whether a value is missing."""
    asks = tree.threshold[node] == _LARGEST and tree.missing[node] == tree.children(node)[1]
    # A number that overflows float32 goes where missing values go.
    return asks and (precision is not None or tree.compare_dtype == "float64")


def _split_unseen(tree, feature, labels):
    """Return the known labels of a branch, and whether unseen labels follow it too."""
    code = tree.unknown[feature]
    other = None if code < 0 else tree.categories[feature][code]
    if other is None or other not in labels:
        return labels, False
    return [x for x in labels if x != other or not is_other_label(x)], True


def _cut_text(tree, node, precision):
    """Return whether a numeric test is clearer with ``<``, and the number to write.

    A tree stores ``x < 45`` as ``x <= 44.99999999999999``. Rounded to six digits, this would read
    ``x <= 45``, which is a different test.
    """
    threshold = float(tree.threshold[node])
    kind = np.float32 if tree.compare_dtype == "float32" else np.float64
    if precision is None and kind is np.float32 and not tree.has_oblique:
        # The reader of the text compares in float64, so write the largest number that still rounds
        # to the left side.
        threshold, kind = _largest_rounding_down(threshold), np.float64
    text = _number(threshold, precision)
    with np.errstate(over="ignore"):
        following = float(_next_above(threshold, kind)) + 0.0  # 0 instead of -0
    if not np.isfinite(following):
        return False, text
    following_text = _number(following, precision)
    exact = float(following_text) == following
    better = float(text) != threshold or len(following_text) + 3 < len(text)
    return (True, following_text) if exact and better else (False, text)


def _next_above(threshold, kind):
    """Return the smallest number of a type above the threshold."""
    rounded = kind(threshold)
    return rounded if float(rounded) > threshold else np.nextafter(rounded, kind(np.inf))


def _largest_rounding_down(threshold):
    """Return the largest float64 that rounds to a float32 of at most the threshold."""
    with np.errstate(over="ignore"):
        above = _next_above(threshold, np.float32)
        low = np.nextafter(above, np.float32(-np.inf))
    if np.isinf(low):  # no smaller float32 exists, so the number rounds to -inf
        return -float(np.finfo(np.float64).max)
    if np.isinf(above):  # float32 rounds this number and larger ones to infinity
        middle = float(np.finfo(np.float32).max) + 2.0**103
    else:
        # Exact, because the midpoint needs only one bit more than float32 has.
        middle = (float(low) + float(above)) / 2
    with np.errstate(over="ignore"):
        stays = float(np.float32(middle)) <= threshold
    return middle if stays else float(np.nextafter(middle, -np.inf))


def _number(value, precision):
    if precision is not None:
        return number_text(value, precision)
    return repr(float(value)).removesuffix(".0")


class _LeafText:
    """Writes the class and cases of a leaf: ``grant (12/3)`` means 12 cases, 3 of another class."""

    def __init__(self, tree, precision):
        self.tree, self.precision = tree, precision
        if tree.classes is not None:
            shown = set(tree.label[tree.kind == LEAF].tolist())
            # With two classes that both appear, the text need not name the class of the errors.
            self.by_class = len(tree.classes) > 2 or len(shown) < len(tree.classes)

    def __call__(self, node):
        tree, weight = self.tree, self.tree.weight[node]
        if tree.classes is None:
            mean = _number(tree.mean[node], self.precision)
            return f"{mean} ({_number(weight, self.precision)})"
        label = quote_label(tree.classes[tree.label[node]], self.precision is None)
        return f"{label} ({self._cases(node, weight)})" if tree.weight[0] > 0 else label

    def _cases(self, node, weight):
        tree, label = self.tree, self.tree.label[node]
        counts = tree.counts[node]
        if self.precision is None and not (counts == np.rint(counts)).all():
            return self._listed(counts, np.flatnonzero(counts))
        errors = weight - counts[label]
        total = _number(weight, self.precision)
        if errors <= 1e-9 * max(weight, 1):
            return total
        if not self.by_class:
            return f"{total}/{_number(errors, self.precision)}"
        others = [c for c in np.flatnonzero(counts).tolist() if c != label]
        return f"{total}/{self._listed(counts, others)}"

    def _listed(self, counts, codes):
        return ", ".join(
            f"{_number(counts[c], self.precision)} of "
            f"{quote_label(self.tree.classes[c], self.precision is None)}"
            for c in codes
        )


def _reachable_labels(tree):
    """Return, for each nominal test, the categories that the tests above it let through."""
    reachable = {0: {}}  # node -> {column: labels}, for columns that were tested above
    for node in tree.preorder.tolist():
        above = reachable[node]
        feature = int(tree.feature[node])
        nominal = tree.kind[node] == NOMINAL
        for child in tree.children(node).tolist():
            reachable[child] = above
            if nominal:
                labels = above.get(feature, tree.categories[feature])
                taken = set(tree.branch(child).labels)
                reachable[child] = {**above, feature: tuple(x for x in labels if x in taken)}
        if nominal:
            reachable[node] = above.get(feature, tree.categories[feature])
    return reachable
