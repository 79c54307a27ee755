"""``keeptree sign``: record who approved a tree."""

from keeptree.cli.command import Command, add_json, output_path, print_json, print_saved


def _arguments(parser):
    parser.add_argument("file", metavar="FILE", help="tree or model file")
    parser.add_argument("--by", metavar="NAME", required=True, help="name of the signer")
    parser.add_argument("--note", metavar="TEXT", default="", help="one-line comment")
    parser.add_argument("--out", metavar="FILE", help="file to write (default: the same file)")
    add_json(parser, "the signatures and the digest")


def _run(options):
    from keeptree.signing import sign_file

    out = output_path(options.out) if options.out else options.file
    found = sign_file(options.file, options.by, options.note, out=out)
    if options.json:
        print_json(found.to_dict())
        return
    last = found.signatures[-1]
    print(f"{last.by} signed the tree {found.digest[:12]} on {last.day}.")
    print_saved(out)


COMMAND = Command("sign", "sign a tree: record in its file who approved it", _arguments, _run)
