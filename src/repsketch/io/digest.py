"""A checksum of regenerated hash functions: proof that a reader draws what the writer drew."""

import zlib
from collections.abc import Callable

import numpy as np

from ..lsh import RowHashes
from ..lsh.fold import draw_multipliers
from ..lsh.generator import Stream, to_gamma2, to_gaussian, to_ternary, to_unit, words
from ..lsh.pool import CodePool

MOST_COORDINATES = 64


def digest_of_rows(hashes: RowHashes) -> int:
    """CRC-32 over the first code of the first row and the last of the last."""
    crc = 0
    n = min(hashes.n_features, MOST_COORDINATES)
    for row, code in ((0, 0), (hashes.n_rows - 1, hashes.n_concat - 1)):
        crc = zlib.crc32(_entries(hashes, row, code, n), crc)
        if hashes.family.name == "l2":
            crc = zlib.crc32(_offset(hashes.seed, row, code), crc)
        if hashes.fold == "universal":
            addend, multipliers = draw_multipliers(hashes.seed, 1, hashes.n_concat, first_row=row)
            crc = zlib.crc32(np.array([addend[0], multipliers[0, code]], "<u4").tobytes(), crc)
    return crc


def _entries(hashes: RowHashes, row: int, code: int, n: int) -> bytes:
    def draw(stream: Stream, n_words: int) -> np.ndarray:
        return words(hashes.seed, stream, 1, hashes.n_concat, n_words, first_row=row)[0, code]

    if hashes.family.name == "minhash":
        return draw(Stream.MINHASH, n).astype("<u4").tobytes()
    if hashes.family.name == "l1":
        pair = draw(Stream.PITCH, 2 * n)
        return (1.0 / to_gamma2(pair[::2], pair[1::2])).astype("<f4").tobytes()
    if getattr(hashes.family, "directions", "") == "gaussian":
        return to_gaussian(draw(Stream.GAUSSIAN, n)).astype("<f4").tobytes()
    return to_ternary(draw(Stream.TERNARY, -(-n // 8))).reshape(-1)[:n].tobytes()


def _offset(seed: int, row: int, code: int) -> bytes:
    return to_unit(words(seed, Stream.OFFSET, 1, code + 1, 1, first_row=row)[0, code, :1]).astype("<f4").tobytes()


def digest_of_pool(pool: CodePool, are_boolean: Callable[[list[int]], np.ndarray]) -> int:
    """CRC-32 over the first and the last code of a pool; 0 if nothing of it is drawn.

    ``are_boolean`` tells which of a few coordinates are 0 or 1 only.
    """
    if pool.kind == "threshold":
        return 0
    crc = 0
    n = min(pool.n_features, MOST_COORDINATES)
    for code in (0, pool.n_codes - 1):
        entries = np.zeros(n, np.int8)
        if pool.kind == "ternary" and code >= pool.n_axes:
            word = words(pool.seed, Stream.TERNARY, 1, 1, -(-n // 8), first_row=code)[0, 0]
            entries = to_ternary(word).reshape(-1)[:n]
        else:
            sparse = pool.sparse_direction(code) if pool.kind == "sparse" else [(code, 1)]
            for place, sign in sparse:
                if place < n:
                    entries[place] = sign
        crc = zlib.crc32(entries.tobytes(), crc)
        if pool.is_seeded and not pool.is_binary:
            crc = zlib.crc32(_offset(pool.seed, code, 0), crc)
        elif pool.is_seeded and pool.kind == "sparse":
            direction = pool.sparse_direction(code)
            bias = pool.draw_bias(code, direction, are_boolean([place for place, _ in direction]))
            crc = zlib.crc32(np.array([bias], "<f4" if pool.width_bits is None else "<i4").tobytes(), crc)
    return crc
