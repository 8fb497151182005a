"""Random directions for hashing: sparse ternary ones (additions only) and Gaussian ones, from the seed."""

import numpy as np

from ..settings import check_choice
from .generator import Stream, to_gaussian, to_ternary, words

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
