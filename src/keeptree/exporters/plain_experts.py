"""The experts of the pool as plain lists: soft tests, margins and the kernel's landmarks."""

import numpy as np

from keeptree.exporters.plain_lists import known_values, split_values
from keeptree.probability.kernel_expert import LAPLACE
from keeptree.probability.margin_tests import PARTS
from keeptree.probability.soft import slope_of
from keeptree.tree import LEAF, NOMINAL


def plain_soft(expert, place):
    """Return the kind ``soft`` of :func:`~keeptree.exporters.plain_model.plain_model`."""
    return {
        "kind": "soft",
        "tests": _soft_tests(expert.tests, place),
        "steep": expert.tests.steep(slope_of(expert.strength)).tolist(),
        "values": expert.values.tolist(),
    }


def plain_margin(expert, place):
    """Return the kind ``margin`` of :func:`~keeptree.exporters.plain_model.plain_model`."""
    steep = [expert.tests.steep(slope).tolist() for slope, _ in PARTS]
    scores = [values.tolist() for values in (*expert.side, expert.path)]
    parts = list(zip(steep, scores, PARTS, strict=True))
    return {
        "kind": "margin",
        "tests": _soft_tests(expert.tests, place),
        "sides": [{"steep": at, "scores": of} for at, of, (_, down) in parts if not down],
        "reach": [{"steep": at, "values": of} for at, of, (_, down) in parts if down],
        "intercept": expert.intercept.tolist(),
        "centre": expert.centre.tolist(),
    }


def plain_kernel(expert, place):
    """Return the kind ``kernel`` of :func:`~keeptree.exporters.plain_model.plain_model`."""
    space = expert.space
    return {
        "kind": "kernel",
        "laplace": expert.shape == LAPLACE,
        "attribute": [place[f] for f in space.feature.tolist()],
        "center": space.center.tolist(),
        "factor": space.factor.tolist(),
        "slope": space.slope.tolist(),
        "bends": split_values(space.bends.T, space.bend_start),
        "table": [table or None for table in split_values(space.table, space.table_start)],
        "landmarks": expert.landmarks[:, : len(space.feature)],
        "sharpness": expert.sharpness,
        "mass": expert.mass,
        "start": expert.class_start.tolist(),
        "prior": expert.prior.tolist(),
        "pseudo": expert.pseudo_cases,
    }


def _soft_tests(tests, place):
    columns = tests.columns.tolist()
    asked = zip(tests.column.tolist(), (tests.kind != LEAF).tolist(), strict=True)
    children, tables = (
        split_values(tests.child, tests.child_start),
        split_values(tests.table, tests.table_start),
    )
    return {
        "attribute": [place[columns[c]] if asks else None for c, asks in asked],
        "threshold": known_values(tests.threshold),
        "children": children,
        "missing": tests.missing.tolist(),
        "table": {
            str(k): np.reshape(tables[k], (-1, len(children[k]))).tolist()
            for k in np.flatnonzero(tests.kind == NOMINAL).tolist()
        },
    }
