"""Python: one module without a dependency, which scores single rows."""

import ast
import sys
import tempfile
from functools import cache
from importlib.resources import files as resources
from pathlib import Path

from keeptree.exporters.code import (
    code_data,
    header,
    kinds_of,
    rows_text,
    run_program,
    text_arrays,
)
from keeptree.exporters.literals import python_literal
from keeptree.exporters.nested_ifs import Syntax, write_ifs

SYNTAX = Syntax(
    function="def {name}(x):",
    read="{name} = x[{at}]",
    round="single({value})",
    below="{value} <= {at}",
    not_above="not {value} > {at}",
    above="{value} > {at}",
    one_of=lambda value, codes: (
        f"{value} == {codes[0]}" if len(codes) == 1 else f"{value} in {tuple(codes)}"
    ),
    test="if {condition}:",
    other="elif {condition}:",
    rest="else:",
    end="",
    answer="return {leaf}",
    call="return {name}(x)",
    fail="raise no_rule({at})",
    function_end="",
    comment="  # {text}",
    reserved=frozenset({"x", "single", "no_rule"}),
)
_ARITHMETIC = (
    "arithmetic",
    "arithmetic_confdtree",
    "arithmetic_boxes",
    "arithmetic_distance",
    "arithmetic_separator",
    "arithmetic_rank",
)
_CALL = [
    "",
    "predict(row) returns the class, ANSWER(row) a list in the order of CLASSES, leaf(row)",
    "the number of the leaf. A row is a dict by column name, or a list in the order of the",
    "training table; None is a missing value.",
]
# The functions that every export has; those of the arithmetic follow.
_READING = '''
def encode(row):
    """Values of the tested columns as floats: codes of categories, NaN where missing."""
    return ENCODED


def read_value(row, column):
    """One value of a row."""
    try:
        value = row[column["name"]] if hasattr(row, "keys") else row[column["position"]]
    except (KeyError, IndexError):
        message = "The row has no %r; give None if its value is missing."
        raise ValueError(message % column["name"]) from None
    if value is None or value != value:
        return float("nan")
    return read_number(value, column) if column["codes"] is None else read_label(value, column)


def read_number(value, column):
    """A number as a float."""
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise ValueError("%r must be a number, not %r." % (column["name"], value))
    value = float(value)
    if not FINITE or abs(value) < float("inf"):
        return value
    raise ValueError("%r is infinite; give a finite number, or None." % column["name"])


def read_label(value, column):
    """The code of a category as a float."""
    codes, unknown = column["codes"], column["unknown"]
    if value in codes:
        return float(codes[value])
    known = [label for label, code in codes.items() if code != unknown]
    if isinstance(value, str) not in [isinstance(label, str) for label in known]:
        message = "%r must be a label such as %r, not %r."
        raise ValueError(message % (column["name"], known[0], value))
    if unknown == -2:
        raise ValueError("%r has no category %r." % (column["name"], value))
    return float("nan") if unknown == -1 else float(unknown)


def no_rule(at):
    """The error for a missing value where the tree has no rule."""
    message = "The row has no value for %r, and the tree has no rule for missing values there."
    return ValueError(message % NAMED[at]["name"])
'''
_RUNNER = """
import json, sys
from importlib.util import module_from_spec, spec_from_file_location

spec = spec_from_file_location("exported", sys.argv[1])
module = module_from_spec(spec)
spec.loader.exec_module(module)

def score(row):
    return module.CLASSES.index(module.predict(row)), module.leaf(row), module.ANSWER(row)

names, table = json.load(sys.stdin, object_hook=lambda found: found["inf"] * float("inf"))
json.dump([score(dict(zip(names, values))) for values in table], sys.stdout)
"""


def write(subject):
    """Return the model as a Python module.

    Parameters
    ----------
    subject : Subject
        What is exported.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> from keeptree.exporters.subject import subject_of
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = kt.C45Classifier(max_depth=1).fit(X, y).tree_
    >>> text = write(subject_of(tree))[".py"]
    >>> print(text[text.index("def find_leaf") : text.index("def encode")].rstrip())
    def find_leaf(x):
        petal_width_cm = x[0]  # petal width (cm)
        if petal_width_cm <= 0.6:
            return 1  # 0, 50 cases
        else:  # or missing (shared)
            return 2  # 1, 100 cases
    """
    data = code_data(subject)
    call = [line.replace("ANSWER", data["answer"]) for line in _CALL]
    comments = "\n".join(f"# {line}".rstrip() for line in header(subject, data, call))
    functions = _arithmetic(data)
    used = "".join(functions)
    imports = [f"import {name}" for name in ("base64", "math", "sys") if f"{name}." in used]
    imports += ["from array import array"] if "array(" in used else []
    imports += ["from itertools import compress"] if "compress(" in used else []
    values = [
        f"CLASSES = {python_literal(data['classes'])}",
        f"COLUMNS = {python_literal([_column(column) for column in data['columns']])}",
        *([f"SUMS = {python_literal(data['sums'])}"] if data["sums"] else []),
        f"FINITE = {data['finite']}  # whether infinite numbers are refused",
    ]
    if data["costs"] is not None:
        values.append(f"COSTS = {python_literal(data['costs'])}  # by true, then by decided class")
    decision = write_ifs(subject, data, SYNTAX, "find_leaf")
    parts = [
        comments,
        "\n".join(imports),
        "\n".join(values),
        f"\n{_interface(data)}",
        f"\n{decision}",
        _reading(data).rstrip(),
        *(f"\n{text}" for text in functions),
        f"\nTREE = {python_literal(data['tree'])}",
        f"MODEL = {python_literal(text_arrays(data['model']))}",
    ]
    return {".py": "\n\n".join(part for part in parts if part) + "\n"}


