"""Math renderer for Sphinx: TeX becomes MathML, which browsers show without scripts or fonts."""

from html import escape

from docutils import nodes
from latex2mathml.converter import convert


def setup(app):
    """Register the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _visit_inline(self, node):
    self.body.append(_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _visit_block(self, node):
    self.body.append(f'<div class="math-block">{_mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def _mathml(tex, display):
    mathml = convert(tex, display=display)
    return mathml.replace("<math ", f'<math aria-label="{escape(tex, quote=True)}" ', 1)
