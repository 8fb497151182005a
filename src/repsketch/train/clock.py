"""Time limits: which share of the time is over. Checked between fits and inside long ones."""

import time
from collections.abc import Callable


class OutOfTime(Exception):
    """Raised when the time limit ends a fit."""


def never() -> bool:
    """False: the time is never over."""
    return False


class Clock:
    """A clock that starts when it is made; ``limit`` in seconds, or None for no limit.

    >>> Clock(1000.0).is_past(0.5)(), Clock(None).is_past(0.5)()
    (False, False)
    """

    def __init__(self, limit: float | None = None) -> None:
        self._started, self._limit = time.monotonic(), limit

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit, negative beyond it."""
        return float("inf") if self._limit is None else self._limit - (time.monotonic() - self._started)

    @property
    def limit_left(self) -> float | None:
        """The rest of the limit for a call that must find something, at least a tenth of the limit; None without one.

        >>> Clock(None).limit_left is None, 999.0 < Clock(1000.0).limit_left <= 1000.0
        (True, True)
        """
        return None if self._limit is None else max(self.seconds_left, 0.1 * self._limit)

    def is_past(self, share: float) -> Callable[[], bool]:
        """A function that returns True once this share of the time is over."""
        limit = self._limit
        if limit is None:
            return never
        return lambda: time.monotonic() - self._started > share * limit
