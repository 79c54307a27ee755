"""``keeptree verify``: check whether a file is unchanged and who signed its tree."""

from keeptree.cli.command import Command, add_json, print_json
from keeptree.text import clean

_SHORTEST = 12  # minimum digits of a digest


def _arguments(parser):
    parser.add_argument("file", metavar="FILE", help="tree or model file")
    parser.add_argument("--signed", action="store_true", help="fail unless the tree is signed")
    parser.add_argument(
        "--digest", metavar="HEX", help="fail unless the digest of the tree starts with this"
    )
    add_json(parser, "the signatures and the digest")


def _run(options):
    from keeptree.signing import verify_file

    wanted = options.digest
    if wanted is not None and len(wanted) < _SHORTEST:
        raise ValueError(f"--digest {wanted} is too short; give at least {_SHORTEST} digits.")
    found = verify_file(options.file)
    if options.json:
        print_json(found.to_dict())
    else:
        print("\n".join(_tell(found)))
    _check(found, options)


def _tell(found):
    """Lines about a file that could be read."""
    state = "unchanged since it was saved" if found.sealed else "complete, but without a digest"
    yield f"{found.path}: {found.kind}, format version {found.version}, {state}."
    if found.digest is None:
        yield "It contains several trees; trees are signed one by one."
        return
    yield f"Digest of the tree: {found.digest}"
    before = found.before_recount
    for signature in found.signatures:
        note = f": {clean(signature.note)}" if signature.note else ""
        which = f" (another tree, {signature.digest[:12]})" if signature in found.foreign else ""
        which = " (before its class counts were recounted)" if signature in before else which
        yield f"Signed by {clean(signature.by)} on {signature.day}{which}{note}"
    if not found.signatures:
        yield f"Not signed; to sign it, run: keeptree sign {found.path} --by NAME"
    else:
        yield "A signature is only a record: compare the digest with one that you trust."


def _check(found, options):
    wanted = options.digest
    if wanted is not None and not (found.digest or "").startswith(wanted.lower()):
        raise ValueError(f"{found.path} does not contain the tree {wanted}.")
    if found.foreign:
        names = ", ".join(clean(signature.by) for signature in found.foreign)
        raise ValueError(
            f"{names} signed another tree: {found.path} was changed afterwards, or the "
            "signature was copied."
        )
    if options.signed and found.before_recount and not found.signed:
        raise ValueError(
            f"The tree of {found.path} was signed before its class counts were recounted; look at "
            f"the counts and sign it again: keeptree sign {found.path} --by NAME."
        )
    if options.signed and not found.signed:
        raise ValueError(f"The tree of {found.path} is not signed.")


COMMAND = Command(
    "verify", "check that a file is unchanged and who signed its tree", _arguments, _run
)
