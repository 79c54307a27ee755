"""The geometric ranking as plain lists: the boxes of the regions, and the order of the leaves."""

from keeptree.exporters.plain_distance import plain_boxes
from keeptree.exporters.plain_lists import leaf_values


def plain_rank(model, place):
    """Return the kind ``rank`` of :func:`~keeptree.exporters.plain_model.plain_model`.

    Parameters
    ----------
    model : GeometricRankClassifier
        Fitted.
    place : dict
        Number of each column.
    """
    tree, is_local = model.tree_, model.scope == "local"
    values, half_gap = (
        leaf_values(tree, by_node) if is_local else None for by_node in model.local_order
    )
    return {
        "kind": "rank",
        **plain_boxes(model.boundary_, place),
        "whole": model.boundary == "whole" and len(tree.classes) > 2,
        "values": values,
        "half_gap": half_gap,
    }
