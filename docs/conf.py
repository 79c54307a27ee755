"""Sphinx configuration of the site: ``make docs`` builds it into build/site."""

import sys
from pathlib import Path

from keeptree import __version__ as release

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

project = "KeepTree"
author = "The KeepTree developers"
copyright = f"{author}. Version {release}, BSD-3-Clause"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "tools.site.mathml",
    "tools.site.extension",
]
exclude_patterns = [
    "_templates",
    "images/*.py",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # the gallery's sort keys are functions

# Markdown
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"  # rendered by the browser, without scripts or fonts to download

# API reference
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the Parameters sections state the types
autodoc_preserve_defaults = True  # as in the source: 1 / 3, and the name of an array
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# Gallery
sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("keeptree",),
    "download_all_examples": False,
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_", "__repr__"),
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "min_reported_time": 0,
    "nested_sections": False,
    "thumbnail_size": (640, 448),
    "image_srcset": ["2x"],
    "show_signature": False,
}
copybutton_exclude = ".linenos, .gp, .go"

# Theme
html_theme = "pydata_sphinx_theme"
html_title = "KeepTree"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_context = {"default_mode": "auto"}
html_show_sphinx = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "text": "KeepTree",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "icon_links": [
        {
            "name": "GitHub",
            "url": "https://github.com/keeptree/keeptree",
            "icon": "fa-brands fa-github",
        }
    ],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "glossary": [], "start/demo": []}
