"""Update the table of fields in docs/format.md: python -m tools.format."""

from pathlib import Path

from tools.schema import make_schema

PATH = Path(__file__).parents[1] / "docs" / "format.md"
START, END = "<!-- fields: python -m tools.format -->", "<!-- end -->"


def make_table():
    """Return one line for each kind of model and each part, with its fields."""
    lines = ["| kind | fields |", "|---|---|"]
    for name, schema in make_schema()["$defs"].items():
        inside = schema.get("properties", {})
        if "fitted" in inside:
            fields = inside["fitted"]["anyOf"][0]["properties"]
        elif "fields" in inside:
            fields = inside["fields"]["properties"]
        else:
            continue
        lines.append(f"| `{name}` | {', '.join(f'`{field}`' for field in fields)} |")
    return "\n".join(lines)


def with_table(text):
    """Return the page with the current table."""
    before, rest = text.split(START)
    return f"{before}{START}\n{make_table()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PATH.write_text(with_table(PATH.read_text()))
