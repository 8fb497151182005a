"""A checksum of regenerated hash functions: proof that a reader draws what the writer drew."""

import zlib
from collections.abc import Callable

import numpy as np

from ..lsh import RowHashes
from ..lsh.generator import Stream, threefry, to_gamma2, to_gaussian, to_ternary, to_unit
from ..lsh.pool import CodePool

MOST_COORDINATES = 64


def digest_of_rows(hashes: RowHashes) -> int:
    """CRC-32 over the first code of the first row and the last of the last."""
    crc = 0
    n = min(hashes.n_features, MOST_COORDINATES)
    stream, n_words = _entry_words(hashes, n)
    ends = ((0, 0), (hashes.n_rows - 1, hashes.n_concat - 1))
    drawn = _words(
        hashes.seed,
        [
            request
            for row, code in ends
            for request in (
                (stream, row, code, n_words),
                (Stream.OFFSET, row, code, 1),
                (Stream.FOLD, row, 0, 2),
                (Stream.FOLD, row, code, 1),
            )
        ],
    )
    for entries, offset, addend, multiplier in (drawn[:4], drawn[4:]):
        crc = zlib.crc32(_entries(hashes, entries, n), crc)
        if hashes.family.name == "l2":
            crc = zlib.crc32(to_unit(offset).astype("<f4").tobytes(), crc)
        if hashes.fold == "universal":
            crc = zlib.crc32(np.array([addend[1], multiplier[0]], "<u4").tobytes(), crc)
    return crc


def _words(seed: int, requests: list[tuple[Stream, int, int, int]]) -> list[np.ndarray]:
    """The first words of some codes, for requests (stream, row, code, number of words), in one call of the generator.

    Never all codes of a row: a small file may say that it has thousands.
    """
    counts = [(n + 1) // 2 for *_, n in requests]
    stream, row, code = (np.repeat([request[i] for request in requests], counts).astype(np.uint32) for i in range(3))
    block = np.concatenate([np.arange(count, dtype=np.uint32) for count in counts])
    pair = threefry((np.uint32(seed), stream), (row, (code << np.uint32(20)) + block))
    flat = np.stack(pair, axis=-1).reshape(-1)
    starts = 2 * np.cumsum([0, *counts[:-1]])
    return [flat[start : start + n] for start, (*_, n) in zip(starts, requests, strict=True)]


def _entry_words(hashes: RowHashes, n: int) -> tuple[Stream, int]:
    """Which words the first n entries of a code are made of."""
    if hashes.family.name == "minhash":
        return Stream.MINHASH, n
    if hashes.family.name == "l1":
        return Stream.PITCH, 2 * n
    if getattr(hashes.family, "directions", "") == "gaussian":
        return Stream.GAUSSIAN, n
    return Stream.TERNARY, -(-n // 8)


def _entries(hashes: RowHashes, word: np.ndarray, n: int) -> bytes:
    if hashes.family.name == "minhash":
        return word.astype("<u4").tobytes()
    if hashes.family.name == "l1":
        return (1.0 / to_gamma2(word[::2], word[1::2])).astype("<f4").tobytes()
    if getattr(hashes.family, "directions", "") == "gaussian":
        return to_gaussian(word).astype("<f4").tobytes()
    return to_ternary(word).reshape(-1)[:n].tobytes()


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
            (word,) = _words(pool.seed, [(Stream.TERNARY, code, 0, -(-n // 8))])
            entries = to_ternary(word).reshape(-1)[:n]
        else:
            sparse = pool.sparse_direction(code) if pool.kind == "sparse" else [(code, 1)]
            for place, sign in sparse:
                if place < n:
                    entries[place] = sign
        crc = zlib.crc32(entries.tobytes(), crc)
        if pool.is_seeded and not pool.is_binary:
            (word,) = _words(pool.seed, [(Stream.OFFSET, code, 0, 1)])
            crc = zlib.crc32(to_unit(word).astype("<f4").tobytes(), crc)
        elif pool.is_seeded and pool.kind == "sparse":
            direction = pool.sparse_direction(code)
            bias = pool.draw_bias(code, direction, are_boolean([place for place, _ in direction]))
            crc = zlib.crc32(np.array([bias], "<f4" if pool.width_bits is None else "<i4").tobytes(), crc)
    return crc
