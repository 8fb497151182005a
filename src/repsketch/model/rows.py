"""Groups of rows of counters and how they are read: section 3 of ``docs/spec/inference.md``.

A group takes the coordinates z and hands on one accumulator for each output.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..checks import check_choice, check_count
from ..display import repr_of_fields
from ..errors import InputError
from ..lsh import RowHashes
from ..lsh.pool import PooledRows, largest_sum
from .aggregate import group_bounds, median
from .magnitudes import Magnitudes, largest_size
from .numbers import BITS, check_floats, check_integers, index_bits, packed_nbytes

SOURCES = ("values", "projected")
AGGREGATES = ("sum", "mean", "median_of_means")
LARGEST_INT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class RowGroup:
    """L rows of R counters.

    Attributes
    ----------
    hashes : from coordinates to buckets
    counters : (L, R, q) in the type that ``counter_type`` names
    gain : (1,) or (C,) float32, applied to the accumulators
    source : what is hashed: "projected" coordinates, or the "values" before the projection
    aggregate, n_groups : "sum", "mean" or "median_of_means" of the rows
    shared_decode : (q, C) float32 or int8; None if q = C
    row_decode : (L, C) float32 or int8, with q = 1
    decode_shift : bits dropped before the shared decode, in the int precision
    decode_bits : of an entry of a decode matrix in the int precision, 8 or 4
    """

    hashes: RowHashes | PooledRows
    counters: np.ndarray
    gain: np.ndarray
    counter_type: str = "float32"
    source: str = "projected"
    aggregate: str = "mean"
    n_groups: int = 1
    shared_decode: np.ndarray | None = None
    row_decode: np.ndarray | None = None
    decode_shift: int = 0
    decode_bits: int = 8

    __repr__ = repr_of_fields

    def __post_init__(self) -> None:
        check_choice("counter_type", self.counter_type, BITS)
        check_choice("source", self.source, SOURCES)
        check_choice("aggregate", self.aggregate, AGGREGATES)
        check_count("n_groups", self.n_groups, self.hashes.n_rows)
        check_count("decode_shift", self.decode_shift, 31, smallest=0)
        check_integers("counters", self.counters, self.counter_type)
        if self.counters.ndim != 3 or self.counters.shape[:2] != (self.hashes.n_rows, self.hashes.n_buckets):
            raise InputError(
                f"counters of shape {self.counters.shape} for {self.n_rows} rows of {self.hashes.n_buckets} buckets."
            )
        if self.is_integer and self.counter_type == "float32":
            raise InputError("counter_type='float32' in the int precision; allowed are 'int16', 'int8' and 'int4'.")
        if (self.n_groups > 1) != (self.aggregate == "median_of_means") and self.aggregate != "median_of_means":
            raise InputError(f"n_groups={self.n_groups} with aggregate={self.aggregate!r}; use 'median_of_means'.")
        if self.aggregate == "median_of_means" and (
            self.decode is not None or (self.is_integer and self.n_rows % self.n_groups)
        ):
            raise InputError(
                "median_of_means goes without a decode matrix and, in the int precision, with equal groups."
            )
        self._check_decode()
        check_floats("gains", self.gain)
        if len(self.gain) not in (1, self.n_outputs) or not (np.isfinite(self.gain).all() and self.gain.all()):
            raise InputError(f"gain must be 1 or {self.n_outputs} finite numbers other than 0.")

    def _check_decode(self) -> None:
        if self.shared_decode is not None and self.row_decode is not None:
            raise InputError("a group of rows has a shared decode matrix or one of rows, not both.")
        if self.shared_decode is not None and len(self.shared_decode) != self.counters.shape[2]:
            raise InputError(
                f"a shared decode matrix of {len(self.shared_decode)} rows for {self.counters.shape[2]} numbers."
            )
        if self.row_decode is not None and (len(self.row_decode), 1) != (self.n_rows, self.counters.shape[2]):
            raise InputError("a decode matrix of rows needs one row for each row of counters, and single counters.")
        if self.decode_shift and not (self.is_integer and self.shared_decode is not None):
            raise InputError("decode_shift belongs to a shared decode matrix in the int precision.")
        if self.decode_bits != 8 and not (self.decode_bits == 4 and self.is_integer and self.decode is not None):
            raise InputError(
                f"decode_bits={self.decode_bits}; allowed are 8, and 4 with a decode in the int precision."
            )
        if self.decode is not None:
            check_integers("the decode matrix", self.decode, f"int{self.decode_bits}" if self.is_integer else "float32")

    @property
    def decode(self) -> np.ndarray | None:
        """The decode matrix of either kind."""
        return self.row_decode if self.shared_decode is None else self.shared_decode

    @property
    def is_integer(self) -> bool:
        """The int precision."""
        return self.hashes.width_bits is not None

    @property
    def n_rows(self) -> int:
        """Rows, L."""
        return self.hashes.n_rows

    @property
    def n_outputs(self) -> int:
        """Outputs, C."""
        return self.counters.shape[2] if self.decode is None else self.decode.shape[1]

    @property
    def interpolates(self) -> bool:
        """True if rows interpolate between two counters."""
        return isinstance(self.hashes, PooledRows) and self.hashes.interpolate

    def accumulate(self, z: np.ndarray) -> np.ndarray:
        """Accumulators (n, C) for z (p, n): float32, or int64 whose values fit 32 bits."""
        bounds = group_bounds(self.n_rows, self.n_groups)
        width = self.n_outputs if self.row_decode is not None else self.counters.shape[2]
        sums = np.zeros((self.n_groups, z.shape[1], width), np.int64 if self.is_integer else np.float32)
        for group in range(self.n_groups):
            for row in range(bounds[group], bounds[group + 1]):
                sums[group] += self._read(z, row)
            if self.aggregate != "sum" and not self.is_integer:
                sums[group] /= np.float32(bounds[group + 1] - bounds[group])
        accumulators = self._middle(sums)
        return accumulators if self.shared_decode is None else self._decode_shared(accumulators, self.shared_decode)

    def _read(self, z: np.ndarray, row: int) -> np.ndarray:
        """What one row contributes, (n, q) or (n, C)."""
        counters = self._counters[row]
        if self.interpolates:
            assert isinstance(self.hashes, PooledRows)
            lower, way = self.hashes.neighbours(z, row)
            width = 1 << self.hashes.width_bits if self.hashes.width_bits is not None else np.float32(1.0)
            below, above = counters[lower], counters[lower + 1]
            read = below * width + (above - below) * way[:, None]
        else:
            read = counters[self.hashes.buckets(z, row)]
        return read if self.row_decode is None else read * self.row_decode[row]

    @cached_property
    def _counters(self) -> np.ndarray:
        return self.counters.astype(np.int64 if self.is_integer else np.float32)

    def _middle(self, sums: np.ndarray) -> np.ndarray:
        if not self.is_integer:
            return median(sums)
        ordered, half = np.sort(sums, axis=0), self.n_groups // 2
        return ordered[half] if self.n_groups % 2 else ordered[half - 1] + ordered[half]

    def _decode_shared(self, accumulators: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        outputs = np.zeros((len(accumulators), matrix.shape[1]), accumulators.dtype)
        for column, weights in zip(accumulators.T, matrix, strict=True):
            column = column >> self.decode_shift if self.is_integer else column
            outputs += column[:, None] * weights
        return outputs

    def check_bounds(self, largest: int) -> None:
        """Refuse rows in the int precision if a sum could exceed 32 bits, for |z| <= ``largest``."""
        total, worst = self._largest_sums
        worst = max(largest_code_sum(self.hashes, largest), total, worst)
        if worst > LARGEST_INT:
            raise InputError(
                f"a sum could reach {worst}; 32 bits hold {LARGEST_INT}. Use smaller counters or fewer rows."
            )

    @cached_property
    def _largest_sums(self) -> tuple[int, int]:
        """Bounds in the int precision: of a sum over rows, and of an accumulator after a shared decode."""
        sums = np.abs(self.counters.astype(np.int64)).max(axis=1)  # (L, q)
        if self.interpolates:
            sums = sums << self.hashes.width_bits
        if self.row_decode is not None:
            sums = sums * np.abs(self.row_decode.astype(np.int64))
        total = sums.sum(axis=0)
        if self.shared_decode is None:
            return int(total.max()), int(total.max())
        matrix = np.abs(self.shared_decode.astype(np.int64))
        return int(total.max()), int((((total >> self.decode_shift) + 1) @ matrix).max())

    def magnitudes(self) -> tuple[float, float]:
        """Bounds of the largest number that these rows compute, and of an accumulator."""
        if self.is_integer:
            return 0.0, float(self._largest_sums[1])
        shared, rows = self.shared_decode, self.row_decode
        found = Magnitudes(
            largest_size(self.counters),
            self.n_rows,
            self.aggregate == "sum",
            self.interpolates,
            1.0 if rows is None else largest_size(rows),
            None if shared is None else (len(shared), largest_size(shared)),
        )
        return found.largest, found.accumulator

    @property
    def nbytes(self) -> int:
        """Bytes stored."""
        size = packed_nbytes(self.counters.size, BITS[self.counter_type]) + self.gain.nbytes
        if self.decode is not None:
            size += packed_nbytes(self.decode.size, self.decode_bits) if self.is_integer else self.decode.nbytes
        if isinstance(self.hashes, PooledRows):
            size += pool_nbytes(self.hashes)
        return size


def pool_nbytes(rows: PooledRows) -> int:
    """Bytes of stored indices, columns and thresholds."""
    pool = rows.pool
    size = 0 if rows.indices is None else packed_nbytes(rows.indices.size, index_bits(pool.n_codes))
    if pool.columns is not None:
        size += packed_nbytes(pool.n_codes, index_bits(pool.n_features))
        size += pool.n_codes * threshold_nbytes(pool.thresholds, pool.width_bits)
    return size


def threshold_nbytes(thresholds: np.ndarray | None, width_bits: int | None) -> int:
    """Bytes of one stored threshold: 4 as float32, 1 or 2 as an integer."""
    assert thresholds is not None
    if width_bits is None:
        return 4
    return 1 if np.abs(thresholds.astype(np.int64)).max(initial=0) <= 127 else 2


def largest_code_sum(hashes: RowHashes | PooledRows, largest: int) -> int:
    """Bound of the integer sum behind a code, for |z| <= ``largest``."""
    assert hashes.width_bits is not None
    p, width = hashes.n_features, 1 << hashes.width_bits
    if isinstance(hashes, PooledRows):
        return largest_sum(hashes.pool.kind, p, hashes.n_levels, largest, width)
    return hashes.family.largest_sum(hashes.family.file_parameters[1], p, largest, width)