def run(files, subject, rows):
    """Score rows by the module in a new Python that finds no other package."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exported.py"
        path.write_text(files[".py"], encoding="utf-8")
        data = code_data(subject)
        runner = _RUNNER.replace("ANSWER", data["answer"])
        command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", runner, str(path)]
        return run_program(command, rows_text(data, rows))


def _reading(data):
    """The functions that read a row, and append the weighted sums of an oblique tree."""
    encoded, named = "[read_value(row, column) for column in COLUMNS]", "COLUMNS"
    if data["sums"]:
        encoded, named = f"add_sums(TREE, SUMS, {encoded})", "(COLUMNS + SUMS)"
    return _READING.replace("ENCODED", encoded).replace("NAMED", named)


def _column(column):
    labels = column["categories"]
    return {
        "name": column["name"],
        "position": column["column"],
        "codes": None if labels is None else {label: code for code, label in enumerate(labels)},
        "unknown": column["unknown"],
    }


def _interface(data):
    """The functions that callers use."""
    model, by_tree = data["model"], data["decide"] == "tree"
    decides = by_tree or model.get("softness") is not None
    lines = ["def predict(row):", '    """Return the class of a row."""']
    if by_tree:
        lines += ["    return CLASSES[decide(encode(row))]"]
    elif data["decide"] == "cost":
        lines += ["    return CLASSES[cheapest(probability(row), COSTS)]"]
    else:
        lines += ["    p = probability(row)", "    return CLASSES[p.index(max(p))]"]
    lines += ["", "", f"def {data['answer']}(row):"]
    lines += [f'    """Return the {data["answer"]} of each class, in the order of CLASSES."""']
    lines += ["    x = encode(row)"]
    if model["kind"] != "leaves":
        lines += ["    find_leaf(x)  # refuses a missing value where the tree has no rule"]
    answer = f"{model['kind']}(TREE, MODEL, x)"
    if model.get("softness") is not None:
        answer = f'make_coherent({answer}, decide(x), MODEL["softness"])'
    lines += [f"    return {answer}", "", "", "def leaf(row):"]
    lines += [
        '    """Return the number of the leaf of a row."""',
        "    return find_leaf(encode(row))",
    ]
    if decides:
        lines += ["", "", "def decide(x):", '    """Position of the class of a row."""']
        if data["shares"]:
            lines += ["    if is_mixed(TREE, x):", "        return decide_mixed(TREE, x)"]
        lines += ['    return TREE["label"][find_leaf(x)]']
    return "\n".join(lines)


def _arithmetic(data):
    """Sources of the functions that a model needs."""
    functions = _functions()
    kinds = kinds_of(data["model"])
    needed = {*kinds, *(("is_mixed", "decide_mixed") if data["shares"] else ())}
    needed |= {"make_coherent"} if data["model"].get("softness") is not None else set()
    needed |= {"cheapest"} if data["decide"] == "cost" else set()
    needed |= {"single"} if data["tree"]["float32"] else set()
    needed |= {"add_sums"} if data["sums"] else set()
    todo = list(needed)
    while todo:
        called = functions[todo.pop()][1] - needed
        needed |= called
        todo += called
    texts = [text for name, (text, _) in functions.items() if name in needed]
    if "pool" in kinds:
        experts = ", ".join(f'"{kind}": {kind}' for kind in kinds if kind != "pool")
        texts.append(f"KINDS = {{{experts}}}")
    return texts


@cache
def _functions():
    """Source of each function of the arithmetic, and the others that it calls."""
    found = []
    for name in _ARITHMETIC:
        path = resources("keeptree.exporters").joinpath(f"{name}.py")
        source = path.read_text(encoding="utf-8")
        parts = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
        found += [(node, ast.get_source_segment(source, node)) for node in parts]
    names = {node.name for node, _ in found}
    return {
        node.name: (
            text,
            names & {part.id for part in ast.walk(node) if isinstance(part, ast.Name)},
        )
        for node, text in found
    }
