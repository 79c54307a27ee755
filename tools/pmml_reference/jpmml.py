"""Ask JPMML for the node and the class of each row."""

import re
import tempfile
from contextlib import contextmanager
from pathlib import Path

from jpmml_evaluator import make_evaluator
from jpmml_evaluator.jpype import JPypeBackend

_OUTPUT = (
    '<Output><OutputField name="kt_node" optype="categorical" dataType="string" '
    'feature="entityId"/></Output>'
)


@contextmanager
def java():
    """Yield a Java virtual machine, which is shut down at the end."""
    backend = JPypeBackend()
    try:
        yield backend
    finally:
        JPypeBackend.destroyJVM()


def answers(text, rows, backend):
    """Return (node, class) of each row, with None where JPMML has none, or ``("!", message)``."""
    text = re.sub(r"<Output>.*?</Output>|<Output/>", "", text, flags=re.DOTALL)
    text = text.replace("</MiningSchema>", "</MiningSchema>" + _OUTPUT, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pmml"
        path.write_text(text, encoding="utf-8")
        evaluator = make_evaluator(str(path), backend=backend)
    target = evaluator.getTargetFields()[0].getName()
    found = []
    for row in rows:
        try:
            result = evaluator.evaluate(row)
        except Exception as error:  # JPMML raises Java exceptions
            found.append(("!", str(error)[:200]))
        else:
            found.append((result.get("kt_node"), result.get(target)))
    return found
