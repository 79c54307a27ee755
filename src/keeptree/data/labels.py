"""Class labels: plain Python values, display names and codes."""

import re
from numbers import Number

import numpy as np

from keeptree.choice import one_of

TRUTH = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0}  # booleans as text


def plain(label):
    """Convert a NumPy scalar to the equal, hashable Python value that JSON would hold.

    Examples
    --------
    >>> plain(np.int32(3)), plain("yes")
    (3, 'yes')
    """
    if not isinstance(label, np.generic):
        return label
    if isinstance(label, np.datetime64) and isinstance(label.item(), int):
        label = label.astype("datetime64[us]")  # Python has no nanoseconds
    return label.item()


def portable(label):
    """Convert a label to text, a number or a boolean, which every file format can hold.

    Dates become text.

    Examples
    --------
    >>> portable(np.int32(3)), portable(np.datetime64("2026-01-31"))
    (3, '2026-01-31')
    """
    is_time = isinstance(label, np.datetime64 | np.timedelta64)
    value = plain(label)
    return str(label) if is_time or not isinstance(value, str | bool | int | float) else value


def is_missing(label):
    """Return whether a label is missing: None, NaN, NaT or pandas' NA.

    Examples
    --------
    >>> is_missing(float("nan")), is_missing("nan")
    (True, False)
    """
    if label is None or type(label).__name__ == "NAType":
        return True
    unequal = label != label  # NaN and NaT are not equal to themselves
    return isinstance(unequal, bool | np.bool_) and bool(unequal)


def sorting_order(labels):
    """Return the indices that sort labels; labels that cannot be compared keep their order.

    Examples
    --------
    >>> sorting_order(np.array(["yes", "no"])).tolist()
    [1, 0]
    >>> sorting_order(np.array(["yes", 1], dtype=object)).tolist()
    [0, 1]
    """
    try:
        return np.argsort(labels, kind="stable")
    except (TypeError, ValueError):
        return np.arange(len(labels))


def label_kind(label):
    """Describe the kind of a label: text, numbers (including booleans) or its type name.

    Examples
    --------
    >>> label_kind("3"), label_kind(3), label_kind(True), label_kind((1, 2))
    ('text', 'numbers', 'numbers', 'tuple')
    """
    if isinstance(label, str):
        return "text"
    return "numbers" if isinstance(label, Number | np.bool_) else type(label).__name__


def tell_kinds(labels):
    """Name the kinds of some labels in a message, with booleans apart from numbers.

    Examples
    --------
    >>> tell_kinds([True, False]), tell_kinds([3, "red"])
    ('booleans', 'numbers and text')
    """
    kinds = {
        "booleans" if isinstance(label, bool | np.bool_) else label_kind(label) for label in labels
    }
    return " and ".join(sorted(kinds))


def other_label(labels):
    """Return a label for all other categories: ``"(other)"``, unless ``labels`` contains it.

    Examples
    --------
    >>> other_label(["red", "blue"]), other_label(["red", "(other)"])
    ('(other)', '((other))')
    """
    return free_label("(other)", labels)


def free_label(label, labels):
    """Return a label in as many brackets as it takes to differ from ``labels``.

    Examples
    --------
    >>> free_label("none", ["none", "(none)"])
    '((none))'
    """
    while label in labels:
        label = f"({label})"
    return label


def is_other_label(label):
    """Return whether :func:`other_label` may have created a label.

    Examples
    --------
    >>> is_other_label("((other))"), is_other_label("other")
    (True, False)
    """
    return isinstance(label, str) and re.fullmatch(r"\(+other\)+", label) is not None


def named_label(text, classes):
    """Return the class that a user typed as text: "1" also names 1 and 1.0, "true" names True.

    Parameters
    ----------
    text : str
        Text to look up.
    classes : sequence
        Distinct labels.

    Returns
    -------
    label : object
        One of the classes as a plain value, or the text itself if it names none.

    Examples
    --------
    >>> named_label("1", np.array([0, 1])), named_label("1", ["0", "1"]), named_label("2", [0, 1])
    (1, '1', '2')
    """
    labels = [plain(label) for label in classes]
    number = _number(text)
    alike = (
        label
        for label in labels
        if (type(label) in (int, float) and label == number)
        or (type(label) is bool and label == TRUTH.get(text))
    )
    return next((label for label in labels if str(label) == text), next(alike, text))


def find_class(text, labels):
    """Return the class that a user typed, or raise a ValueError with a suggestion.

    Examples
    --------
    >>> find_class("1", [0, 1, 0])
    1
    >>> find_class("hihg", ["low", "high"])
    Traceback (most recent call last):
    ...
    ValueError: There is no class 'hihg'; did you mean 'high'?
    """
    classes = list(dict.fromkeys(map(plain, labels)))
    return one_of(classes, named_label(text, classes), "class", most=10)


