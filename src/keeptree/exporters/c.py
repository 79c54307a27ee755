"""C: one self-contained file that needs only the mathematical library."""

import re
from importlib.resources import files as resources

import numpy as np

from keeptree.exporters.c_arrays import array_text, model_arrays
from keeptree.exporters.c_run import run
from keeptree.exporters.c_text import c_string, prefixed
from keeptree.exporters.code import code_data, header, kinds_of
from keeptree.exporters.nested_ifs import BRACES, Syntax, identifiers, write_ifs

__all__ = ["run", "write"]

_KEYWORDS = """x asm auto bool break case catch char class const continue default delete do double
else enum explicit export extern false float for friend goto if inline int linux long mutable
namespace new operator private protected public register restrict return short signed sizeof static
struct switch template this throw true try typedef typename union unix unsigned using virtual void
volatile wchar_t while"""
SYNTAX = Syntax(
    function="static int {name}(const double *x)\n{{",
    read="const double {name} = x[{at}];",
    round="(float)({value})",
    below="{value} <= {at}",
    not_above="!({value} > {at})",
    above="{value} > {at}",
    one_of=lambda value, codes: " || ".join(f"{value} == {code}" for code in codes),
    **BRACES,
    fail="return -1;",
    comment=" /* {text} */",
    reserved=frozenset(_KEYWORDS.split()),
)
_HEAD = """#ifdef __FAST_MATH__
#error "Missing values are NaN, which -ffast-math does away with; compile without it."
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#include <math.h>
#include <string.h>

#ifndef PREFIX_API
#define PREFIX_API
#endif"""
_INTERFACE = """
/* Copy a row; 0 if a code is not that of a category, or a number is infinite and may not be. */
static int read_row(const double *row, double *x)
{
    for (int k = 0; k < N_COLUMNS; k++) {
        const double value = x[k] = row[k];
        if (value != value) continue;
        if (n_categories[k] > 0) {
            if (!(value >= 0.0 && value < n_categories[k] && value == (int)value)) return 0;
        } else if (IS_FINITE && (value - value) != 0.0) {
            return 0;
        }
    }ADD_SUMS
    return 1;
}

DECIDE
PREFIX_API int prefix_leaf(const double *row)
{
    double x[N_VALUES + 1];
    return read_row(row, x) ? find_leaf(x) : -1;
}

PREFIX_API int prefix_probability(const double *row, double *p)
{
    double x[N_VALUES + 1];
    const int leaf = read_row(row, x) ? find_leaf(x) : -1;
    if (leaf < 0) return -1;
    PROBABILITY
    return 0;
}

PREFIX_API int prefix_predict(const double *row)
{
    PREDICT
}

PREFIX_API double prefix_category(int column, const char *label)
{
    for (int code = 0; code < n_categories[column]; code++)
        if (strcmp(label, categories[column][code]) == 0) return code;
    return unknown_category[column] == -1 ? NAN : unknown_category[column];
}"""
_PREDICT = {
    "tree": """double x[N_VALUES + 1];
    const int leaf = read_row(row, x) ? find_leaf(x) : -1;
    return leaf < 0 ? -1 : decide(x, leaf);""",
    "probability": """double p[N_CLASSES];
    int best = 0;
    if (prefix_probability(row, p) < 0) return -1;
    for (int c = 1; c < N_CLASSES; c++)
        if (p[c] > p[best]) best = c;
    return best;""",
    "cost": """double p[N_CLASSES], expected, least = INFINITY;
    int best = 0;
    if (prefix_probability(row, p) < 0) return -1;
    for (int d = 0; d < N_CLASSES; d++) {
        expected = 0.0;
        for (int c = 0; c < N_CLASSES; c++) expected += p[c] * costs[c * N_CLASSES + d];
        if (expected < least) {
            least = expected;
            best = d;
        }
    }
    return best;""",
}
_ADD_SUMS = """
    for (int s = 0; s < N_VALUES - N_COLUMNS; s++) {
        double total = 0.0;
        for (int e = sum_start[s]; e < sum_start[s + 1]; e++) {
            const double product = COMPARED(x[sum_column[e]]) * sum_weight[e];
            total = COMPARED(total + COMPARED(product));
        }
        x[N_COLUMNS + s] = total;
    }"""


