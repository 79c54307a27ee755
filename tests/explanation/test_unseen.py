"""Labels that a tree has never seen, and the name of the category for them."""

from dataclasses import replace

import pandas as pd
import pytest

import keeptree as kt
from keeptree.explanation.unseen import name_unseen, unseen_labels


@pytest.mark.parametrize(
    ("labels", "X", "unseen"),
    [
        ("1, 2", pd.DataFrame({"code": [1.0, 2.0, 3.0]}), {2: {0: 3.0}}),
        ("yes, no", pd.DataFrame({"code": ["yes", "no", "maybe"]}), {2: {0: "maybe"}}),
        ("True, False", pd.DataFrame({"code": [True, False]}), {}),
        ("True, False", pd.DataFrame({"code": ["True", "False"]}), {}),
    ],
)
def test_a_known_category_that_takes_unseen_labels_is_not_unseen_itself(labels, X, unseen):
    first, second = labels.split(", ")
    tree = replace(kt.keep(f"code = {first}: a\ncode = {second}: b"), unknown=(1,))
    assert unseen_labels(tree, X, tree.encode(X), range(len(X))) == unseen


def test_the_name_of_the_category_for_unseen_labels_differs_from_all_labels():
    taken = ("any other value", "(any other value)")
    tree = kt.keep(f'colour = "{taken[0]}": a\ncolour = "{taken[1]}": a\nelse: b')
    assert name_unseen(tree).categories == ((*taken, "((any other value))"),)
