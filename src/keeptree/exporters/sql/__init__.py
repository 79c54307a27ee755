"""SQL: the decision, the leaf and the probabilities of each row of a table."""

from dataclasses import replace

from keeptree.choice import one_of
from keeptree.exporters.plain import plain_dict
from keeptree.exporters.sql.decision import DEPTH, TreeTexts
from keeptree.exporters.sql.formulas import Formulas
from keeptree.exporters.sql.inputs import Inputs
from keeptree.exporters.sql.kernel import landmarks_table
from keeptree.exporters.sql.run import run_query
from keeptree.exporters.sql.spelling import DIALECTS, LINE_END, Spelling, label_kind
from keeptree.exporters.sql.steps import Steps
from keeptree.exporters.sql.tables import curves_table
from keeptree.tree import SHARE

__all__ = ["DIALECTS", "run", "write"]

FORMS = ("expression", "select", "view")


def write(
    subject,
    *,
    dialect="duckdb",
    table="data",
    view=None,
    form=None,
    keep=None,
    prefix="",
    landmarks="landmarks",
    curves="curves",
):
    """Return a query, a view or a list of expressions that score the rows of a table.

    Parameters
    ----------
    subject : Subject
        What is exported.
    dialect : {"duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake", "tsql"}
        Spelled by sqlglot.
    table : str, default="data"
        The table to score; it may have further columns.
    view : str, optional
        Name of the view to create.
    form : {"expression", "select", "view"}, optional
        A list of expressions for your own query, a query, or ``CREATE VIEW``; default a view if
        ``view`` is given, else a query.
    keep : sequence of str, optional
        Columns of the table to return beside the predictions; default all of them.
    prefix : str, default=""
        Prefix of the output columns ``prediction``, ``leaf`` and ``probability_...`` (of a ranking
        ``score_...``).
    landmarks : str, default="landmarks"
        Name of the table of landmarks that a model with a kernel expert needs, which is a second
        file.
    curves : str, default="curves"
        Name of the table of curves that a distance kernel needs, which is a second file.

    Returns
    -------
    files : dict
    """
    spell = Spelling(dialect, LINE_END)
    form = one_of(FORMS, form or ("select" if view is None else "view"), "form of SQL")
    _check_form(form, view, keep)
    data = plain_dict(subject.tree, subject.model)
    _check_distinct(data, spell)
    tables = {"landmarks": landmarks, "curves": curves}
    steps, outputs = _compute(data, subject.tree.max_depth, spell, tables, prefix)
    tested = [column["name"] for column in data["columns"]]
    if form == "expression":
        text = steps.expression(outputs)
    else:
        _check_beside(outputs, tested if keep is None else keep, spell)
        text = steps.select(outputs, table, keep, tested) + ";"
    if form == "view":
        text = f"CREATE VIEW {spell.table('scored' if view is None else view)} AS\n{text}"
    head = f"-- {subject.origin}\n-- {subject.kind}, {spell.dialect.title}\n"
    files = {".sql": (head + text + "\n").replace(LINE_END, "\n")}
    return files | _tables(spell, data["model"], tables, subject.origin)


def run(files, subject, rows, *, dialect="duckdb", form=None, view=None, **options):
    """Score rows in DuckDB or SQLite; DuckDB stands in for a database that runs elsewhere."""
    runs_here = dialect in ("duckdb", "sqlite")
    where = dialect if runs_here else "duckdb"
    asked = {**options, "table": "keeptree_rows", "keep": ["keeptree_id"]}
    asked |= {"landmarks": "landmarks", "curves": "curves"}  # a schema of the user is not there
    written = write(subject, dialect=where, form="select", **asked)
    found = run_query(written, subject, rows, where, options.get("prefix", ""))
    if runs_here or isinstance(found, str):
        return found
    note = f"in DuckDB, which stands in for {DIALECTS[dialect].title}"
    return replace(found, note=note)


