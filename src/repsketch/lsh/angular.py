"""Sign random projections for the angle between two points: code = [a.x >= 0].

Paper: Section 2.2 names the family; the hash is Charikar's (2002).
"""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from .directions import (
    check_kind,
    draw_directions,
    entry_bytes,
    entry_words,
    integer_directions,
    largest_direction_sum,
    most_direction_terms,
)
from .family import Family, HashFunctions, integer_sums, sum_along_direction

_ENUMERATED = 8  # coordinates whose signs are enumerated


@dataclass(frozen=True)
class Angular(Family):
    """Angular LSH: one sign bit a code, collision probability 1 - angle / pi.

    Gaussian directions by default: with few coordinates, ternary ones collide at another rate
    (a direction of zeros always does). For ternary directions ``collision_probability`` is exact
    where at most 8 coordinates are not zero in both points, and the Gaussian limit elsewhere.

    >>> Angular().collision_probability([1.0, 0.0], [0.0, 1.0])
    np.float64(0.5)
    """

    directions: str = "gaussian"
    name: ClassVar[str] = "angular"
    is_binary: ClassVar[bool] = True
    has_directions: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_kind(self.directions)

    def _draw(self, seed: int, n_rows: int, n_concat: int, n_features: int) -> dict[str, np.ndarray]:
        return {"directions": draw_directions(self.directions, seed, n_rows, n_concat, n_features)}

    def row_codes(self, scaled: np.ndarray, functions: HashFunctions, row: int) -> np.ndarray:
        """Code = 1 where sum_j a_j z_j >= 0, else 0."""
        directions = functions.parameters["directions"][row]
        return np.stack([sum_along_direction(scaled, a, np.float32(0.0)) >= 0 for a in directions]).astype(np.int32)

    def integer_codes(
        self, z: np.ndarray, functions: HashFunctions, row: int, width_bits: int, wraps: bool
    ) -> np.ndarray:
        """Code = 1 where sum_j a_j z_j >= 0, else 0, for integer z and a; the width has no meaning here."""
        directions, _ = integer_directions(functions.parameters["directions"][row])
        return (integer_sums(directions, z) >= 0).astype(np.int32)

    @classmethod
    def largest_sum(cls, directions: str, n_features: int, largest: int, width: int) -> int:
        """Of all coordinates along a direction, and the offset."""
        return largest_direction_sum(directions, n_features, largest, width)

    def most_terms(self, functions: HashFunctions) -> int:
        """Of the directions that were drawn; of Gaussian ones what they could be."""
        return most_direction_terms(functions.parameters["directions"])

    def entry_words(self, n: int) -> tuple[int, int]:
        """Words of the direction."""
        return entry_words(self.directions, n)

    def entry_bytes(self, word: np.ndarray, n: int) -> bytes:
        """The direction: int8 or float32."""
        return entry_bytes(self.directions, word, n)

    def _kernel(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        limit = self._textbook(x, y)
        if self.directions == "gaussian":
            return limit
        exact = [_ternary_sign_agreement(*pair) for pair in zip(*(_rows(side) for side in (x, y)), strict=True)]
        flat = limit.reshape(-1)
        return np.where(np.isnan(exact), flat, exact).reshape(limit.shape)

    def _textbook(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return angular_kernel(x, y)


def angular_kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """1 - angle(x, y) / pi along the last axis, the angle from Kahan's stable half-angle formula.

    The zero vector hashes to 1 everywhere; it collides with any other point half of the time.
    """
    norms = [np.sqrt((points**2).sum(-1, keepdims=True)) for points in (x, y)]
    u, v = (points / np.where(norm == 0, 1.0, norm) for points, norm in zip((x, y), norms, strict=True))
    gap, total = (np.sqrt((w**2).sum(-1)) for w in (u - v, u + v))
    zeros = [norm[..., 0] == 0 for norm in norms]
    agreement = 1.0 - 2.0 * np.arctan2(gap, total) / np.pi
    return np.where(zeros[0] & zeros[1], 1.0, np.where(zeros[0] | zeros[1], 0.5, agreement))


def _rows(points: np.ndarray) -> np.ndarray:
    return points.reshape(-1, points.shape[-1])


def _ternary_sign_agreement(x: np.ndarray, y: np.ndarray) -> float:
    """Exact probability that two points (p,) get the same bit; NaN where too many coordinates matter."""
    active = (x != 0) | (y != 0)
    if active.sum() > _ENUMERATED:
        return np.nan
    patterns = np.array(list(product((-1, 0, 1), repeat=int(active.sum()))), np.float64)
    probability = np.where(patterns == 0, 2.0 / 3.0, 1.0 / 6.0).prod(axis=1)
    return float(((patterns @ x[active] >= 0) == (patterns @ y[active] >= 0)) @ probability)
