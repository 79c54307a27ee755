"""docs/reproduction.md takes the tables of the reports and keeps what was written by hand."""

from docs.results import PAGE, PAPERS, PLAIN, replace_sections

PAGE_TEXT = f"""# Title

By hand.

## {next(iter(PAPERS))}

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


def test_sections_of_the_same_heading_are_replaced_and_what_is_by_hand_stays():
    page = replace_sections(PAGE_TEXT, {next(iter(PAPERS)): REPORT})
    expected = PAGE_TEXT.replace("| old |\n", "| new |\n\n- note\n")
    assert page == expected.replace("![old](images/old.svg)", "![new](images/new.svg)")
    plain = replace_sections(PAGE_TEXT, {PLAIN: REPORT})
    assert plain == PAGE_TEXT.replace("| old, too |\n", "| new |\n\n- note\n")


def test_the_headings_are_on_the_page():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert {f"## {heading}" for heading in PAPERS} | {f"### {PLAIN}"} <= set(lines)