def write(subject, prefix="tree"):
    """Return the model as a C file.

    Parameters
    ----------
    subject : Subject
        What is exported.
    prefix : str, default="tree"
        Prefix of the function names: letters, digits and underscores.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import keeptree as kt
    >>> from keeptree.exporters.subject import subject_of
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = kt.C45Classifier(max_depth=1).fit(X, y).tree_
    >>> text = write(subject_of(tree))[".c"]
    >>> print(text[text.index("static int find_leaf") : text.index("/* Copy a row")].rstrip())
    static int find_leaf(const double *x)
    {
        const double petal_width_cm = x[0]; /* petal width (cm) */
        if (petal_width_cm <= 0.6) {
            return 1; /* 0, 50 cases */
        } else { /* or missing (shared) */
            return 2; /* 1, 100 cases */
        }
    }
    """
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", prefix):
        raise ValueError(
            f"prefix={prefix!r} is not a valid prefix of C functions; use letters, digits and "
            "underscores, starting with a letter."
        )
    data = code_data(subject)
    _check_text(data)
    parts = [
        _comment(header(subject, data, _calls(prefix, data["answer"]), whole_rows=False)),
        prefixed(_HEAD, prefix, data["answer"]),
        _declarations(data, prefix),
        model_arrays(data),
        *([_source("mix")] if data["shares"] else []),
        write_ifs(subject, data, SYNTAX, "find_leaf"),
        *_probability_functions(data),
        prefixed(_interface(data), prefix, data["answer"]),
    ]
    return {".c": "\n\n".join(part.strip("\n") for part in parts) + "\n"}


def _calls(prefix, answer):
    return [
        "",
        f"int {prefix}_predict(const double *row)    position of the class in {prefix}_classes",
        f"int {prefix}_{answer}(const double *row, double *p)    fills p, returns 0",
        f"int {prefix}_leaf(const double *row)    number of the leaf",
        f"double {prefix}_category(int column, const char *label)    code of a category",
        "",
        "A row holds the columns below in this order: numbers, category codes, and NAN for a",
        "missing value. The functions return -1 for a row that cannot be scored: a value is",
        "missing where the tree has no rule, a category code is invalid, or a number is infinite.",
        "They keep no state and may be called from several threads.",
        "",
        "Compile: cc -O2 -ffp-contract=off -c this_file.c; link with -lm. GCC and Clang are told",
        "so by the file itself; other compilers need that option, or an equivalent, for the last",
        "digits. To include the file instead of compiling it, put this line before the #include:",
        f"#define {prefix.upper()}_API static",
    ]


def _comment(lines):
    """Join lines in one comment; text from the data cannot end it."""
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])


def _source(name):
    return (
        resources("keeptree.exporters").joinpath(f"c_source/{name}.c").read_text(encoding="utf-8")
    )


def _declarations(data, prefix):
    """Declare sizes, the names of columns and classes, and categories."""
    columns, classes = data["columns"], data["classes"]
    constants = identifiers([column["name"] for column in columns], SYNTAX.reserved)
    places = [f"    {prefix}_{name}".upper() + f" = {at}," for at, name in enumerate(constants)]
    lists = []
    for at, column in enumerate(columns):
        if column["categories"] is not None:
            texts = ", ".join(map(c_string, column["categories"]))
            lists.append(f"static const char *const categories_{at}[] = {{{texts}}};")
    pointers = [f"categories_{at}" if c["categories"] else "0" for at, c in enumerate(columns)]
    rounded, public = "((double)(float)(value))", f"{prefix.upper()}_API const char *const {prefix}"
    return "\n".join(
        [
            f"enum {{ N_COLUMNS = {len(columns)}, N_CLASSES = {len(classes)}, "
            f"IS_FINITE = {int(data['finite'])}, N_VALUES = {len(columns) + len(data['sums'])} }};",
            *(["enum { /* places of the columns in a row */", *places, "};"] if places else []),
            f"#define COMPARED(value) {rounded if data['tree']['float32'] else '(value)'}",
            _texts(f"{public}_columns", [column["name"] for column in columns]),
            _texts(f"{public}_classes", classes),
            *lists,
            f"static const char *const *const categories[] = {{{', '.join(pointers or ['0'])}}};",
            array_text("int", "n_categories", [len(c["categories"] or ()) for c in columns]),
            array_text("int", "unknown_category", [c["unknown"] for c in columns]),
            *_sums(data["sums"]),
            *_costs(data["costs"]),
        ]
    )


def _sums(sums):
    """Declare the terms of the weighted sums, which follow the columns of a row."""
    if not sums:
        return []
    terms = [term for part in sums for term in part["terms"]]
    starts = np.cumsum([0, *(len(part["terms"]) for part in sums)]).tolist()
    return [
        array_text("int", "sum_start", starts),
        array_text("int", "sum_column", [at for at, _ in terms]),
        array_text("double", "sum_weight", [weight for _, weight in terms]),
    ]


