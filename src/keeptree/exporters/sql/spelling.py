"""The SQL dialects: what the formulas need beyond quoting and types, which sqlglot knows."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from keeptree.output import require_extra

# Mark columns of a step, and line ends that must not be indented, until the text is complete.
OPEN, CLOSE, LINE_END = "\ue000", "\ue001", "\ue003"
_PART = r"[\w-]+|\"(?:[^\"]|\"\")+\""  # of the name of a table
_ARGUMENTS = 50  # of a function; SQLite takes 100
_UNWRITABLE = f"\0{OPEN}{CLOSE}{LINE_END}"
_TABLE = re.compile(f"(?:{_PART})(?:\\.(?:{_PART}))*")
# Words that no dialect takes as the name of a table; sqlglot quotes none of them.
_RESERVED = re.compile(
    "ALL|AND|AS|ASC|BETWEEN|BY|CASE|CHECK|CREATE|CROSS|DEFAULT|DELETE|DESC|DISTINCT|DROP|ELSE|END|"
    "EXISTS|FOR|FROM|FULL|GRANT|GROUP|HAVING|IN|INDEX|INNER|INSERT|INTO|IS|JOIN|LEFT|LIKE|LIMIT|"
    "NOT|NULL|ON|OR|ORDER|OUTER|PRIMARY|RIGHT|SELECT|SET|TABLE|THEN|TO|UNION|UNIQUE|UPDATE|USER|"
    "USING|VALUES|WHEN|WHERE|WITH",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Dialect:
    """Properties of a dialect that sqlglot does not know.

    Parameters
    ----------
    title : str
        Display name.
    is_nan : str
        Whether a number is NaN, as a pattern; empty where numbers cannot be NaN.
    carry : {"exclude", "row", "apply", "columns"}
        How a query keeps all columns of its table while it computes in several steps: by leaving
        its own columns out at the end, by taking the whole row along as one value, by joining each
        step to the row, or not at all, so that columns must be named.
    single : str
        Type of 32-bit numbers; empty if there is none.
    fence : str
        What keeps the optimiser from copying the columns of one step into the next, where they
        would be computed again at every use.
    fold : str
        Sum of 32-bit numbers one after the other, as a pattern; empty if there is none.
    longest : int
        Characters (for Postgres bytes) of a column name.
    forbidden : str
        Characters that no column name may have.
    same_case : bool
        Whether two column names that differ only in case are one.
    fails_on_overflow : bool
        Whether a product that is too large ends the query instead of being infinite.
    most_columns : int
        Columns of a query.
    """

    title: str
    is_nan: str = ""
    carry: str = "columns"
    single: str = ""
    fence: str = ""
    fold: str = ""
    longest: int = 10_000
    forbidden: str = ""
    same_case: bool = False
    fails_on_overflow: bool = False
    most_columns: int = 10_000


DIALECTS = {
    "duckdb": Dialect(
        "DuckDB",
        is_nan="ISNAN({})",
        carry="exclude",
        single="REAL",
        fold="LIST_REDUCE(LIST({value} ORDER BY {order}), LAMBDA a, b : a + b)",
        same_case=True,
    ),
    "sqlite": Dialect("SQLite", fence="LIMIT -1", same_case=True, most_columns=2000),
    "postgres": Dialect(
        "Postgres",
        is_nan="{} = 'NaN'",
        carry="row",
        single="REAL",
        fence="OFFSET 0",
        fold="SUM({value} ORDER BY {order})",  # of REAL, in REAL
        longest=63,
        fails_on_overflow=True,
        most_columns=1600,
    ),
    "spark": Dialect(
        "Spark SQL",
        is_nan="ISNAN({})",
        carry="row",
        single="FLOAT",
        fold=(
            "AGGREGATE(ARRAY_SORT(COLLECT_LIST(STRUCT({order} AS i, {value} AS w))), "
            "CAST(0 AS FLOAT), (a, b) -> CAST(a + b.w AS FLOAT))"
        ),
        same_case=True,
    ),
    "bigquery": Dialect(
        "BigQuery",
        is_nan="IS_NAN({})",
        carry="row",
        longest=300,
        forbidden='!"$()*,./;?@[\\]^`{}~\n\r\t',
        same_case=True,
        fails_on_overflow=True,
    ),
    "snowflake": Dialect("Snowflake", is_nan="{} = 'NaN'::FLOAT", carry="exclude", longest=255),
    "tsql": Dialect(
        "T-SQL",
        carry="apply",
        single="REAL",
        longest=128,
        same_case=True,
        fails_on_overflow=True,
        most_columns=4000,
    ),
}


class Spelling:
    """Texts of a dialect.

    Parameters
    ----------
    dialect : str
        One of ``DIALECTS``.
    line_end : str
        What stands for the end of a line in names and strings, which must not be indented.

    Examples
    --------
    >>> spell = Spelling("postgres")
    >>> spell.name('it"s'), spell.text("it's"), spell.cast("x", "double")
    ('"it""s"', "'it''s'", 'CAST(x AS DOUBLE PRECISION)')
    """

    def __init__(self, dialect, line_end="\n"):
        if dialect not in DIALECTS:
            raise ValueError(
                f"There is no SQL dialect {dialect!r}; choose from {', '.join(DIALECTS)}."
            )
        self.dialect = DIALECTS[dialect]
        require_extra("sqlglot", extra="sql")
        self.key, self._line_end = dialect, line_end

    def name(self, name):
        """A column name, quoted; one that the dialect forbids is a ValueError."""
        self._check_name(name)
        if self.key == "sqlite":  # where a name in double quotes that no column has is a string
            quoted = "`" + name.replace("`", "``") + "`"
        else:
            quoted = self._spell("to_identifier", name, quoted=True)
        return quoted.replace("\n", self._line_end)

    def table(self, name):
        """Return the name of a table: a path such as ``shop.orders``, or any other name, quoted.

        Parts of a path are quoted only if they have to be, or are already (by double quotes):
        without quotes Postgres and Snowflake do not care for case.
        """
        if not name:
            raise ValueError("The name of a table or view is empty; give it a name.")
        if not _TABLE.fullmatch(name):
            return self.name(name)
        return ".".join(map(self._table_part, re.findall(_PART, name)))

    def _table_part(self, part):
        if part.startswith('"'):
            return self.name(part[1:-1].replace('""', '"'))
        is_plain = part.isidentifier() and not _RESERVED.fullmatch(part)
        return part if is_plain else self.name(part)

    def text(self, text):
        """A string."""
        wrong = next((char for char in text if char in _UNWRITABLE), None)
        if wrong is not None:
            raise ValueError(f"{text!r:.50} has the character {wrong!r}, which SQL cannot hold.")
        from sqlglot import exp

        literal = exp.Literal.string(text).sql(dialect=self.key).replace("\n", self._line_end)
        return f"N{literal}" if self.key == "tsql" else literal

    def cast(self, text, kind):
        """A value as a number ("double", or "float" of 32 bits) or as text ("text")."""
        if self.key == "tsql" and kind == "text":
            return f"CAST({text} AS NVARCHAR(4000)) COLLATE Latin1_General_BIN2"
        return f"CAST({text} AS {_type_name(self.key, kind)})"

    def number(self, value):
        """Return a constant for comparisons and arithmetic, in floating-point notation.

        Postgres reads it as a decimal, and converts it where it meets a floating-point number.
        """
        text = repr(float(value))
        return text if "e" in text else f"{text}e0"

    def value(self, value):
        """Return a constant that can be the result of a CASE."""
        return (
            self.cast(self.number(value), "double")
            if self.key == "postgres"
            else self.number(value)
        )

    def exact(self, value):
        """Return an exact constant: SQLite reads some literals with an error of one ulp."""
        if self.key != "sqlite" or _is_short(value):
            return self.number(value)
        mantissa, exponent = math.frexp(value)
        whole, exponent = int(math.ldexp(mantissa, 53)), exponent - 53
        while whole % 2 == 0:
            whole, exponent = whole // 2, exponent + 1
        steps = [min(abs(exponent) - at, 62) for at in range(0, abs(exponent), 62)]
        sign = "/" if exponent < 0 else "*"
        return f"({whole}*1.0" + "".join(f"{sign}{2**step}" for step in steps) + ")"

    def label(self, label, kind):
        """A label of a class or category as a constant of ``kind``: see ``label_kind``."""
        if kind == "text":
            return self.text(str(label))
        if kind == "bool":
            return ("1" if label else "0") if self.key in ("sqlite", "tsql") else str(label).upper()
        return str(label) if kind == "int" else self.exact(label)

    def is_nan(self, text):
        """Whether a number is NaN; None where numbers cannot be."""
        return self.dialect.is_nan.format(text) if self.dialect.is_nan else None

    def log(self, text):
        """Natural logarithm."""
        return f"LOG({text})" if self.key == "tsql" else f"LN({text})"

    def greatest(self, texts):
        """The largest of some values."""
        return _nested_call("MAX" if self.key == "sqlite" else "GREATEST", texts)

    def least(self, texts):
        """The smallest of some values."""
        return _nested_call("MIN" if self.key == "sqlite" else "LEAST", texts)

    def round(self, text):
        """The nearest whole number."""
        return f"ROUND({text}, 0)" if self.key == "tsql" else f"ROUND({text})"

    def clipped(self, text, low, high):
        """Limit a number to an interval; infinite limits are ignored."""
        limits = (("<", low), (">", high))
        cases = [
            f"WHEN {text} {sign} {self.number(limit)} THEN {self.value(limit)}"
            for sign, limit in limits
            if math.isfinite(limit)
        ]
        return f"(CASE {' '.join(cases)} ELSE {text} END)" if cases else text

    def fold_case(self, name):
        """A name as the dialect compares it."""
        return name.lower() if self.dialect.same_case else name

    def _check_name(self, name):
        dialect, told = self.dialect, name if len(name) <= 60 else f"{name[:59]}…"
        size = len(name.encode()) if self.key == "postgres" else len(name)
        wrong = next((char for char in name if char in _UNWRITABLE + dialect.forbidden), None)
        if wrong is not None:
            who = dialect.title if wrong in dialect.forbidden else "The SQL export"
            raise ValueError(
                f"{who} does not allow {wrong!r} in a column name, as in "
                f"{told!r}; rename the column before fitting the model, or choose another "
                "dialect."
            )
        if not name or size > dialect.longest:
            raise ValueError(
                f"{dialect.title} allows column names of 1 to {dialect.longest} "
                f"{'bytes' if self.key == 'postgres' else 'characters'}, and "
                f"{told!r} has {size}; rename the column before fitting the model, or "
                "choose another dialect."
            )

    def _spell(self, function, *args, **options):
        from sqlglot import exp

        return getattr(exp, function)(*args, **options).sql(dialect=self.key)


def _nested_call(function, texts):
    """Call a function that takes any number of values, in groups that every dialect allows."""
    while len(texts) > 1:
        groups = [texts[k : k + _ARGUMENTS] for k in range(0, len(texts), _ARGUMENTS)]
        texts = [
            f"{function}({', '.join(group)})" if len(group) > 1 else group[0] for group in groups
        ]
    return texts[0]


@lru_cache
def _type_name(dialect, kind):
    from sqlglot import exp

    if dialect == "tsql" and kind == "float":
        return "REAL"  # FLOAT has 64 bits
    return exp.DataType.build(kind).sql(dialect=dialect)


def label_kind(labels):
    """How labels are written: ``"bool"``, ``"int"``, ``"float"``, or ``"text"`` for all others.

    Examples
    --------
    >>> label_kind([1, 2]), label_kind([1, 2.5]), label_kind([True, False]), label_kind(["a", 1])
    ('int', 'float', 'bool', 'text')
    """
    kinds = {type(label) for label in labels}
    if kinds == {bool}:
        return "bool"
    if kinds <= {int, float} and kinds:
        return "int" if kinds == {int} else "float"
    return "text"


def _is_short(value):
    """Return whether a short decimal equals the number, so that any parser reads it exactly."""
    if not math.isfinite(value):
        return True
    text = repr(float(value))
    _, digits, exponent = Decimal(text).as_tuple()
    return len(digits) <= 15 and abs(exponent) <= 15 and Decimal(text) == Decimal(value)
