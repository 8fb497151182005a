"""How large stored numbers may be so that every output is finite: *Bounds of magnitudes*, ``docs/spec/inference.md``.

Models are checked when they are made, files when they are read; ``native/rsk_magnitudes.c`` is the same in C.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

LARGEST_MAGNITUDE = 2.0**126  # a quarter of the largest float32: room for the rounding of long sums
LARGEST_COORDINATE = 2.0**64  # where inputs and projections saturate


def largest_size(array: np.ndarray) -> float:
    """Largest absolute value, without a copy of the array.

    >>> largest_size(np.array([-3, 2], np.int8))
    3.0
    """
    return max(float(array.max()), -float(array.min()), 0.0)


@dataclass(frozen=True)
class Magnitudes:
    """Bounds of what a group of rows computes in the float32 precision, float64.

    Attributes
    ----------
    counter : largest stored counter
    n_rows : rows added up
    is_sum : the accumulator is the sum of the rows, not their mean
    interpolates : rows interpolate between two counters
    row_decode : largest entry of a decode matrix of rows, 1 without
    shared_decode : entries a sum has times the largest of a shared decode matrix, as (number, entry); None without
    """

    counter: float
    n_rows: int
    is_sum: bool
    interpolates: bool = False
    row_decode: float = 1.0
    shared_decode: tuple[int, float] | None = None

    @property
    def read(self) -> float:
        """The value read from one row; with interpolation S_i + (S_{i+1} - S_i) f, at most three counters."""
        return self.counter * 3.0 if self.interpolates else self.counter

    @property
    def total(self) -> float:
        """The sum over the rows."""
        return float(self.n_rows) * (self.read * self.row_decode)

    @property
    def accumulator(self) -> float:
        """The accumulator, before the gain."""
        aggregate = self.total if self.is_sum else self.read * self.row_decode
        if self.shared_decode is None:
            return aggregate
        n, entry = self.shared_decode
        return aggregate * float(n) * entry

    @property
    def largest(self) -> float:
        """The largest intermediate number."""
        return max(self.read, self.total, self.accumulator)


def largest_output(
    offset: np.ndarray,
    groups: Iterable[tuple[float, np.ndarray]],
    linear: float,
    stages: Iterable[tuple[float, np.ndarray]] = (),
) -> float:
    """Bound of the outputs, float64: from offsets, largest accumulators with their gains, and the linear term.

    ``stages``: largest sums of the linear terms of stages, with their gains.
    """
    output = largest_size(offset)
    for accumulator, gain in groups:
        output += accumulator * largest_size(gain)
    output += linear
    for total, gain in stages:
        output += total * largest_size(gain)
    return output
