"""Labels that a tree has never seen, and the name of the category for them."""

import keeptree as kt
from keeptree.explanation.unseen import name_unseen


def test_the_name_of_the_category_for_unseen_labels_differs_from_all_labels():
    taken = ("any other value", "(any other value)")
    tree = kt.keep(f'colour = "{taken[0]}": a\ncolour = "{taken[1]}": a\nelse: b')
    assert name_unseen(tree).categories == ((*taken, "((any other value))"),)
