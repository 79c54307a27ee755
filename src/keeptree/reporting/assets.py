"""Templates, style sheets and scripts of a self-contained page."""

import base64
import hashlib
import re
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined


def read_asset(name, package="keeptree.reporting"):
    """Return the text of a package file, such as ``css/base.css``."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def compact(text):
    r"""Remove indentation, empty lines and comment lines from code.

    Examples
    --------
    >>> compact("a {\n  color: red;\n\n}\n")
    'a {\ncolor: red;\n}\n'
    """
    text = re.sub(r"^\s*/\*.*?\*/\n", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")) + "\n"


def make_environment(package):
    """Return the Jinja environment of a subpackage, with autoescaping."""
    return Environment(
        loader=PackageLoader("keeptree", package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def content_policy(css, script=None):
    """Return a content security policy that allows only this style sheet and script.

    Examples
    --------
    >>> print(content_policy("a {}")[:54])
    default-src 'none'; script-src 'none'; style-src 'sha2
    """
    code = "'none'" if script is None else _hash(script)
    return (
        f"default-src 'none'; script-src {code}; style-src {_hash(css)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text):
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
