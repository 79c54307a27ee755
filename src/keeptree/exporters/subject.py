"""The subject of an export: a tree, with or without a probability model."""

from dataclasses import dataclass
from pathlib import Path

from keeptree import __version__
from keeptree.data.labels import class_names, portable
from keeptree.importers import keep, keep_with_steps, unwrap
from keeptree.importers.with_data import is_foreign
from keeptree.saving import load
from keeptree.tree import Tree


@dataclass(frozen=True, eq=False)
class Subject:
    """A tree or model as the export formats see it.

    Parameters
    ----------
    tree : Tree
        The kept tree; never a regression tree.
    model : fitted classifier or None
        What gives the probabilities; None for a bare tree, whose probabilities are the class
        proportions of its leaves.
    names : tuple of str
        Name of each column of the tree; ``x[3]`` where it has none.
    classes : tuple
        Class labels as text, numbers or booleans, in the order of ``tree.classes``.
    class_names : tuple of str
        Display names of the classes.
    fingerprint : str
        :attr:`Tree.digest <keeptree.Tree.digest>` of the tree.
    version : str
        Version of KeepTree.
    """

    tree: Tree
    model: object
    names: tuple
    classes: tuple
    class_names: tuple
    fingerprint: str
    version: str

    @property
    def decides_by_tree(self):
        """Whether the tree decides, rather than the probabilities."""
        return getattr(self.model, "decide", "tree") == "tree"

    @property
    def kind(self):
        """The class name of the model, or "tree"."""
        return "tree" if self.model is None else type(self.model).__name__

    @property
    def origin(self):
        """One line for a comment of the exported file: fingerprint and version."""
        return f"Exported by KeepTree {self.version} from the tree {self.fingerprint}"


def subject_of(source):
    """Return the :class:`Subject` of a model, a tree, or a file that holds one.

    Parameters
    ----------
    source : fitted model, Tree, str or Path
        One of our classifiers, anything that :func:`keeptree.keep` takes, or a file of either.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> X, y = load_iris(return_X_y=True)
    >>> subject = subject_of(kt.C45Classifier().fit(X, y))
    >>> subject.kind, subject.names[:2], subject.classes
    ('tree', ('x[0]', 'x[1]'), (0, 1, 2))
    """
    if isinstance(source, str | Path):
        source = keep(Path(source)) if is_foreign(source) else load(source)
    tree, steps = keep_with_steps(source)
    if tree.classes is None:
        raise ValueError(
            "Regression trees cannot be exported; use their text (Tree.to_text) or their JSON file "
            "(Tree.save)."
        )
    if steps:
        raise ValueError(
            "The pipeline has steps that cannot be folded into the tree and cannot be exported; "
            "export kt.keep(pipeline, fold=False) and give it transformed columns."
        )
    inner = source if isinstance(source, Tree) else unwrap(source)[0]
    model = inner if hasattr(inner, "predict_encoded") and hasattr(inner, "observed_") else None
    return Subject(
        tree=tree,
        model=model,
        names=tuple(tree.feature_name(f) for f in range(tree.n_features)),
        classes=tuple(portable(label) for label in tree.classes),
        class_names=tuple(class_names(inner, tree.classes)),
        fingerprint=tree.digest,
        version=__version__,
    )
