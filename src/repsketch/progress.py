"""Progress of long computations: a bar on a terminal or in a notebook, else a line in the log now and then.

Lines go to the logger "repsketch.progress" at level INFO; ``log_to_stderr`` prints them, as the command line does.
"""

import html
import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

FIRST_LINE, NEXT_LINE = 2.0, 30.0  # seconds before the first line in the log, and between two
REDRAW = 0.25  # seconds between two drawings in a notebook
BAR_WIDTH = 16  # characters: leaves half of an 80-column terminal to the note

_log = logging.getLogger(__name__)


class ProgressBar:
    """A bar that is not shown; those that are derive from it."""

    def advance(self, steps: float = 1, note: str = "") -> None:
        """Do nothing."""

    def reach(self, steps: float) -> None:
        """Do nothing."""

    def close(self, verb: str) -> None:
        """Do nothing."""


class _Terminal(ProgressBar):
    """A bar that rich draws on the standard error, and removes at the end."""

    def __init__(self, title: str, total: float | None) -> None:
        from rich import console, progress, table

        rest_of_line = table.Column(no_wrap=True, overflow="ellipsis", ratio=1)
        # The file is fixed here: a bar goes on while a fit's messages are redirected from sys.stderr.
        self._progress = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(BAR_WIDTH),
            progress.TaskProgressColumn(),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[note]}", markup=False, table_column=rest_of_line),
            console=console.Console(file=sys.stderr),
            transient=True,
            expand=True,
        )
        self._task = self._progress.add_task(title, total=total, note="")
        self._progress.start()

    def advance(self, steps: float = 1, note: str = "") -> None:
        """Move on by ``steps`` and show ``note`` beside the bar."""
        self._progress.update(self._task, advance=steps, note=note)

    def reach(self, steps: float) -> None:
        """Move to ``steps``."""
        self._progress.update(self._task, completed=steps)

    def close(self, verb: str) -> None:
        """Remove the bar."""
        self._progress.stop()


class _Lines(ProgressBar):
    """A line in the log now and then, the first after ``FIRST_LINE`` seconds; none for shorter work."""

    first, every = FIRST_LINE, NEXT_LINE

    def __init__(self, title: str, total: float | None) -> None:
        self.title, self.total, self.done, self.note, self.end = title, total, 0.0, "", ""
        self._started = monotonic()
        self._due = self._started + self.first

    def advance(self, steps: float = 1, note: str = "") -> None:
        """Move on by ``steps``, and write a line if it is time for one."""
        self.reach(self.done + steps, note)

    def reach(self, steps: float, note: str = "") -> None:
        """Move to ``steps``."""
        self.done, self.note, now = steps, note, monotonic()
        if now >= self._due:
            self._due = now + self.every
            self.show()

    def close(self, verb: str) -> None:
        """Write how long it took, if that was long enough for a line."""
        elapsed = monotonic() - self._started
        if elapsed >= self.first:
            self.end = f"{verb} after {elapsed:.0f} s"
            self.show()

    def show(self) -> None:
        """Write the line."""
        _log.info("%s", str(self))  # formatted now: a handler may format its arguments later

    def __str__(self) -> str:
        share = f"{min(1.0, self.done / self.total):.0%}" if self.total else ""
        return f"{self.title}: " + (self.end or ", ".join(filter(None, (share, self.note))) or "running")


class _Notebook(_Lines):
    """A bar below the cell of a notebook, drawn anew in the same place; needs IPython alone."""

    first, every = 0.0, REDRAW

    def __init__(self, title: str, total: float | None) -> None:
        super().__init__(title, total)
        self._handle: Any = sys.modules["IPython"].display.display(self, display_id=True)

    def show(self) -> None:
        """Draw the bar."""
        self._handle.update(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        share = f' value="{min(1.0, self.done / self.total):.3f}"' if self.total else ""
        return ("" if self.end else f"<progress{share}></progress> ") + html.escape(str(self))


def _bar(title: str, total: float | None) -> ProgressBar:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if hasattr(shell, "kernel"):  # of Jupyter; IPython in a terminal has none
        return _Notebook(title, total)
    if sys.stderr.isatty():
        try:
            return _Terminal(title, total)
        except ImportError:  # without rich
            pass
    return _Lines(title, total)


@contextmanager
def progress_bar(title: str, total: float | None, *, enabled: bool = True) -> Iterator[ProgressBar]:
    """Yield a bar with ``advance(steps, note)`` and ``reach(steps)``.

    ``total`` is None where the amount of work is unknown.

    >>> with progress_bar("hashing", 3) as bar:
    ...     bar.advance(3)
    """
    bar = _bar(title, total) if enabled else ProgressBar()
    verb = "stopped"
    try:
        yield bar
        verb = "done"
    finally:
        bar.close(verb)


def track(items: Iterable, title: str, total: int, *, enabled: bool = True) -> Iterator:
    """Yield ``items`` one by one under a bar.

    >>> list(track(range(3), "rows", 3))
    [0, 1, 2]
    """
    with progress_bar(title, total, enabled=enabled) as bar:
        for item in items:
            yield item
            bar.advance()


class _ToStderr(logging.Handler):
    """Prints to what ``sys.stderr`` is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"repsketch: {self.format(record)}", file=sys.stderr, flush=True)


def log_to_stderr() -> None:
    """Print the lines that take the place of bars where there is no terminal; for programs, not for libraries."""
    if not any(isinstance(handler, _ToStderr) for handler in _log.handlers):
        _log.addHandler(_ToStderr())
    _log.setLevel(logging.INFO)


def notify(logger: logging.Logger, message: str, *, enabled: bool) -> None:
    """Log ``message`` as a warning; with ``enabled`` also print it to the standard error.

    >>> notify(logging.getLogger("repsketch"), "no copy of the model can be trained", enabled=False)
    """
    logger.warning("%s", message)
    if enabled:
        print(f"repsketch: {message}", file=sys.stderr, flush=True)
