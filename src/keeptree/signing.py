"""Sign the tree of a file, and see who signed it and whether it is still the tree they signed.

A signature is a record, not cryptography: it says who vouched for which tree, and anybody could
have written it.
"""

import warnings
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from keeptree.annotations import Filename
from keeptree.encoding import read_json, sealed, write_json
from keeptree.saving import load, save, to_document, tree_of
from keeptree.tree import Tree
from keeptree.tree.signature import Signature


@dataclass(frozen=True)
class Verification:
    """What is known about a file that could be read: it is complete and consistent.

    Parameters
    ----------
    path : str
        The file.
    kind : str
        ``Tree``, or the class of the model.
    version : int
        Version of the format.
    sealed : bool
        Whether the file has a digest, which fits; the tree files of version 1 have none.
    digest : str or None
        That of the tree; None for a model of several trees.
    signatures : tuple of Signature
        All of them, in the order in which they were made.
    """

    path: str
    kind: str
    version: int
    sealed: bool
    digest: str | None
    signatures: tuple[Signature, ...]

    @property
    def foreign(self) -> tuple[Signature, ...]:
        """Signatures of another tree."""
        return tuple(s for s in self.signatures if s.digest != self.digest)

    @property
    def signed(self) -> bool:
        """Whether somebody signed this very tree."""
        return len(self.foreign) < len(self.signatures)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; each signature says whether it is of this tree."""
        signatures = [
            {**signature.to_dict(), "this_tree": signature.digest == self.digest}
            for signature in self.signatures
        ]
        return {**asdict(self), "signatures": signatures, "signed": self.signed}


def verify_file(path: Filename) -> Verification:
    """Check the file of a tree or a model, and who signed its tree.

    Parameters
    ----------
    path : str or Path
        A file that :func:`~keeptree.save` wrote; one that was damaged or changed is a ValueError.

    Returns
    -------
    verification : Verification
        ``digest`` of the tree, its ``signatures``, those that are ``foreign`` because they are of
        another tree, and whether it is ``signed``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> path = getfixture("tmp_path") / "tree.json"
    >>> kt.C45Classifier().fit(*load_iris(return_X_y=True)).tree_.save(path)
    >>> kt.verify_file(path).signed
    False
    >>> kt.sign_file(path, by="Ada Lovelace", note="Approved for use.").signed
    True
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of foreign signatures, which are in the answer
        model = load(path)
    document = read_json(path)
    tree = tree_of(model)
    return Verification(
        path=str(path),
        kind=type(model).__name__,
        version=document["version"],
        sealed="digest" in document,
        digest=None if tree is None else tree.digest,
        signatures=() if tree is None else tree.signatures,
    )


def sign_file(
    path: Filename,
    by: str,
    note: str = "",
    *,
    out: Filename | None = None,
    at: datetime | None = None,
) -> Verification:
    """Add a signature to the tree of a file, which may be a model's.

    Parameters
    ----------
    path : str or Path
        A file that :func:`~keeptree.save` wrote.
    by : str
        Who signs.
    note : str
        One line of free text.
    out : str or Path, optional
        Where to write the signed file; default ``path`` itself.
    at : datetime, optional
        When, with a time zone; default now.

    Returns
    -------
    verification : Verification
        As :func:`verify_file` returns it.
    """
    model, out = load(path), path if out is None else out
    tree = tree_of(model)
    if tree is None:
        raise ValueError(
            f"{path} holds a {type(model).__name__} of several trees; sign the one you keep."
        )
    signed = tree.sign(by, note, at)
    if isinstance(model, Tree):
        save(signed, out)
    else:
        document = to_document(model)
        document["trees"][document["model"]["fitted"]["tree_"]["tree"]] = signed.to_dict()
        write_json(sealed(document), out)
    return verify_file(out)
