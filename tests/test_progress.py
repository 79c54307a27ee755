"""Long calls show progress: a bar on a terminal, a few lines elsewhere."""

import io
import sys
import threading
import time
import types
from itertools import pairwise

import pytest

from keeptree import progress
from keeptree.cli.command import starting
from keeptree.progress import Lines, step, watch

FIRST = progress._FIRST  # the real value, before conftest.py replaces it


class Clock:
    """A clock that advances only when a test moves it."""

    now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run_for(seconds, lines, clock):
    """Advance the clock, and tick whenever a line is due."""
    end = clock.now + seconds
    while clock.now + (wait := lines.tick()) <= end:
        clock.now += wait
    clock.now = end


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def written(clock):
    return []


@pytest.fixture
def lines(clock, written, monkeypatch):
    monkeypatch.setattr(progress, "_FIRST", FIRST)
    return Lines(clock, lambda line: written.append((round(clock.now - 100, 1), line)))


def test_a_step_of_less_than_two_seconds_prints_nothing(lines, clock, written):
    with step("Growing the tree"):
        run_for(1.9, lines, clock)
    assert written == []


def test_the_first_line_comes_after_two_seconds_and_the_gaps_between_lines_grow(
    lines, clock, written
):
    with step("Growing the tree"):
        run_for(600, lines, clock)
    times = [time for time, _ in written]
    assert times[0] == 2.0
    gaps = [round(b - a, 1) for a, b in pairwise(times)]
    assert gaps == sorted(gaps)
    assert gaps[0] < 5
    assert gaps[-1] == 60.0
    assert len(times) < 20


def test_a_line_has_the_outer_step_the_inner_step_the_progress_and_the_time(lines, clock, written):
    with step("Fitting a model"):
        run_for(2, lines, clock)
        with step("Refitting the tree on folds", total=5) as move:
            move(2)
            run_for(4, lines, clock)
        with step("Writing", total=9) as move:
            move(3, "3 of 9")
            run_for(6, lines, clock)
    assert [line for _, line in written] == [
        "Fitting a model (2 s)",
        "Fitting a model: refitting the tree on folds, 40% (5 s)",
        "Fitting a model: writing, 3 of 9 (10 s)",
    ]


def test_a_failed_step_is_no_longer_shown(lines, clock, written):
    with pytest.raises(KeyError), step("Failing"):
        raise KeyError
    run_for(10, lines, clock)
    assert written == []


@pytest.fixture(autouse=True)
def _no_call_before(monkeypatch):
    """Forget the calls of earlier tests; a call right after them would continue their timing."""
    monkeypatch.setattr(progress, "_LAST_LINES", [])


@pytest.fixture
def hurried(monkeypatch):
    """Show lines and bars immediately; the delay is tested above."""
    monkeypatch.setattr(progress, "_FIRST", 0.0)
    monkeypatch.setattr(progress, "_BAR_AFTER", 0.0)


def show_until(stream, text, monkeypatch):
    """Watch a step until its text is shown; return everything that was shown."""
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with watch("Scoring"), step("reading", total=2) as move:
        move(1, "1,000 rows")
        for _ in range(2000):
            if text in stream.getvalue():
                break
            threading.Event().wait(0.005)
    return stream.getvalue()


@pytest.mark.usefixtures("hurried")
def test_a_pipe_gets_a_plain_line(monkeypatch, capsys):
    shown = show_until(io.StringIO(), "1,000", monkeypatch)
    assert shown.splitlines()[0] == "Scoring: reading, 1,000 rows (0 s)"
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("hurried")
def test_a_terminal_gets_a_bar_that_disappears(monkeypatch, capsys):
    pytest.importorskip("rich")
    shown = show_until(Terminal(), "1,000", monkeypatch)
    assert "Scoring: reading, 1,000 rows" in shown
    assert "━" in shown
    assert shown.endswith("\x1b[2K") or "\x1b[2K" in shown.rpartition("1,000")[2]
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("hurried")
def test_progress_can_be_switched_off(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    with watch("Scoring", wanted=False):
        threading.Event().wait(0.05)
    assert stream.getvalue() == ""


def test_a_watch_inside_another_adds_no_second_display():
    before = threading.active_count()
    with watch("Outer"):
        outer = threading.active_count()
        with watch("Inner"):
            assert threading.active_count() == outer
    assert threading.active_count() == before


@pytest.mark.parametrize(("pause", "first"), [(1.0, 2.0), (5.0, None)])
def test_a_call_right_after_another_continues_its_timing(lines, clock, written, pause, first):
    with step("Starting"):
        run_for(1.5, lines, clock)
    lines.finish()
    clock.now += pause
    after = Lines(clock, lambda line: written.append((round(clock.now - 100, 1), line)), lines)
    with step("Scoring"):
        run_for(0.4, after, clock)
    assert written == ([] if first is None else [(2.5, "Scoring (2 s)")])


def test_steps_are_logged_under_one_name(caplog):
    with caplog.at_level("DEBUG", "keeptree"), step("Growing the tree"):
        pass
    assert [record.name for record in caplog.records] == ["keeptree", "keeptree"]
    start, end = caplog.messages
    assert start == "Growing the tree"
    assert end.startswith("Growing the tree: 0.0")


def test_lines_go_to_a_log_at_level_info(caplog, capsys, monkeypatch):
    monkeypatch.setattr(progress, "_FIRST", 0.0)
    with caplog.at_level("INFO", "keeptree"), watch("Growing the tree"):
        for _ in range(2000):
            if caplog.messages:
                break
            threading.Event().wait(0.005)
    assert caplog.messages[0].startswith("Growing the tree (")
    assert capsys.readouterr().err == ""


class Notebook:
    """A stand-in for IPython: a shell with a kernel, and displays that can be updated."""

    def __init__(self):
        self.kernel, self.shown = object(), []

    def display(self, html, display_id):
        assert display_id
        self.shown.append(html.data)
        return self

    def update(self, html):
        self.shown.append(html.data)


@pytest.fixture
def notebook(monkeypatch):
    here = Notebook()
    shell = types.ModuleType("IPython")
    shell.get_ipython = lambda: here
    shell.display = types.ModuleType("IPython.display")
    shell.display.HTML = lambda text: types.SimpleNamespace(data=text)
    shell.display.display = here.display
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", shell.display)
    monkeypatch.setattr(progress, "_BAR_AFTER", 0.0)
    monkeypatch.setattr(progress, "_NOTEBOOK_PAUSE", 0.01)
    return here


def test_a_notebook_gets_a_bar_that_moves_and_disappears(notebook, capsys):
    pytest.importorskip("rich")
    with watch(), step("Growing <b>", total=4) as move:
        move(1)
        while not any("25%" in html for html in notebook.shown):
            threading.Event().wait(0.01)
        move(3)
        while not any("75%" in html for html in notebook.shown):
            threading.Event().wait(0.01)
    assert "Growing &lt;b&gt;, 25%" in "".join(notebook.shown)
    assert "<b>" not in "".join(notebook.shown)
    assert notebook.shown[-1] == ""
    assert capsys.readouterr().err == ""


def test_loading_libraries_is_shown_on_a_terminal_only(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_FIRST", 0.0)
    with starting():
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