def _costs(costs):
    """Declare the cost matrix, if decisions are made by cost."""
    if costs is None:
        return []
    flat = [float(cost) for row in costs for cost in row]
    return ["/* By true class (row) and decided class. */", array_text("double", "costs", flat)]


def _texts(name, values):
    return f"{name}[] = {{{', '.join(map(c_string, values)) or '0'}}};"


def _flags(data):
    """Return the macros that select the code of a model that measures distances."""
    model, single = data["model"], {"IS_SINGLE": data["tree"]["float32"]}
    if model["kind"] == "rank":
        shares = {"SHARES": data["shares"]}
        is_local = model["values"] is not None
        return {"IS_LOCAL": is_local, "IS_WHOLE": model["whole"], **shares, **single}
    if model["kind"] not in ("distance", "separator"):
        return {}
    return {
        "ON_GRID": model["grid"] is not None,
        "BY_LEAF": model["curve"] is not None,
        "BY_SEPARATOR": model["kind"] == "separator",
        "TWO_CLASSES": len(model["prior"]) == 2,
        **single,
    }


def _probability_functions(data):
    """Return the functions that a model needs, and the tests that they read."""
    model = data["model"]
    kinds, parts = kinds_of(model), []
    if {"soft", "margin"} & set(kinds):
        parts.append(_source("soft"))
    if {"margin", "pool"} & set(kinds):
        parts.append(_source("softmax"))
    for kind in ("soft", "margin"):
        if kind in kinds:
            parts.append(f"static const test_set {kind}_tests = {{{kind.upper()}_TESTS}};")
    if "soft" in kinds:
        parts.append(
            "static void soft_probability(const double *x, double *p)\n{\n"
            "    soft_average(&soft_tests, soft_steep, soft_values, N_CLASSES, soft_tests.root,\n"
            "                 x, p);\n}"
        )
    flags = _flags(data)
    if flags:
        parts.append("\n".join(f"#define {name} {int(value)}" for name, value in flags.items()))
        parts.append(_source("single"))
        parts += [_source("boxes")] if model.get("grid", model.get("boxes")) is not None else []
        parts += [_source("grid")] if model.get("grid") is not None else []
        parts += [_source("distance")] if model["kind"] in ("distance", "separator") else []
    own = ("margin", "kernel", "confdtree", "rank", "separator")
    parts += [_source(kind) for kind in own if kind in kinds]
    if "pool" in kinds:
        experts = ", ".join(f"{kind}_probability" for kind in kinds if kind != "pool")
        parts.append(
            f"static void (*const pool_experts[])(const double *, double *) = {{{experts}}};"
        )
        parts.append(_source("pool"))
        parts += [_source("coherent")] if model["softness"] is not None else []
    return parts


def _interface(data):
    model, shares = data["model"], data["shares"]
    coherent = model.get("softness") is not None
    decides = data["decide"] == "tree" or coherent or model["kind"] == "separator"
    mixed = "is_mixed(x) ? decide_mixed(x) : " if shares else ""
    unused = "" if shares else "    (void)x;\n"
    decide = (
        "static int decide(const double *x, int leaf)\n{\n"
        f"{unused}    return {mixed}tree_label[leaf];\n}}\n"
    )
    if model["kind"] == "leaves":
        lines = ["for (int c = 0; c < N_CLASSES; c++) p[c] = leaf_values[leaf * N_CLASSES + c];"]
        lines += ["if (is_mixed(x)) mix(leaf_values, x, p);"] if shares else []
    elif model["kind"] == "rank":
        lines = ["rank_score(x, leaf, decide(x, leaf), p);"]
    elif model["kind"] == "separator":
        lines = ["separator_probability(x, decide(x, leaf), p);"]
    else:
        lines = [f"{model['kind']}_probability(x, p);"]
        lines += ["make_coherent(p, decide(x, leaf));"] if coherent else []
    return (
        _INTERFACE.replace("DECIDE", decide if decides else "")
        .replace("ADD_SUMS", _ADD_SUMS if data["sums"] else "")
        .replace("PROBABILITY", "\n    ".join(lines))
        .replace("PREDICT", _PREDICT[data["decide"]])
    )


def _check_text(data):
    texts = [*data["classes"], *(v for c in data["columns"] for v in c["categories"] or ())]
    texts += [column["name"] for column in data["columns"]]
    for text in texts:
        if "\0" in str(text):
            raise ValueError(f"{text!r:.50} has a NUL character, which ends text in C; rename it.")
