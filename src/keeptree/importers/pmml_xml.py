"""Parse untrusted XML safely: no DTD, no entities, limited size and depth.

The standard library's expat is safe enough, because attacks by entities need a DTD, and a DTD is
refused before its content is read.
"""

from xml.parsers import expat

_MOST_ELEMENTS = 600_000
_MOST_DEPTH = 2_000
_CHUNK = 1 << 20


class Element:
    """An element: its local name, attributes, children and text."""

    __slots__ = ("attributes", "children", "parts", "tag")

    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.children, self.parts = tag, attributes, [], []

    @property
    def text(self):
        """Text of the element."""
        return "".join(self.parts)

    def get(self, name, default=None):
        """Return an attribute, or a default."""
        return self.attributes.get(name, default)

    def all(self, *tags):
        """Return the children with one of these names."""
        return [child for child in self.children if child.tag in tags]

    def first(self, *tags):
        """Return the first child with one of these names, or None."""
        return next((child for child in self.children if child.tag in tags), None)


def parse_xml(content):
    """Return the root Element of a document, given as bytes or text."""
    builder = _Builder()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.characters
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.EntityDeclHandler = _refuse_doctype
    parser.ExternalEntityRefHandler = _refuse_doctype
    try:
        for start in range(0, len(content), _CHUNK):
            parser.Parse(content[start : start + _CHUNK], False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        place = f"line {error.lineno}, column {error.offset + 1}"
        if error.code in _CUT_OFF:
            raise ValueError(f"The XML ends unexpectedly ({place}).") from None
        reason = expat.ErrorString(error.code)
        raise ValueError(f"This is not well-formed XML: {reason} ({place}).") from None
    except LookupError:
        raise ValueError("The XML is in an unknown encoding.") from None
    return builder.root


_CUT_OFF = tuple(
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)


def _refuse_doctype(*_):
    raise ValueError(
        "The XML has a document type (DTD), which may define entities or load other files and is "
        "refused; remove the DOCTYPE."
    )


class _Builder:
    def __init__(self):
        self.root, self.open, self.count = None, [], 0

    def start(self, name, attributes):
        self.count += 1
        if self.count > _MOST_ELEMENTS:
            raise ValueError(f"The XML has more than {_MOST_ELEMENTS:,} elements.")
        if len(self.open) >= _MOST_DEPTH:
            raise ValueError(f"The XML is nested more than {_MOST_DEPTH:,} elements deep.")
        # Names come as "namespace local".
        element = Element(name.rpartition(" ")[2], attributes)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, name):
        del name
        self.open.pop()

    def characters(self, text):
        if self.open:
            self.open[-1].parts.append(text)
