"""``keeptree sign``: record who vouches for a tree."""

from keeptree.cli.command import Command, add_json, output_path, print_json


def _arguments(parser):
    parser.add_argument("file", metavar="FILE", help="a tree or a model")
    parser.add_argument("--by", metavar="NAME", required=True, help="who signs")
    parser.add_argument("--note", metavar="TEXT", default="", help="one line of what they say")
    parser.add_argument("--out", metavar="OUT", help="the signed file (default: FILE itself)")
    add_json(parser, "what is known about the file")


def _run(options):
    from keeptree.signing import sign_file

    out = output_path(options.out) if options.out else options.file
    found = sign_file(options.file, options.by, options.note, out=out)
    if options.json:
        print_json(found.to_dict())
        return
    last = found.signatures[-1]
    print(f"{last.by} signed the tree {found.digest[:12]} on {last.day}.")
    print(f"Saved as {out}.")


COMMAND = Command("sign", "record who vouches for a tree, in its file", _arguments, _run)
