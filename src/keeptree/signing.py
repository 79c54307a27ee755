"""Sign the tree in a file, and verify its signatures.

A signature records who approved which tree. It is not cryptographic: anyone can write one.
"""

import warnings
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from keeptree.annotations import Filename
from keeptree.encoding import read_json, sealed, write_json
from keeptree.saving import load, save, to_document, tree_of
from keeptree.tree import Tree
from keeptree.tree.signature import Signature, recounted_from


@dataclass(frozen=True)
class Verification:
    """Result of verifying an intact file.

    Parameters
    ----------
    path : str
        Path of the file.
    kind : str
        ``"Tree"``, or the class of the model.
    version : int
        Version of the format.
    sealed : bool
        Whether the file has a valid digest; tree files of version 1 have none.
    digest : str or None
        Digest of the tree; None for a model of several trees.
    signatures : tuple of Signature
        Signatures in order.
    recounted_from : str or None
        Digest of the tree before its class counts were replaced by those of other rows.
    """

    path: str
    kind: str
    version: int
    sealed: bool
    digest: str | None
    signatures: tuple[Signature, ...]
    recounted_from: str | None = None

    @property
    def foreign(self) -> tuple[Signature, ...]:
        """Signatures that belong to another tree."""
        known = (self.digest, self.recounted_from)
        return tuple(s for s in self.signatures if s.digest not in known)

    @property
    def before_recount(self) -> tuple[Signature, ...]:
        """Signatures of the same tests and labels, but with the class counts of other rows."""
        found = (s for s in self.signatures if s.digest != self.digest)
        return tuple(s for s in found if s.digest == self.recounted_from)

    @property
    def signed(self) -> bool:
        """Whether someone signed exactly this tree."""
        return any(signature.digest == self.digest for signature in self.signatures)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible values; each signature states whether it belongs to this tree."""
        signatures = [
            {
                **signature.to_dict(),
                "this_tree": signature.digest == self.digest,
                "before_recount": signature in self.before_recount,
            }
            for signature in self.signatures
        ]
        return {**asdict(self), "signatures": signatures, "signed": self.signed}


def verify_file(path: Filename) -> Verification:
    """Check the file of a tree or a model, and who signed its tree.

    Parameters
    ----------
    path : str or Path
        File written by :func:`~keeptree.save`; a damaged or changed one raises a ValueError.

    Returns
    -------
    verification : Verification
        ``digest`` of the tree, its ``signatures``, those that are ``foreign`` because they belong
        to another tree, and whether it is ``signed``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> kt.C45Classifier().fit(*load_iris(return_X_y=True)).tree_.save("tree.json")
    >>> kt.verify_file("tree.json").signed
    False
    >>> kt.sign_file("tree.json", by="Ada Lovelace", note="Approved for use.").signed
    True
    """
    with warnings.catch_warnings():
        # Foreign signatures are reported in the result instead of by a warning.
        warnings.simplefilter("ignore")
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
        recounted_from=None if tree is None else recounted_from(tree),
    )


def sign_file(
    path: Filename,
    by: str,
    note: str = "",
    *,
    out: Filename | None = None,
    at: datetime | None = None,
) -> Verification:
    """Add a signature to the tree of a tree or model file.

    Parameters
    ----------
    path : str or Path
        File written by :func:`~keeptree.save`.
    by : str
        Name of the signer.
    note : str
        One line of free text.
    out : str or Path, optional
        Signed file to write; by default ``path`` itself.
    at : datetime, optional
        Time with a time zone; now by default.

    Returns
    -------
    verification : Verification
        Result of :func:`verify_file`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> kt.C45Classifier().fit(*load_iris(return_X_y=True)).tree_.save("tree.json")
    >>> kt.sign_file("tree.json", by="Ada Lovelace", note="Approved for use.").signed
    True
    """
    model, out = load(path), path if out is None else out
    tree = tree_of(model)
    if tree is None:
        raise ValueError(
            f"{path} holds a {type(model).__name__} of several trees; sign the file of a "
            "single tree instead."
        )
    signed = tree.sign(by, note, at)
    if isinstance(model, Tree):
        save(signed, out)
    else:
        document = to_document(model)
        document["trees"][document["model"]["fitted"]["tree_"]["tree"]] = signed.to_dict()
        write_json(sealed(document), out)
    return verify_file(out)
