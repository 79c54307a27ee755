"""A Tree in a notebook: a collapsible outline with a bar of class counts at every node."""

from itertools import chain

from keeptree.notebook import bar, class_mark, class_slots, framed, text_html
from keeptree.text import count_text, number_text, plural
from keeptree.tree.kinds import LEAF
from keeptree.tree.text import branch_writer

_MOST, _OPEN = 200, 4  # number of nodes shown, and depth to which the outline is expanded at first


def tree_html(tree):
    """Return the tree as an HTML ``<section>``; of a large tree, the first 200 nodes by level."""
    return framed("tree", f'<p class="kt-head">{_title(tree)}</p>', *_parts(tree))


class ShowsTree:
    """Mixin for estimators with a ``tree_``: scikit-learn's diagram with the tree below it."""

    def _repr_html_inner(self):
        diagram = super()._repr_html_inner()
        if not hasattr(self, "tree_"):
            return diagram
        head = f"<details><summary>{_title(self.tree_)}</summary>"
        return diagram + framed("tree", head, *_parts(self.tree_), "</details>")

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def _title(tree):
    leaves = plural(tree.n_leaves, "leaf", "leaves")
    origin = f", from {text_html(tree.source['model'])}" if "model" in tree.source else ""
    return f"The tree: {leaves}, {plural(tree.max_depth, 'level')} of tests{origin}"


def _parts(tree):
    slots = [] if tree.classes is None else class_slots(tree.counts[0])
    if tree.kind[0] == LEAF:
        return [f"<p>One leaf: {_answer(tree, 0, slots)}</p>"]
    return [_legend(tree, slots), f'<ul class="kt-tree">{_outline(tree, slots)}</ul>']


def _legend(tree, slots):
    if tree.classes is None:
        return None
    shown = [k for k in range(len(slots)) if slots[k]]
    names = [f"{class_mark(slots[k])}{text_html(tree.classes[k])}" for k in shown]
    more = len(slots) - len(shown)
    rest = [f"{class_mark(0)}{plural(more, 'other class', 'other classes')}"] if more else []
    shown = " &ensp; ".join([*names, *rest, "Bars and numbers: training cases"])
    return f'<p class="kt-legend">{shown}</p>'


def _outline(tree, slots):
    """Return the branches below the root as nested HTML lists."""
    shown = set(list(chain.from_iterable(level.tolist() for level in tree.levels))[:_MOST])
    tell, parts, deep = branch_writer(tree), [], 1
    for node in tree.preorder[1:].tolist():
        if node not in shown:
            continue
        depth = int(tree.depth[node])
        parts.append("</ul></details></li>" * (deep - depth))
        deep = depth
        condition = text_html(tell(tree.branch(node)))
        below = [child for child in tree.children(node).tolist() if child in shown]
        if tree.kind[node] == LEAF:
            parts.append(f"<li class=kt-leaf>{condition}: {_answer(tree, node, slots)}</li>")
        elif not below:
            parts.append(f"<li class=kt-leaf>{condition}: … {_counts(tree, node, slots)}</li>")
        else:
            unfolded = " open" if depth < _OPEN else ""
            head = f"<summary>{condition} {_counts(tree, node, slots)}</summary>"
            parts.append(f"<li><details{unfolded}>{head}<ul>")
            deep = depth + 1
    hidden = tree.n_nodes - len(shown)
    more = f"<li>{plural(hidden, 'node')} further down not shown</li>" if hidden else ""
    return "".join([*parts, "</ul></details></li>" * (deep - 1), more])


def _answer(tree, node, slots):
    if tree.classes is None:
        mean = number_text(tree.mean[node])
        return f"<strong>{mean}</strong> {_counts(tree, node, slots)}"
    label = int(tree.label[node])
    name = f"{class_mark(slots[label])}<strong>{text_html(tree.classes[label])}</strong>"
    return f"{name} {_counts(tree, node, slots)}"


def _counts(tree, node, slots):
    """Return the number of cases in a node and a bar of their classes, the most common first."""
    total = float(tree.weight[node])
    if total <= 0:
        return ""
    cases = f'<span class="kt-far">{count_text(total)}</span>'
    if tree.classes is None:
        return cases
    order = sorted(range(len(slots)), key=lambda k: slots[k] or len(slots) + 1)
    shares = [(float(tree.counts[node, k]) / total, slots[k]) for k in order]
    return bar(*((share, slot) for share, slot in shares if share > 0)) + cases
