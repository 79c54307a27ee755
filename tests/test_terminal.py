"""Tables for people: names to the left, figures to the right."""

import io

import pytest

from keeptree.terminal import make_table

console = pytest.importorskip("rich.console")


def test_a_table_has_names_to_the_left_and_figures_to_the_right():
    screen = console.Console(file=io.StringIO(), width=80)
    screen.print(make_table(["", "AUC"], [["tree [1]", ("0.9", "bold")], ["a", "0.95"]]))
    lines = [line.rstrip() for line in screen.file.getvalue().splitlines() if line.strip()]
    assert [lines[0], *lines[2:]] == ["            AUC", "tree [1]    0.9", "a          0.95"]
