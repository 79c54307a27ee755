"""JavaScript: one ES module without a dependency, with the arithmetic of the report's page."""

import re
import shutil
import tempfile
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
from keeptree.exporters.literals import script_literal
from keeptree.exporters.nested_ifs import BRACES, Syntax, write_ifs

_LARGEST_WHOLE = 2**53  # numbers of JavaScript are doubles
_KEYWORDS = """x arguments async await break case catch class const continue debugger default
delete do else enum eval export extends false finally for function if implements import in
instanceof interface let new null of package private protected public return static super switch
this throw true try typeof undefined var void while with yield"""
SYNTAX = Syntax(
    function="function {name}(x) {{",
    read="const {name} = x[{at}] ?? NaN;",
    round="Math.fround({value})",
    below="{value} <= {at}",
    not_above="!({value} > {at})",
    above="{value} > {at}",
    one_of=lambda value, codes: (
        f"{value} === {codes[0]}" if len(codes) == 1 else f"{codes}.includes({value})"
    ),
    **BRACES,
    fail="throw noRule({at});",
    comment=" // {text}",
    reserved=frozenset(_KEYWORDS.split()),
)
_CALL = [
    "",
    'import { predict, ANSWER, leaf, CLASSES } from "./this_file.js";',
    "predict(row) returns the class, ANSWER(row) an array in the order of CLASSES, leaf(row)",
    "the number of the leaf. A row is an object by column name, or an array in the order of the",
    "training table; null and NaN are missing values. Node.js wants the ending .mjs, or",
    '"type": "module" in package.json.',
]
_INTERFACE = """
/** The class of a row. */
export function predict(row) {
  PREDICT
}

/** The ANSWER of each class, in the order of CLASSES. */
function probabilityOfRow(row) {
  const x = encode(row);
  findLeaf(x); // refuses a missing value where the tree has no rule
  return probability(TREE, MODEL, x);
}
export { probabilityOfRow as ANSWER };

/** The number of the leaf of a row. */
export function leaf(row) {
  return findLeaf(encode(row));
}
"""
_PREDICT = {
    "tree": "return CLASSES[TREE.label[findLeaf(encode(row))]];",
    "shares": "const x = encode(row);\n  const leaf = findLeaf(x);\n"
    "  return CLASSES[isMixed(TREE, x) ? decide(TREE, x) : TREE.label[leaf]];",
    "probability": "const p = probabilityOfRow(row);\n  return CLASSES[p.indexOf(Math.max(...p))];",
    "cost": "return CLASSES[cheapest(probabilityOfRow(row), COSTS)];",
}
_READING = """
/** Values of the tested columns: numbers, codes of categories, null where missing. */
function encode(row) {
  return ENCODED;
}

function readValue(row, column) {
  const key = Array.isArray(row) ? column.position : column.name;
  if (!Object.prototype.hasOwnProperty.call(row, key)) {
    throw new Error(`The row has no ${column.name}; give null if its value is missing.`);
  }
  const value = row[key];
  if (value === null || value === undefined || Number.isNaN(value)) return null;
  return column.codes === null ? readNumber(value, column) : readLabel(value, column);
}

function readNumber(value, column) {
  if (typeof value !== "number" && typeof value !== "boolean") {
    throw new Error(`${column.name} must be a number, not ${show(value)}.`);
  }
  if (FINITE && !Number.isFinite(Number(value))) {
    throw new Error(`${column.name} is infinite; give a finite number, or null.`);
  }
  return Number(value);
}

const show = (value) => (typeof value === "string" ? JSON.stringify(value) : String(value));
const asKey = (label) => (typeof label === "boolean" ? Number(label) : label);
for (const column of COLUMNS) {
  column.labels = column.codes;
  if (column.codes) column.codes = new Map(column.codes.map((label, code) => [asKey(label), code]));
}

function readLabel(value, column) {
  const code = column.codes.get(asKey(value));
  if (code !== undefined) return code;
  const known = column.labels.filter((_, at) => at !== column.unknown);
  if (!known.some((label) => typeof asKey(label) === typeof asKey(value))) {
    const some = known.slice(0, 5).map(show).join(", ") + (known.length > 5 ? ", ..." : "");
    throw new Error(`${column.name} must be one of ${some}, not ${show(value)}.`);
  }
  if (column.unknown === -2) throw new Error(`${column.name} has no category ${show(value)}.`);
  return column.unknown === -1 ? null : column.unknown;
}

function noRule(at) {
  const { name } = NAMED[at];
  return new Error(`The row has no value for ${name}, and the tree has no rule for that.`);
}
"""
_RUNNER = """
import { readFileSync } from "node:fs";
import { CLASSES, leaf, predict, ANSWER } from "./exported.mjs";

const number = (_, value) => (typeof value?.inf === "number" ? value.inf * Infinity : value);
const scored = (row) => [CLASSES.indexOf(predict(row)), leaf(row), ANSWER(row)];
const [names, table] = JSON.parse(readFileSync(0, "utf8"), number);
const rows = table.map((values) => Object.fromEntries(names.map((name, at) => [name, values[at]])));
process.stdout.write(JSON.stringify(rows.map(scored)));
"""


