"""Parts of a report: tables of cells, tables of claims and pictures, as Markdown and JSON."""

from dataclasses import asdict, dataclass, is_dataclass

from reproduction.agreement import MARKS, MEANINGS, OPPOSITE, SAME, count_agreement
from reproduction.verdicts import state_rule

_WIDEST = 60  # maximum length of a cell that holds a value rather than a sentence


@dataclass(frozen=True)
class Table:
    """A table of the paper, with our values.

    Attributes
    ----------
    key : str
        Number of the table, or a word for a table that is not in the paper.
    title : str
        Title of the table.
    columns : tuple of str
        Names of the columns.
    rows : dict
        Data set -> list of :class:`~reproduction.agreement.Cell`.
    certain : tuple of str
        Data sets whose coding is certain.
    notes : tuple of str
        Remarks below the table.
    counted : bool
        Whether to count the marks of the whole table.
    """

    key: str
    title: str
    columns: tuple
    rows: dict
    certain: tuple = ()
    notes: tuple = ()
    counted: bool = True

    @property
    def agreement(self):
        """Counts over all cells, and over those of the certain data sets; None if unpublished."""
        if not self.counted:
            return None
        cells = [cell for row in self.rows.values() for cell in row]
        sure = [cell for name in self.certain for cell in self.rows.get(name, ())]
        counts = count_agreement(cells)
        return {"all": counts, "certain": count_agreement(sure)} if counts["total"] else None

    def to_dict(self):
        """Return the table as JSON values."""
        return {
            "table": self.key,
            "title": self.title,
            "columns": list(self.columns),
            "rows": {name: [_cell_dict(cell) for cell in row] for name, row in self.rows.items()},
            "agreement": self.agreement,
            "notes": list(self.notes),
        }

    def to_markdown(self):
        """Return the table as Markdown."""
        lines = [f"## {_heading('Table', self.key)}: {self.title}", ""]
        body = [[name, *map(_cell_text, row)] for name, row in self.rows.items()]
        lines += [*_grid(["data set", *self.columns], body), ""]
        if self.agreement:
            lines += [f"**Agreement.** {total_sentence(self.agreement['all'])}"]
            if self.agreement["certain"]["total"]:
                names = ", ".join(name for name in self.certain if name in self.rows)
                sentence = total_sentence(self.agreement["certain"])
                sentence = sentence[0].lower() + sentence[1:]
                lines += [f"On the sets whose coding is certain ({names}): {sentence}"]
            lines += [*opposite_sentences(self.agreement["all"]), ""]
        return "\n".join([*lines, *(f"- {note}" for note in self.notes), ""])


@dataclass(frozen=True)
class Claims:
    """Claims of the paper that are not in its tables; ``enough`` tells whether to judge them."""

    claims: tuple
    enough: bool = True
    key: str = "claims"
    title: str = "what the text says"

    def to_dict(self):
        """Return the claims as JSON values."""
        claims = [claim.to_dict(self.enough) for claim in self.claims]
        return {"table": self.key, "title": self.title, "claims": claims}

    def to_markdown(self):
        """Return the claims as Markdown."""
        body = [
            [
                claim.text,
                f"**{claim.to_dict(self.enough)['verdict']}** ({claim.counts})",
                claim.evidence,
            ]
            for claim in self.claims
        ]
        grid = _grid(["the paper", "verdict", "we measured"], body)
        rule = f"**Rule.** {state_rule()}"
        return "\n".join([f"## Claims: {self.title}", "", *grid, "", rule, ""])


@dataclass(frozen=True)
class Picture:
    """A picture that was drawn.

    Attributes
    ----------
    key : str
        Number of the paper's figure.
    file : str
        Name of the file.
    caption : str
        Caption of the picture.
    """

    key: str
    file: str
    caption: str

    def to_dict(self):
        """Return the picture as JSON values."""
        return {"figure": self.key, "file": self.file, "caption": self.caption}

    def to_markdown(self):
        """Return the picture as Markdown."""
        return f"## Figure {self.key}\n\n![{self.caption}]({self.file})\n\n{self.caption}\n"


def legend():
    """Return the meaning of the marks in one line."""
    return "; ".join(f"{MARKS[mark]} {MEANINGS[mark]}" for mark in MARKS)


def total_sentence(counts):
    """Return the counts of marks as a sentence."""
    parts = [f"{MARKS[mark]} {counts[mark]}" for mark in MARKS if counts[mark] and mark != SAME]
    rest = f" ({', '.join(parts)})" if parts else ""
    text = f"{counts['what']} in {counts[SAME]} of {counts['total']} cells{rest}"
    if counts["within_error"] is None:
        return f"{text}."
    within = f"{counts['within_error']} means are within sampling error of the published ones"
    return f"{text}; {within}."


def opposite_sentences(counts):
    """Yield a sentence about significant cells with opposite signs, if errors were published."""
    if counts[OPPOSITE]:
        yield f"**{counts[OPPOSITE]} cell(s) are significant in both with opposite signs.**"
    elif counts["within_error"] is not None:
        yield "No cell is significant in both with opposite signs."


def number(value, digits=2):
    """Return a number with a typographic minus sign; a number that rounds to zero has none."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def _heading(word, key):
    return f"{word} {key}" if key[:1].isdigit() or key.isupper() else key.capitalize()


def _cell_dict(cell):
    return {
        "ours": cell.ours and asdict(cell.ours),
        "published": asdict(cell.published) if is_dataclass(cell.published) else cell.published,
        "agreement": cell.agreement,
        "within_error": cell.within_error,
    }


def _cell_text(cell):
    """Return our value (italic if insignificant, bold if bad), the published one and a mark."""
    if hasattr(cell, "to_text"):
        return f"{cell.to_text()} {MARKS.get(cell.agreement, '')}".rstrip()
    if cell.ours is None:
        ours = "not available here"
    else:
        ours = _estimate_text(cell.ours)
        if cell.ours.significant is False:
            ours = f"*{ours}*"
        elif cell.ours.significant and cell.ours.mean * cell.better < 0:
            ours = f"**{ours}**"
    if cell.published is None:
        return ours
    published = cell.published
    if is_dataclass(published):
        published = _estimate_text(published)
    return f"{ours} ({published}) {MARKS[cell.agreement]}"


def _estimate_text(estimate):
    text = number(estimate.mean)
    if estimate.other is not None:
        text += f" or {number(estimate.other)}"
    if estimate.error is not None:
        text += f"±{estimate.error:.2f}"
    return text if estimate.p is None else f"{text}, p {estimate.p:.2g}"


def _grid(header, body):
    """Return a Markdown table with aligned columns, unless a cell is a sentence."""
    rows = [header, ["---"] * len(header), *body]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if max(widths) <= _WIDEST:
        rows = [[text.ljust(width) for text, width in zip(row, widths, strict=True)]
                for row in rows]  # fmt: skip
    return ["| " + " | ".join(row) + " |" for row in rows]
