"""Sphinx extension for the site: the live report, dark pictures, links, members to list."""

import re
from pathlib import Path, PurePosixPath

from docutils import nodes
from docutils.transforms import Transform

# Files in the root of the repository that pages link to, and the pages that show them.
_AT_ROOT = {
    "CHANGELOG.md": "developers/changelog.md",
    "CONTRIBUTING.md": "developers/contributing.md",
    "README.md": "index.md",
    "SECURITY.md": "developers/security.md",
}


def setup(app):
    """Connect the hooks."""
    app.connect("autodoc-skip-member", _skip_foreign)
    app.connect("source-read", _link_root)
    app.connect("doctree-read", _trim_examples)
    app.connect("doctree-read", _mark_columns)
    app.connect("doctree-read", _add_dark_pictures, priority=400)  # before Sphinx collects them
    app.connect("html-page-context", _break_code)
    app.connect("build-finished", _write_demo)
    app.add_transform(_PlainTypes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


# Used between modules of the package, but of no use to callers.
_INTERNAL = re.compile(
    r".*_encoded|saved_.*|all_saved_.*|check_.*|validate_parameters|fit_sample|of_metric|sets_of"
    r"|upgrade|decide|route"
)


def _skip_foreign(app, what, name, member, skip, options):
    """Skip members that users do not call: internal ones, and those of scikit-learn."""
    if what != "class" or skip:
        return skip
    if _INTERNAL.fullmatch(name) and "Tree." not in getattr(member, "__qualname__", ""):
        return True
    function = getattr(member, "fget", None) or getattr(member, "func", member)
    module = getattr(function, "__module__", None) or ""
    return not module.startswith("keeptree")


def _link_root(app, docname, source):
    """Redirect links to files in the root of the repository to the pages that include them."""
    up = "../" * (len(PurePosixPath(docname).parts) - 1)
    pattern = rf"\]\({re.escape(up)}\.\./({'|'.join(map(re.escape, _AT_ROOT))})"
    source[0] = re.sub(pattern, lambda link: f"]({up}{_AT_ROOT[link[1]]}", source[0])


def _trim_examples(app, doctree):
    """Drop the empty line that doctest needs at the end of an example in Markdown."""
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():  # a child node that is plain text, without markup
            block.rawsource = block.rawsource.rstrip()
            block[:] = [nodes.Text(block.rawsource)]


class _PlainTypes(Transform):
    """Keep straight quotes in the types of parameters, which are code: default="tree"."""

    default_priority = 700  # before smart quotes

    def apply(self):
        for node in self.document.findall(nodes.classifier):
            node["support_smartquotes"] = False


def _add_dark_pictures(app, doctree):
    """Show the picture ``NAME_dark.png``, if there is one, in place of ``NAME.png`` in the dark."""
    for image in list(doctree.findall(nodes.image)):
        path = PurePosixPath(image["uri"])
        dark = str(path.with_stem(f"{path.stem}_dark"))
        if Path(app.env.relfn2path(dark)[1]).is_file():
            other = image.deepcopy()
            other["uri"] = dark
            image["classes"].append("only-light")
            other["classes"].append("only-dark")
            image.parent.insert(image.parent.index(image) + 1, other)


_PHRASE, _PROSE = 18, 40  # cells with more characters are phrases or prose
_FIGURE = 19  # maximum number of characters of a figure


def _mark_columns(app, doctree):
    """Mark table columns that contain sentences or figures, for the style sheet."""
    for body in doctree.findall(nodes.tbody):
        rows = [list(row.findall(nodes.entry)) for row in body.findall(nodes.row)]
        columns = list(zip(*rows, strict=False))
        widest = max(len(entry.astext()) for column in columns for entry in column)
        for column in columns:
            texts = [entry.astext() for entry in column]
            longest = max(map(len, texts))
            figures = longest <= _FIGURE and all(re.search(r"\d|^\W?$", text) for text in texts)
            prose = longest > max(_PROSE, widest / 3)  # else another column needs the width more
            kind = "prose" if prose else "phrase" if longest > _PHRASE else None
            for entry in column:
                entry["classes"] += ["figure-cell"] if figures else [kind] if kind else []


def _break_code(app, pagename, templatename, context, doctree):
    """Let code in tables break after an opening bracket, so that it leaves room for the text."""
    if "body" in context:
        context["body"] = re.sub(r"<td\b.*?</td>", _break_cell, context["body"], flags=re.DOTALL)


def _break_cell(cell):
    word = re.compile(r'(<span class="pre">[^<]*?\w\()(?=[^)<])')
    return word.sub(r"\1<wbr>", cell[0])


def _write_demo(app, exception):
    """Write the demo report next to the pages, one of which embeds it."""
    if exception is None and app.builder.format == "html":
        from keeptree.reporting.demo import demo

        demo(Path(app.outdir) / "demo.html")
