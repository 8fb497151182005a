"""Numbers of a few bits packed without gaps, lowest bit first, and the order of labels."""

import numpy as np

from ..model.numbers import packed_nbytes


def pack_bits(numbers: np.ndarray, n_bits: int) -> bytes:
    """Integers from 0 up in ``n_bits`` bits each.

    >>> pack_bits(np.array([1, 2, 3]), 2).hex()
    '39'
    """
    if n_bits == 0:
        return b""
    flat = np.asarray(numbers, np.uint64).reshape(-1, 1)
    bits = (flat >> np.arange(n_bits, dtype=np.uint64)) & np.uint64(1)
    return np.packbits(bits.astype(np.uint8), bitorder="little").tobytes()


def unpack_bits(data: memoryview, n: int, n_bits: int) -> np.ndarray:
    """The first n numbers of ``n_bits`` bits each, int64 (n,).

    >>> unpack_bits(memoryview(bytes([0x39])), 3, 2).tolist()
    [1, 2, 3]
    """
    if n_bits == 0:
        return np.zeros(n, np.int64)
    raw = np.frombuffer(data, np.uint8, packed_nbytes(n, n_bits))
    bits = np.unpackbits(raw, count=n * n_bits, bitorder="little").reshape(n, n_bits)
    return bits.astype(np.int64) @ (np.int64(1) << np.arange(n_bits, dtype=np.int64))


def pack_signed(numbers: np.ndarray, n_bits: int) -> bytes:
    """Integers in two's complement of ``n_bits`` bits each."""
    return pack_bits(np.asarray(numbers, np.int64) & ((1 << n_bits) - 1), n_bits)


def unpack_signed(data: memoryview, n: int, n_bits: int) -> np.ndarray:
    """The first n numbers in two's complement of ``n_bits`` bits each, int64 (n,).

    >>> unpack_signed(memoryview(pack_signed(np.array([-7, 7, -1]), 4)), 3, 4).tolist()
    [-7, 7, -1]
    """
    numbers = unpack_bits(data, n, n_bits)
    return numbers - ((numbers >> (n_bits - 1)) << n_bits)