def target_name(y):
    """Return the column name of a target, or None.

    Examples
    --------
    >>> import pandas as pd
    >>> target_name(pd.Series([0, 1], name="Survived")), target_name([0, 1])
    ('Survived', None)
    """
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name.strip() else None


def name_classes(classes, target=None, names=None):
    """Return display names of the classes of a target.

    Parameters
    ----------
    classes : sequence
        Distinct labels.
    target : str, optional
        Column name of the target, shown with numeric labels.
    names : dict of str to str, optional
        Names chosen by the user, by the label as text.

    Returns
    -------
    names : tuple of str
        Display names, in the order of the classes.

    Examples
    --------
    >>> name_classes(np.array([0, 1]), "Survived")
    ('Survived = 0', 'Survived = 1')
    >>> name_classes(np.array([0, 1]), "Survived", {"1": "survived"})
    ('Survived = 0', 'survived')
    >>> name_classes(["ham", "spam"], "kind")
    ('ham', 'spam')
    """
    told = []
    for label in map(portable, classes):
        text = str(label)
        if names and text in names:
            told.append(names[text])
        elif target and (label_kind(label) == "numbers" or _number(text) is not None):
            told.append(f"{target} = {text}")
        else:
            told.append(text)
    return tuple(told)


def label_names(classes, labels, names=None):
    """Return the display names of classes after some were replaced.

    Parameters
    ----------
    classes : sequence
        Distinct labels.
    labels : dict
        Class, or its text -> new name. Unknown classes and duplicate names raise a ValueError.
    names : sequence of str, optional
        Current names; by default the labels as text.

    Returns
    -------
    names : tuple of str
        Display names, in the order of the classes.

    Examples
    --------
    >>> label_names(np.array([0, 1]), {"1": "survived"}, ("Survived = 0", "Survived = 1"))
    ('Survived = 0', 'survived')
    """
    classes = [plain(label) for label in classes]
    names = list(name_classes(classes) if names is None else names)
    for label, name in labels.items():
        found = label if label in classes else find_class(str(label), classes)
        names[classes.index(found)] = str(name)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"Two classes would be called {twice!r}; give each its own name.")
    return tuple(names)


def class_names(model, classes):
    """Return the display names of a fitted model's classes; by default the labels as text.

    Parameters
    ----------
    model : fitted model or Tree
        Model whose ``class_names_`` are used, if it has any.
    classes : sequence
        Class labels of the model.
    """
    return getattr(model, "class_names_", None) or name_classes(classes)


def rename_classes(model, labels):
    """Rename classes of a fitted model for display, in its ``class_names_``.

    Parameters
    ----------
    model : fitted classifier
        KeepTree classifier; saved models keep the names.
    labels : dict
        New names, as in :func:`label_names`.
    """
    if labels:
        names = class_names(model, model.classes_)
        model.class_names_ = label_names(model.classes_, labels, names)


def label_codes(labels, classes):
    """Return labels as positions in ``classes``.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Labels; missing and unknown ones raise a ValueError.
    classes : sequence
        Distinct labels.

    Returns
    -------
    codes : ndarray of shape (n,), int64
        Position of each label.

    Examples
    --------
    >>> label_codes(["yes", "no", "yes"], ["no", "yes"])
    array([1, 0, 1])
    """
    position = {plain(label): code for code, label in enumerate(classes)}
    values, inverse = _distinct(labels)
    missing = np.array([is_missing(value) for value in values], dtype=bool)
    values = [plain(value) for value in values]
    if missing.any():
        count = int(np.count_nonzero(missing[inverse]))
        rows = "1 row" if count == 1 else f"{count} rows"
        raise ValueError(f"y has missing labels (None or NaN) in {rows}; remove those rows.")
    unknown = [value for value in values if value not in position]
    if unknown:
        raise ValueError(
            f"The tree does not know the labels {unknown[:5]}; its classes are "
            f"{[plain(label) for label in classes[:20]]}."
        )
    return np.array([position[value] for value in values], dtype=np.int64)[inverse]


def recode(codes, labels, classes):
    """Translate codes of ``labels`` into codes of ``classes``; unused labels may be unknown.

    Examples
    --------
    >>> recode(np.array([0, 2]), np.array(["a", "b", "c"]), ["c", "a"])
    array([1, 0])
    """
    used = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
    position = np.empty(len(labels), dtype=np.int64)
    position[used] = label_codes(labels[used], classes)
    return position[codes]


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None


def _distinct(labels):
    """Return the distinct labels and the index of each label among them."""
    # NumPy would convert mixed text and numbers to text.
    labels = np.asarray(labels, dtype=object if isinstance(labels, list | tuple) else None)
    if labels.ndim != 1:
        raise ValueError(f"y has {labels.ndim} dimension(s); give a list of labels.")
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)
    # Mixed types cannot be sorted, so np.unique would fail.
    seen = {}
    inverse = [seen.setdefault(plain(label), len(seen)) for label in labels]
    return list(seen), np.array(inverse, dtype=np.int64)
