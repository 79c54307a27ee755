"""ONNX: the tree and its probabilities as one graph, in double precision."""

import numpy as np

from keeptree.exporters.check import Answers, codes_of
from keeptree.output import require_extra

FORMAT = "ONNX"
_BLOCK = 1000  # rows that are scored at once: the kernel's matrices have a row per landmark


def write(subject, *, inputs="columns", leaf=False, distance=False):
    """Return the model as an ONNX file.

    Parameters
    ----------
    subject : Subject
        What is exported.
    inputs : {"columns", "used", "matrix"}, default="columns"
        One input of shape (rows, 1) for every column of the tree; only for those that it tests;
        or one float64 matrix ``X``, if no column is nominal.
    leaf, distance : bool, default=False
        Whether to add the number of the leaf, and the distance to the decision boundary.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> from keeptree.exporters.subject import subject_of
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> files = write(subject_of(kt.C45Classifier().fit(X, y)), inputs="used")
    >>> import onnx
    >>> model = onnx.load_from_string(files[".onnx"])
    >>> [value.name for value in model.graph.input], [value.name for value in model.graph.output]
    (['petal length (cm)', 'petal width (cm)'], ['label', 'probabilities'])
    """
    require_extra("onnx", extra="onnx")
    import onnx

    from keeptree.exporters.onnx.model import build_model

    model = build_model(subject, inputs, leaf, distance)
    onnx.checker.check_model(model, full_check=True)
    return {".onnx": model.SerializeToString()}


def run(files, subject, rows, *, inputs="columns", leaf=False, distance=False):
    """Score rows with onnxruntime: :class:`~keeptree.exporters.check.Answers`, or why it cannot."""
    try:
        import onnxruntime
    except ModuleNotFoundError:
        return "onnxruntime is not installed"
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 3
    session = onnxruntime.InferenceSession(files[".onnx"], quiet, ["CPUExecutionProvider"])
    feeds = _feeds(session, subject, rows, inputs)
    parts = [
        session.run(None, {name: values[start : start + _BLOCK] for name, values in feeds.items()})
        for start in range(0, len(rows), _BLOCK)
    ]
    label, p, *more = (np.concatenate(part) for part in zip(*parts, strict=True))
    classes = subject.classes if label.dtype.kind != "O" else map(str, subject.classes)
    return Answers(codes_of(label.tolist(), tuple(classes)), more[0] if leaf else None, p)


def _feeds(session, subject, rows, inputs):
    """Return rows as the inputs of a session."""
    from keeptree.exporters.onnx.inputs import missing_marker

    names = [value.name for value in session.get_inputs()]
    if inputs == "matrix":
        return {names[0]: rows.X}
    feeds = {}
    for name in names:
        f = subject.names.index(name)
        values, labels = rows.column(f), rows.categories[f]
        if labels is not None:
            marker = missing_marker(labels)
            values = [marker if value is None else str(value) for value in values]
        dtype = np.float64 if labels is None else object
        feeds[name] = np.array(values, dtype=dtype).reshape(-1, 1)
    return feeds
