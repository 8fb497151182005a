"""Fits side by side in threads: the C core and the trees of scikit-learn release the interpreter's lock."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock
from typing import Any, TypeVar

from .errors import require

MAX_THREADS = 4

Result = TypeVar("Result")


def n_threads(most: int = MAX_THREADS) -> int:
    """Threads to train in: the processors that this process may use, at most ``most``."""
    if hasattr(os, "sched_getaffinity"):
        return min(most, len(os.sched_getaffinity(0)))
    return min(most, os.cpu_count() or 1)


class _OneThreadProducts:
    """A matrix product has one thread from the first entry to the last exit, whichever threads they are of."""

    def __init__(self) -> None:
        self._lock, self._n_inside = Lock(), 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limits = require("threadpoolctl", "train").threadpool_limits(1, "blas")
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limits.restore_original_limits()


_one_thread_products = _OneThreadProducts()


class Workers:
    """Threads that fit models. When the ``with`` block ends, also by an exception or Ctrl-C, ``is_stopped`` is True.

    Inside it a matrix product has one thread: more of them would wait for each other and for the fits beside them, and
    sums must not depend on their number.

    >>> with Workers(2) as workers:
    ...     workers.map([lambda: 1, lambda: 2])
    [1, 2]
    """

    def __init__(self, n: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(n or n_threads(), thread_name_prefix="repsketch")
        self._stopped = Event()

    def __enter__(self) -> "Workers":
        _one_thread_products.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        _one_thread_products.__exit__()

    def is_stopped(self) -> bool:
        """True once fits should end early."""
        return self._stopped.is_set()

    def submit(self, job: Callable[[], Result]) -> Future[Result]:
        """Begin a job; its ``result()`` waits for it."""
        return self._pool.submit(job)

    def map(self, jobs: Iterable[Callable[[], Result]]) -> list[Result]:
        """The results of all jobs in their order, once all are there."""
        return [future.result() for future in [self.submit(job) for job in jobs]]
