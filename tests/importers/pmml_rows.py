"""Rows of PMML files: one at a time, as JPMML takes them."""

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
    """Return in one or two words how a tree and JPMML agree about a row.

    ``nodes`` collects the node of JPMML that corresponds to each leaf.
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
            return "told that we refuse"
        # JPMML looks at a label only where it is tested.
        return "label refused" if "is unknown to the tree" in str(error) else "ONLY WE REFUSE"
    if refused:
        told = "gives no answer" in tree.source.get("lost", "")
        return "told that we answer" if told else "ONLY THEY REFUSE"
    return "same" if ours == label and nodes.setdefault(leaf, node) == node else "DIFFERENT"
