"""The tree as boxes and arrows with short texts; shared by Mermaid and Graphviz."""

from dataclasses import dataclass

from keeptree.explanation.wording import tell_number
from keeptree.notebook import class_slots
from keeptree.text import clean, count_text
from keeptree.tree import LEAF

_LONGEST = 60  # characters of a name or a list of categories
# By slot: a light fill that black text is readable on, and a stroke; as on the report's page.
_COLOURS = (
    ("#eceef0", "#8b949e"),
    ("#dcebf8", "#0b62a8"),
    ("#fbe3d3", "#c2500a"),
    ("#dcf1e8", "#3c8a6e"),
    ("#f1dfe9", "#753658"),
    ("#ece4f2", "#8a63a3"),
    ("#d7e6dc", "#09391d"),
)


@dataclass(frozen=True)
class Box:
    """A node: its lines of text, and for a leaf the position of its class."""

    node: int
    lines: tuple
    label: int | None

    @property
    def is_leaf(self):
        """Whether the node is a leaf."""
        return self.label is not None


@dataclass(frozen=True)
class Edge:
    """A branch from a node to one of its children."""

    node: int
    child: int
    text: str


@dataclass(frozen=True)
class Drawing:
    """Boxes and edges in preorder; ``colours`` has fill and stroke of each class that is drawn."""

    boxes: tuple
    edges: tuple
    colours: dict


def drawing_of(subject):
    """Return the :class:`Drawing` of a tree: tests, and classes with their share of the cases."""
    tree = subject.tree
    order = tree.preorder.tolist()
    slots = class_slots(tree.counts[0])
    drawn = sorted({int(tree.label[node]) for node in order if tree.kind[node] == LEAF})
    return Drawing(
        boxes=tuple(_box(subject, node) for node in order),
        edges=tuple(
            Edge(node, child, _branch_text(tree, node, child))
            for node in order
            for child in tree.children(node).tolist()
        ),
        colours={label: _COLOURS[slots[label]] for label in drawn},
    )


def cut(text):
    """Shorten text from the data to one line."""
    text = clean(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _box(subject, node):
    tree = subject.tree
    if tree.kind[node] != LEAF:
        return Box(node, (cut(tree.branch(tree.children(node)[0]).name),), None)
    label = int(tree.label[node])
    lines = [cut(subject.class_names[label])]
    if tree.weight[0] > 0:
        lines.append(f"{count_text(tree.weight[node])} of {count_text(tree.weight[0])} cases")
        right = tree.counts[node, label] / tree.weight[node] if tree.weight[node] else None
        lines += [] if right is None else [f"{_percent(right)} of this class"]
    return Box(node, tuple(lines), label)


def _percent(share):
    """Format a share in percent; only exact shares of 0 and 1 become 0 % and 100 %.

    Examples
    --------
    >>> _percent(0.9999), _percent(1.0), _percent(0.5)
    ('over 99 %', '100 %', '50 %')
    """
    if 0.995 <= share < 1:
        return "over 99 %"
    return "under 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def _branch_text(tree, node, child):
    branch = tree.branch(child)
    if branch.is_numeric and branch.relation() not in ("is known", "is missing"):
        text = f"{branch.symbol} {tell_number(branch.threshold)}"
    else:
        text = cut(branch.relation())
    takes_missing = tree.missing[node] == child and text != "is missing"
    return f"{text} or missing" if takes_missing else text