def _tables(spell, model, names, origin):
    """Return the files of the additional tables that the query reads."""
    files = {}
    for part in (model, *model.get("experts", ())):
        if part["kind"] == "kernel":
            files[".landmarks.sql"] = landmarks_table(spell, part, names["landmarks"], origin)
        elif part["kind"] == "distance":
            files[".curves.sql"] = curves_table(spell, part, names["curves"], origin)
    return files


def _compute(data, depth, spell, tables, prefix):
    """Return the steps of the query, and the expression of each output by name."""
    steps = Steps(spell, _own_prefix(data))
    plain = data["model"]["kind"] == "leaves" and not _shares(data["tree"])
    inputs = Inputs(data, steps)
    # A step that reads weighted sums cannot read the columns of the table as well.
    tree = TreeTexts(data, inputs, raw=plain and depth <= DEPTH and not data["sums"])
    leaf = steps.add("leaf", tree.leaf())
    formulas = Formulas(data, tree, leaf, tables)
    p = formulas.probabilities()
    kind = label_kind(data["classes"])
    labels = [spell.label(label, kind) for label in data["classes"]]
    if plain and data["decide"] == "tree":
        prediction = formulas.by_leaf([labels[label] for label in data["tree"]["label"]])
    else:
        label = steps.add("label", formulas.label(p))
        cases = " ".join(f"WHEN {c} THEN {text}" for c, text in enumerate(labels))
        prediction = f"CASE {label} {cases} END"
    names = ["prediction", *_answer_names(data, spell, prefix)]
    texts = [prediction, *p]
    if not plain:  # the formulas have an answer even where the tree has none
        texts = [f"CASE WHEN {leaf} IS NULL THEN NULL ELSE {text} END" for text in texts]
    answers = dict(zip(names, texts, strict=True))
    answers = {"prediction": answers.pop("prediction"), "leaf": leaf, **answers}
    return steps, {f"{prefix}{name}": text for name, text in answers.items()}


def _shares(tree):
    """Return whether some test splits missing values among its children."""
    asked = zip(tree["attribute"], tree["missing"], strict=True)
    return any(missing == SHARE for at, missing in asked if at is not None)


def _own_prefix(data):
    """Return a prefix for the steps that no column name starts with."""
    names = tuple(column["name"].lower() for column in data["columns"])
    prefix = "kt_"
    while any(name.startswith(prefix) for name in names):
        prefix = f"k{prefix}"
    return prefix


def _answer_names(data, spell, prefix):
    """``probability_...`` or ``score_...`` of each class, if the dialect allows such a name."""
    names, answer = [], "score" if data["model"]["kind"] == "rank" else "probability"
    for c, label in enumerate(data["classes"]):
        name = f"{answer}_{label}"
        try:
            spell.name(prefix + name)
        except ValueError:
            name = f"{answer}_of_class_{c}"
        taken = {spell.fold_case(other) for other in names}
        names.append(f"{name}_{c}" if spell.fold_case(name) in taken else name)
    return names


def _check_form(form, view, keep):
    """Raise a ValueError for an option that the form of the query would ignore."""
    if view is not None and form != "view":
        raise ValueError(f"view={view!r} (--view) names a view, but form={form!r} creates none.")
    if keep is not None and form == "expression":
        raise ValueError(
            'keep (--keep) selects columns of a query, but form="expression" writes none.'
        )


def _check_beside(outputs, columns, spell):
    """Raise a ValueError if an output has the name of a column that is kept."""
    names = {spell.fold_case(name): name for name in columns}
    for output in outputs:
        if spell.fold_case(output) in names:
            raise ValueError(
                f"The output column {output!r} clashes with the column "
                f"{names[spell.fold_case(output)]!r}; choose another name with prefix (--prefix)."
            )


def _check_distinct(data, spell):
    """Raise a ValueError if the dialect cannot distinguish two column names."""
    seen = {}
    for column in data["columns"]:
        name = column["name"]
        other = seen.setdefault(spell.fold_case(name), name)
        if other is not name:
            raise ValueError(
                f"{spell.dialect.title} ignores case and cannot distinguish {other!r} and "
                f"{name!r}; rename a column before fitting the model, or choose another dialect."
            )
