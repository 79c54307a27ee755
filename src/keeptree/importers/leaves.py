"""Set the classes and class counts of the leaves of a tree read from text."""

import numpy as np

from keeptree.data.labels import sorting_order
from keeptree.importers.known import match_label
from keeptree.importers.line import check_absent


def give_classes(sketch, leaves, known=None):
    """Set the classes of a Sketch, the class of each leaf and, if complete, its counts.

    Parameters
    ----------
    sketch : Sketch
        Sketch that has its tests.
    leaves : dict of int to (Leaf, int)
        Text of each leaf and its line number.
    known : Known, optional
        Labels of the data, to check the classes against.
    """
    _read_labels(leaves, known)
    sketch.classes = _classes(leaves, known)
    position = {label: code for code, label in enumerate(sketch.classes)}
    for node, (leaf, _) in leaves.items():
        sketch.label[node] = position[leaf.label]
    given = [leaf.weight is not None or bool(leaf.others) for leaf, _ in leaves.values()]
    if known is not None or not any(given):
        return  # counts of the text are not needed, because rows of the data are counted
    counts = {node: _counts(leaf, position) for node, (leaf, _) in leaves.items()}
    if not all(given):
        sketch.lost.append("Some leaves have no counts, so the counts of the others are not used.")
    elif any(values is None for values in counts.values()):
        sketch.lost.append(
            "The text gives the number of cases of other classes in a leaf, but not their "
            "classes, so its counts are not used; give X and y to count rows."
        )
    else:
        for node, values in counts.items():
            sketch.counts[node] = values
        sketch.source["counts"] = "the text"


def _read_labels(leaves, known):
    """Return the leaves with their labels replaced by the matching labels of the data."""
    data = known.classes if known is not None else ()
    labels = [label for leaf, _ in leaves.values() for label in (leaf.label, *leaf.others)]
    # If one label is text, all labels are text.
    read = str if any(isinstance(label, str) for label in labels) else (lambda label: label)
    for leaf, _ in leaves.values():
        leaf.label = match_label(read(leaf.label), data)
        leaf.others = {match_label(read(label), data): n for label, n in leaf.others.items()}


def _classes(leaves, known):
    found, in_order = {}, sorted(leaves.values(), key=lambda pair: pair[1])
    if known is not None:
        found = dict.fromkeys(known.classes)
        candidates = set(known.classes) - {leaf.label for leaf, _ in in_order}
    for leaf, line in in_order:
        if known is not None and leaf.label not in found:
            check_absent(leaf.label, "the target", known.classes, candidates, line, leaf.column)
        found.update(dict.fromkeys((leaf.label, *leaf.others)))
    labels = list(found)
    if known is not None:
        return labels
    return [labels[i] for i in sorting_order(np.array(labels, dtype=object))]


def _counts(leaf, position):
    """Return the cases by class in the order of ``position``; None if they are incomplete."""
    counts = [0.0] * len(position)
    for label, cases in leaf.others.items():
        counts[position[label]] = cases
    if leaf.weight is None:
        return counts
    errors = sum(leaf.others.values()) if leaf.others else leaf.errors or 0.0
    counts[position[leaf.label]] = leaf.weight - errors
    if errors and not leaf.others:
        if len(position) != 2:
            return None
        counts[1 - position[leaf.label]] = errors
    return counts
