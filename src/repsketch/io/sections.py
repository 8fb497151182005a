"""Checked access to the sections of a file: every array is looked at, in chunks, before it is handed on.

Refusing a file takes no more memory than the file and a few chunks.
"""

from typing import Any

import numpy as np

from ..model.numbers import packed_nbytes
from .packing import unpack_bits, unpack_signed
from .status import FormatError, Status

CHUNK = 16_384  # elements looked at together
PACKED_CHUNK = 4_096  # the same for packed ones, which are larger once unpacked; a multiple of 8
SIZE_CAP = 65_536  # of most sizes
MOST_SHIFT = 31


def refuse_if(condition: Any, status: Status) -> None:
    """Raise the status where the condition holds."""
    if condition:
        raise FormatError(status)


def check_size(size: int, cap: int) -> None:
    """Refuse a size of 0 and one over its cap."""
    refuse_if(size == 0, Status.SIZE_ZERO)
    refuse_if(size > cap, Status.SIZE_CAP)


class Sections:
    """The sections of a file by type, and which of them the model uses.

    ``are_good``: another reader has checked all of the file, and nothing is looked at a second time.
    """

    def __init__(self, contents: dict[int, memoryview], are_good: bool = False) -> None:
        self.contents = contents
        self.are_good = are_good
        self.used: set[int] = set()

    def section(self, kind: int, nbytes: int | None) -> memoryview:
        """A required section of exactly ``nbytes`` bytes."""
        refuse_if(kind not in self.contents, Status.SECTION_MISSING)
        data = self.contents[kind]
        refuse_if(nbytes is not None and len(data) != nbytes, Status.SIZE_MISMATCH)
        self.used.add(kind)
        return data

    def array(self, kind: int, dtype: str, n: int) -> np.ndarray:
        """A section of n numbers, as they lie in the file."""
        return np.frombuffer(self.section(kind, n * np.dtype(dtype).itemsize), dtype)

    def floats(self, kind: int, n: int, status: Status, largest: float = np.inf) -> np.ndarray:
        """Float32 numbers, finite and at most ``largest`` in size."""
        array = self.array(kind, "<f4", n)
        for start in range(0, 0 if self.are_good else n, CHUNK):
            chunk = array[start : start + CHUNK]
            refuse_if(not np.isfinite(chunk).all() or np.abs(chunk).max() > largest, status)
        return array

    def packed(self, kind: int, n: int, n_bits: int, limit: int, is_rising: bool = False) -> None:
        """Check a section of packed indices below ``limit``; there is none where no bits are needed."""
        if n_bits == 0 or self.are_good:
            return
        data = self.section(kind, packed_nbytes(n, n_bits))
        is_sorted, previous = True, -1
        for start in range(0, n, PACKED_CHUNK):
            numbers = unpack_bits(data[start * n_bits // 8 :], min(PACKED_CHUNK, n - start), n_bits)
            refuse_if(numbers.max() >= limit, Status.INDEX_RANGE)
            is_sorted &= bool(np.all(np.diff(numbers, prepend=previous) > 0))
            previous = int(numbers[-1])
        refuse_if(is_rising and not is_sorted, Status.INDEX_ORDER)
        self.check_left_over(data, n * n_bits)

    def check_left_over(self, data: memoryview, n_bits: int) -> None:
        """Refuse bits behind the last of ``n_bits`` bits that are not 0."""
        refuse_if(n_bits % 8 and data[-1] >> (n_bits % 8), Status.PADDING)

    def integers(self, kind: int, dtype: str, n: int) -> np.ndarray:
        """Integers of 1 or 2 bytes, the most negative one not among them."""
        array = self.array(kind, dtype, n)
        refuse_if(not self.are_good and array.min() == np.iinfo(array.dtype).min, Status.COUNTER_RANGE)
        return array

    def signed(self, kind: int, n: int, n_bits: int) -> np.ndarray:
        """Packed numbers in two's complement, the most negative one not among them, int8 (n,)."""
        data = self.section(kind, packed_nbytes(n, n_bits))
        result = np.empty(n, np.int8)
        for start in range(0, n, PACKED_CHUNK):
            stop = min(start + PACKED_CHUNK, n)
            result[start:stop] = unpack_signed(data[start * n_bits // 8 :], stop - start, n_bits)
            refuse_if(result[start:stop].min() == -(1 << (n_bits - 1)), Status.COUNTER_RANGE)
        self.check_left_over(data, n * n_bits)
        return result

    def unpacked(self, kind: int, n: int, n_bits: int) -> np.ndarray:
        """The numbers of a checked section of packed indices, int32 (n,)."""
        result = np.zeros(n, np.int32)
        for start in range(0, n if n_bits else 0, PACKED_CHUNK):
            stop = min(start + PACKED_CHUNK, n)
            result[start:stop] = unpack_bits(self.contents[kind][start * n_bits // 8 :], stop - start, n_bits)
        return result
