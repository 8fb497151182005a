"""Rows chosen greedily, one after the other, each fitted to the residuals of those before it: boosting.

A row concatenates K codes. They are chosen one at a time: first the one that splits all rows of data best, then the one
that splits the two buckets best, and so on. The 2**K counters take a Newton step, times a shrinkage.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from ..progress import track
from .candidates import Thresholds, gain_of_sums
from .objective import Objective

MIN_STEP = 1e-3  # a row whose counters are all smaller is not worth its bytes


@dataclass(frozen=True, eq=False)
class GreedyRows:
    """L rows of counters, with the buckets of n rows of data.

    Attributes
    ----------
    codes : (L, K) indices of candidates
    buckets : (L, n) uint8
    values : (L, 2**K, C) float64 counters
    offset : (C,) float64
    """

    codes: np.ndarray
    buckets: np.ndarray
    values: np.ndarray
    offset: np.ndarray

    def first(self, n_rows: int) -> "GreedyRows":
        """The first rows alone."""
        return GreedyRows(self.codes[:n_rows], self.buckets[:n_rows], self.values[:n_rows], self.offset)


def grow_rows(
    candidates: Thresholds,
    objective: Objective,
    n_rows: int,
    n_concat: int,
    *,
    shrinkage: float = 0.3,
    strength: float = 1.0,
    reuse: float = 0.0,
    n_searched: int = 6_000,
    is_done: Callable[[list[list[int]], list[np.ndarray]], bool] = lambda codes, values: False,
    seed: int = 0,
    progress: bool = False,
) -> GreedyRows:
    """Up to ``n_rows`` rows of ``n_concat`` codes.

    Parameters
    ----------
    candidates : codes over the same n rows as ``objective``
    shrinkage : share of the Newton step that is taken
    strength : L2 regularisation, added to curvatures: counters of small buckets stay near 0
    reuse : share by which the gain of a code grows if an earlier row has it: a new code takes bytes
    n_searched : rows of data that codes are compared on, drawn anew every eighth row
    is_done : called after every row with the codes and the counters (R, C) so far; True stops

    Returns
    -------
    Grown
    """
    rng = np.random.default_rng([seed, 5])
    n = len(objective.targets)
    offset = objective.start()
    current = np.repeat(offset[None], n, axis=0)
    codes: list[list[int]] = []
    buckets: list[np.ndarray] = []
    values: list[np.ndarray] = []
    searched, some = np.arange(n), candidates
    used: set[int] = set()
    for number in track(range(n_rows), "choosing rows", n_rows, enabled=progress):
        if n > n_searched and number % 8 == 0:
            searched = np.sort(rng.choice(n, n_searched, replace=False))
            some = candidates.take(searched)
        slope, curvature = objective.slopes(current)
        numbers = np.concatenate([slope, curvature], axis=1)
        chosen = choose_codes(
            some, numbers[searched].astype(np.float32), n_concat, strength * len(searched) / n, used, reuse
        )
        used.update(chosen)
        bucket = np.zeros(n, np.uint8)
        for place, code in enumerate(chosen):
            bucket |= candidates.bits(code) << place
        step = -shrinkage * newton_step(bucket, 2**n_concat, slope, curvature, strength)
        if codes and np.abs(step).max() < MIN_STEP:
            break  # nothing is left to fit; there is at least one row, even for a constant target
        current += step[bucket]
        codes.append(chosen)
        buckets.append(bucket)
        values.append(step)
        if is_done(codes, values):
            break
    return GreedyRows(
        np.array(codes, np.int64).reshape(-1, n_concat),
        np.array(buckets, np.uint8).reshape(-1, n),
        np.array(values).reshape(-1, 2**n_concat, objective.n_outputs),
        offset,
    )


def choose_codes(
    candidates: Thresholds,
    numbers: np.ndarray,
    n_concat: int,
    strength: float,
    used: Collection[int] = (),
    reuse: float = 0.0,
) -> list[int]:
    """K codes, each the best given those before it, for slopes and curvatures (n, 2 C); ``used`` codes gain more."""
    bucket = np.zeros(len(numbers), np.uint8)
    chosen: list[int] = []
    for place in range(n_concat):
        gains = candidates.gains(bucket, 2**place, numbers, strength)
        if used and reuse:
            gains -= gain_of_sums(
                sum_by_bucket(bucket, 2**place, numbers), strength
            ).sum()  # the gain without another code
            gains[list(used)] *= 1.0 + reuse
        gains[chosen] = -np.inf  # the same code twice would leave half of the buckets empty
        chosen.append(int(np.argmax(gains)))
        bucket |= candidates.bits(chosen[-1]) << place
    return chosen


def newton_step(
    bucket: np.ndarray, n_buckets: int, slope: np.ndarray, curvature: np.ndarray, strength: float
) -> np.ndarray:
    """Slope over curvature of every bucket, (R, C)."""
    return sum_by_bucket(bucket, n_buckets, slope) / (sum_by_bucket(bucket, n_buckets, curvature) + strength)


def sum_by_bucket(bucket: np.ndarray, n_buckets: int, numbers: np.ndarray) -> np.ndarray:
    """Sums (R, C) of numbers (n, C) by bucket."""
    return np.stack([np.bincount(bucket, column, n_buckets) for column in numbers.T], axis=1)
