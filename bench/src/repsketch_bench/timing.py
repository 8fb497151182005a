"""Wall-clock times of several contestants, taken in turn so that the noise of a shared machine hits all alike.

Takes callables, hands on nanoseconds a query and ratios. A ratio is formed within each round, between
times taken milliseconds apart, and only then summarised: a slow minute of the machine slows both sides.
"""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from repsketch.errors import InputError
from repsketch.progress import track


@dataclass(frozen=True)
class Contestant:
    """A callable to be timed and how many queries one call of it has."""

    name: str
    call: Callable[[], object]
    n_queries: int


@dataclass(frozen=True)
class Quartiles:
    """Median and quartiles over rounds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> "Quartiles":
        """Median and quartiles of ``values`` (n_rounds,).

        >>> Quartiles.of(np.array([1.0, 2.0, 3.0, 4.0, 50.0]))
        Quartiles(median=3.0, low=2.0, high=4.0)
        """
        low, median, high = (float(value) for value in np.quantile(values, [0.25, 0.5, 0.75]))
        return cls(median, low, high)


@dataclass(frozen=True)
class Timing:
    """Nanoseconds a query of every contestant in every round.

    Parameters
    ----------
    names : (m,) names of the contestants
    ns : (n_rounds, m) float64

    >>> timing = Timing(("net", "sketch"), np.array([[100.0, 10.0], [400.0, 20.0], [90.0, 9.0]]))
    >>> timing.quartiles("sketch").median, timing.ratio("net", "sketch").median
    (10.0, 10.0)
    """

    names: tuple[str, ...]
    ns: np.ndarray

    def quartiles(self, name: str) -> Quartiles:
        """Nanoseconds a query of one contestant."""
        return Quartiles.of(self.ns[:, self.names.index(name)])

    def ratio(self, slow: str, fast: str) -> Quartiles:
        """How many times longer ``slow`` takes than ``fast``, from their times in the same round."""
        return Quartiles.of(self.ns[:, self.names.index(slow)] / self.ns[:, self.names.index(fast)])


def measure(
    contestants: Sequence[Contestant],
    *,
    n_rounds: int = 15,
    least_seconds: float = 0.002,
    random_state: int = 0,
    progress: bool = True,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> Timing:
    """Times of all contestants: warmed up, then called in turn for ``n_rounds`` rounds.

    Parameters
    ----------
    contestants : names must differ
    n_rounds : every contestant is timed once in each
    least_seconds : a call shorter than this is repeated within one timing until it lasts as long
    clock : gives nanoseconds

    >>> measure([Contestant("sum", lambda: sum(range(100)), 100)], n_rounds=3, least_seconds=1e-4).ns.shape
    (3, 1)
    """
    names = tuple(contestant.name for contestant in contestants)
    if len(set(names)) < len(names) or not names or n_rounds < 1:
        raise InputError(
            f"contestants {list(names)} in {n_rounds} rounds; at least one of each is needed, and names must differ."
        )
    n_calls = [_calls_to_last(contestant.call, least_seconds * 1e9, clock) for contestant in contestants]
    ns = np.empty((n_rounds, len(contestants)))
    rng = np.random.default_rng(random_state)
    was_collecting = gc.isenabled()
    gc.disable()  # a collection would be charged to whoever runs at that moment
    try:
        for i in track(range(n_rounds), "timing", n_rounds, enabled=progress):
            # Another order each round, so that no contestant always follows the one that leaves the caches cold.
            for j in rng.permutation(len(contestants)):
                spent = _nanoseconds(contestants[j].call, n_calls[j], clock)
                ns[i, j] = spent / (n_calls[j] * contestants[j].n_queries)
    finally:
        if was_collecting:
            gc.enable()
    return Timing(names, ns)


def _calls_to_last(call: Callable[[], object], least_ns: float, clock: Callable[[], int]) -> int:
    """How often to call so that one timing lasts ``least_ns``; calling it warms caches and branch predictors up."""
    call()
    n_calls = 1
    while (spent := _nanoseconds(call, n_calls, clock)) < least_ns:
        wanted = n_calls * least_ns / max(spent, 1)
        n_calls = max(n_calls + 1, min(int(1.1 * wanted) + 1, 100 * n_calls))  # the first calls may mislead
    return n_calls


def _nanoseconds(call: Callable[[], object], n_calls: int, clock: Callable[[], int]) -> int:
    started = clock()
    for _ in range(n_calls):
        call()
    return clock() - started
