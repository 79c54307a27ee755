"""Summary of a tree, for the commands that save one."""

from keeptree.text import plural


def add_tree_out(parser):
    """Add the option that names the tree file to write."""
    parser.add_argument(
        "--out", metavar="FILE", help="tree file to write (default: tree.json, unless it exists)"
    )


def tree_summary(tree):
    """Return the size and the classes of a tree as JSON values."""
    return {
        "leaves": tree.n_leaves,
        "depth": tree.max_depth,
        "columns": tree.n_features,
        "classes": None if tree.classes is None else [str(label) for label in tree.classes],
    }


def tree_size(summary):
    """Return the size of a tree in words, such as "a tree with 3 leaves, depth 2, on 4 columns"."""
    leaves = plural(summary["leaves"], "leaf", "leaves")
    columns = plural(summary["columns"], "column")
    return f"a tree with {leaves}, depth {summary['depth']}, on {columns}"


def tell_classes(names):
    """Return a line that lists at most ten classes."""
    more = ", ..." if len(names) > 10 else ""
    return f"Classes: {', '.join(names[:10])}{more}."
