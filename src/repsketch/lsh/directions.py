"""Random directions for hashing: sparse ternary ones (additions only) and Gaussian ones, from the seed."""

import numpy as np

from ..checks import check_choice
from .generator import Stream, to_gaussian, to_ternary, words

_GAUSSIAN_BITS = 6  # of a Gaussian coordinate in the int precision, behind the point

#: Standard deviation of one coordinate; a family divides its width by it, so that it costs nothing.
DEVIATION = {"ternary": 3.0**-0.5, "gaussian": 1.0}


def check_kind(kind: str) -> str:
    """Return ``kind`` if it names a distribution of directions."""
    return check_choice("directions", kind, DEVIATION)


def draw_directions(kind: str, seed: int, n_rows: int, n_concat: int, n_features: int) -> np.ndarray:
    """Directions of shape (n_rows, n_concat, n_features): int8 in {-1, 0, 1}, or float32 normal.

    Paper: Section 3.4, *Computation Requirement*; the ternary entries are Achlioptas' with
    probabilities 1/6, 2/3, 1/6 and without his factor sqrt(3).

    >>> draw_directions("ternary", seed=0, n_rows=1, n_concat=1, n_features=8)[0, 0].tolist()
    [-1, 0, 0, 0, -1, 0, 0, 0]
    """
    if check_kind(kind) == "ternary":
        word = words(seed, Stream.TERNARY, n_rows, n_concat, -(-n_features // 8))
        return to_ternary(word).reshape(n_rows, n_concat, -1)[..., :n_features]
    return to_gaussian(words(seed, Stream.GAUSSIAN, n_rows, n_concat, n_features))


def entry_words(kind: str, n: int) -> tuple[int, int]:
    """Stream and number of the words that the first n coordinates of a direction are drawn from."""
    return (Stream.TERNARY, -(-n // 8)) if kind == "ternary" else (Stream.GAUSSIAN, n)


def entry_bytes(kind: str, word: np.ndarray, n: int) -> bytes:
    """The first n coordinates of a direction out of these words: int8, or float32, little-endian."""
    if kind == "ternary":
        return to_ternary(word).reshape(-1)[:n].tobytes()
    return to_gaussian(word).astype("<f4").tobytes()


def largest_direction_sum(kind: str, n_features: int, largest: int, width: int) -> int:
    """Bound of an integer sum along a direction; Gaussian coordinates are below 8 and have 6 bits behind the point.

    >>> largest_direction_sum("ternary", n_features=3, largest=10, width=16)
    46
    """
    return n_features * largest + width if kind == "ternary" else 512 * n_features * largest + 64 * width


def most_direction_terms(directions: np.ndarray) -> int:
    """Largest sum of sizes of a direction's integer coordinates, of directions (..., p); at least 1.

    >>> most_direction_terms(np.array([[1, 0, -1], [0, 0, 1]], np.int8))
    2
    """
    integers, extra_bits = integer_directions(directions)
    terms = int(np.abs(integers.astype(np.int64)).sum(axis=-1).max())
    return max(terms, 512 * directions.shape[-1] if extra_bits else 1)


def integer_directions(directions: np.ndarray) -> tuple[np.ndarray, int]:
    """Directions as integers, and how many bits they were moved up: 0 for ternary ones, 6 for Gaussian ones.

    >>> integer_directions(np.array([0.5, -1.0], np.float32))
    (array([ 32, -64]), 6)
    """
    if directions.dtype == np.int8:
        return directions, 0
    return np.rint(directions * np.float32(2**_GAUSSIAN_BITS)).astype(np.int64), _GAUSSIAN_BITS


def integer_offsets(offsets: np.ndarray, bits: int) -> np.ndarray:
    """Offsets in [0, 1) as integers of ``bits`` bits, rounded down; exact for up to 24 bits.

    >>> integer_offsets(np.array([0.75], np.float32), 3)
    array([6])
    """
    return np.floor(np.ldexp(offsets.astype(np.float64), bits)).astype(np.int64)
