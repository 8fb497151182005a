"""Sums of the sizes of stored integers, column by column: what the reader's bounds are made of.

A wide copy of a matrix would take many times the memory of the file, so that all of it is done in chunks.
"""

from collections.abc import Iterator

import numpy as np

from .sections import CHUNK


def column_sizes(matrix: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Sums of sizes over the rows of an integer matrix, int64, for some columns after the other."""
    for first in range(0, matrix.shape[1], CHUNK):
        columns = slice(first, min(first + CHUNK, matrix.shape[1]))
        total = np.zeros(columns.stop - first, np.int64)
        step = max(1, CHUNK // len(total))
        for start in range(0, len(matrix), step):
            total += np.abs(matrix[start : start + step, columns].astype(np.int64)).sum(axis=0)
        yield columns, total


def stored_entries(bitmap: memoryview, entries: memoryview, n: int, n_bits: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Places (int64, rising) and entries (int8) of a sparse array of n numbers, for some of its places after the other.

    >>> bitmap, entries = memoryview(bytes([0b101])), memoryview(bytes([0xF7]))
    >>> [(places.tolist(), numbers.tolist()) for places, numbers in stored_entries(bitmap, entries, 5, 4)]
    [([0, 2], [7, -1])]
    """
    packed, n_passed = np.frombuffer(bitmap, np.uint8), 0
    for start in range(0, n, CHUNK):
        places = np.flatnonzero(np.unpackbits(packed[start // 8 : (start + CHUNK) // 8], bitorder="little"))
        if len(places):
            yield start + places, signed_numbers(entries, n_passed, len(places), n_bits)
            n_passed += len(places)


def signed_numbers(data: memoryview, first: int, n: int, n_bits: int) -> np.ndarray:
    """Packed numbers ``first`` up to ``first + n`` of 8 or 4 bits in two's complement, int8 (n,).

    >>> signed_numbers(memoryview(bytes([0x1F, 0x82])), 1, 3, 4).tolist()
    [1, 2, -8]
    """
    if n_bits == 8:
        return np.frombuffer(data, np.int8, n, first)
    raw = np.frombuffer(data, np.uint8, (first + n + 1) // 2 - first // 2, first // 2)
    pairs = np.stack([raw & 15, raw >> 4], axis=1).ravel()[first % 2 :][:n]
    return (pairs ^ 8).astype(np.int8) - np.int8(8)
