"""A checksum of regenerated hash functions: proof that a reader draws what the writer drew."""

import zlib
from collections.abc import Callable

import numpy as np

from ..lsh import RowHashes
from ..lsh.directions import entry_bytes, entry_words
from ..lsh.generator import Stream, threefry, to_unit
from ..lsh.pool import CodePool

MOST_COORDINATES = 64


def digest_of_rows(hashes: RowHashes) -> int:
    """CRC-32 over the first code of the first row and the last of the last."""
    crc = 0
    n = min(hashes.n_features, MOST_COORDINATES)
    stream, n_words = hashes.family.entry_words(n)
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
        crc = zlib.crc32(hashes.family.entry_bytes(entries, n), crc)
        if hashes.family.has_offset:
            crc = zlib.crc32(to_unit(offset).astype("<f4").tobytes(), crc)
        if hashes.fold == "universal":
            crc = zlib.crc32(np.array([addend[1], multiplier[0]], "<u4").tobytes(), crc)
    return crc


def _words(seed: int, requests: list[tuple[int, int, int, int]]) -> list[np.ndarray]:
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


def digest_of_pool(pool: CodePool, are_boolean: Callable[[list[int]], np.ndarray]) -> int:
    """CRC-32 over the first and the last code of a pool; 0 if nothing of it is drawn.

    ``are_boolean`` tells which of a few coordinates are 0 or 1 only.
    """
    if pool.kind == "threshold":
        return 0
    crc = 0
    n = min(pool.n_features, MOST_COORDINATES)
    for code in (0, pool.n_codes - 1):
        if pool.kind == "ternary" and code >= pool.n_axes:
            stream, n_words = entry_words("ternary", n)
            (word,) = _words(pool.seed, [(stream, code, 0, n_words)])
            crc = zlib.crc32(entry_bytes("ternary", word, n), crc)
        else:
            entries = np.zeros(n, np.int8)
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
