"""Signatures: who approved a tree, when, and exactly which tree."""

import re
import unicodedata
import warnings
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from keeptree.text import clean

_LONGEST = {"by": 200, "note": 2000}
_DIGEST = re.compile("[0-9a-f]{64}")
# Unicode categories: control characters, surrogates, line separators
_NOT_TEXT = {"Cc", "Cs", "Zl", "Zp"}
_FIELDS = {"by", "at", "note", "digest"}
_RECOUNTED = "recounted"  # key in Tree.source


@dataclass(frozen=True, kw_only=True)
class Signature:
    """A record of who approved a tree; it is not cryptographic, so anyone can write one.

    Parameters
    ----------
    by : str
        Name of the signer.
    at : str
        Time of signing, as ISO 8601 with an offset from UTC: ``2026-11-16T20:15:00+00:00``.
    note : str
        Free text; may be empty.
    digest : str
        :attr:`Tree.digest <keeptree.Tree.digest>` of the tree that was signed.
    """

    by: str
    at: str
    note: str
    digest: str

    def __post_init__(self):
        for name, longest in _LONGEST.items():
            _check_text(name, getattr(self, name), longest)
        if not self.by:
            raise ValueError("A signature needs the name of the person who signs; by is empty.")
        try:
            known = datetime.fromisoformat(self.at).tzinfo is not None
        except (TypeError, ValueError):
            known = False
        if not known:
            raise ValueError(
                f"A signature's time must be ISO 8601 with an offset from UTC, got {self.at!r:.50}."
            )
        if not (isinstance(self.digest, str) and _DIGEST.fullmatch(self.digest)):
            raise ValueError("A signature's digest must be 64 hexadecimal digits.")

    @property
    def day(self):
        """Date of the signature, in its own time zone."""
        return self.at[:10]

    def to_dict(self):
        """Return the signature as plain values."""
        return asdict(self)


def sign_digest(digest, by, note="", at=None):
    """Return a new signature of a digest; ``at``, a datetime with a time zone, defaults to now."""
    at = datetime.now(UTC) if at is None else at
    if not (isinstance(at, datetime) and at.tzinfo is not None):
        raise ValueError(f"at must be a datetime with a time zone, got {at!r:.50}.")
    by, note = (text.strip() if isinstance(text, str) else text for text in (by, note))
    return Signature(by=by, at=at.isoformat(timespec="seconds"), note=note, digest=digest)


def recounted(tree, before):
    """Record in a signed tree that only its class counts differ from those of ``before``.

    New counts change the digest of the tree. Without this record, its signatures would seem to
    belong to another tree.
    """
    if not before.signatures or tree.digest == before.digest:
        return tree
    first = before.digest
    if all(signature.digest != first for signature in before.signatures):
        first = recounted_from(before) or first
    return replace(tree, source={**tree.source, _RECOUNTED: f"{first} as {tree.digest}"})


def recounted_from(tree):
    """Return the digest of the tree before its class counts were replaced, or None."""
    first, _, now = tree.source.get(_RECOUNTED, "").partition(" as ")
    return first if now == tree.digest else None


def warn_foreign_signatures(tree, where):
    """Warn if a signature of the tree belongs to another tree."""
    known = (tree.digest, recounted_from(tree)) if tree.signatures else ()
    names = [signature.by for signature in tree.signatures if signature.digest not in known]
    if names:
        warnings.warn(
            f"{where}: {', '.join(map(clean, names))} signed a different tree; run "
            "keeptree verify for details.",
            stacklevel=4,
        )


def read_signatures(values):
    """Convert signatures or dictionaries to a tuple of signatures, or raise a ValueError."""
    return tuple(map(_read_signature, values))


def _read_signature(value):
    if isinstance(value, Signature):
        return value
    if not (isinstance(value, dict) and set(value) == _FIELDS):
        raise ValueError("A signature must have exactly by, at, note and digest.")
    return Signature(**value)


def _check_text(name, text, longest):
    if not isinstance(text, str):
        raise ValueError(f"A signature's {name} must be text, got {text!r:.50}.")
    if len(text) > longest:
        raise ValueError(
            f"A signature's {name} has {len(text)} characters; at most {longest} are allowed."
        )
    if any(unicodedata.category(character) in _NOT_TEXT for character in text):
        raise ValueError(f"A signature's {name} must be one line without control characters.")
