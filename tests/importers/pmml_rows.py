"""Compare a kept PMML tree with JPMML, one row at a time."""

import warnings

import numpy as np
import pandas as pd

import keeptree as kt


def keep_quietly(source, *table, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return kt.keep(source, *table, **options)


def frame_of(tree, row):
    """Return a frame of one row, with None or NaN where a value is missing."""
    return pd.DataFrame(
        {
            name: np.array([row.get(name, np.nan)], dtype=float)
            if labels is None
            else np.array([row.get(name)], dtype=object)
            for name, labels in zip(tree.feature_names, tree.categories, strict=True)
        }
    )


def compare_row(tree, row, answer, nodes):
    """Return a short label for how a tree and JPMML agree on a row.

    ``nodes`` maps each leaf to its node in JPMML; the first row of a leaf adds an entry.
    """
    node, label = answer
    refused = node == "!" or not label
    frame = frame_of(tree, row)
    try:
        leaf, ours = int(tree.apply(frame)[0]), str(tree.predict(frame)[0])
    except ValueError as error:
        if refused:
            return "both refuse"
        if "answers only some of the rows without" in tree.source.get("lost", ""):
            return "documented refusal"
        # JPMML checks a category only in nodes that test it.
        return "label refused" if "is unknown to the tree" in str(error) else "ONLY WE REFUSE"
    if refused:
        told = "gives no answer" in tree.source.get("lost", "")
        return "documented answer" if told else "ONLY THEY REFUSE"
    return "same" if ours == label and nodes.setdefault(leaf, node) == node else "DIFFERENT"
