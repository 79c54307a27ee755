"""docs/reproduction.md is made of the raw results beside it and of what was written by hand."""

import pytest

from docs.results import replace_sections

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


def test_sections_of_the_same_heading_are_replaced_and_what_is_by_hand_stays():
    page = replace_sections(PAGE_TEXT, {PAPER: REPORT})
    expected = PAGE_TEXT.replace("| old |\n", "| new |\n\n- note\n")
    assert page == expected.replace("![old](images/old.svg)", "![new](images/new.svg)")
    plain = replace_sections(PAGE_TEXT, {PLAIN: REPORT.partition("## Figure")[0]})
    assert plain == PAGE_TEXT.replace("| old, too |\n", "| new |\n\n- note\n")


def test_a_section_without_a_heading_on_the_page_is_an_error():
    with pytest.raises(ValueError, match="no heading 'Table 2' under"):
        replace_sections(PAGE_TEXT, {PAPER: REPORT + "\n## Table 2\n\n| new |\n"})
