"""Progress of long calls, shown on standard error.

Library code announces its steps with :func:`step`, at almost no cost. Callers show them by
wrapping the call in :func:`watch`, as every command does: a terminal or notebook shows a
progress bar, a pipe or log file gets a few plain lines. Nothing is written to standard output.

The logger ``keeptree`` records the same: the start and end of every step as debug messages, and the
plain lines as info messages if logging is configured to show them.
"""

import logging
import sys
import time
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from threading import Event, Thread

LOGGER = logging.getLogger("keeptree")
_STEPS = []  # current steps of this process, the outermost first
_WATCHED = Event()
_FIRST, _GROWTH, _LONGEST = 2.0, 1.6, 60.0  # seconds before the first line, and between lines
_PAUSE = 2.0  # seconds within which two calls are shown as one
_NOTEBOOK_PAUSE = 0.25  # seconds between two updates of a notebook
_BAR_AFTER = 0.4  # seconds; shorter steps get no bar


@contextmanager
def step(text, total=None, *, done=0, detail=""):
    """Announce a step of a long call.

    Parameters
    ----------
    text : str
        Description, such as ``"growing the tree"``.
    total : float, optional
        Value of ``done`` at the end; without it, no percentage is shown.
    done : float
        Value at the start.
    detail : str
        Progress in words; by default the percentage, if ``total`` is given.

    Yields
    ------
    move : callable
        ``move(done, detail="")`` reports progress.

    Examples
    --------
    >>> with step("refitting the tree on folds", total=5) as move:
    ...     for fold in range(5):
    ...         move(fold + 1)
    """
    entry = _Step(text, total, done, detail)
    _STEPS.append(entry)
    start = time.monotonic()
    LOGGER.debug("%s", text)
    try:
        yield entry.move
    finally:
        _STEPS.remove(entry)
        LOGGER.debug("%s: %.2f s", text, time.monotonic() - start)


@contextmanager
def watch(text=None, wanted=True):
    """Show the steps of the enclosed code on standard error.

    On a terminal or in a notebook, with rich installed, this is a bar that disappears at the end;
    elsewhere it is a line after two seconds, and further lines at growing intervals. If logging is
    set up to show information of the logger ``keeptree``, these lines go there. Inside another
    ``watch``, this does nothing. Right after another one, the two seconds count from the start of
    the first.

    Parameters
    ----------
    text : str, optional
        Description of the whole task, shown before the steps.
    wanted : bool, default=True
        Whether to show anything.
    """
    if not wanted or _WATCHED.is_set():
        with step(text) if text else nullcontext():
            yield
        return
    over = Event()
    shown = Thread(target=_display(), args=(over,), daemon=True)
    _WATCHED.set()
    shown.start()
    try:
        with step(text) if text else nullcontext():
            yield
    finally:
        over.set()
        shown.join()
        _WATCHED.clear()


class Lines:
    """Prints a line after two seconds, then at growing intervals.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds.
    write : callable
        Writes a line.
    before : Lines, optional
        Lines of the previous call, whose timing is continued if the call has just ended.
    """

    def __init__(self, clock, write, before=None):
        self._clock, self._write = clock, write
        self._start, self._gap, self._end = clock(), _FIRST, None
        self._next = self._start + self._gap
        if before is not None and self._start - before.end < _PAUSE:
            self._start, self._gap, self._next = before.state

    @property
    def state(self):
        """Start, interval between lines, and time at which the next line is due."""
        return self._start, self._gap, self._next

    @property
    def end(self):
        """Time at which the call ended; minus infinity before that."""
        return -float("inf") if self._end is None else self._end

    def finish(self):
        """Record the end of the call."""
        self._end = self._clock()

    def tick(self):
        """Write a line if it is due; return the seconds until the next one is."""
        now = self._clock()
        if now >= self._next:
            line = _tell_steps()
            if line:
                self._write(f"{line} ({now - self._start:.0f} s)")
            self._gap = min(self._gap * _GROWTH, _LONGEST)
            self._next = now + self._gap
        return self._next - now


class _Step:
    def __init__(self, text, total, done, detail):
        self.text, self.total, self.done, self.detail = text, total, done, detail

    def move(self, done, detail=""):
        self.done, self.detail = done, detail

    @property
    def share(self):
        """Share done, between 0 and 1; None if unknown."""
        return min(self.done / self.total, 1.0) if self.total else None


def _tell_steps():
    """Describe the task, the current step and its progress in one line."""
    steps = list(_STEPS)
    if not steps:
        return ""
    whole, inside = steps[0], steps[-1]
    line = whole.text if inside is whole else f"{whole.text}: {_lower_first(inside.text)}"
    share = inside.share
    far = inside.detail or ("" if share is None else f"{100 * share:.0f}%")
    return f"{line}, {far}" if far else line


def _lower_first(text):
    return text[:1].lower() + text[1:]


_LAST_LINES = []  # lines of the last call that was watched


def _show_lines(over):
    lines = Lines(time.monotonic, _write_line, *_LAST_LINES)
    _LAST_LINES[:] = [lines]
    while not over.wait(max(lines.tick(), 0.01)):
        pass
    lines.finish()


def _write_line(line):
    if LOGGER.isEnabledFor(logging.INFO) and LOGGER.hasHandlers():
        LOGGER.info("%s", line)
    else:
        print(line, file=sys.stderr, flush=True)


def _display():
    """Return the function that shows the steps in the current environment."""
    if find_spec("rich") is None:
        return _show_lines
    if _in_notebook():
        return _show_in_notebook
    return _show_bar if sys.stderr.isatty() else _show_lines


def _in_notebook():
    """Return whether this process runs in a Jupyter kernel, which can display HTML."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


def _show_in_notebook(over):
    if over.wait(_BAR_AFTER):
        return
    from IPython.display import HTML, display

    bar = _Bar()
    shown = display(HTML(bar.to_html()), display_id=True)
    while not over.wait(_NOTEBOOK_PAUSE):
        shown.update(HTML(bar.to_html()))
    shown.update(HTML(""))


def _show_bar(over):
    if over.wait(_BAR_AFTER):
        return
    from rich.console import Console
    from rich.live import Live

    bar = _Bar()
    console = Console(stderr=True)
    # Commands print their tables after the bar has disappeared.
    with Live(get_renderable=bar.render, console=console, transient=True, redirect_stdout=False):
        over.wait()


class _Bar:
    """A progress bar: spinner, description, progress and elapsed time."""

    def __init__(self):
        from rich.spinner import Spinner

        self.spinner, self.start = Spinner("dots"), time.monotonic()

    def render(self):
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        steps = list(_STEPS)
        share = steps[-1].share if steps else None
        seconds = time.monotonic() - self.start
        row = Table.grid(padding=(0, 1))
        cells = [self.spinner, Text(_tell_steps(), no_wrap=True, overflow="ellipsis")]
        if share is not None:
            cells.append(ProgressBar(total=1.0, completed=share, width=30))
        cells.append(Text(f"{int(seconds) // 60}:{int(seconds) % 60:02d}", style="dim"))
        row.add_row(*cells)
        return row

    def to_html(self):
        """Return the line as HTML, for a notebook."""
        from io import StringIO

        from rich.console import Console

        console = Console(file=StringIO(), record=True, width=100, force_jupyter=False)
        console.print(self.render())
        frame = '<pre style="margin: 0">{code}</pre>'
        return console.export_html(code_format=frame, inline_styles=True)
