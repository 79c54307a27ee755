"""Tables and text for the terminal are aligned and wrapped."""

import io

import pytest

from keeptree.terminal import make_table, wrap_lines

console = pytest.importorskip("rich.console")


def test_a_table_aligns_names_to_the_left_and_figures_to_the_right():
    screen = console.Console(file=io.StringIO(), width=80)
    screen.print(make_table(["", "AUC"], [["tree [1]", ("0.9", "bold")], ["a", "0.95"]]))
    lines = [line.rstrip() for line in screen.file.getvalue().splitlines() if line.strip()]
    assert [lines[0], *lines[2:]] == ["            AUC", "tree [1]    0.9", "a          0.95"]


@pytest.mark.parametrize("width", [24, 40, 80])
def test_wrapped_lines_keep_their_words_and_fit_the_width(width):
    text = "A sentence of several words that is long.\n\n  an item: with more words than fit\nend"
    wrapped = wrap_lines(text, width)
    assert wrapped.split() == text.split()
    assert max(map(len, wrapped.splitlines())) <= width
    assert "" in wrapped.splitlines()


def test_text_for_another_program_is_not_wrapped(capsys):
    text = "word " * 100 + "end"
    assert wrap_lines(text) == text
