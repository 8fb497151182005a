"""Codes that greedy rows are chosen from: thresholds on single columns.

Takes a slope, a curvature and a bucket for every row of data; hands on the gain of every code: how much a Newton step
reduces the loss after the code has split the buckets.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core import require_native
from ..model.inputs import BOOLEAN

MAX_BORDERS = 63  # of a numeric column
MAX_CATEGORIES = 254  # categories of a column that have a code
_WORTH_A_THREAD = 1 << 18  # entries to count; with fewer, starting a thread takes as long


def gain_of_sums(sums: np.ndarray, strength: float) -> np.ndarray:
    """G**2 / (H + strength), summed over outputs, for sums (..., 2 C)."""
    n_outputs = sums.shape[-1] // 2
    slope, curvature = sums[..., :n_outputs], sums[..., n_outputs:]
    return (slope * slope / (curvature + strength)).sum(axis=-1)


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Codes "value >= border" of single numeric columns and "is this category", found by histograms.

    Attributes
    ----------
    bins : (U, n) uint8; numeric: number of borders at or below the value; category: its index among those with a code
    borders : for each column its rising borders, or its categories with a code; codes are numbered in this order
    kinds : (U,) as in ``Inputs``
    """

    bins: np.ndarray
    borders: Sequence[np.ndarray]
    kinds: np.ndarray

    @classmethod
    def between(
        cls, values: np.ndarray, kinds: np.ndarray | None = None, max_borders: int = MAX_BORDERS
    ) -> "Thresholds":
        """Codes for integer values (D, n) of columns of these kinds; all numeric by default.

        Borders are values that occur: all of them, or ``max_borders`` quantiles. A frequent value counts as one
        quantile only. Of more than ``MAX_CATEGORIES`` categories, the most frequent have a code.

        >>> [border.tolist() for border in Thresholds.between(np.array([[5, 1, 1, 9], [0, 0, 0, 0]])).borders]
        [[5, 9], []]
        """
        kinds = np.zeros(len(values), np.int64) if kinds is None else kinds
        borders = [
            _frequent(block, MAX_CATEGORIES) if kind > BOOLEAN else _quantile_borders(block[0], max_borders)
            for kind, block in _blocks(values, kinds)
        ]
        return cls(_bins(values, kinds, borders), borders, kinds)

    def over(self, values: np.ndarray) -> "Thresholds":
        """The same codes over other rows, of values (D, m)."""
        return Thresholds(_bins(values, self.kinds, self.borders), self.borders, self.kinds)

    @cached_property
    def starts(self) -> np.ndarray:
        """First code of each column and, at the end, the number of codes; (U + 1,)."""
        return np.concatenate([[0], np.cumsum([len(border) for border in self.borders])])

    @property
    def n_codes(self) -> int:
        """Number of codes, P."""
        return int(self.starts[-1])

    def column_of(self, code: int) -> int:
        """The column of a code."""
        return int(np.searchsorted(self.starts, code, side="right")) - 1

    def stored(self, code: int) -> tuple[int, int]:
        """Index of the value that a code reads, out of D, and its threshold."""
        column = self.column_of(code)
        first = int(np.maximum(self.kinds[:column], 1).sum())
        border = int(self.borders[column][code - self.starts[column]])
        return (first + border, 1) if self.kinds[column] > BOOLEAN else (first, border)

    @cached_property
    def _listed(self) -> tuple[np.ndarray, ...]:
        """Columns as the C core takes them: all bins but the most frequent one of each column, with their rows."""
        usual = np.array([np.bincount(column, minlength=1).argmax() for column in self.bins], np.uint8)
        is_listed = self.bins != usual[:, None]
        starts = np.concatenate([[0], np.cumsum(is_listed.sum(axis=1))])
        rows = np.nonzero(is_listed)[1].astype(np.uint32)
        return starts.astype(np.uint64), rows, self.bins[is_listed], usual, (self.kinds > BOOLEAN).astype(np.uint8)

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        """The thread that counts one half; starting one for every row took a tenth of the time."""
        return ThreadPoolExecutor(1)

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
        count = require_native().train_gains
        starts, rows, bins, usual, is_category = self._listed
        gains = np.empty(self.n_codes)

        def fill(columns: slice) -> None:
            ends = slice(columns.start, columns.stop + 1)
            codes = self.starts[ends]
            count(
                starts[ends], rows, bins, usual[columns], (codes - codes[0]).astype(np.uint32), is_category[columns],
                buckets, n_buckets, numbers, strength, gains[codes[0] : codes[-1]],
            )  # fmt: skip

        half = int(np.searchsorted(starts, starts[-1] // 2))  # of the work
        if len(rows) < _WORTH_A_THREAD or not 0 < half < len(usual):
            fill(slice(0, len(usual)))
        else:
            other = self._thread.submit(fill, slice(half, len(usual)))
            fill(slice(0, half))
            other.result()
        return gains

    def bits(self, code: int) -> np.ndarray:
        """The code's bit for every row, uint8 (n,)."""
        column = self.column_of(code)
        place = code - self.starts[column]
        bins = self.bins[column]
        return (bins == place if self.kinds[column] > BOOLEAN else bins > place).astype(np.uint8)

    def take(self, rows: np.ndarray) -> "Thresholds":
        """The same codes over some of the rows."""
        return Thresholds(np.ascontiguousarray(self.bins[:, rows]), self.borders, self.kinds)


def _blocks(values: np.ndarray, kinds: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Kind and values of each column: one of the D values, or one for each category."""
    start = 0
    for kind in kinds:
        width = max(int(kind), 1)
        yield int(kind), values[start : start + width]
        start += width


def _quantile_borders(column: np.ndarray, max_borders: int) -> np.ndarray:
    """At most ``max_borders`` rising borders, about equally many rows apart."""
    found, counts = np.unique(column, return_counts=True)
    if len(found) > max_borders + 1:
        shares = np.minimum(counts, len(column) / (max_borders + 1))
        places = (np.cumsum(shares) - shares) / shares.sum()
        found = found[np.diff((places * (max_borders + 1)).astype(np.int64), prepend=-1) > 0]
    return found[1:]


def _frequent(block: np.ndarray, max_categories: int) -> np.ndarray:
    """The categories that occur, rising; the most frequent if they are more than ``max_categories``."""
    counts = block.sum(axis=1)
    chosen = np.argsort(-counts, kind="stable")[:max_categories]
    return np.sort(chosen[counts[chosen] > 0])


def _bins(values: np.ndarray, kinds: np.ndarray, borders: Sequence[np.ndarray]) -> np.ndarray:
    bins = np.empty((len(kinds), values.shape[1]), np.uint8)
    for row, border, (kind, block) in zip(bins, borders, _blocks(values, kinds), strict=True):
        if kind > BOOLEAN:
            coded = block[border] != 0
            row[:] = np.where(coded.any(axis=0), coded.argmax(axis=0), len(border)) if len(border) else 0
        else:
            row[:] = np.searchsorted(border, block[0], side="right")
    return bins
