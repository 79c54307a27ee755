"""Graphviz: the tree in the DOT language."""

from keeptree.exporters.drawing import drawing_of

_FONT = 'fontname="Helvetica,Arial,sans-serif"'


def write(subject):
    """Return the tree in the DOT language: tests in boxes, classes and their share in leaves.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> from keeptree.exporters.subject import subject_of
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(write(subject_of(kt.C45Classifier(max_depth=1).fit(X, y)))[".dot"])
    // Exported by KeepTree ... from the tree ...
    digraph tree {
    ...
      n0 [label="petal width (cm)"];
    ...
      n0 -> n1 [label=" ≤ 0.6 "];
    ...
    """
    drawing = drawing_of(subject)
    lines = [
        f"// {subject.origin}",
        "digraph tree {",
        "  graph [ranksep=0.45, nodesep=0.3];",
        '  node [shape=box, style="rounded,filled", fillcolor="#ffffff", color="#8b949e", '
        f'{_FONT}, fontsize=11, margin="0.14,0.08"];',
        f'  edge [color="#8b949e", arrowsize=0.6, {_FONT}, fontsize=10, fontcolor="#444c56"];',
    ]
    for box in drawing.boxes:
        if box.is_leaf:
            fill, stroke = drawing.colours[box.label]
            label = "\\n".join(map(_escape, box.lines))
            lines.append(f'  n{box.node} [label="{label}", fillcolor="{fill}", color="{stroke}"];')
        else:
            lines.append(f'  n{box.node} [label="{_escape(box.lines[0])}"];')
    for edge in drawing.edges:
        # Spaces keep the text off the line.
        lines.append(f'  n{edge.node} -> n{edge.child} [label=" {_escape(edge.text)} "];')
    return {".dot": "\n".join([*lines, "}"]) + "\n"}


def _escape(text):
    """Escape text between quotes; an ampersand would start an HTML entity."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
