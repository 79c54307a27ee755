"""docs/reproduction.md agrees with the raw results, and its handwritten text stays."""

import pytest

from docs.results import PAGE, RAW, build_page, replace_sections
from reproduction.raw import read_raw, write_raw

PAPER, PLAIN = "Alvarez, Bernard and Deffuant (2007)", "On ordinary samples"

PAGE_TEXT = f"""# Title

By hand.

## {PAPER}

Also by hand.

### Table 1: gains

| old |

**Reading.** It is old.

### Figure 1

![old](images/old.svg)

### {PLAIN}

#### Table 1: gains

| old, too |

## Another

### Table 1: gains

| of another paper |
"""
REPORT = """# name

About.

## Table 1: gains

| new |

- note

## Figure 1

![new](new.svg)
"""


def test_sections_with_the_same_heading_are_replaced_and_handwritten_text_stays():
    page = replace_sections(PAGE_TEXT, {PAPER: REPORT})
    expected = PAGE_TEXT.replace("| old |\n", "| new |\n\n- note\n")
    assert page == expected.replace("![old](images/old.svg)", "![new](images/new.svg)")
    plain = replace_sections(PAGE_TEXT, {PLAIN: REPORT.partition("## Figure")[0]})
    assert plain == PAGE_TEXT.replace("| old, too |\n", "| new |\n\n- note\n")


def test_a_section_without_a_heading_on_the_page_raises_an_error():
    with pytest.raises(ValueError, match="no heading 'Table 2' under"):
        replace_sections(PAGE_TEXT, {PAPER: REPORT + "\n## Table 2\n\n| new |\n"})


def test_the_page_follows_exactly_from_the_committed_raw_results(tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    assert build_page(page, RAW, tmp_path) == page
    for picture in tmp_path.glob("*.svg"):
        assert (PAGE.parent / "images" / picture.name).is_file()
    made = {"alvarez-2005.md", "alvarez-2007.md", "choices.md", "katz-2012.md"}
    assert made <= {path.name for path in tmp_path.glob("*.md")}
    assert RAW.stat().st_size < 2_000_000


def test_a_changed_result_changes_the_page(tmp_path):
    records, reports = read_raw(RAW)
    name, report = "choices-samples.jsonl", {"choices": reports["choices"]}
    for record in records[name]:
        for row in record["rows"]:
            if row["method"] == "laplace":
                row["auc"] = 0.5
    write_raw(tmp_path / "changed.parquet", {name: records[name]}, report)
    page = PAGE.read_text(encoding="utf-8")
    assert build_page(page, tmp_path / "changed.parquet", tmp_path) != page
