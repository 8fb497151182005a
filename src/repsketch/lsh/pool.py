"""Codes shared by many rows: a pool of P codes, each computed once, and rows that name K of them.

Beyond the paper, whose rows own their codes (``rows.RowHashes``). A code adds and subtracts a few
coordinates; the code says on which side of a bias the sum lies (a bit), or which of a few levels it reaches. The
directions come from the seed, or are one stored coordinate each. ``docs/spec/inference.md`` says it all.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..checks import check_choice, check_count, check_number
from ..display import repr_of_fields
from ..errors import InputError
from .directions import draw_directions, integer_offsets
from .family import integer_sums, saturate, sum_along_direction
from .fold import MAX_BUCKETS, fold_direct
from .generator import MAX_CONCAT, MAX_FEATURES, MAX_ROWS, Stream, to_unit, words
from .rows import MAX_WIDTH_BITS

KINDS = ("ternary", "sparse", "threshold")
MAX_NONZEROS = 3
MAX_CODES = 65_536
MAX_BIAS_SCALE = 32_767
MAX_THRESHOLD = 32_767
_CODES_A_DRAW = 64


def most_terms(kind: str, n_features: int) -> int:
    """How many coordinates a code of this kind of pool adds up at most.

    >>> most_terms("ternary", 40), most_terms("sparse", 40), most_terms("threshold", 40)
    (40, 3, 1)
    """
    return {"sparse": MAX_NONZEROS, "threshold": 1}.get(kind, n_features)


def largest_sum(kind: str, n_features: int, n_levels: int, largest: int, width: int) -> int:
    """Bound of the integer sum behind a code, for |z| <= ``largest``; thresholds count as sparse codes."""
    terms = n_features if kind == "ternary" else min(n_features, MAX_NONZEROS)
    return terms * largest + n_levels * width


@dataclass(frozen=True, eq=False)
class CodePool:
    """P codes over p coordinates.

    Attributes
    ----------
    kind : "ternary" and "sparse" directions come from the seed, "threshold" ones are single stored coordinates
    n_levels : 2 to 65536 levels a code, or 0 for bits
    n_axes : how many codes, the first ones, are the first coordinates themselves
    n_nonzeros : most coordinates of a sparse direction
    is_seeded : bits get a random bias, levels a random offset; otherwise the bias is 0, the levels centred
    bias_scale : size of random biases, in units of 148 / 256 of an integer value, or as float32 of 1 / 148
    is_normalised : sums of many coordinates are divided by about the square root of their number
    width_bits : int precision; a level is 2**width_bits wide
    booleans : (p,) bool, the coordinates that are 0 or 1 only; they get half-integer biases
    columns, thresholds : (P,) stored coordinate and bias of each "threshold" code

    >>> pool = CodePool("sparse", n_codes=3, n_features=5, seed=1)
    >>> pool.directions.tolist()
    [[0, -1, 0, -1, -1], [0, 0, -1, 0, 0], [0, 0, 0, 1, 0]]
    """

    kind: str
    n_codes: int
    n_features: int
    seed: int = 0
    n_levels: int = 0
    n_axes: int = 0
    n_nonzeros: int = MAX_NONZEROS
    is_seeded: bool = False
    bias_scale: float = 0
    is_normalised: bool = False
    width_bits: int | None = None
    booleans: np.ndarray | None = None
    columns: np.ndarray | None = None
    thresholds: np.ndarray | None = None

    __repr__ = repr_of_fields

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        check_count("n_codes", self.n_codes, MAX_CODES)
        check_count("n_features", self.n_features, MAX_FEATURES)
        check_count("n_axes", self.n_axes, min(self.n_codes, self.n_features), smallest=0)
        check_count("n_nonzeros", self.n_nonzeros, MAX_NONZEROS)
        if self.n_levels:
            check_count("n_levels", self.n_levels, MAX_BUCKETS, smallest=2)
        if self.width_bits is not None:
            smallest = 1 if self.n_levels and not self.is_seeded else 0  # a centre may lie between two levels
            check_count("width_bits", self.width_bits, MAX_WIDTH_BITS, smallest=smallest)
            check_count("bias_scale", self.bias_scale, MAX_BIAS_SCALE, smallest=0)
        else:
            check_number("bias_scale", self.bias_scale, 0.0, 2.0**40)
        if (self.kind == "threshold") != (self.columns is not None and self.thresholds is not None):
            raise InputError("columns and thresholds belong to kind='threshold', and only to it.")
        if self.columns is not None and (self.n_levels or self.n_axes or self.is_seeded or self.is_normalised):
            raise InputError("kind='threshold' stores everything about its bits; levels, axes and seeds have no place.")
        if self.is_normalised and not self.n_levels:
            raise InputError("is_normalised=True needs levels; the sums of bits are not divided.")
        if self.columns is not None and self.thresholds is not None:
            self._check_stored(self.columns, self.thresholds)

    def _check_stored(self, columns: np.ndarray, thresholds: np.ndarray) -> None:
        if not (columns.shape == (self.n_codes,) and columns.min() >= 0 and columns.max() < self.n_features):
            raise InputError(f"columns must be {self.n_codes} numbers from 0 to below n_features={self.n_features}.")
        is_storable = np.isfinite(thresholds)
        if self.width_bits is not None:  # stored in at most two bytes
            is_storable &= (thresholds == np.floor(thresholds)) & (
                np.abs(thresholds.astype(np.float64)) <= MAX_THRESHOLD
            )
        if thresholds.shape != (self.n_codes,) or not is_storable.all():
            kind = "finite numbers" if self.width_bits is None else f"integers of at most {MAX_THRESHOLD}"
            raise InputError(f"thresholds must be {self.n_codes} {kind}.")

    @property
    def is_binary(self) -> bool:
        """Codes are bits."""
        return self.n_levels == 0

    @cached_property
    def directions(self) -> np.ndarray:
        """Entries -1, 0 and +1 of every code, int8 (P, p)."""
        if self.kind == "ternary":
            drawn = draw_directions("ternary", self.seed, self.n_codes, 1, self.n_features)[:, 0].copy()
            drawn[: self.n_axes] = np.eye(self.n_axes, self.n_features, dtype=np.int8)
            return drawn
        drawn = np.zeros((self.n_codes, self.n_features), np.int8)
        for code in range(self.n_codes):
            for place, sign in self.sparse_direction(code):
                drawn[code, place] = sign
        return drawn

    def sparse_direction(self, code: int) -> list[tuple[int, int]]:
        """Coordinate and sign of the few non-zeros of a code that is not ternary, in rising order."""
        if self.columns is not None:
            return [(int(self.columns[code]), 1)]
        if code < self.n_axes:
            return [(code, 1)]
        word = self._words(Stream.SPARSE, code, 1 + MAX_NONZEROS)
        drawn: list[tuple[int, int]] = []
        for i in range(1 + ((word[0] >> 16) * min(self.n_nonzeros, self.n_features) >> 16)):
            place = (word[i + 1] >> 1) * (self.n_features - i) >> 31  # among those not yet taken
            for taken, _ in drawn:
                place += place >= taken
            drawn = sorted([*drawn, (place, -1 if word[i + 1] & 1 else 1)])
        return drawn

    def _words(self, stream: Stream, code: int, n_words: int) -> list[int]:
        """The first words of a code; a few come with its neighbours', which takes no longer."""
        if n_words > 1 + MAX_NONZEROS:
            return words(self.seed, stream, 1, 1, n_words, first_row=code)[0, 0].tolist()
        block, place = divmod(code, _CODES_A_DRAW)
        if (stream, block) not in self._drawn:
            drawn = words(self.seed, stream, _CODES_A_DRAW, 1, 1 + MAX_NONZEROS, first_row=block * _CODES_A_DRAW)
            self._drawn[stream, block] = drawn[:, 0].tolist()
        return self._drawn[stream, block][place]

    @cached_property
    def _drawn(self) -> dict[tuple[Stream, int], list[list[int]]]:
        return {}

    @cached_property
    def biases(self) -> np.ndarray:
        """What a sum must reach for the bit to be 1: (P,), float32 or int32."""
        number = np.float32 if self.width_bits is None else np.int32
        if self.thresholds is not None:
            return self.thresholds.astype(number)
        if not self.is_seeded:
            return np.zeros(self.n_codes, number)
        booleans = np.zeros(self.n_features, bool) if self.booleans is None else self.booleans
        return np.array([self._draw_bias(code, booleans) for code in range(self.n_codes)], number)

    def _draw_bias(self, code: int, booleans: np.ndarray) -> int | np.float32:
        places = np.flatnonzero(self.directions[code])
        entries = [(int(place), int(self.directions[code, place])) for place in places]
        return self.draw_bias(code, entries, booleans[places])

    def draw_bias(self, code: int, entries: list[tuple[int, int]], are_boolean: np.ndarray) -> int | np.float32:
        """The random bias of a bit, from the non-zeros of its direction and which of them are boolean."""
        word = self._words(Stream.BIAS, code, len(entries))
        if are_boolean.all():
            return 1 - sum(sign < 0 for _, sign in entries) + ((word[0] >> 16) * len(entries) >> 16)
        bias = np.float32(0.0) if self.width_bits is None else 0
        for (_, sign), drawn, is_boolean in zip(entries, word, are_boolean, strict=False):
            if is_boolean:
                continue
            size = sum(drawn.to_bytes(4, "little")) - 510
            is_float = self.width_bits is None
            step = np.float32(size) * np.float32(self.bias_scale) if is_float else size * int(self.bias_scale) >> 8
            bias = bias + step if sign > 0 else bias - step
        return bias

    @cached_property
    def shifts(self) -> np.ndarray:
        """By how many bits each sum is moved down, int64 (P,): half the bit length of its number of coordinates."""
        counts = np.abs(self.directions).sum(axis=1, dtype=np.int64)
        lengths = np.frexp(counts.astype(np.float64))[1]
        return lengths // 2 if self.is_normalised else np.zeros(self.n_codes, np.int64)

    def starts(self, interpolate: bool) -> np.ndarray:
        """Where level counting starts: (P,) float32 in widths, or int64 in 2**width_bits of a width."""
        half = self.n_levels // 2 if self.is_seeded else (self.n_levels - interpolate) / 2
        offsets = to_unit(words(self.seed, Stream.OFFSET, self.n_codes, 1, 1)[:, 0, 0]) * np.float32(self.is_seeded)
        if self.width_bits is None:
            return np.float32(half) + offsets
        return int(half * 2**self.width_bits) + integer_offsets(offsets, self.width_bits)

    def bits(self, z: np.ndarray, code: int) -> np.ndarray:
        """The code's bit for z (p, n), int64 (n,)."""
        return (self._sums(z, code) >= self.biases[code]).astype(np.int64)

    def positions(self, z: np.ndarray, code: int, interpolate: bool) -> np.ndarray:
        """Where between level 0 and n_levels the code lies for z (p, n): float32, or int64 of width 2**width_bits."""
        sums, start, shift = self._sums(z, code), self.starts(interpolate)[code], self.shifts[code]
        if self.width_bits is None:
            return sums * np.float32(2.0**-shift) + start
        return (sums >> shift) + start

    def _sums(self, z: np.ndarray, code: int) -> np.ndarray:
        if self.width_bits is None:
            return sum_along_direction(z, self.directions[code], np.float32(0.0))
        return integer_sums(self.directions[code : code + 1], z)[0]

    def digits(self, z: np.ndarray, code: int) -> np.ndarray:
        """The code's bit or level for z (p, n), int64 (n,)."""
        if self.is_binary:
            return self.bits(z, code)
        position = self.positions(z, code, interpolate=False)
        level = np.floor(saturate(position)) if self.width_bits is None else position >> self.width_bits
        return np.clip(level, 0, self.n_levels - 1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class PooledRows:
    """L rows that each name K codes of a pool; their joint value is the bucket.

    Attributes
    ----------
    pool : the codes
    n_rows, n_concat : L and K
    indices : (L, K) codes of each row; None: row l has codes l K ... l K + K - 1
    interpolate : read between two neighbouring levels; only with levels and K = 1

    >>> pool = CodePool("sparse", n_codes=8, n_features=3, is_seeded=True, bias_scale=0.01)
    >>> rows = PooledRows(pool, n_rows=2, n_concat=3, indices=np.array([[0, 1, 2], [2, 5, 7]]))
    >>> rows.n_buckets, rows.buckets(np.zeros((3, 4), np.float32), row=1).shape
    (8, (4,))
    """

    pool: CodePool
    n_rows: int
    n_concat: int = 1
    indices: np.ndarray | None = None
    interpolate: bool = False
    collision_rate: ClassVar[float] = 0.0

    __repr__ = repr_of_fields

    def __post_init__(self) -> None:
        check_count("n_rows", self.n_rows, MAX_ROWS)
        check_count("n_concat", self.n_concat, MAX_CONCAT)
        if self.n_levels**self.n_concat > MAX_BUCKETS:
            raise InputError(
                f"{self.n_levels} levels of {self.n_concat} codes; allowed are {MAX_BUCKETS} buckets a row."
            )
        if self.interpolate and (self.n_concat != 1 or self.pool.is_binary):
            raise InputError("interpolate=True needs levels and n_concat=1.")
        if self.indices is None and self.n_rows * self.n_concat != self.pool.n_codes:
            raise InputError(f"{self.n_rows} rows of {self.n_concat} own codes need a pool of as many codes.")
        if self.indices is not None and not (
            self.indices.shape == (self.n_rows, self.n_concat)
            and self.indices.min() >= 0
            and self.indices.max() < self.pool.n_codes
        ):
            raise InputError(f"indices must be ({self.n_rows}, {self.n_concat}) numbers below {self.pool.n_codes}.")

    @property
    def n_levels(self) -> int:
        """Digits a code may have."""
        return self.pool.n_levels or 2

    @property
    def n_buckets(self) -> int:
        """Buckets a row, R."""
        return self.n_levels**self.n_concat

    @property
    def n_features(self) -> int:
        """Coordinates hashed, p."""
        return self.pool.n_features

    @property
    def width_bits(self) -> int | None:
        """Bits of a level's width in the int precision, None in float32."""
        return self.pool.width_bits

    def codes_of(self, row: int) -> np.ndarray:
        """The pool's codes that a row joins, (K,)."""
        own = np.arange(row * self.n_concat, (row + 1) * self.n_concat)
        return own if self.indices is None else self.indices[row]

    def buckets(self, z: np.ndarray, row: int) -> np.ndarray:
        """Bucket of every point in one row, int64 (n,), for z (p, n)."""
        if self.interpolate:
            return self.neighbours(z, row)[0]
        digits = np.stack([self.pool.digits(z, code) for code in self.codes_of(row)])
        return fold_direct(digits, self.n_levels, lowest=0)

    def neighbours(self, z: np.ndarray, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Lower of the two levels that are read between, int64 (n,), and the way towards the upper one.

        The way is float32 in [0, 1], or int64 in [0, 2**width_bits].
        """
        position = self.pool.positions(z, int(self.codes_of(row)[0]), interpolate=True)
        if self.width_bits is None:
            position = np.clip(position, 0.0, np.float32(self.n_levels - 1))
            lower = np.minimum(np.floor(position), np.float32(self.n_levels - 2))
            return lower.astype(np.int64), position - lower
        position = np.clip(position, 0, (self.n_levels - 1) << self.width_bits)
        lower = np.minimum(position >> self.width_bits, self.n_levels - 2)
        return lower, position - (lower << self.width_bits)
