"""Mermaid: the tree as a flowchart for Markdown pages."""

from keeptree.exporters.drawing import drawing_of


def write(subject):
    """Return the tree as a Mermaid flowchart: tests in boxes, leaves in rounded ones.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> from keeptree.exporters.subject import subject_of
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(write(subject_of(kt.C45Classifier(max_depth=1).fit(X, y)))[".mmd"])
    %% Exported by KeepTree ... from the tree ...
    flowchart TD
      n0["petal width (cm)"]
      n1(["<b>target = 0</b><br>50 of 150 cases<br>100 #37; of this class"]):::class0
      n2(["<b>target = 1</b><br>100 of 150 cases<br>50 #37; of this class"]):::class1
      n0 -->|"≤ 0.6"| n1
      n0 -->|"#62; 0.6"| n2
      ...
    """
    drawing = drawing_of(subject)
    lines = [f"%% {subject.origin}", "flowchart TD"]
    for box in drawing.boxes:
        if box.is_leaf:
            name, *rest = map(_escape, box.lines)
            text = "<br>".join([f"<b>{name}</b>", *rest])
            lines.append(f'  n{box.node}(["{text}"]):::class{box.label}')
        else:
            lines.append(f'  n{box.node}["{_escape(box.lines[0])}"]')
    for edge in drawing.edges:
        lines.append(f'  n{edge.node} -->|"{_escape(edge.text)}"| n{edge.child}')
    for label, (fill, stroke) in drawing.colours.items():
        lines.append(f"  classDef class{label} fill:{fill},stroke:{stroke},color:#1b1b1b")
    return {".mmd": "\n".join(lines) + "\n"}


def _escape(text):
    """Escape text between quotes: entities for characters that Mermaid or HTML interprets."""
    special = {"#", "&", "<", ">", '"', "`", "\\", "*", "_", "~", "|", "$", ";", "%", "{", "}"}
    return "".join(f"#{ord(char)};" if char in special else char for char in text)
