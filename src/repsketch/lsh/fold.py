"""From the K codes of a row to one bucket in [0, R).

``universal``: multilinear hashing in wrap-around 32-bit arithmetic. For 16-bit codes s_k and random
32-bit words m,

    v = top 16 bits of (m_0 + m_1 s_1 + ... + m_K s_K  mod 2**32),    bucket = (v * R) >> 16

is strongly universal in its top 17 bits (Lemire and Kaser, *Strongly universal string hashing is
fast*, 2014), so two different K-tuples share a bucket with probability exactly ``fold_collision_rate(R)``,
which is 1/R whenever R is a power of two. That is what makes exact debiasing possible (erratum 2).

``direct``: each code is clamped to a few levels and their joint value is the bucket; nothing is
re-hashed, codes beyond the outer levels merge with them.
"""

import numpy as np

from ..errors import InputError
from .generator import Stream, words

MAX_BUCKETS = 65_536


def draw_multipliers(seed: int, n_rows: int, n_concat: int, first_row: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The random words of the universal fold: addend (n_rows,) and multipliers (n_rows, n_concat), uint32."""
    word = words(seed, Stream.FOLD, n_rows, n_concat, 2, first_row)
    return word[:, 0, 1], word[:, :, 0]


def mix(codes: np.ndarray, addend: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """Top 16 bits of the multilinear hash of ``codes`` (K, n), as uint32 (n,).

    ``addend`` is one word, ``multipliers`` are K words. Codes count modulo 2**16.

    >>> mix(np.array([[1], [-1]]), np.uint32(0), np.array([1 << 16, 0], np.uint32)).tolist()
    [1]
    """
    with np.errstate(over="ignore"):
        total = np.full(codes.shape[1], addend, np.uint32)
        for code, multiplier in zip(codes, multipliers, strict=True):
            total += (code & 0xFFFF).astype(np.uint32) * multiplier
    return total >> np.uint32(16)


def fold_universal(codes: np.ndarray, addend: np.ndarray, multipliers: np.ndarray, n_buckets: int) -> np.ndarray:
    """Buckets (n,) of the codes (K, n) of one row, by universal hashing."""
    return ((mix(codes, addend, multipliers) * np.uint32(n_buckets)) >> np.uint32(16)).astype(np.int64)


def fold_direct(codes: np.ndarray, n_levels: int, lowest: int) -> np.ndarray:
    """Buckets (n,) of the codes (K, n) of one row: the number whose base-``n_levels`` digits are the clamped codes.

    ``lowest`` is the code that becomes digit 0. The first code is the least significant digit.

    >>> fold_direct(np.array([[-5, 0, 1, 9]]), n_levels=4, lowest=-2).tolist()
    [0, 2, 3, 3]
    """
    bucket = np.zeros(codes.shape[1], np.int64)
    for code in codes[::-1]:
        bucket = bucket * n_levels + np.clip(code - lowest, 0, n_levels - 1)
    return bucket


def fold_collision_rate(n_buckets: int) -> float:
    """Probability that the universal fold sends two different tuples to one bucket.

    The sum of squared bucket shares of the 2**16 values that are distributed over the buckets.

    >>> fold_collision_rate(8)
    0.125
    >>> round(fold_collision_rate(3) * 3, 9)
    1.0
    """
    edges = -(-np.arange(n_buckets + 1, dtype=np.int64) * 65_536 // n_buckets)
    return float(np.sum((np.diff(edges) / 65_536.0) ** 2))


def levels_for(n_buckets: int, n_concat: int) -> int:
    """Levels of each code so that ``n_concat`` of them fill ``n_buckets`` exactly, for the direct fold.

    >>> levels_for(16, 2)
    4
    """
    n_levels = round(n_buckets ** (1.0 / n_concat))
    if n_levels**n_concat != n_buckets:
        raise InputError(
            f"n_buckets={n_buckets} with n_concat={n_concat} and fold='direct'; the buckets must be an integer "
            f"to the power {n_concat} (for example {max(2, n_levels) ** n_concat}), or use fold='universal'."
        )
    return n_levels
