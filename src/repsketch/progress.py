"""Progress bars, drawn by rich and only when a person is watching a terminal."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class _Silent:
    """The bar nobody sees."""

    def advance(self, steps: float = 1, note: str = "") -> None:
        """Do nothing."""

    def reach(self, steps: float) -> None:
        """Do nothing."""


class _Bar:
    def __init__(self, progress, task):
        self._progress, self._task = progress, task

    def advance(self, steps: float = 1, note: str = "") -> None:
        """Move on by ``steps`` and show ``note`` beside the bar."""
        self._progress.update(self._task, advance=steps, note=note)

    def reach(self, steps: float) -> None:
        """Move to ``steps`` from the left, wherever it was."""
        self._progress.update(self._task, completed=steps)


@contextmanager
def progress_bar(title: str, total: float | None, *, enabled: bool = True) -> Iterator[_Bar | _Silent]:
    """Yield a bar with ``advance(steps, note)`` and ``reach(steps)``; silent without a terminal or without rich.

    ``total`` is None where nobody knows how much is to come.

    >>> with progress_bar("hashing", 3) as bar:
    ...     bar.advance(3)
    """
    if not (enabled and sys.stderr.isatty()):
        yield _Silent()
        return
    try:
        from rich import console, progress
    except ImportError:
        yield _Silent()
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[note]}"),
    )
    with progress.Progress(*columns, console=console.Console(stderr=True), transient=True) as bars:
        yield _Bar(bars, bars.add_task(title, total=total, note=""))


def track(items: Iterable, title: str, total: int, *, enabled: bool = True) -> Iterator:
    """Yield ``items`` one by one under a bar.

    >>> list(track(range(3), "rows", 3))
    [0, 1, 2]
    """
    with progress_bar(title, total, enabled=enabled) as bar:
        for item in items:
            yield item
            bar.advance()
