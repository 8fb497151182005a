"""Codes that rows may be made of: single columns with a threshold, or the seeded bits of a pool.

Both answer the same question: given a slope and a curvature for every row of data and the bucket each is in, which
code splits the buckets so that one Newton step gains most?
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core import require_native

MOST_BINS = 64
_WORTH_A_THREAD = 1 << 20  # values to count; below, starting a thread takes as long


class Candidates(ABC):
    """Codes over n rows of data. A code is a number."""

    @property
    @abstractmethod
    def n_codes(self) -> int:
        """How many there are, P."""

    @abstractmethod
    def gains(self, buckets: np.ndarray, n_buckets: int, numbers: np.ndarray, strength: float) -> np.ndarray:
        """Gain of every code.

        Parameters
        ----------
        buckets : (n,) uint8
        numbers : (n, 2 C) float32, slopes and then curvatures
        strength : added to every sum of curvatures

        Returns
        -------
        (P,) float64: sum of G**2 / (H + strength) over both halves of all buckets and all outputs
        """

    @abstractmethod
    def bits(self, code: int) -> np.ndarray:
        """The code's bit for every row, uint8 (n,)."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> "Candidates":
        """The same codes over some of the rows."""


def _gain(sums: np.ndarray, strength: float) -> np.ndarray:
    """G**2 / (H + strength), summed over outputs, for sums (..., 2 C)."""
    n_outputs = sums.shape[-1] // 2
    slope, curvature = sums[..., :n_outputs], sums[..., n_outputs:]
    return (slope * slope / (curvature + strength)).sum(axis=-1)


@dataclass(frozen=True, eq=False)
class Bits(Candidates):
    """Codes given as bits, uint8 (P, n): a matrix product tries them all."""

    table: np.ndarray

    @property
    def n_codes(self) -> int:
        """How many there are, P."""
        return len(self.table)

    @cached_property
    def _floats(self) -> np.ndarray:
        return self.table.astype(np.float32)

    def gains(self, buckets: np.ndarray, n_buckets: int, numbers: np.ndarray, strength: float) -> np.ndarray:
        """Gain of every code."""
        n, width = numbers.shape
        spread = np.zeros((n, n_buckets, width), np.float32)
        spread[np.arange(n), buckets] = numbers
        total = spread.sum(axis=0, dtype=np.float64)
        ones = (self._floats @ spread.reshape(n, -1)).reshape(-1, n_buckets, width).astype(np.float64)
        return (_gain(ones, strength) + _gain(total - ones, strength)).sum(axis=1)

    def bits(self, code: int) -> np.ndarray:
        """The code's bit for every row."""
        return self.table[code]

    def take(self, rows: np.ndarray) -> "Bits":
        """The same codes over some of the rows."""
        return Bits(np.ascontiguousarray(self.table[:, rows]))


@dataclass(frozen=True, eq=False)
class Thresholds(Candidates):
    """Codes "value >= border" of single columns, found by histograms.

    Attributes
    ----------
    values : (D, n) whole numbers
    borders : for each column its rising borders, at most 63; code numbers count through them
    """

    values: np.ndarray
    borders: Sequence[np.ndarray]

    @classmethod
    def between(cls, values: np.ndarray, most: int = MOST_BINS - 1) -> "Thresholds":
        """Borders at values that occur: all of them, or as many as allowed, equally many rows apart.

        >>> [border.tolist() for border in Thresholds.between(np.array([[5, 1, 1, 9], [0, 0, 0, 0]])).borders]
        [[5, 9], []]
        """
        borders = []
        for column in values:
            found = np.unique(column)[1:]
            if len(found) > most:
                found = np.unique(np.quantile(column, np.linspace(0, 1, most + 2)[1:-1], method="nearest"))
                found = found[found > column.min()]
            borders.append(found)
        return cls(values, borders)

    @cached_property
    def bins(self) -> np.ndarray:
        """How many borders each value reaches, uint8 (D, n)."""
        bins = np.empty(self.values.shape, np.uint8)
        for row, column, border in zip(bins, self.values, self.borders, strict=True):
            row[:] = np.searchsorted(border, column, side="right")
        return bins

    @cached_property
    def starts(self) -> np.ndarray:
        """Number of each column's first code, and of all codes at the end; (D + 1,)."""
        return np.concatenate([[0], np.cumsum([len(border) for border in self.borders])])

    @property
    def n_codes(self) -> int:
        """How many there are, P."""
        return int(self.starts[-1])

    def column_of(self, code: int) -> int:
        """The column of a code."""
        return int(np.searchsorted(self.starts, code, side="right")) - 1

    def border_of(self, code: int) -> int:
        """The border of a code."""
        column = self.column_of(code)
        return int(self.borders[column][code - self.starts[column]])

    @cached_property
    def _is_code(self) -> np.ndarray:
        """Which borders of the rectangular table of histograms there are, bool (D, bins - 1)."""
        counts = np.diff(self.starts)
        return np.arange(self._n_bins - 1) < counts[:, None]

    @property
    def _n_bins(self) -> int:
        return max(2, 1 + max(map(len, self.borders), default=1))

    def gains(self, buckets: np.ndarray, n_buckets: int, numbers: np.ndarray, strength: float) -> np.ndarray:
        """Gain of every code."""
        histogram = require_native().train_histogram
        width, n_columns = numbers.shape[1], len(self.bins)
        sums = np.empty((n_columns, n_buckets, self._n_bins, width))

        def fill(part: slice) -> None:
            histogram(self.bins[part], buckets, numbers, sums[part])

        half = n_columns // 2
        if self.bins.size < _WORTH_A_THREAD or half == 0:
            fill(slice(None))
        else:
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(fill, (slice(half), slice(half, None))))
        above = np.cumsum(sums[:, :, ::-1], axis=2)[:, :, ::-1]
        total, above = above[:, :, :1], above[:, :, 1:]
        gains = (_gain(above, strength) + _gain(total - above, strength)).sum(axis=1)
        return gains[self._is_code]

    def bits(self, code: int) -> np.ndarray:
        """The code's bit for every row."""
        return (self.values[self.column_of(code)] >= self.border_of(code)).astype(np.uint8)

    def take(self, rows: np.ndarray) -> "Thresholds":
        """The same codes over some of the rows."""
        return Thresholds(np.ascontiguousarray(self.values[:, rows]), self.borders)
