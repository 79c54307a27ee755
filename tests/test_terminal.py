"""Bars and tables are for people: nothing is drawn where nobody would see it."""

import io

import pytest

from keeptree.terminal import make_table, progress_bar

console = pytest.importorskip("rich.console")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def move_to_the_end(stream, monkeypatch, **options):
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("Scoring", 2, "{task.fields[rows]:,} rows", rows=0, **options) as move:
        move(1, rows=1000)
        move(2, rows=2000)
    return stream.getvalue()


def test_a_bar_tells_a_person_how_far_it_is(monkeypatch):
    shown = move_to_the_end(Terminal(), monkeypatch)
    assert "Scoring" in shown
    assert "2,000 rows" in shown


def test_no_bar_is_drawn_in_a_file_or_where_it_is_not_wanted(monkeypatch):
    assert move_to_the_end(io.StringIO(), monkeypatch) == ""
    assert move_to_the_end(Terminal(), monkeypatch, wanted=False) == ""


def test_a_table_has_names_to_the_left_and_figures_to_the_right():
    screen = console.Console(file=io.StringIO(), width=80)
    screen.print(make_table(["", "AUC"], [["tree [1]", ("0.9", "bold")], ["a", "0.95"]]))
    lines = [line.rstrip() for line in screen.file.getvalue().splitlines() if line.strip()]
    assert [lines[0], *lines[2:]] == ["            AUC", "tree [1]    0.9", "a          0.95"]
