"""Additional tables of a query: the statements that create them, and how to look them up."""

import numpy as np

_ROWS = 200  # rows of one INSERT


def create_table(spell, table, columns, rows, origin):
    """Return the statements that create a table and fill it.

    Parameters
    ----------
    spell : Spelling
        The dialect.
    table : str
        Name of the table.
    columns : list of str
        Name and type of each column.
    rows : list of str
        Rows in parentheses.
    origin : str
        Comment at the top.
    """
    stored = " USING PARQUET" if spell.key == "spark" else ""
    name, listed = spell.table(table), ",\n  ".join(columns)
    lines = [f"-- {origin}", f"CREATE TABLE {name} (\n  {listed}\n){stored};"]
    for k in range(0, len(rows), _ROWS):
        lines.append(f"INSERT INTO {name} VALUES\n" + ",\n".join(rows[k : k + _ROWS]) + ";")
    return "\n".join(lines) + "\n"


def float32_text(value):
    """Return a float32 in the fewest digits that identify it; NULL for NaN."""
    if np.isnan(value):
        return "NULL"
    text = str(np.float32(value))
    return text if "e" in text else f"{text}e0"


def curves_table(spell, model, table, origin):
    """Return the table of a distance kernel's curves.

    Row i holds the coefficients of piece i and, as there are at least as many pieces as cells, the
    first piece of cell i and the number of its pieces.
    """
    real, key = spell.dialect.single, "" if spell.key == "spark" else " PRIMARY KEY"
    columns = [f"kt_at INT{key}", "kt_first INT", "kt_parts INT"]
    columns += [f"kt_k{k} {real}" for k in range(4)]
    first, parts = model["piece"][:-1], np.diff(model["piece"]).tolist()
    rows = []
    for i, cubic in enumerate(model["coefficient"]):
        cell = (first[i], parts[i]) if i < len(parts) else ("NULL", "NULL")
        rows.append(f"({i}, {cell[0]}, {cell[1]}, {', '.join(map(float32_text, cubic))})")
    return create_table(spell, table, columns, rows, origin)


def look_up(spell, table, column, at):
    """Return the query for a column of the curves in row ``at``.

    Spark and Snowflake want an aggregate where a query for a row reads a table.
    """
    return f"(SELECT MAX({column}) FROM {spell.table(table)} WHERE kt_at = {at})"
