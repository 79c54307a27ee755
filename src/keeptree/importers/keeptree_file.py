"""Read trees from KeepTree's own JSON files."""

from keeptree.tree import Tree
from keeptree.tree.document import unsealed
from keeptree.tree.signature import warn_foreign_signatures


def read_document(document):
    """Return the Tree of a file written by ``Tree.save``."""
    if document.get("format") == "keeptree.Model":
        raise ValueError(
            "This is a model, not a tree; kt.load(path).tree_ is its tree, and keeptree report "
            "takes it as --model."
        )
    tree = Tree.from_dict(unsealed(document))
    warn_foreign_signatures(tree, "The file")
    return tree
