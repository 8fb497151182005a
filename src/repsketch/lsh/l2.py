"""p-stable hashing for Euclidean distance: code = floor((a.x + b) / r).

Paper: Section 3.3 (Lemma 2) and Section 4.3; the hash is Datar, Immorlica, Indyk, Mirrokni (2004).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import require
from .directions import (
    DEVIATION,
    check_kind,
    draw_directions,
    entry_bytes,
    entry_words,
    integer_directions,
    integer_offsets,
    largest_direction_sum,
    most_direction_terms,
)
from .family import (
    Family,
    HashFunctions,
    check_bandwidth,
    clamp_code,
    floor_code,
    integer_sums,
    sum_along_direction,
)
from .generator import Stream, to_unit, words

#: Values of a sum of ternary coordinates that are told apart before the rest is taken as Gaussian.
_MOST_ATOMS = 3**8


@dataclass(frozen=True)
class L2(Family):
    """Euclidean LSH with bucket width ``bandwidth`` and ternary or Gaussian directions.

    >>> L2(bandwidth=1.0, directions="gaussian").collision_probability([0.0], [1.0]).round(4)
    np.float64(0.3687)
    """

    bandwidth: float = 1.0
    directions: str = "ternary"
    name: ClassVar[str] = "l2"
    is_shift_invariant: ClassVar[bool] = True
    has_bandwidth: ClassVar[bool] = True
    has_directions: ClassVar[bool] = True
    has_offset: ClassVar[bool] = True
    wraps: ClassVar[bool] = True
    has_row_kernel: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", check_bandwidth(self.bandwidth))
        check_kind(self.directions)

    @property
    def unit_scale(self) -> float:
        """1 / (r * standard deviation of a direction's entry): bucket units."""
        return 1.0 / (self.bandwidth * DEVIATION[self.directions])

    def _draw(self, seed: int, n_rows: int, n_concat: int, n_features: int) -> dict[str, np.ndarray]:
        return {
            "directions": draw_directions(self.directions, seed, n_rows, n_concat, n_features),
            "offsets": to_unit(words(seed, Stream.OFFSET, n_rows, n_concat, 1)[..., 0]),
        }

    def row_codes(self, scaled: np.ndarray, functions: HashFunctions, row: int) -> np.ndarray:
        """Code = floor(b + sum_j a_j z_j) with z in bucket units and b in [0, 1)."""
        directions = functions.parameters["directions"][row]
        offsets = functions.parameters["offsets"][row]
        sums = [sum_along_direction(scaled, *pair) for pair in zip(directions, offsets, strict=True)]
        return floor_code(np.stack(sums))

    def integer_codes(
        self, z: np.ndarray, functions: HashFunctions, row: int, width_bits: int, wraps: bool
    ) -> np.ndarray:
        """Code = (b + sum_j a_j z_j) >> width_bits with integer z, a and b."""
        directions, extra_bits = integer_directions(functions.parameters["directions"][row])
        bits = width_bits + extra_bits
        offsets = integer_offsets(functions.parameters["offsets"][row], bits)
        sums = integer_sums(directions, z, offsets)
        if wraps and extra_bits == 0:
            sums = ((sums + 32_768) & 0xFFFF) - 32_768
        return clamp_code(sums >> bits)

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
        if self.directions == "gaussian":
            return self._textbook(x, y)
        return ternary_kernel((x - y) * self.unit_scale)

    def _textbook(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return l2_kernel(np.sqrt(((x - y) ** 2).sum(-1)), self.bandwidth)

    def row_kernel(self, x: Any, y: Any, functions: HashFunctions) -> np.ndarray:
        """Collision probability under these directions, over the random offsets only, float64 (n, m).

        The mean over rows of the product over codes of max(0, 1 - |a.(x - y)| / r), for every pair
        of x (n, p) and y (m, p). This is the kernel of the hashes really used: a sketch with these
        rows is unbiased for it whatever the directions are (erratum 3).

        >>> family = L2(bandwidth=1.0)
        >>> family.row_kernel([[0.0]], [[0.0]], family.sample(1, n_rows=4))
        array([[1.]])
        """
        directions = functions.parameters["directions"].astype(np.float64)
        u, v = (np.asarray(points, np.float64) * self.unit_scale for points in (x, y))
        total = np.zeros((len(u), len(v)))
        for row in directions:
            gaps = np.abs((u @ row.T)[:, None, :] - (v @ row.T)[None, :, :])
            total += np.maximum(0.0, 1.0 - gaps).prod(axis=2)
        return total / len(directions)


def l2_kernel(distance: Any, bandwidth: float) -> np.ndarray:
    """Collision probability of one code with Gaussian directions at Euclidean ``distance``.

    With u = r / c: k(c) = erf(u / sqrt 2) - (2 / (sqrt(2 pi) u)) (1 - exp(-u**2 / 2)), k(0) = 1.

    >>> l2_kernel([0.0, 1.0, 2.0], bandwidth=1.0).round(4).tolist()
    [1.0, 0.3687, 0.1954]
    """
    erf = require("scipy.special", "train").erf
    distance = np.asarray(distance, np.float64)
    with np.errstate(divide="ignore", over="ignore"):
        u = np.minimum(bandwidth / distance, 1e9)
    return erf(u / np.sqrt(2.0)) - np.sqrt(2.0 / np.pi) / u * -np.expm1(-0.5 * u**2)


def ternary_kernel(difference: Any) -> np.ndarray:
    """Collision probability of one code with ternary directions (erratum 3), float64 of shape (...,).

    ``difference`` (..., p) is x - y in bucket units. The expectation of the triangle max(0, 1 - |t|)
    over t = sum_j a_j difference_j. Coordinates are added to the distribution of t from the largest
    down, equal values of t merged; should they become too many, the (smaller) rest is taken as a Gaussian of
    equal variance, whose fourth moment is equal too. Exact for p <= 9, and for any p whose
    differences take few values.

    >>> bool(abs(ternary_kernel([[1.0]])[0] - 2 / 3) < 1e-12)
    True
    """
    difference = np.asarray(difference, np.float64)
    flat = -np.sort(-np.abs(difference).reshape(-1, difference.shape[-1]), axis=1)
    return np.array([_expected_triangle(row[row > 0]) for row in flat]).reshape(difference.shape[:-1])


def _expected_triangle(coordinates: np.ndarray) -> float:
    values, probabilities = np.zeros(1), np.ones(1)
    for done, size in enumerate(coordinates):
        if len(values) > _MOST_ATOMS:
            rest = coordinates[done:]
            return float(probabilities @ _blurred_triangle(values, np.sqrt((rest**2).sum() / 3.0)))
        values = np.concatenate([values - size, values, values + size])
        probabilities = np.concatenate([probabilities / 6.0, probabilities * (2.0 / 3.0), probabilities / 6.0])
        # Sums that differ by rounding only are one value; 1e-9 bucket widths do not matter.
        _, first, group = np.unique(np.rint(values * 1e9), return_index=True, return_inverse=True)
        values, probabilities = values[first], np.bincount(group, probabilities).astype(np.float64)
    return float(probabilities @ np.maximum(0.0, 1.0 - np.abs(values)))


def _blurred_triangle(t: np.ndarray, sigma: np.float64) -> np.ndarray:
    """Expectation of max(0, 1 - |t + sigma * xi|) over a standard normal xi."""
    ndtr = require("scipy.special", "train").ndtr

    def ramp(x: np.ndarray) -> np.ndarray:
        s = x / sigma
        return x * ndtr(s) + sigma * np.exp(-0.5 * s * s) / np.sqrt(2.0 * np.pi)

    return ramp(t + 1.0) - 2.0 * ramp(t) + ramp(t - 1.0)