def _show(label):
    return str(label).lower() if isinstance(label, bool) else str(label)


# Scripts of the kinds of models that are not in probability.js.
_OWN_SCRIPTS = {
    "confdtree": ["confdtree"],
    "distance": ["boxes", "distance"],
    "rank": ["boxes", "rank"],
    "separator": ["boxes", "distance", "separator"],
}


def read_script(name):
    """Return a script that the page and the exports share, by its name in ``js/``."""
    return resources("keeptree.exporters").joinpath(f"js/{name}.js").read_text(encoding="utf-8")


def write(subject):
    """Return the model as an ES module.

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
    >>> text = write(subject_of(tree))[".js"]
    >>> print(text[text.index("function findLeaf") : text.index("/** Values")].rstrip())
    function findLeaf(x) {
        const petal_width_cm = x[0] ?? NaN; // petal width (cm)
        if (petal_width_cm <= 0.6) {
            return 1; // 0, 50 cases
        } else { // or missing (shared)
            return 2; // 1, 100 cases
        }
    }
    """
    data = code_data(subject)
    _check_whole(data)
    answer = data["answer"]
    call = [line.replace("ANSWER", answer) for line in _CALL]
    costs = f"\nconst COSTS = {script_literal(data['costs'])}; // by true, then by decided class"
    sums = f"\nconst SUMS = {script_literal(data['sums'])};"
    way = data["decide"]
    way = "shares" if way == "tree" and data["shares"] else way
    parts = [
        "\n".join(f"// {line}".rstrip() for line in header(subject, data, call, _show)),
        f"export const CLASSES = {script_literal(data['classes'])};\n"
        f"const COLUMNS = {script_literal([_column(column) for column in data['columns']])};\n"
        f"const FINITE = {script_literal(data['finite'])}; // whether infinite numbers are refused"
        f"{'' if data['costs'] is None else costs}{sums if data['sums'] else ''}",
        _INTERFACE.replace("PREDICT", _PREDICT[way]).replace("ANSWER", answer).strip(),
        write_ifs(subject, data, SYNTAX, "findLeaf"),
        _reading(data).strip(),
        *(_as_part(read_script(name)) for name in _scripts(data)),
        f"const TREE = {script_literal(data['tree'])};\n"
        f"const MODEL = {script_literal(text_arrays(data['model']))};",
    ]
    return {".js": "\n\n".join(parts) + "\n"}


def run(files, subject, rows):
    """Score rows by the module in Node.js."""
    node = shutil.which("node")
    if node is None:
        return "node is not installed"
    with tempfile.TemporaryDirectory() as folder:
        data = code_data(subject)
        runner = _RUNNER.replace("ANSWER", data["answer"])
        for name, text in (("exported.mjs", files[".js"]), ("check.mjs", runner)):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        text = rows_text(data, rows)
        return run_program([node, str(Path(folder) / "check.mjs")], text)


def _reading(data):
    """The functions that read a row, and append the weighted sums of an oblique tree."""
    encoded, named = "COLUMNS.map((column) => readValue(row, column))", "COLUMNS"
    if data["sums"]:
        encoded, named = f"addSums(TREE, SUMS, {encoded})", "[...COLUMNS, ...SUMS]"
    return _READING.replace("ENCODED", encoded).replace("NAMED", named)


def _column(column):
    return {
        "name": column["name"],
        "position": column["column"],
        "codes": column["categories"],
        "unknown": column["unknown"],
    }


def _scripts(data):
    """Return the scripts that a model needs, dependencies first."""
    own = [name for kind in kinds_of(data["model"]) for name in _OWN_SCRIPTS.get(kind, ())]
    return ["tree", *(["sums"] if data["sums"] else []), "probability", *own]


def _as_part(module):
    """Strip imports and exports from a script, to embed it in one module."""
    module = re.sub(r"^import [^;]*;\n+", "", module, flags=re.MULTILINE)
    return re.sub(r"^export ", "", module, flags=re.MULTILINE).strip()


def _check_whole(data):
    labels = [*data["classes"], *(v for c in data["columns"] for v in c["categories"] or ())]
    for label in labels:
        if isinstance(label, int) and abs(label) > _LARGEST_WHOLE:
            raise ValueError(
                f"The label {label} is too large for a JavaScript number; make the class or "
                "category text."
            )
