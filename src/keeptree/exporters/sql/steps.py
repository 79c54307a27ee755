"""A query that computes in steps: columns by name, each after those that it reads."""

import re
import warnings

from keeptree.exporters.sql.spelling import CLOSE, OPEN
from keeptree.text import plural

_REFERENCE = re.compile(f"{OPEN}([a-z0-9_]+){CLOSE}")
_MOST_INLINE = 200_000  # characters of an expression without steps
_SHORT = 30_000  # characters that are worth repeating to keep all columns of a table


class Steps:
    """Columns that read columns of a table and one another.

    :meth:`add` takes the text of a column, in which others are the references that it returned
    before, and puts it in the first step in which all of them are known.

    Parameters
    ----------
    spell : Spelling
        The dialect.
    prefix : str
        Begins the names of columns and steps; no column of the table may.
    """

    def __init__(self, spell, prefix="kt_"):
        self.spell, self.prefix = spell, prefix
        self._text, self._step, self._known = {}, {}, {}

    def __len__(self):
        return len(self._text)

    def add(self, name, text):
        """Add a column; return the reference to use in other expressions."""
        if text not in self._known:
            if name in self._text:
                raise KeyError(f"two columns are called {name}")
            reads = _REFERENCE.findall(text)
            self._step[name] = 1 + max((self._step[other] for other in reads), default=-1)
            self._text[name] = text
            self._known[text] = f"{OPEN}{name}{CLOSE}"
        return self._known[text]

    def named(self, letter, text):
        """Add a column named by a letter and a unique number."""
        return self.add(f"{letter}{len(self._text)}", text)

    def expression(self, outputs):
        """The outputs (name -> text) as a list of expressions without steps."""
        size = self._inline_size(outputs)
        if size > _MOST_INLINE:
            raise ValueError(
                f"The expression would have {plural(size, 'character')}; export a query "
                "(form='select') or a view (form='view'), which compute in steps."
            )
        return ",\n".join(
            f"{self._inline(text)} AS {self.spell.name(name)}" for name, text in outputs.items()
        )

    def select(self, outputs, table, keep, tested):
        """The query with the outputs beside ``keep``, columns of the table (None: all of them).

        ``tested`` are the columns to keep where the dialect cannot keep all.
        """
        table, carry = self.spell.table(table), self.spell.dialect.carry
        if not self._text:
            kept = ["*"] if keep is None else map(self.spell.name, keep)
            return _query([*kept, self.expression(outputs)], table)
        if carry == "apply":
            kept = ["kt_t.*"] if keep is None else map(self.spell.name, keep)
            return self._apply(outputs, table, kept)
        if keep is not None:
            return self._carrying(outputs, table, list(map(self.spell.name, keep)))
        if carry == "exclude":
            return self._excluding(outputs, table)
        if carry == "row":
            return self._carrying_row(outputs, table)
        if self._inline_size(outputs) <= _SHORT:
            return _query(["*", self.expression(outputs)], table)
        more = ", ..." if len(tested) > 5 else ""
        warnings.warn(
            f"Besides the predictions, the query returns only the columns that the model reads "
            f"({', '.join(tested[:5])}{more}); list all columns to return in keep (--keep).",
            stacklevel=4,
        )
        return self._carrying(outputs, table, list(map(self.spell.name, tested)))

    def _carrying(self, outputs, table, kept):
        """Pass the columns to keep from step to step, by name."""
        return self._chain(outputs, table, kept, kept, kept)

    def _carrying_row(self, outputs, table):
        """Pass the row of the table from step to step as one value."""
        spark, postgres = (self.spell.key == name for name in ("spark", "postgres"))
        whole = "STRUCT(kt_t.*) AS kt_row" if spark else "kt_t AS kt_row"
        opened = "(kt_row).*" if postgres else "kt_row.*"
        return self._chain(outputs, f"{table} AS kt_t", [whole], ["kt_row"], [opened])

    def _chain(self, outputs, source, first, between, last):
        """Write steps that name all columns and pass on only those that a later step reads."""
        steps, parts = self._steps(), []
        for at, names in enumerate(steps):
            kept = first if at == 0 else between
            passed = [self._plain(name) for name in self._handed_on(steps, at, outputs)]
            self._check_width(len(kept) + len(passed) + len(names))
            parts.append(_query([*kept, *passed, *map(self._defined, names)], source))
            source = f"{self.prefix}{at + 1}"
        return self._with(parts, _query([*last, *self._outputs(outputs)], source))

    def _excluding(self, outputs, source):
        """Pass on all columns, and leave out those of the steps at the end."""
        parts = []
        for at, names in enumerate(self._steps()):
            parts.append(_query(["*", *map(self._defined, names)], source))
            source = f"{self.prefix}{at + 1}"
        hidden = ", ".join(map(self._plain, self._text))
        return self._with(parts, _query([f"* EXCLUDE ({hidden})", *self._outputs(outputs)], source))

    def _apply(self, outputs, table, kept):
        """Join every step to the row of the table."""
        lines = [_query([*kept, *self._outputs(outputs)], f"{table} AS kt_t")]
        for at, names in enumerate(self._steps()):
            inside = _indent(_query(list(map(self._defined, names)), None))
            lines.append(f"CROSS APPLY (\n{inside}\n) AS {self.prefix}{at + 1}")
        return "\n".join(lines)

    def _steps(self):
        """Names of the columns that each step adds."""
        steps = [[] for _ in range(1 + max(self._step.values()))]
        for name, at in self._step.items():
            steps[at].append(name)
        return steps

    def _handed_on(self, steps, at, outputs):
        """Return the columns of earlier steps that later steps or outputs read."""
        before = [name for names in steps[:at] for name in names]
        later = [self._text[name] for names in steps[at + 1 :] for name in names]
        read = {name for text in (*later, *outputs.values()) for name in _REFERENCE.findall(text)}
        return [name for name in before if name in read]

    def _check_width(self, columns):
        dialect = self.spell.dialect
        if columns > dialect.most_columns:
            raise ValueError(
                f"The query would have {plural(columns, 'column')}, but {dialect.title} allows "
                f"{dialect.most_columns:,}; prune the tree, or choose another dialect or format."
            )

    def _with(self, parts, last):
        fence = f"\n{self.spell.dialect.fence}" if self.spell.dialect.fence else ""
        steps = [
            f"{self.prefix}{at + 1} AS (\n{_indent(part + fence)}\n)"
            for at, part in enumerate(parts)
        ]
        return f"WITH {', '.join(steps)}\n{last}"

    def _plain(self, name):
        return f"{self.prefix}{name}"

    def _defined(self, name):
        return f"{self._resolved(self._text[name])} AS {self._plain(name)}"

    def _outputs(self, outputs):
        return [f"{self._resolved(text)} AS {self.spell.name(n)}" for n, text in outputs.items()]

    def _resolved(self, text):
        return _REFERENCE.sub(lambda match: self._plain(match[1]), text)

    def _inline(self, text):
        return _REFERENCE.sub(lambda match: f"({self._inline(self._text[match[1]])})", text)

    def _inline_size(self, outputs):
        sizes = {}
        for name, text in self._text.items():  # each after those that it reads
            sizes[name] = len(text) + sum(sizes[other] for other in _REFERENCE.findall(text))
        read = [name for text in outputs.values() for name in _REFERENCE.findall(text)]
        return sum(map(len, outputs.values())) + sum(sizes[name] for name in read)


def _query(columns, source):
    listed = ",\n".join(map(_indent, columns))
    return f"SELECT\n{listed}" + (f"\nFROM {source}" if source else "")


def _indent(text):
    return "\n".join(f"  {line}" for line in text.split("\n"))
