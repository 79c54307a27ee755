"""Read trees from KeepTree's own JSON files."""

from keeptree.tree import Tree


def read_document(document):
    """Return the Tree of a file written by ``Tree.save``."""
    if document.get("format") == "keeptree.Model":
        raise ValueError(
            "This is a model, not a tree; kt.load(path).tree_ is its tree, and keeptree report "
            "takes it as --model."
        )
    return Tree.from_dict(document)
