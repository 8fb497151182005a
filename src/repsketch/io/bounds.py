"""Sums of the sizes of stored integers, column by column: what the reader's bounds are made of.

A wide copy of a matrix would take many times the memory of the file, so that all of it is done in chunks.
"""

from collections.abc import Iterator

import numpy as np

from .packing import unpack_signed
from .sections import CHUNK, PACKED_CHUNK


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
    """Places (rising) and entries of a sparse array of n numbers, int64, for some of its places after the other."""
    n_passed = 0
    for start in range(0, n, PACKED_CHUNK):
        packed = np.frombuffer(bitmap, np.uint8)[start // 8 : (start + PACKED_CHUNK) // 8]
        places = np.flatnonzero(np.unpackbits(packed, bitorder="little"))
        first, skipped = n_passed * n_bits // 8, n_passed * n_bits % 8 // n_bits
        numbers = unpack_signed(entries[first:], skipped + len(places), n_bits)[skipped:]
        n_passed += len(places)
        yield start + places, numbers
